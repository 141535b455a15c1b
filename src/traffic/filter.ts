// Decides which events are filtered, whatever platform they are for: by the site's own rules and by past visits.

import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import type { Identity, FilterReason, Sha256, Visit } from "../kernel/event.ts";
import { dayMs } from "../kernel/time.ts";

export type FilterRules = {
  blockedDomains: readonly string[];
  blockDisposable: boolean;
  blockedPersons: readonly string[];
  /** SHA-256 of the emails that are never filtered. */
  allowedPersons: readonly string[];
};

export type FilterInput = {
  /** Undefined when the sender gave none. */
  emailSha256: Sha256 | undefined;
  /** null when the sender gave only the hash. */
  emailDomain: string | null;
  identity: Identity | null;
};

/**
 * A browser that shows itself as a bot's when it submits a form was one when it followed the advertisement: its earlier visits
 * are a bot's too, whatever was known then. Other browsers of the same person are judged by themselves.
 */
export function isBotVisit({ visitorId, seenAt, verdict }: Visit, { visits }: Pick<Identity, "visits">): boolean {
  if (verdict?.bot) return true;
  if (visitorId === null) return false;
  return visits.some(
    (other) => other.verdict?.bot && other.visitorId === visitorId && Math.abs(other.seenAt - seenAt) <= sameUseMs,
  );
}

/** A browser may be sold, or a test may run in it: only visits of the same day are judged together. */
const sameUseMs = dayMs;

let disposable: ReadonlySet<string> | null = null;

/** The package builds a new set on every call, so the first call's set is kept. */
function isDisposable(domain: string): boolean {
  disposable ??= disposableEmailBlocklistSet();
  return disposable.has(domain);
}

const isListed = (persons: readonly string[], emailSha256: Sha256 | undefined) =>
  emailSha256 !== undefined && persons.includes(emailSha256);

/** Returns no reasons when the event is not filtered. */
export function filterReasons({ emailSha256, emailDomain, identity }: FilterInput, rules: FilterRules): FilterReason[] {
  if (isListed(rules.allowedPersons, emailSha256)) return [];
  const reasons: FilterReason[] = [];
  if (emailDomain) {
    const blocked = rules.blockedDomains.find((domain) => emailDomain === domain || emailDomain.endsWith(`.${domain}`));
    if (blocked) reasons.push({ code: "blocked domain", detail: blocked });
    if (rules.blockDisposable && isDisposable(emailDomain)) reasons.push({ code: "disposable domain", detail: emailDomain });
  }
  if (isListed(rules.blockedPersons, emailSha256)) reasons.push({ code: "blocked person", detail: null });
  // One human visit is enough to pass. Otherwise anyone who knows an email could suppress its conversions with a bot.
  if (identity?.visits.length && identity.visits.every((visit) => isBotVisit(visit, identity))) {
    const details = new Set(identity.visits.flatMap((visit) => (visit.verdict?.bot ? [visit.verdict.reasons[0] ?? null] : [])));
    for (const detail of details) reasons.push({ code: "only bot visits", detail });
    const firstScores = identity.visits.flatMap(
      ({ verdict }) => verdict?.firstScore ?? (verdict?.bot ? [] : (verdict?.score ?? 0)),
    );
    for (const score of new Set(firstScores)) reasons.push({ code: "late verdict", detail: String(score) });
  }
  return reasons;
}
