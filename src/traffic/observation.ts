// What one report of the tag shows of the browser behind it. Used live; of bots a sample is kept, with the address cut
// down to its network. A part that is null was not looked at, so nothing can be concluded from it.

import type { Frequency } from "./frequency.ts";

export type Observation = {
  userAgent: string;
  address: string;
  /** Two letters; null without a country file, or where the file does not know. */
  country: string | null;
  headers: ObservedHeaders | null;
  script: ObservedScript | null;
  submit: ObservedSubmit | null;
  frequency: Frequency | null;
};

export type ObservedHeaders = {
  /** Over TLS: without it browsers send no client hints. */
  secure: boolean;
  acceptLanguage: boolean;
  secFetch: boolean;
  /** `Sec-CH-UA`, `Sec-CH-UA-Platform` and `Sec-CH-UA-Mobile`; empty where not sent. */
  brands: string;
  platform: string;
  mobile: string;
};

/** What the tag can see of its browser without touching anything that would tell one person from another. */
export type ObservedScript = {
  webdriver: boolean;
  /** Cypress, which drives the browser from inside the page, left its mark. */
  cypress: boolean;
  platform: string;
  touchPoints: number;
  /** It has what only Chromium has. */
  isChromium: boolean;
};

/** How an email was handed in through a form. */
export type ObservedSubmit = {
  /** From the start of the page. */
  afterMs: number;
  /** Real movements, touches and keys before it. */
  inputs: number;
  /** The event was made by a script. */
  untrusted: boolean;
  /** A field that no person can see was filled in. */
  trapped: boolean;
};
