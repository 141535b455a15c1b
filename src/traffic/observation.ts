// The observation of a browser by one report of the tag. Only a sample of bots is stored, with the address cut to its
// network. A part that is null was not observed, so no signal may depend on it.

import type { Frequency } from "./frequency.ts";

export type Observation = {
  userAgent: string;
  address: string;
  /** Two letters; null without a country file, or when the file has none. */
  country: string | null;
  headers: ObservedHeaders | null;
  /** What the client offered in its TLS handshake that no browser offers; empty if nothing, null where it is not known. */
  handshake: string | null;
  script: ObservedScript | null;
  submit: ObservedSubmit | null;
  use: ObservedUse | null;
  frequency: Frequency | null;
};

/** The parts of a browser of which nothing is known but its user agent and address. */
export const unobserved = {
  country: null,
  headers: null,
  handshake: null,
  script: null,
  submit: null,
  use: null,
  frequency: null,
};

export type ObservedHeaders = {
  /** Browsers send client hints over TLS only. */
  secure: boolean;
  acceptLanguage: boolean;
  secFetch: boolean;
  /** Headers that only the loading of a page has, never a report. */
  isPageLoad: boolean;
  /** The content type and the accepted types are those of the tag's reports. */
  isReport: boolean;
  /** Accept-Language comes before Accept-Encoding, as in no Chromium. */
  isReordered: boolean;
  /** `Sec-CH-UA`, `Sec-CH-UA-Platform` and `Sec-CH-UA-Mobile`; empty when not sent. */
  brands: string;
  platform: string;
  mobile: string;
};

/** The tag's observations of its browser. None of them identifies a person. */
export type ObservedScript = {
  webdriver: boolean;
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
};

/**
 * The observations of the tag's second part: how the page was used. They are counts and times of one page, and do not tell
 * one person from another.
 */
export type ObservedUse = {
  /** Presses of a mouse button, and the median of their times in milliseconds; null without one. */
  presses: number;
  pressMs: number | null;
  /** Presses at a place that the mouse reached without a way. */
  jumps: number;
  /** Positions between two pixels, on a screen that is not scaled. */
  fractions: number;
  /** Keys that write, and the medians of the time that they were down and between two. */
  keys: number;
  holdMs: number | null;
  gapMs: number | null;
  /** The share of equal times between keys, in percent. */
  evenness: number;
  /** The median of the pauses without any key down, and the keys that were pressed while another was. */
  pauseMs: number | null;
  overlaps: number;
  /** Characters that came at once, without a key, a paste or an input method. */
  inserted: number;
  /** The other ways in which text came. */
  hasAutofill: boolean;
  hasInputMethod: boolean;
  hasTouch: boolean;
  /** The window has no frame, though it does not fill the screen. */
  isFrameless: boolean;
  /** The screen has 800 × 600 pixels. */
  isDefaultScreen: boolean;
  /** Presses in a window without focus. */
  unfocused: number;
  /** A hidden field was filled in. */
  trapped: boolean;
  /** An automation tool left its marks in the page. */
  hasTool: boolean;
};

/** Browsers sign neither with Ed25519 nor with Ed448, and agree on no keys by DHE; OpenSSL, Go and others offer at least one. */
const ofPrograms = /\b(?:Ed25519|Ed448|DHE-[A-Z])/;

/** Reads the signature algorithms or the ciphers that a client offers. */
export const readHandshake = (offered: string): string => ofPrograms.exec(offered)?.[0].replace(/-[A-Z]$/, "") ?? "";

type Headers = { readonly [name: string]: string | string[] | undefined };

const maxHintLength = 256;

export function readHeaders(headers: Headers, secure: boolean): ObservedHeaders {
  return {
    secure,
    acceptLanguage: Boolean(headers["accept-language"]),
    secFetch: Boolean(headers["sec-fetch-site"]),
    isPageLoad:
      headers["sec-fetch-mode"] === "navigate" ||
      headers["sec-fetch-dest"] === "document" ||
      headers["upgrade-insecure-requests"] !== undefined,
    isReport: /^text\/plain; ?charset=utf-8$/i.test(headerText(headers["content-type"], 40)) && headers["accept"] === "*/*",
    isReordered: isReordered(headers),
    brands: headerText(headers["sec-ch-ua"], maxHintLength),
    platform: headerText(headers["sec-ch-ua-platform"], 40),
    mobile: headerText(headers["sec-ch-ua-mobile"], 4),
  };
}

/** Node keeps headers in the order in which they came. */
function isReordered(headers: Headers): boolean {
  if (!headers["accept-encoding"]) return false;
  for (const name in headers) {
    if (name === "accept-encoding") return false;
    if (name === "accept-language") return true;
  }
  return false;
}

export const headerText = (header: string | string[] | undefined, maxLength: number) => String(header ?? "").slice(0, maxLength);
