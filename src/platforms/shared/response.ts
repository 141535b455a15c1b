// Reads platforms' responses. They come from third parties, so nothing here throws on odd ones.

import type { Reading } from "../../kernel/event.ts";
import type { PlatformResponse } from "../platform.ts";
import { parseJson, textAt } from "./json.ts";

/** Transient by the meaning of HTTP: the same request may succeed later. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

export const isSuccess = (status: number) => status >= 200 && status < 300;

/** Reads `Retry-After`, a number of seconds or a date, as seconds. */
export function retryAfterSeconds(header: string | undefined, now: number): number | undefined {
  if (!header) return undefined;
  const seconds = /^\d+$/.test(header.trim()) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : undefined;
}

export const accepted: Reading = { kind: "accepted" };
type Failure = Extract<Reading, { error: string }>;
export const rejected = (error: string): Failure => ({ kind: "rejected", error });
export const unauthorized = (error: string): Failure => ({ kind: "unauthorized", error });

/** `seconds` is the wait that the platform asks for, if it does. */
export function retryLater(error: string, seconds?: number): Failure {
  return { kind: "retry", error, ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) };
}

/** For a platform that says in the body, with any HTTP status, that it is down or limits calls: other events wait too. */
export const platformBusy = (error: string, seconds?: number): Failure => ({
  kind: "retry",
  error,
  ofPlatform: true,
  ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
});

/**
 * For a success without the body that the platform sends with one: cut off, empty, or a proxy's page. The platform may
 * have accepted the events or not; they are sent again with the same ids, so they count once.
 */
export function unreadable({ status, headers }: PlatformResponse, now: number): Failure {
  const wait = retryAfterSeconds(headers["retry-after"], now);
  return retryLater(`HTTP ${status}: the answer could not be read`, wait);
}

/**
 * Reads a success of a platform that documents no body for it. Every body counts, except one that cannot be the platform's:
 * cut off, a proxy's page, or half a JSON document.
 */
export function readBareSuccess(response: PlatformResponse, now: number): Reading {
  const body = response.body.trim();
  const isForeign = response.isCut || body.startsWith("<") || (/^[[{]/.test(body) && parseJson(body) === undefined);
  return isForeign ? unreadable(response, now) : accepted;
}

/** Reads the HTTP status alone; `detail` is the reason in the platform's own words. */
export function readStatus({ status, headers }: PlatformResponse, now: number, detail?: string): Reading {
  const because = detail ? `: ${shorten(detail)}` : "";
  if (isSuccess(status)) return accepted;
  if (status >= 300 && status < 400) return rejected(`HTTP ${status}: redirects are not followed`);
  if (status === 401 || status === 403) return unauthorized(`HTTP ${status}${because || ": not authorised"}`);
  if (!isTransientStatus(status)) return rejected(`HTTP ${status}${because}`);
  return retryLater(`HTTP ${status}${because}`, retryAfterSeconds(headers["retry-after"], now));
}

/** Reads an answer without the body that the platform documents: what is no success has its status. */
export const readWithoutBody = (response: PlatformResponse, now: number, detail?: string): Reading =>
  isSuccess(response.status) ? unreadable(response, now) : readStatus(response, now, detail);

/** Puts third-party text on one line of limited length. */
export function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

/** Returns undefined also for a body that was cut off. */
export function parseBody({ body, isCut }: PlatformResponse): unknown {
  return isCut ? undefined : parseJson(body);
}

/** Returns the message of an error body in one of the usual shapes; a body that is no JSON is the message itself. */
export function errorText({ body, isCut }: PlatformResponse): string {
  const parsed = isCut ? undefined : parseJson(body);
  if (parsed === undefined) return /^\s*[<{[]/.test(body) ? "" : shorten(body);
  if (typeof parsed === "string") return parsed;
  const paths = [["error", "message"], ["error"], ["message"], ["errors", 0, "message"], ["errors", 0], ["detail"]];
  for (const path of paths) {
    const text = textAt(parsed, ...path);
    if (text) return text;
  }
  return "";
}
