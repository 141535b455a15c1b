// What a platform is: one object that declares everything the relay, the dashboard and the documentation need to know,
// and a few pure functions. It never sends; delivery/send.ts does.

import type { Conversion, Reading } from "../kernel/event.ts";
import type { Field } from "./shared/mapping.ts";
import type { EventNames } from "./shared/eventNames.ts";
import type { OAuth2 } from "./shared/oauth.ts";

export type Setting = {
  name: string;
  label: string;
  help: string;
  required?: boolean;
  /** Sealed at rest and never shown again. */
  secret?: boolean;
  /** An address that may hold a token in its path: sealed too, and shown by its origin. */
  address?: boolean;
  default?: string;
  /** One sentence that says what is wrong with a value; null when it is fine. */
  check?: (value: string) => string | null;
};

/**
 * A connection as its platform sees it: every declared setting that was given, or its default. `event.NAME` says under
 * which name an event goes (names.ts), `map.FIELD` where a field of the platform comes from (mapping.ts).
 */
export type ConnectionSettings = Readonly<Record<string, string>>;

export type PlatformRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH";
  url: string;
  headers: Record<string, string>;
  /** Empty for GET. */
  body: string;
  /** Secrets that a platform wants in the address: joined to it when it is sent, never shown or stored. */
  secretQuery?: Record<string, string>;
};

export type PlatformResponse = {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** It was too long to be read whole. */
  isCut?: true;
};

/** An event in, the exact request out, and how the platform answers it: test and documentation in one. */
export type Example = {
  title: string;
  settings: Record<string, string>;
  conversions: Conversion[];
  request: Omit<PlatformRequest, "body"> & { body: unknown };
};

/** An answer as the platform gives it, and what it means for each of `conversions` conversions. */
export type AnswerExample = {
  title: string;
  conversions: number;
  status: number;
  headers?: Record<string, string>;
  body: string;
  readings: Reading[];
};

/** Fills a setting from the platform's own lists: accounts, pixels, conversion actions. */
export type Picker = {
  setting: string;
  /** Settings that must be known first. */
  needs: readonly string[];
  toRequest(settings: ConnectionSettings): PlatformRequest;
  /** The choices in a successful answer; empty when there are none. Never throws. */
  read(body: string): { value: string; label: string }[];
};

/** What the documentation says beside that which the object declares. Short sentences. */
export type Guide = {
  /** How to get the credentials, step by step. */
  credentials: readonly string[];
  /** What is sent from what: the platform's field, and ours. */
  sends: readonly (readonly [field: string, from: string])[];
  /** What is not sent, and why. */
  notSent: readonly string[];
  /** What happens when a person refused. */
  consent: string;
  /** What becomes of events that are sent with a test key. */
  testMode: string;
  limits: readonly string[];
};

export type Platform = {
  /** The key in `results`, and the name of the platform's file. */
  id: string;
  name: string;
  description: string;
  /** Where the API is described, and when that was last compared with this file. */
  docs: { url: string; checked: string } | null;
  guide?: Guide;
  /** How people sign in there, where they need not paste a token. Fills access_token, refresh_token and expires_at. */
  oauth?: OAuth2;
  settings: readonly Setting[];
  /** Where no setting is required by itself: one of these sets is. */
  requires?: readonly (readonly string[])[];
  pickers?: readonly Picker[];
  /** What makes two connections the same: connecting it again changes the first instead of adding one. */
  account(settings: ConnectionSettings): string;
  /** The customer chooses the address: only public ones over HTTPS, unless the operator allows more. */
  customerAddress?: boolean;
  /** The click ids and browser ids that it takes. */
  ids?: readonly string[];
  /** Its own names of events. */
  events?: EventNames;
  /** Its fields that a connection may fill as it likes. */
  fields?: readonly Field[];
  /** Older conversions are refused by the platform. */
  maxAgeDays?: number | ((conversion: Conversion, settings: ConnectionSettings) => number);
  /** The most conversions that one request may carry. */
  batch: number;
  /** How many requests may be under way at once. */
  lanes: number;
  /** How many requests may be made in how many seconds: by a connection, or by all that use the operator's app. */
  quota?: { requests: number; seconds: number; sharedBy?: "app" };
  /** Conversions of different groups do not share a request. */
  group?(conversion: Conversion, settings: ConnectionSettings, now: number): string;
  /** Why this conversion cannot be sent at all; null when it can. */
  unfit?(conversion: Conversion, settings: ConnectionSettings, now: number): string | null;
  toRequest(conversions: readonly Conversion[], settings: ConnectionSettings, now: number): PlatformRequest;
  /** One reading for each conversion of the request, in order. Never throws. */
  readResponse(
    response: PlatformResponse,
    conversions: readonly Conversion[],
    settings: ConnectionSettings,
  ): Reading[];
  examples: readonly Example[];
  /** The first is the answer to a request that was accepted. */
  answers?: readonly AnswerExample[];
};
