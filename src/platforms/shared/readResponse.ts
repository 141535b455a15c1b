// What platforms' files share in reading answers.

import type { Reading } from "../../kernel/event.ts";
import type { PlatformResponse } from "../platform.ts";

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

/** A reading of "later", with the time to wait where the platform names one. */
export function later(error: string, seconds?: number): Reading {
  return { outcome: "retry", error, ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }) };
}

/**
 * For a success that does not say so in the platform's own words: cut off, empty, or a page of something in between. The
 * events may have been taken or not; sent again they have the same ids, so they count once.
 */
export function unreadable(response: PlatformResponse): Reading {
  const wait = retryAfterSeconds(response.headers["retry-after"]);
  return later(`HTTP ${response.status}: the answer could not be read`, wait);
}

export const isSuccess = (status: number) => status >= 200 && status < 300;

/**
 * The reading that HTTP alone gives; platforms whose bodies say more read those first. `detail` is what the body says
 * of the reason, in the platform's words.
 */
export function readStatus(response: PlatformResponse, detail?: string): Reading {
  const { status } = response;
  const because = detail ? `: ${shorten(detail)}` : "";
  if (isSuccess(status)) return { outcome: "accepted" };
  if (status >= 300 && status < 400)
    return { outcome: "rejected", error: `HTTP ${status}: redirects are not followed` };
  if (status === 401 || status === 403)
    return { outcome: "unauthorized", error: `HTTP ${status}${because || ": not authorised"}` };
  if (!isTransientStatus(status)) return { outcome: "rejected", error: `HTTP ${status}${because}` };
  return later(`HTTP ${status}${because}`, retryAfterSeconds(response.headers["retry-after"]));
}

/** A stranger's words, bounded and on one line. */
export function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

/** The JSON of an answer, or undefined: answers come from strangers. */
export function parseJson(text: string): unknown {
  // Many say nothing at all, and an exception costs more than all else that is done with an answer.
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The JSON of an answer; undefined also where it was cut, whatever the rest looks like. */
export function bodyOf({ body, isCut }: PlatformResponse): unknown {
  return isCut ? undefined : parseJson(body);
}

/** `at(body, "error", "code")`: the value there, or undefined. Own keys of objects and places of arrays only. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

/** The text there; empty when there is none. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : typeof found === "number" ? String(found) : "";
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
