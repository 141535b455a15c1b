// Reads the tag's reports. Unknown names are ignored; values that are too long or not text are dropped, because a browser
// cannot correct them.

import { consentSources, maxIdLength, type ConsentSource, type ConsentState, type SeenId } from "../kernel/event.ts";
import { isJsonObject } from "../http/body.ts";
import { holdsAddress, maskAddresses, maskAndCut } from "../kernel/maskAddresses.ts";
import { withoutMarks } from "../kernel/messages/message.ts";
import type { ObservedScript, ObservedSubmit, ObservedUse } from "../traffic/observation.ts";
import { clickIdName, isBrowserId, isUtmField } from "../identity/clickIds.ts";
import { linkParameter } from "../identity/links.ts";
import { readSha256 } from "../identity/person.ts";
import type { Report } from "../identity/visits.ts";
import { isVisitorId } from "./cookies.ts";

export type Payload = {
  /** The id that the page proposes for a visitor without a cookie. */
  visitorId: string | null;
  signals: Partial<Record<ConsentSource, ConsentState>>;
  /** The refusal of `gcm` is only the default of Google's Consent Mode. */
  isDefaultRefusal: boolean;
  remembered: ConsentState | null;
  clickIds: Record<string, SeenId>;
  utm: Record<string, string>;
  browserIds: Record<string, string>;
  /** The token of the link to this page; null without one. */
  link: string | null;
  page: string;
  referrer: string;
  person: Report["person"];
  /** The tag's observations of its browser, of a form submit, and of how the page was used. */
  script: ObservedScript | null;
  submit: ObservedSubmit | null;
  use: ObservedUse | null;
  /** The page is rendered in advance and not visible yet. */
  isPrerendered: boolean;
};

const maxLengths = { utm: 256, address: 512 };
const maxNames = 60;

/** Returns null for a text that is not a report of the tag. */
export function readPayload(text: string, now: number): Payload | null {
  const fields = parse(text);
  if (!isJsonObject(fields)) return null;
  const payload: Payload = {
    visitorId: isVisitorId(fields.visitor) ? fields.visitor : null,
    signals: readSignals(fields.consent),
    isDefaultRefusal: isJsonObject(fields.consent) && fields.consent["byDefault"] === true,
    remembered: fields.earlier === "granted" || fields.earlier === "denied" ? fields.earlier : null,
    clickIds: {},
    utm: {},
    browserIds: {},
    link: null,
    page: readAddress(fields.page, (url) => url.origin + url.pathname),
    referrer: readAddress(fields.referrer, (url) => url.origin),
    person: readEmails(fields.emails),
    script: readScript(fields.browser),
    submit: readSubmit(fields.submit),
    use: readUse(Array.isArray(fields.submit) ? fields.submit[3] : fields.use),
    isPrerendered: fields.prerendered === 1,
  };
  for (const [name, value] of textsIn(fields.params)) {
    const clickId = clickIdName(name);
    if (clickId) {
      if (value.length <= maxIdLength && !holdsAddress(value)) payload.clickIds[clickId] = { value, seenAt: now };
    } else if (name === linkParameter) payload.link = value;
    else if (isUtmField(name) && value.length <= maxLengths.utm) payload.utm[name] = maskAddresses(value);
  }
  for (const [name, value] of textsIn(fields.cookies)) {
    if (isBrowserId(name) && value.length <= maxIdLength && !holdsAddress(value)) payload.browserIds[name] = value;
  }
  return payload;
}

function readSignals(value: unknown): Payload["signals"] {
  const signals: Payload["signals"] = {};
  const given = isJsonObject(value) ? value : {};
  for (const source of consentSources) {
    const state = given[source];
    if (state === "granted" || state === "denied") signals[source] = state;
  }
  return signals;
}

