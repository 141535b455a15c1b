// The vocabulary of the relay. Every other file may import this one; it imports nothing.

/** Live events count and are sent for real; test events (a `cc_test_` key) use each platform's own test mode. */
export type Mode = "live" | "test";

declare const sha256: unique symbol;
/** SHA-256 as 64 hex characters. Only identity/person.ts makes one, so a plain value never fits where a hash belongs. */
export type Sha256 = string & { readonly [sha256]: true };

/**
 * The contact data of an event, hashed in every form that a platform needs. A hash cannot be normalised again, so inbound
 * makes all forms and drops the plain values.
 */
export type Person = {
  /** Of the trimmed, lower-cased email: the identity key. */
  emailSha256: Sha256;
  /** Google: dots and +suffix of gmail.com and googlemail.com addresses removed. Absent where unknown. */
  emailGoogleSha256?: Sha256;
  /** Microsoft: dots and +alias removed for every domain. */
  emailMicrosoftSha256?: Sha256;
  /** Reddit: cut from the + on, everything but letters and digits removed from the local part. */
  emailRedditSha256?: Sha256;
  /** Of the E.164 number with the leading plus. */
  phoneSha256?: Sha256;
  /** Of the E.164 digits without the plus. */
  phoneDigitsSha256?: Sha256;
  /** Of the lower-cased name without whitespace and punctuation. */
  firstNameSha256?: Sha256;
  lastNameSha256?: Sha256;
};

/** One validated inbound event. */
export type Event = {
  id: string;
  siteId: string;
  keyId: string;
  mode: Mode;
  /** As the sender wrote it; platforms match it without regard to case. */
  name: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  /** Milliseconds; the moment of the conversion. */
  time: number;
  receivedAt: number;
  person: Person;
  /** Inbound fields that a field mapping of the site names; sealed at rest. */
  extra: Record<string, unknown> | null;
};

/** A click id or browser id exactly as the browser had it, and when it was first seen (milliseconds). */
export type SeenId = { value: string; seenAt: number };

/** The browser behind a visit, as some platforms want to know it. Empty texts are unknown. */
export type Browser = {
  /** The page, without its query. */
  page: string;
  /** The origin of the page before it. */
  referrer: string;
  address: string;
  userAgent: string;
};

export type Visit = {
  /** The visitor that the ids came from; null where an operator entered them. */
  visitorId: string | null;
  seenAt: number;
  browser: Browser | null;
  clickIds: Record<string, SeenId>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
  /** Absent where nothing speaks against a person. */
  verdict?: Verdict;
};

/** Is this visit a person or a bot: what was found, and how much it weighs. */
export type Verdict = {
  bot: boolean;
  /** 0 to 100. */
  score: number;
  /** `category:what was seen`, in plain words; the one that weighs most comes first. */
  reasons: string[];
  /** The version of the rules that were used. */
  rules: number;
};

/** Every visit that is reported is in exactly one of these; together they are all that were reported. */
export const visitBuckets = ["people", "bots", "not a visit", "suppressed"] as const;
export type VisitBucket = (typeof visitBuckets)[number];

/** What is remembered of the person behind a hashed email: the last few visits, newest first. */
export type Identity = {
  visits: Visit[];
  /** The first UTM fields ever seen, kept beside the newest. */
  firstUtm: Record<string, string>;
  /** Forms of the email that were hashed at capture; they serve events that carry only hashed_email. */
  forms: Pick<Person, "emailGoogleSha256" | "emailMicrosoftSha256" | "emailRedditSha256">;
};

/** A browser seen by the tag: what it brought along, and who it said it was. */
export type Visitor = {
  visits: Visit[];
  /** SHA-256 of their emails, newest first. */
  emailSha256s: Sha256[];
};

/** Where a visitor's decision was read: the site's own call, Global Privacy Control, IAB TCF, Google Consent Mode. */
export const consentSources = ["own", "gpc", "tcf", "gcm"] as const;
export type ConsentSource = (typeof consentSources)[number];

export const consentStates = ["granted", "denied", "unknown"] as const;
export type ConsentState = (typeof consentStates)[number];

/**
 * The answer to "may identifiers of this person be used?". `unreadable` is a store that failed, was too slow
 * or held garbage: it counts as a refusal, never as `unknown`.
 */
export type ConsentReading = ConsentState | "unreadable";

/** What attribution found and decided for one event; stored with it and sent on every attempt. */
export type Attribution = {
  consent: ConsentReading;
  /** Why identifiers and contact hashes stay here; null when they may be used. */
  withheld: "opted out" | "consent unreadable" | "no consent" | null;
  identity: "found" | "none" | "unreadable";
  clickIds: Record<string, SeenId>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
  browser: Browser | null;
};

/** Why an event was filtered: `category:detail`, in plain words. */
export type FilterReason =
  | `blocked domain:${string}`
  | `disposable domain:${string}`
  | "blocked person"
  | `only bot visits:${string}`;

/** What a platform sees of an event: already stripped of everything that consent withholds. */
export type Conversion = {
  /** The same on every attempt and to every platform; equal to the browser's `cc.eventId(event, orderId)`. */
  platformEventId: string;
  name: string;
  mode: Mode;
  value: number | null;
  currency: string;
  orderId: string | null;
  time: number;
  receivedAt: number;
  /** null when contact data is withheld. */
  person: Person | null;
  clickIds: Record<string, SeenId>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
  browser: Browser | null;
  /** What platforms' own consent flags are set from. `denied` whenever anything is withheld. */
  consent: ConsentState;
  extra: Record<string, unknown>;
};

/** What a platform said of one conversion in one call. */
export type Reading =
  | { said: "accepted" }
  | { said: "refused"; error: string }
  | { said: "later"; error: string; retryAfterSeconds?: number }
  | { said: "unauthorised"; error: string };

export const deliveryStates = ["queued", "sent", "skipped", "rejected", "parked", "expired"] as const;
/** `queued` waits for its due time; every other state is final until a person acts. */
export type DeliveryState = (typeof deliveryStates)[number];

/** One connection's verdict in the answer to the sender. */
export type Result = { ok: true } | { ok: false; status: Exclude<DeliveryState, "sent">; error: string };

export const connectionStates = ["active", "paused", "needs reconnection"] as const;
export type ConnectionState = (typeof connectionStates)[number];

/** What needs a person. */
export const alertKinds = [
  "needs reconnection",
  "success rate",
  "silence",
  "webhook",
  "wrong keys",
  "queue",
  "host",
] as const;
export type AlertKind = (typeof alertKinds)[number];
