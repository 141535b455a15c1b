// The visitor's id, kept by the browser for 400 days. Set by the server, because browsers forget what scripts set after a
// week; unreadable for scripts; sent to our own path only.

import { randomBase62 } from "../kernel/ids.ts";

const name = "__cc_v";
const length = 22;
/** Ours are letters and digits; those that pages propose have dashes. */
const form = `[0-9A-Za-z-]{${length}}`;
const pattern = new RegExp(`(?:^|;\\s*)${name}=(${form})(?:;|$)`);
const alone = new RegExp(`^${form}$`);

export const newVisitorId = () => randomBase62(length);

export function isVisitorId(value: unknown): value is string {
  return typeof value === "string" && alone.test(value);
}

export function visitorIn(cookies: string | undefined): string | null {
  return (cookies && pattern.exec(cookies)?.[1]) ?? null;
}

export function visitorCookie(visitorId: string): string {
  return `${name}=${visitorId}; Path=/__cc/; Max-Age=${400 * 86_400}; HttpOnly; Secure; SameSite=Lax`;
}