/** Reads the four forms in the order in which the tag hashes them; a form that the address lacks is empty. */
function readEmails(value: unknown): Payload["person"] {
  if (!Array.isArray(value) || value.length > 4) return null;
  // The tag writes hashes in lower case; anything else was not sent by the tag.
  const hashes = value.map((one) => (typeof one === "string" && one === one.toLowerCase() ? readSha256(one) : null));
  const [emailSha256, emailGoogleSha256, emailMicrosoftSha256, emailRedditSha256] = hashes;
  if (!emailSha256) return null;
  return {
    emailSha256,
    forms: {
      ...(emailGoogleSha256 ? { emailGoogleSha256 } : {}),
      ...(emailMicrosoftSha256 ? { emailMicrosoftSha256 } : {}),
      ...(emailRedditSha256 ? { emailRedditSha256 } : {}),
    },
  };
}

/** Reads the values in the order of tag/signals.ts. */
function readScript(value: unknown): ObservedScript | null {
  if (!Array.isArray(value)) return null;
  const [webdriver, platform, touchPoints, isChromium] = value as unknown[];
  return {
    webdriver: Boolean(webdriver),
    // Terminals print this text, so control characters are removed.
    platform: typeof platform === "string" ? platform.replace(/[^\x20-\x7e]/g, "").slice(0, 40) : "",
    touchPoints: readCount(touchPoints, 1),
    isChromium: Boolean(isChromium),
  };
}

function readSubmit(value: unknown): ObservedSubmit | null {
  if (!Array.isArray(value)) return null;
  const [afterMs, inputs, untrusted] = value as unknown[];
  return {
    afterMs: readCount(afterMs, Number.MAX_SAFE_INTEGER),
    inputs: readCount(inputs, 1),
    untrusted: Boolean(untrusted),
  };
}

/** The bits of `ways` in tag/use.ts. */
const ways = { autofill: 2, inputMethod: 4, touch: 8, script: 16 };

/** Reads the values in the order of tag/use.ts. */
function readUse(value: unknown): ObservedUse | null {
  if (!Array.isArray(value)) return null;
  const [
    presses,
    press,
    jumps,
    fractions,
    keys,
    hold,
    gap,
    evenness,
    inserted,
    bits,
    frameless,
    screen,
    unfocused,
    trapped,
    hasTool,
    pause,
    overlaps,
  ] = value as unknown[];
  const way = readCount(bits, 0);
  return {
    presses: readCount(presses, 0),
    pressMs: readTime(press),
    jumps: readCount(jumps, 0),
    fractions: readCount(fractions, 0),
    keys: readCount(keys, 0),
    holdMs: readTime(hold),
    gapMs: readTime(gap),
    evenness: readCount(evenness, 0),
    pauseMs: readTime(pause),
    overlaps: readCount(overlaps, 0),
    inserted: readCount(inserted, 0),
    hasAutofill: (way & (ways.autofill | ways.script)) > 0,
    hasInputMethod: (way & ways.inputMethod) > 0,
    hasTouch: (way & ways.touch) > 0,
    isFrameless: Boolean(frameless),
    isDefaultScreen: Boolean(screen),
    unfocused: readCount(unfocused, 0),
    trapped: Boolean(trapped),
    hasTool: Boolean(hasTool),
  };
}

/** The tag reports -1 where it measured nothing. */
const readTime = (value: unknown) =>
  typeof value === "number" && value >= 0 && Number.isFinite(value) ? Math.round(value) : null;

/** A browser that does not report a count gets one that raises no signal. */
function readCount(value: unknown, fallback: number): number {
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? Math.round(value) : fallback;
}

function readAddress(value: unknown, part: (url: URL) => string): string {
  const url = typeof value === "string" && value.length <= 2048 ? URL.parse(value) : null;
  return url && /^https?:$/.test(url.protocol) ? maskAndCut(part(url), maxLengths.address) : "";
}

function* textsIn(value: unknown): Generator<[name: string, value: string]> {
  if (!isJsonObject(value)) return;
  for (const [name, text] of Object.entries(value).slice(0, maxNames)) {
    if (typeof text === "string" && text !== "" && !text.includes("\0") && text.isWellFormed()) yield [name, withoutMarks(text)];
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
