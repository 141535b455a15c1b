// The list of platforms, in the order in which people see them. A new one is a file and a line here.

import { ga4 } from "./ga4.ts";
import { googleAds } from "./google_ads.ts";
import { linkedin } from "./linkedin.ts";
import { meta } from "./meta.ts";
import { microsoftAds } from "./microsoft_ads.ts";
import { pinterest } from "./pinterest.ts";
import type { Platform } from "./platform.ts";
import { reddit } from "./reddit.ts";
import { sandbox } from "./sandbox.ts";
import { segment } from "./segment.ts";
import { snapchat } from "./snapchat.ts";
import { tiktok } from "./tiktok.ts";
import { webhook } from "./webhook.ts";
import { x } from "./x.ts";

export const platforms: readonly Platform[] = [
  googleAds,
  meta,
  tiktok,
  microsoftAds,
  linkedin,
  pinterest,
  snapchat,
  reddit,
  x,
  ga4,
  segment,
  webhook,
  sandbox,
];

const byId = new Map(platforms.map((platform) => [platform.id, platform]));

export function platformOf(id: string): Platform | undefined {
  return byId.get(id);
}
