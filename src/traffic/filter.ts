// The site's own rules: which events are filtered whatever platform they are for.

import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import type { FilterReason, Identity, Sha256 } from "../kernel/event.ts";

export type FilterRules = {
  blockedDomains: readonly string[];
  blockDisposable: boolean;
  blockedPersons: readonly string[];
  /** Hashed emails that are never filtered. */
  allowedPersons: readonly string[];
};

export type Judged = {
  emailSha256: Sha256;
  /** Known only when the sender gave the plain address. */
  emailDomain: string | null;
  identity: Identity | null;
};

let disposable: ReadonlySet<string> | null = null;

/** The package makes its set anew for each question; ours is made by the first one. */
function isDisposable(domain: string): boolean {
  disposable ??= disposableEmailBlocklistSet();
  return disposable.has(domain);
}

/** Why an event is filtered; empty when it is not. */
export function filterReasons(
  { emailSha256, emailDomain, identity }: Judged,
  rules: FilterRules,
): FilterReason[] {
  if (rules.allowedPersons.includes(emailSha256)) return [];
  const reasons: FilterReason[] = [];
  if (emailDomain) {
    const blocked = rules.blockedDomains.find(
      (domain) => emailDomain === domain || emailDomain.endsWith(`.${domain}`),
    );
    if (blocked) reasons.push(`blocked domain:${blocked}`);
    if (rules.blockDisposable && isDisposable(emailDomain)) reasons.push(`disposable domain:${emailDomain}`);
  }
  if (rules.blockedPersons.includes(emailSha256)) reasons.push("blocked person");
  // One human visit is enough: or anybody who knows an email could make its conversions vanish by a bot's visit.
  if (identity?.visits.length && identity.visits.every((visit) => visit.verdict?.bot)) {
    const seen = new Set(identity.visits.map((visit) => visit.verdict?.reasons[0] ?? ""));
    reasons.push(`only bot visits:${[...seen].join(", ")}`);
  }
  return reasons;
}
