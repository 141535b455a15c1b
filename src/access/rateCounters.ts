// How often somebody may be wrong. Counted before the check, over all nodes, so that many guesses at once are no way
// round; taken back when the guess was right.

import { hash } from "node:crypto";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { networkOf } from "../http/transport.ts";
import type { Store } from "../store/store.ts";
import type { RateLimit } from "../store/access/rateCounters.ts";
import { Denied } from "../kernel/refusal.ts";

/** No address and no email is stored for this. */
const limit = (most: number, windowMs: number, ...about: string[]): RateLimit => ({
  key: hash("sha256", about.join("\n"), "base64url"),
  max: most,
  windowMs,
});

/**
 * Ten wrong passwords for an account from one network; a stranger elsewhere does not lock its owner out. All networks
 * together have more, so that many machines are no way round either.
 */
export const passwordTries = (email: string, address: string): RateLimit[] => [
  limit(10, 15 * minuteMs, "password here", email, networkOf(address)),
  limit(100, hourMs, "password", email),
  limit(50, 15 * minuteMs, "passwords", networkOf(address)),
];

/** Of the account alone, for when its owner has proved otherwise who they are. */
export const accountTries = (email: string, address: string) =>
  passwordTries(email, address)
    .slice(0, 2)
    .map(({ key }) => key);

/** Tickets of links cannot be guessed; this only keeps the noise down. */
export const ticketTries = (address: string): RateLimit[] => [
  limit(30, 15 * minuteMs, "tickets", networkOf(address)),
];

/** Codes for a sign-in whose password was right. The library also ends a sign-in after five wrong codes. */
export const codeTries = (address: string): RateLimit[] => [
  limit(30, 15 * minuteMs, "codes", networkOf(address)),
];

export const resetTries = (email: string, address: string): RateLimit[] => [
  limit(3, hourMs, "reset", email),
  limit(20, hourMs, "resets", networkOf(address)),
];

export const invitationTries = (actor: string): RateLimit[] => [limit(60, hourMs, "invitations", actor)];

/** A code of an authenticator app is good for at most 90 seconds, and here for one use. */
export const codeUse = (userId: string, code: string): RateLimit[] => [
  limit(1, 3 * minuteMs, "code", userId, code),
];

/** Counts a try, or says how long to wait. */
export async function countTry(
  store: Pick<Store, "rateCounters">,
  limits: readonly RateLimit[],
  now: number,
): Promise<void> {
  const until = await store.rateCounters.count(limits, now);
  if (until === 0) return;
  const seconds = Math.max(1, Math.ceil((until - now) / 1000));
  const minutes = Math.ceil(seconds / 60);
  const wait = minutes === 1 ? "a minute" : `${minutes} minutes`;
  throw new Denied("too_many", `Too many tries. Try again in ${wait}.`, seconds);
}

export async function giveBack(
  store: Pick<Store, "rateCounters">,
  limits: readonly RateLimit[],
): Promise<void> {
  await store.rateCounters.decrement(limits.map(({ key }) => key));
}
