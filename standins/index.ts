// The list of stand-ins. A new platform adds a line here; its index in the list decides its port.

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
import { quora } from "./quora/index.ts";
import { reddit } from "./reddit/index.ts";
import { segment } from "./segment/index.ts";
import { snapchat } from "./snapchat/index.ts";
import type { Standin } from "./shared/standin.ts";
import { spotify } from "./spotify/index.ts";
import { taboola } from "./taboola/index.ts";
import { tiktok } from "./tiktok/index.ts";
import { x } from "./x/index.ts";

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
  openaiAds,
  nextdoor,
  axon,
  spotify,
  quora,
  taboola,
  outbrain,
  amazonAds,
  cm360,
  klaviyo,
  hubspot,
] as const;

export type StandinId = (typeof list)[number]["id"];

export const standins: readonly (Standin & { id: StandinId })[] = list;
