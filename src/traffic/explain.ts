// A verdict explained: everything that was asked of a visit, and what it answered.

import { ordinaryUserAgents } from "./lists.ts";
import { networkKind } from "./networks/networks.ts";
import type { Observation, ObservedHeaders } from "./observation.ts";
import { signals } from "./signals.ts";
import type { Judgement } from "./verdict.ts";

export type Described = {
  userAgent: string | undefined;
  address: string | undefined;
  headers: ObservedHeaders | null;
};

/** A visit that somebody describes. What they leave out is not looked at. */
export function describedVisit(
  { userAgent, address, headers }: Described,
  countryOf: (address: string) => string | null,
): Observation {
  return {
    // A check of an address alone says nothing about user agents.
    userAgent: userAgent ?? ordinaryUserAgents[0],
    address: address ?? "",
    country: address === undefined ? null : countryOf(address),
    headers,
    script: null,
    submit: null,
    frequency: null,
  };
}

export function explained(seen: Observation, { verdict, findings, listed }: Judgement) {
  const found = new Map(findings.map(({ signal, evidence }) => [signal, evidence]));
  return {
    verdict,
    siteRule: listed,
    network: networkKind(seen.address),
    country: seen.country,
    notLookedAt: notLookedAt(seen),
    signals: signals.map((signal) => {
      const { category, name, points, why } = signal;
      return { category, name, points, why, fired: found.has(signal), evidence: found.get(signal) ?? null };
    }),
  };
}

export function notLookedAt(seen: Observation): string[] {
  return (["headers", "script", "submit", "frequency"] as const).filter((part) => seen[part] === null);
}
