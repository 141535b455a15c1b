// What a platform is: one object that declares everything the relay and the dashboard need to know, and two pure
// functions. It never sends; delivery/send.ts does.

import type { Conversion, Reading } from "../event.ts";

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

/** A connection as its platform sees it: every declared setting that was given, or its default. */
export type ConnectionSettings = Readonly<Record<string, string>>;

export type PlatformRequest = {
  method: "POST" | "PUT" | "PATCH";
  url: string;
  headers: Record<string, string>;
  body: string;
};

export type PlatformResponse = { status: number; headers: Record<string, string>; body: string };

/** An event in, the exact request out: test and documentation in one. */
export type Example = {
  title: string;
  settings: Record<string, string>;
  conversions: Conversion[];
  request: Omit<PlatformRequest, "body"> & { body: unknown };
};

export type Platform = {
  /** The key in `results`, and the name of the platform's file. */
  id: string;
  name: string;
  description: string;
  /** Where the API is described, and when that was last compared with this file. */
  docs: { url: string; checked: string } | null;
  settings: readonly Setting[];
  /** What makes two connections the same: connecting it again changes the first instead of adding one. */
  account(settings: ConnectionSettings): string;
  /** The customer chooses the address: only public ones over HTTPS, unless the operator allows more. */
  customerAddress?: boolean;
  /** Older conversions are refused by the platform. */
  maxAgeDays?: number;
  /** The most conversions that one request may carry. */
  batch: number;
  /** How many requests may be under way at once. */
  lanes: number;
  /** Why this conversion cannot be sent at all; null when it can. */
  unfit?(conversion: Conversion, settings: ConnectionSettings): string | null;
  toRequest(conversions: readonly Conversion[], settings: ConnectionSettings): PlatformRequest;
  /** One reading for each conversion of the request, in order. */
  readResponse(
    response: PlatformResponse,
    conversions: readonly Conversion[],
    settings: ConnectionSettings,
  ): Reading[];
  examples: readonly Example[];
};

/** Transient by HTTP's own meaning: the same request may pass later. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** `Retry-After` in seconds, from a number or a date. */
export function retryAfterSeconds(header: string | undefined, now: number = Date.now()): number | undefined {
  if (!header) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
}

/** The reading that HTTP alone gives; platforms whose bodies say more read those first. */
export function readStatus(response: PlatformResponse): Reading {
  const { status } = response;
  if (status >= 200 && status < 300) return { said: "accepted" };
  if (status >= 300 && status < 400)
    return { said: "refused", error: `HTTP ${status}: redirects are not followed` };
  if (status === 401 || status === 403)
    return { said: "unauthorised", error: `HTTP ${status}: not authorised` };
  if (!isTransientStatus(status)) return { said: "refused", error: `HTTP ${status}` };
  const wait = retryAfterSeconds(response.headers["retry-after"]);
  return {
    said: "later",
    error: `HTTP ${status}`,
    ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
  };
}
