// Limits the rate of guesses. An attempt is counted before it is checked, over all nodes, so that parallel guesses cannot
// exceed the limit; a correct attempt is uncounted.

import { hash } from "node:crypto";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { networkOf } from "../http/transport.ts";
import type { Store } from "../store/store.ts";
import type { RateLimit } from "../store/access/rateCounters.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied } from "../kernel/refusal.ts";
import type { Actor } from "./actor.ts";

/** The counter's key is a hash: no IP address and no email is stored. */
const limit = (max: number, windowMs: number, ...about: string[]): RateLimit => ({
  key: hash("sha256", about.join("\n"), "base64url"),
  max,
  windowMs,
});

/**
 * Allows ten wrong passwords per account and network, so that a stranger elsewhere cannot lock the account's owner out.
 * Higher limits per account and per network stop guesses from many machines and for many accounts.
 */
export const passwordLimits = (email: string, address: string): RateLimit[] => [
  limit(10, 15 * minuteMs, "password here", email, networkOf(address)),
  limit(100, hourMs, "password", email),
  limit(50, 15 * minuteMs, "passwords", networkOf(address)),
];

/** The account's own counters, which a finished password reset clears. */
export const accountLimitKeys = (email: string, address: string) =>
  passwordLimits(email, address)
    .slice(0, 2)
    .map(({ key }) => key);

/** Tokens of one-time links cannot be guessed; this limit only saves work. */
export const linkLimits = (address: string): RateLimit[] => [limit(30, 15 * minuteMs, "links", networkOf(address))];

/** Attempts to open a shared link. A link that works does not count. */
export const sharedLinkLimits = (address: string): RateLimit[] => [limit(30, 15 * minuteMs, "shared links", networkOf(address))];

export const linkPasswordLimits = (id: string, address: string): RateLimit[] => [
  limit(10, 15 * minuteMs, "link password here", id, networkOf(address)),
  limit(100, hourMs, "link password", id),
];

/** Two-factor codes. better-auth also ends a sign-in after five wrong codes. */
export const codeLimits = (address: string): RateLimit[] => [limit(30, 15 * minuteMs, "codes", networkOf(address))];

export const resetLimits = (email: string, address: string): RateLimit[] => [
  limit(3, hourMs, "reset", email),
  limit(20, hourMs, "resets", networkOf(address)),
];

export const invitationLimits = (actor: string): RateLimit[] => [limit(60, hourMs, "invitations", actor)];

/** Accepts a code of an authenticator app once; it is valid for at most 90 seconds. */
export const codeUse = (userId: string, code: string): RateLimit[] => [limit(1, 3 * minuteMs, "code", userId, code)];

/** Limits test messages per site, or per account for its devices, and quarter of an hour: they are sent in the operator's name. */
export const testLimits = (kind: "alert" | "connection" | "webhook" | "device", about: string): RateLimit[] => [
  limit(kind === "alert" || kind === "device" ? 20 : 100, 15 * minuteMs, "test", kind, about),
];

/** Counts a test message. Those of the command line are not limited. */
export async function countTest(
  store: Pick<Store, "rateCounters">,
  actor: Actor | null,
  limits: readonly RateLimit[],
  now: number,
): Promise<void> {
  if (actor?.kind !== "operator") await countAttempt(store, limits, now);
}

/** Counts an attempt; throws with the time to wait once the limit is reached. */
export async function countAttempt(store: Pick<Store, "rateCounters">, limits: readonly RateLimit[], now: number): Promise<void> {
  const until = await store.rateCounters.count(limits, now);
  if (until === 0) return;
  const seconds = Math.max(1, Math.ceil((until - now) / 1000));
  const minutes = Math.ceil(seconds / 60);
  const said = minutes === 1 ? say("too_many_attempts") : say("too_many_attempts_long", { minutes });
  throw new Denied("too_many", said, seconds);
}

export async function uncountAttempt(store: Pick<Store, "rateCounters">, limits: readonly RateLimit[]): Promise<void> {
  await store.rateCounters.decrement(limits.map(({ key }) => key));
}
