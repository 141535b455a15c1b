// A platform is one object that declares everything the relay, the dashboard and the documentation need to know, and a few
// pure functions: the clock is an argument. It never sends; delivery/send.ts does.

import type { Confirmation, CountedAs } from "../kernel/confirmation.ts";
import type { Conversion, Reading } from "../kernel/event.ts";
import type { QualityReport } from "../kernel/quality.ts";

export type Setting = {
  name: string;
  label: string;
  help: string;
  required?: boolean;
  /** Sealed at rest and never shown again. */
  secret?: boolean;
  /** A URL that may hold a token in its path: sealed too, and shown by its origin. */
  address?: boolean;
  /** Its values have several lines, such as JSON: the dashboard draws a larger field. */
  multiline?: boolean;
  default?: string;
  /** All values that there are: the dashboard draws a list, or a switch for on and off. */
  choices?: readonly string[];
  /** The relay creates it where it is not given, and shows it once; people can rotate it (shared/signature.ts). */
  signing?: boolean;
  /** The code without which test events are skipped: the dashboard asks for it where it sends one. */
  testCode?: boolean;
  /** Says in one sentence what is wrong with a value; null when it is fine. */
  check?: (value: string) => string | null;
};

/**
 * A connection as its platform sees it: every declared setting that was given, or its default. `event.NAME` is the name
 * under which an event goes, or the list of its targets (eventNames.ts), `map.FIELD` the source of a mapped field (mapping.ts).
 */
export type ConnectionSettings = Readonly<Record<string, string>>;

export const mapSetting = (field: string) => `map.${field}`;

export type PlatformRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH";
  url: string;
  headers: Record<string, string>;
  /** Empty for GET. */
  body: string;
  /** Secrets that belong in the query: appended to the URL when it is sent, never shown or stored. */
  secretQuery?: Record<string, string>;
};

export type PlatformResponse = {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The body was too long and was cut off. */
  isCut?: true;
};

/**
 * How a connection is verified before its first conversion. `test event`: by a sample in the platform's own test mode, which
 * counts nothing. `call`: by another harmless call, mostly a read. `nothing`: the platform has no such call. `relay`: the
 * platform is part of the relay.
 */
export type Verification =
  | { by: "test event" }
  | { by: "relay" }
  | {
      by: "call";
      request: PlatformRequest;
      isVerification(response: PlatformResponse): boolean;
      /** The reason where the response is no verification and no error of the platform either. */
      otherwise: string;
      /** The settings that this call does not check. */
      unchecked?: string;
    }
  | { by: "nothing"; reason: string };

/**
 * A platform's answer about conversions that it accepted. `confirmations` has one entry for each, in order; null where the
 * platform has not decided yet. A platform that gives counts and names no conversion adds `tally`: as many entries, in any
 * order, of which sums are made.
 */
export type ConfirmationReading =
  | { kind: "answered"; confirmations: (Confirmation | null)[]; tally?: CountedAs[] }
  | Extract<Reading, { error: string }>;

/** Some platforms need a second call, for an id that the first one returns. */
export type ConfirmationStep = ConfirmationReading | { kind: "next"; request: PlatformRequest };

/** A conversion that the platform accepted. */
export type AcceptedConversion = {
  name: string;
  acceptedAt: number;
  /** The response that accepted it. */
  answer: string;
};

export type ConfirmationQuestion = {
  subject: string;
  /** The number of conversions. */
  conversions: number;
  /** By `keyOf`, one for each conversion; null where it is not known. Empty without `keyOf`. */
  keys: readonly (string | null)[];
  settings: ConnectionSettings;
};

/** Declares how the platform is asked what became of accepted conversions; delivery/confirmations asks. */
export type Confirmations = {
  /** Every conversion that is accepted can be asked for. Where it is false, those without an answer say nothing. */
  coversAll: boolean;
  /** How long after the acceptance the platform is asked, until it has decided. What is open after the last time stays unknown. */
  askAfterMinutes: readonly number[];
  /** How long after the acceptance a conversion is sent again that the platform did not count for a temporary reason. */
  retryAfterMinutes: number;
  /** The most calls a minute, of all connections that share a quota. They also count against the quota of the platform. */
  perMinute: number;
  /**
   * Names the question that covers a conversion: conversions with the same subject are asked for together. Null where the
   * platform cannot be asked. Never throws.
   */
  subjectOf(conversion: AcceptedConversion, settings: ConnectionSettings): string | null;
  /** Returns the id by which the platform names a conversion in its answers. Absent where it names none. */
  keyOf?(conversion: Pick<Conversion, "orderId" | "platformEventId">): string;
  toRequest(subject: string, settings: ConnectionSettings, keys: ConfirmationQuestion["keys"]): PlatformRequest;
  /** Never throws. */
  read(response: PlatformResponse, question: ConfirmationQuestion, now: number): ConfirmationStep;
};

