// A verdict explained: everything that was asked of a visit, and what it answered.

import { commonUserAgents } from "./lists.ts";
import { findNetwork } from "./networks/networks.ts";
import type { Observation, ObservedHeaders } from "./observation.ts";
import { signals } from "./signals.ts";
import type { Judgement } from "./verdict.ts";

export type VisitDescription = {
  userAgent: string | undefined;
  address: string | undefined;
  headers: ObservedHeaders | null;
};

/** A visit that somebody describes. What they leave out is not looked at. */
export function observeDescription(
  { userAgent, address, headers }: VisitDescription,
  countryOf: (address: string) => string | null,
): Observation {
  return {
    // A check of an address alone says nothing about user agents.
    userAgent: userAgent ?? commonUserAgents[0],
    address: address ?? "",
    country: address === undefined ? null : countryOf(address),
    headers,
    script: null,
    submit: null,
    frequency: null,
  };
}

export function explainVerdict(seen: Observation, { verdict, findings, listed }: Judgement) {
  const found = new Map(findings.map(({ signal, evidence }) => [signal, evidence]));
  return {
    verdict,
    siteRule: listed,
    network: findNetwork(seen.address),
    country: seen.country,
    notLookedAt: listUnobserved(seen),
    signals: signals.map((signal) => {
      const { category, name, points, why } = signal;
      return { category, name, points, why, fired: found.has(signal), evidence: found.get(signal) ?? null };
    }),
  };
}

export function listUnobserved(seen: Observation): string[] {
  return (["headers", "script", "submit", "frequency"] as const).filter((part) => seen[part] === null);
}
