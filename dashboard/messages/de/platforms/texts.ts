// The German texts of platforms, by the platform's id. They are many, and loaded only with the pages of platforms.

import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";
import { google_ads } from "./google_ads.ts";
import { meta } from "./meta.ts";
import { tiktok } from "./tiktok.ts";
import { microsoft_ads } from "./microsoft_ads.ts";
import { linkedin } from "./linkedin.ts";
import { pinterest } from "./pinterest.ts";
import { snapchat } from "./snapchat.ts";
import { reddit } from "./reddit.ts";
import { x } from "./x.ts";
import { openai_ads } from "./openai_ads.ts";
import { nextdoor } from "./nextdoor.ts";
import { axon } from "./axon.ts";
import { spotify } from "./spotify.ts";
import { quora } from "./quora.ts";
import { taboola } from "./taboola.ts";
import { outbrain } from "./outbrain.ts";
import { amazon_ads } from "./amazon_ads.ts";
import { cm360 } from "./cm360.ts";
import { ga4 } from "./ga4.ts";
import { segment } from "./segment.ts";
import { klaviyo } from "./klaviyo.ts";
import { hubspot } from "./hubspot.ts";
import { webhook } from "./webhook.ts";
import { sandbox } from "./sandbox.ts";

export const platformTexts: Readonly<Record<string, PlatformTexts>> = {
  google_ads,
  meta,
  tiktok,
  microsoft_ads,
  linkedin,
  pinterest,
  snapchat,
  reddit,
  x,
  openai_ads,
  nextdoor,
  axon,
  spotify,
  quora,
  taboola,
  outbrain,
  amazon_ads,
  cm360,
  ga4,
  segment,
  klaviyo,
  hubspot,
  webhook,
  sandbox,
};
