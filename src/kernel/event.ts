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
  /** The identity key: SHA-256 of the trimmed, lower-cased email. Absent where the sender gave none, and after an erasure. */
  emailSha256?: Sha256;
  /** Google: dots and +suffix of gmail.com and googlemail.com addresses removed. Absent where unknown. */
  emailGoogleSha256?: Sha256;
  /** Microsoft: dots and +alias removed for every domain, and accents. */
  emailMicrosoftSha256?: Sha256;
  /** Reddit: cut from the + on, everything but letters and digits removed from the local part. */
  emailRedditSha256?: Sha256;
  /** Amazon: everything but a to z, digits, ., @, + and - removed. Absent where that changes nothing, or it is unknown. */
  emailAmazonSha256?: Sha256;
  /** SHA-256 of the E.164 number with the leading plus. */
  phoneSha256?: Sha256;
  /** SHA-256 of the E.164 digits without the plus. */
  phoneDigitsSha256?: Sha256;
  /** SHA-256 of the lower-cased name without whitespace and punctuation. */
  firstNameSha256?: Sha256;
  lastNameSha256?: Sha256;
  /** Amazon: everything but a to z and digits removed. Absent where that changes nothing, or it is unknown. */
  firstNameAmazonSha256?: Sha256;
  lastNameAmazonSha256?: Sha256;
};

/** A line of an order or cart. */
export type Item = {
  /** The sender's product id, as the platforms' catalogues have it. */
  id: string;
  name?: string | undefined;
  category?: string | undefined;
  brand?: string | undefined;
  /** The price of one piece, in the currency of the event. */
  price?: number | undefined;
  /** At least 1. */
  quantity: number;
};

/** A field that the relay does not know, and the known one that its sender probably meant. */
export type LookAlike = { name: string; meant: string };

export const describeLookAlike = ({ name, meant }: LookAlike) => `${name} is not a field: did you mean ${meant}?`;

/** One validated inbound event. */
export type Event = {
  id: string;
  siteId: string;
  keyId: string;
  mode: Mode;
  /** As the sender wrote it, but for addresses, which are masked here and in the order id. Platforms match it in any case. */
  name: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  /** The order event id where an address was masked: it depends on what the sender wrote. Null where it can be computed. */
  orderEventId: string | null;
  /** When the conversion happened, in milliseconds. */
  time: number;
  receivedAt: number;
  person: Person;
  /** Inbound fields that a field mapping of the site names; sealed at rest. */
  extra: Record<string, unknown> | null;
  /** Sealed at rest. Absent, and not an empty list, where there are none: most events have none and pay nothing for it. */
  items?: readonly Item[] | undefined;
  /** Meta's id of a lead from one of its forms. Sealed at rest, and absent where there is none. */
  leadId?: string | undefined;
  /** Sealed with the extra fields. Absent where there are none. */
  lookAlikes?: readonly LookAlike[] | undefined;
};

/** No id of a click or a browser is longer: OpenAI's may be the longest. */
export const maxIdLength = 2048;

/** A click id exactly as the browser had it, and when it was first seen (milliseconds). */
export type SeenId = { value: string; seenAt: number };

/** The browser of a visit, which some platforms ask for. Unknown values are empty. */
export type Browser = {
  /** Without its query. */
  page: string;
  /** The origin of the previous page. */
  referrer: string;
  address: string;
  userAgent: string;
};

export type Visit = {
  /** null for ids that an operator entered. */
  visitorId: string | null;
  seenAt: number;
  browser: Browser | null;
  clickIds: Record<string, SeenId>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
  /** Absent when no signal was found. */
  verdict?: Verdict;
  /** A page reported the visit, besides the report that gives an email: see src/identity/evidence.ts. */
  isSeen?: true;
  /** The browser of the visit submitted the person's email in a form, by hand. Only visits of persons have it. */
  hasForm?: true;
  /** A form with an email was submitted in this very visit, by hand. */
  isSubmitted?: true;
  /** A visit to another domain of the site, which a link carried over: see src/identity/links.ts. */
  isCarried?: true;
};

/** The judgement whether a visit is a person's or a bot's. */
export type Verdict = {
  bot: boolean;
  /** 0 to 100. */
  score: number;
  /** `category:detail` in plain words, the heaviest first. */
  reasons: string[];
  /** The version of the signals and their points. */
  rules: number;
  /** Evidence in shadow, which counted for nothing, in the same form; absent if there was none. */
  shadows?: string[];
  /** The score at the time of the visit, where this is a later verdict. */
  firstScore?: number;
};

/** Every reported visit is counted in exactly one bucket. */
export const visitBuckets = ["people", "bots", "not a visit", "suppressed"] as const;
export type VisitBucket = (typeof visitBuckets)[number];

/** The identity record of a hashed email: its last few visits, newest first. */
export type Identity = {
  visits: Visit[];
  /** The first UTM fields ever seen. */
  firstUtm: Record<string, string>;
  /** The other forms of the email, hashed at capture: events may carry only hashed_email. */
  forms: Pick<Person, "emailGoogleSha256" | "emailMicrosoftSha256" | "emailRedditSha256">;
};

