// The visitor's id, kept by the browser for 400 days. Set by the server, because browsers forget what scripts set after a
// week; unreadable for scripts; sent to our own path only.

import { randomBase62 } from "../ids.ts";

const name = "__cc_v";
const length = 22;
const pattern = new RegExp(`(?:^|;\\s*)${name}=([0-9A-Za-z]{${length}})(?:;|$)`);

export const newVisitorId = () => randomBase62(length);

export function visitorIn(cookies: string | undefined): string | null {
  return (cookies && pattern.exec(cookies)?.[1]) ?? null;
}

export function visitorCookie(visitorId: string): string {
  return `${name}=${visitorId}; Path=/__cc/; Max-Age=${400 * 86_400}; HttpOnly; Secure; SameSite=Lax`;
}
