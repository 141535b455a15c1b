// The observation of a browser by one report of the tag. Only a sample of bots is stored, with the address cut to its
// network. A part that is null was not observed, so no signal may depend on it.

import type { Frequency } from "./frequency.ts";

export type Observation = {
  userAgent: string;
  address: string;
  /** Two letters; null without a country file, or when the file has none. */
  country: string | null;
  headers: ObservedHeaders | null;
  script: ObservedScript | null;
  submit: ObservedSubmit | null;
  frequency: Frequency | null;
};

export type ObservedHeaders = {
  /** Browsers send client hints over TLS only. */
  secure: boolean;
  acceptLanguage: boolean;
  secFetch: boolean;
  /** `Sec-CH-UA`, `Sec-CH-UA-Platform` and `Sec-CH-UA-Mobile`; empty when not sent. */
  brands: string;
  platform: string;
  mobile: string;
};

/** The tag's observations of its browser. None of them identifies a person. */
export type ObservedScript = {
  webdriver: boolean;
  /** The automation tool Cypress is in the page. */
  cypress: boolean;
  platform: string;
  touchPoints: number;
  /** An API that only Chromium has is there. */
  isChromium: boolean;
};

/** The submit of a form with an email. */
export type ObservedSubmit = {
  /** Since the page was loaded. */
  afterMs: number;
  /** Real clicks, touches and keys before it. */
  inputs: number;
  /** A script made the event. */
  untrusted: boolean;
  /** A hidden field was filled in. */
  trapped: boolean;
};

type Headers = { readonly [name: string]: string | string[] | undefined };

const maxHintLength = 256;

export function readHeaders(headers: Headers, secure: boolean): ObservedHeaders {
  return {
    secure,
    acceptLanguage: Boolean(headers["accept-language"]),
    secFetch: Boolean(headers["sec-fetch-site"]),
    brands: headerText(headers["sec-ch-ua"], maxHintLength),
    platform: headerText(headers["sec-ch-ua-platform"], 40),
    mobile: headerText(headers["sec-ch-ua-mobile"], 4),
  };
}

export const headerText = (header: string | string[] | undefined, maxLength: number) => String(header ?? "").slice(0, maxLength);
