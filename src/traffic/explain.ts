// Explains a verdict: every signal with its evidence, and the parts that were not observed.

import { commonUserAgents, type VisitRules } from "./lists.ts";
import { findNetwork } from "./networks/networks.ts";
import { unobserved, type Observation, type ObservedHeaders } from "./observation.ts";
import { modesOf } from "./modes.ts";
import { judge } from "./verdict.ts";

type VisitDescription = {
  userAgent: string | undefined;
  address: string | undefined;
  headers: ObservedHeaders | null;
};

/** Builds an observation from a description. Parts that are left out are not observed. */
export function observeDescription(
  { userAgent, address, headers }: VisitDescription,
  countryOf: (address: string) => string | null,
): Observation {
  return {
    ...unobserved,
    // An address without a user agent is judged with one that has no signal.
    userAgent: userAgent ?? commonUserAgents[0],
    address: address ?? "",
    country: address === undefined ? null : countryOf(address),
    headers,
  };
}

export function explainVerdict(seen: Observation, rules: VisitRules) {
  const { verdict, findings, shadows, rule } = judge(seen, rules);
  const found = new Map([...findings, ...shadows].map(({ signal, evidence }) => [signal, evidence]));
  return {
    verdict,
    siteRule: rule,
    network: findNetwork(seen.address),
    country: seen.country,
    notLookedAt: listUnobserved(seen),
    signals: [...modesOf(rules).of].map(([signal, mode]) => {
      const { category, name, points, why } = signal;
      return { category, name, points, why, mode, fired: found.has(signal), evidence: found.get(signal) ?? null };
    }),
  };
}

function listUnobserved(seen: Observation): string[] {
  return (["headers", "handshake", "script", "submit", "use", "frequency"] as const).filter((part) => seen[part] === null);
}
