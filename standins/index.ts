// The list of stand-ins. A new platform adds its line here; the place in the list decides its port.

import { ga4 } from "./ga4.ts";
import { googleAds } from "./google_ads.ts";
import { linkedin } from "./linkedin.ts";
import { meta } from "./meta.ts";
import { microsoftAds } from "./microsoft_ads.ts";
import { pinterest } from "./pinterest.ts";
import { reddit } from "./reddit.ts";
import { segment } from "./segment.ts";
import { snapchat } from "./snapchat.ts";
import type { Standin } from "./standin.ts";
import { tiktok } from "./tiktok.ts";
import { x } from "./x.ts";

const list = [
  googleAds,
  microsoftAds,
  ga4,
  segment,
  meta,
  tiktok,
  linkedin,
  pinterest,
  snapchat,
  reddit,
  x,
] as const;

export type StandinId = (typeof list)[number]["id"];

export const standins: readonly (Standin & { id: StandinId })[] = list;