/** A browser seen by the tag: its visits, and the emails that it submitted. */
export type Visitor = {
  visits: Visit[];
  /** SHA-256 of the submitted emails, newest first. */
  emailSha256s: Sha256[];
};

/** Sources of a visitor's decision: the site's own call, Global Privacy Control, IAB TCF, Google Consent Mode. */
export const consentSources = ["own", "gpc", "tcf", "gcm"] as const;
export type ConsentSource = (typeof consentSources)[number];

export const consentStates = ["granted", "denied", "unknown"] as const;
export type ConsentState = (typeof consentStates)[number];

/** `unreadable`: the store failed, was too slow or held garbage. It counts as a refusal, never as `unknown`. */
export type ConsentReading = ConsentState | "unreadable";

/** A visit on the way to an event. It is a touch if it had a campaign or a new click id. */
export type PathVisit = {
  at: number;
  utmSource?: string;
  utmCampaign?: string;
  /** The name of the click id. */
  clickId?: string;
  /** A form with an email was submitted in it. */
  hasForm?: true;
};

/** The result of attribution for one event; stored with it and used on every attempt. */
export type Attribution = {
  consent: ConsentReading;
  /** The reason for withholding identifiers and contact hashes; null when they may be used. */
  withheld: "opted out" | "consent unreadable" | "no consent" | null;
  identity: "found" | "none" | "unreadable";
  clickIds: Record<string, SeenId>;
  browserIds: Record<string, string>;
  utm: Record<string, string>;
  browser: Browser | null;
  /** The visits before the event, oldest first. Absent where there are not two: then the fields above say all. */
  path?: readonly PathVisit[];
};

export const filterCodes = ["blocked domain", "disposable domain", "blocked person", "only bot visits", "late verdict"] as const;
/**
 * A reason for filtering an event. `detail` is the domain, or the first reason of a bot visit's verdict. A late verdict adds to "only bot
 * visits" that a visit was judged a person's when it came; its detail is the score of that time.
 */
export type FilterReason = { code: (typeof filterCodes)[number]; detail: string | null };

export function describeFilterReason({ code, detail }: FilterReason): string {
  if (code === "late verdict") return `${code}: counted as a person's when it came, with score ${detail}`;
  return detail === null ? code : `${code}: ${detail}`;
}

/** The part of an event that a platform receives, without everything that consent withholds. */
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
  /** Sets the platforms' own consent flags. `denied` whenever anything is withheld. */
  consent: ConsentState;
  extra: Record<string, unknown>;
  /** Absent where there are none. */
  items?: readonly Item[] | undefined;
  /** Absent where there is none, or it is withheld. */
  leadId?: string | undefined;
  /** Tax and shipping in `value`, where the sender gave them and a value rule asks for them. Not sent. */
  costs?: number;
  /** The conversion before a refund, where `value` is what is left of it. Value rules need it. Not sent. */
  whole?: { value: number | null; items?: readonly Item[] | undefined };
  /** What share of the whole is left, where a value rule has made `value`. Mapped amounts follow it. Not sent. */
  left?: { share: number; items?: readonly Item[] | undefined };
};

/** Our reading of a platform's answer, for one conversion of the call. */
export type Reading =
  | { kind: "accepted" }
  | { kind: "rejected"; error: string }
  /** `ofPlatform`: its body, and not the HTTP status, says that the platform takes nothing from the connection for now. */
  | { kind: "retry"; error: string; retryAfterSeconds?: number; ofPlatform?: true }
  | { kind: "unauthorized"; error: string };

export const deliveryStates = ["queued", "sent", "skipped", "rejected", "parked", "expired"] as const;
/** `queued` waits for its due time, `parked` for its connection; the others have ended. */
export type DeliveryState = (typeof deliveryStates)[number];

/** What the sender is told of a delivery, or of all deliveries to one platform. */
export type Result = { ok: true } | { ok: false; status: Exclude<DeliveryState, "sent">; error: string };

export const connectionStates = ["active", "paused", "needs reconnection"] as const;
export type ConnectionState = (typeof connectionStates)[number];

export const alertKinds = [
  "needs reconnection",
  "success rate",
  "silence",
  "webhook",
  "wrong keys",
  "queue",
  "host",
  "damaged data",
  "not counted",
  "quality",
  "accepted orders",
  "order feed",
  "data export",
  "source silence",
  "wrong signatures",
  "source failing",
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** The reason of a delivery that its connection leaves out by choice. */
export const unselectedReason = "event not selected";

/** The groups in which people look for a sender, in the order in which lists show them. */
export const sourceCategories = ["payments", "shops", "crm", "meetings", "forms", "others"] as const;

/** What became of a request, or of one of its entries. */
export const sourceOutcomes = [
  "accepted",
  "duplicate",
  "filtered",
  "learned",
  "ignored",
  "refused",
  "postponed",
  "waiting",
] as const;

/** Why authentic content is no conversion. */
export const ignoreReasons = [
  "not used",
  "not chosen",
  "not paid",
  "no value",
  "test request",
  "repeats another event",
  "no person",
  "unknown customer",
  "unknown order",
  "needs a lookup",
  "look-up failed",
  "wrong field",
  "too old",
  "unreadable body",
  "too many entries",
  "too much work",
] as const;