export type QualityReading = { kind: "answered"; reports: QualityReport[] } | Extract<Reading, { error: string }>;

/** Declares how the platform is asked, once a day, for the quality of the events that it received. */
export type QualitySource = {
  /** Null where the settings do not suffice. */
  toRequest(settings: ConnectionSettings): PlatformRequest | null;
  /** Never throws. */
  read(response: PlatformResponse, now: number): QualityReading;
  /** A second call, for notes that some accounts do not have. What it does not answer is left out. */
  notes?: {
    toRequest(settings: ConnectionSettings): PlatformRequest;
    /** Returns notes to add to the reports of the first call, by event; none where they cannot be read. Never throws. */
    read(response: PlatformResponse): QualityNotes[];
  };
};

export type QualityNotes = { event: string; notes: string[] };

/** A conversion that the platform accepted, as it was sent, and what is left of its value after a refund: 0 for nothing. */
export type Correction = {
  conversion: Conversion;
  value: number;
  at: number;
};

/** Declares how the value of an accepted conversion is changed, or the conversion taken back; delivery/corrections does it. */
export type Corrections = {
  /** The platform takes no corrections of conversions that are older. */
  maxAgeDays: number;
  /** Says what the platform does with a conversion of which nothing is left. */
  effect: string;
  /** What the platform finds a conversion by, of what settings decide: with another one it would count a new conversion, or find none. */
  foundBy: { name: string; of(conversion: Conversion, settings: ConnectionSettings): string };
  /** Says why this conversion cannot be corrected; null when it can. */
  cannotCorrect?(conversion: Conversion, settings: ConnectionSettings): string | null;
  toRequest(correction: Correction, settings: ConnectionSettings, now: number): PlatformRequest;
  /** Never throws. */
  read(response: PlatformResponse, correction: Correction, settings: ConnectionSettings, now: number): Reading;
};

/** Fills a setting from the platform's own lists: accounts, pixels, conversion actions. */
export type Picker = {
  setting: string;
  /** Settings that must be known first. */
  needs: readonly string[];
  toRequest(settings: ConnectionSettings): PlatformRequest;
  /** The choices in a successful response; empty when there are none. Never throws. */
  read(body: string): { value: string; label: string }[];
};

/** Texts for the documentation, in short sentences. */
type Guide = {
  /** The steps to get the credentials. */
  credentials: readonly string[];
  /** The platform's fields, and what each is filled from. */
  sends: readonly (readonly [field: string, from: string])[];
  /** Data that is not sent, and the reason. */
  notSent: readonly string[];
  /** The effect of an opt-out; absent where such conversions are skipped because the platform has no consent flag. */
  consent?: string;
  /** The handling of events that come with a test key; absent where the platform has no test mode. */
  testMode?: string;
  limits: readonly string[];
};

/** The reasons of several platforms not to send a conversion (shared/skips.ts). */
export type UsualSkip = "no_test_mode" | "no_test_code" | "opted_out" | "no_refunds" | "no_target" | "no_match_key" | "no_value";

/** A reason not to send a conversion. The code stays when the sentence changes. */
export type SkipRule = {
  code: string;
  reason: string;
  applies(this: void, conversion: Conversion, settings: ConnectionSettings): boolean;
};

export type EventNames = {
  /** The platform's names for the usual events (shared/usualEvents.ts), whose other names lead here too. */
  standard: Readonly<Record<string, string>>;
  /** All other events: sent under the sender's own name, under this one, or not at all. */
  others: "own name" | { name: string } | "not sent";
  /** The platform's rules for names of custom events; a sender's own name is changed to follow them. */
  customNames?: NameRules;
  /** The platform's word for the target of an event, where it has no names. */
  target?: string;
  /** The name with which the platform requires a value. */
  withValue?: string;
  /** An event may have several targets, such as conversion actions: `event.purchase=1001,1002`. */
  several?: true;
  /** The setting with the targets of all events without their own. */
  defaultSetting?: string;
  /** A connection may choose one of these, or anything that `check` accepts. */
  choices?: readonly string[];
  /** Says in one sentence what is wrong with a chosen name; null when it is fine. */
  check?: (name: string) => string | null;
};

/** Data and not functions, because the dashboard applies the rules too. */
export type NameRules = {
  maxLength?: number;
  /** `identifier`: ASCII letters, digits and underscores that begin with a letter. Any characters by default. */
  form?: "identifier";
  /** Names that the platform keeps for itself, in lower case; compared without regard to case. */
  reserved?: readonly string[];
  reservedPrefixes?: readonly string[];
};

/** A field of a platform that a connection may fill. `name` is its path in one event: `custom_data.content_name`. */
export type Field = {
  name: string;
  help: string;
  type: "text" | "number";
  /** An amount of the whole order: what is left of it after a refund is sent. */
  isAmount?: true;
  /** Turns a mapped value into what the platform expects; undefined leaves the field out. */
  shape?: (value: string | number) => unknown;
};

