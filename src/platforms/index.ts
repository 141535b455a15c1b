// The list of platforms, in the order in which people see them. A new one is a folder and a line here.

import { amazonAds } from "./amazon_ads/index.ts";
import { axon } from "./axon/index.ts";
import { cm360 } from "./cm360/index.ts";
import { ga4 } from "./ga4/index.ts";
import { googleAds } from "./google_ads/index.ts";
import { hubspot } from "./hubspot/index.ts";
import { klaviyo } from "./klaviyo/index.ts";
import { linkedin } from "./linkedin/index.ts";
import { meta } from "./meta/index.ts";
import { microsoftAds } from "./microsoft_ads/index.ts";
import { nextdoor } from "./nextdoor/index.ts";
import { openaiAds } from "./openai_ads/index.ts";
import { outbrain } from "./outbrain/index.ts";
import { pinterest } from "./pinterest/index.ts";
import type { Platform } from "./platform.ts";
import { quora } from "./quora/index.ts";
import { reddit } from "./reddit/index.ts";
import { sandbox } from "./sandbox/index.ts";
import { segment } from "./segment/index.ts";
import { snapchat } from "./snapchat/index.ts";
import { spotify } from "./spotify/index.ts";
import { taboola } from "./taboola/index.ts";
import { tiktok } from "./tiktok/index.ts";
import { webhook } from "./webhook/index.ts";
import { x } from "./x/index.ts";

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
  openaiAds,
  nextdoor,
  axon,
  spotify,
  quora,
  taboola,
  outbrain,
  amazonAds,
  cm360,
  ga4,
  segment,
  klaviyo,
  hubspot,
  webhook,
  sandbox,
];

const byId = new Map(platforms.map((platform) => [platform.id, platform]));

export function platformOf(id: string): Platform | undefined {
  return byId.get(id);
}