/** Declares the sign-in at a platform; delivery/oauth carries it out. */
export type OAuth2 = {
  /** Where people agree, and where codes and refresh tokens are exchanged. */
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  scopeSeparator?: " " | ",";
  pkce: boolean;
  /** A token request carries the operator's client id and secret in its body or in a Basic header. */
  clientAuth: "body" | "basic";
  /** The encoding of a token request; `form` by default. */
  tokenBody?: "form" | "json";
  /** Where this platform's parameter names differ from OAuth's: `client_id`, `client_secret`, `code`, `access_token` … */
  names?: Readonly<Record<string, string>>;
  /** More parameters of the authorization page, and of token requests. */
  authorizeParams?: Readonly<Record<string, string>>;
  tokenParams?: Readonly<Record<string, string>>;
  /** The object in a token response that holds the token, where it is not the response itself. */
  tokenIn?: string;
  /** A refresh gives a new refresh token, keeps the old one, or there is none. */
  refresh: "rotates" | "keeps" | "none";
  /** The token reads reports: conversions are sent without it, and never wait for it. */
  isForReading?: true;
  /**
   * Exchanges a short-lived token for a long-lived one right after sign-in. In the parameters {client_id},
   * {client_secret} and {access_token} are replaced.
   */
  exchange?: { url: string; params: Readonly<Record<string, string>> };
};

export type Platform = {
  /** The key in `results`, and the name of the platform's folder. */
  id: string;
  name: string;
  description: string;
  /** The documentation of the API, and when it was last compared with this object. */
  docs: { url: string; checked: string } | null;
  guide?: Guide;
  /** Lets people sign in instead of pasting a token. Fills access_token, refresh_token and expires_at. */
  oauth?: OAuth2;
  settings: readonly Setting[];
  /** Sets of settings, one of which must be complete, where no single setting is required. */
  requires?: readonly (readonly string[])[];
  pickers?: readonly Picker[];
  /** Identifies a connection: connecting the same account again changes the connection instead of adding one. */
  account(settings: ConnectionSettings): string;
  /** The customer chooses the URL: only public ones over HTTPS, unless the operator allows more. */
  customerAddress?: boolean;
  /** The click ids and browser ids that it accepts. */
  ids?: readonly string[];
  /** Its own names of events. */
  events?: EventNames;
  /** Its fields that a connection may map. */
  fields?: readonly Field[];
  /** It has no field for the time: a conversion counts as of its arrival, so past ones are not sent to it. */
  countsOnArrival?: true;
  /** The platform rejects conversions that are older. */
  maxAgeDays?: number | ((conversion: Conversion, settings: ConnectionSettings) => number);
  /** The maximum number of events in one request: of conversions, unless `size` says otherwise. */
  batch: number;
  /** The maximum number of items in one request, where the platform limits its bytes to less than some megabytes. */
  batchItems?: number;
  /** The maximum number of concurrent requests. */
  lanes: number;
  /** The maximum number of requests in a period: of a connection, or of all that use the operator's app. */
  quota?: { requests: number; seconds: number; sharedBy?: "app" };
  /** How many of the events of a request a conversion takes, where it has several targets; 1 by default. */
  size?(conversion: Conversion, settings: ConnectionSettings): number;
  /** Conversions of different groups do not share a request. */
  group?(conversion: Conversion, settings: ConnectionSettings, now: number): string;
  /** The first that applies to a conversion is why it is not sent. */
  skips?: readonly (UsualSkip | SkipRule)[];
  /** A conversion without any of these cannot be attributed. */
  matchKeys?: { names: string; has(this: void, conversion: Conversion, settings: ConnectionSettings): unknown };
  toRequest(conversions: readonly Conversion[], settings: ConnectionSettings, now: number): PlatformRequest;
  /** Returns one reading for each conversion of the request, in order. Never throws. */
  readResponse(
    response: PlatformResponse,
    conversions: readonly Conversion[],
    settings: ConnectionSettings,
    now: number,
  ): Reading[];
  /** Returns what an answer that accepts conversions warns of; null without any. Absent where answers have no warnings. Never throws. */
  warnings?(answer: string): string | null;
  /** Says how the platform is asked whether it would take conversions. Never throws. */
  verify(settings: ConnectionSettings, now: number): Verification;
  /** It accepts every request, so an accepted conversion proves nothing. */
  acceptsEverything?: true;
  /** Absent where the platform says nothing more of a conversion after it accepted it. */
  confirmations?: Confirmations;
  /** Absent where a conversion cannot be taken back. */
  corrections?: Corrections;
  /** Absent where the platform does not say how well events can be matched. */
  quality?: QualitySource;
};
