// A site's allow and deny lists for visits. They override the signals, and allow overrides deny.

import { matchNetwork } from "../http/transport.ts";
import type { Observation } from "./observation.ts";

export type VisitRules = {
  /** The minimum score of a bot. */
  botThreshold: number;
  /** The modes of signals that the site chose: see modes.ts. */
  evidence: readonly string[];
  allowUserAgents: readonly string[];
  denyUserAgents: readonly string[];
  allowNetworks: readonly string[];
  denyNetworks: readonly string[];
  allowCountries: readonly string[];
  denyCountries: readonly string[];
};

export type MatchedRule = { decision: "allowed" | "denied"; entry: string };

type Entry = { entry: string; matches: (seen: Observation) => boolean };
type Lists = { allow: Entry[]; deny: Entry[] };

/** The settings object is replaced when it changes, so its compiled lists are cached by it. */
const compiled = new WeakMap<VisitRules, Lists>();

export function findRule(seen: Observation, rules: VisitRules): MatchedRule | null {
  let lists = compiled.get(rules);
  if (!lists) compiled.set(rules, (lists = compileLists(rules)));
  const allowed = lists.allow.find(({ matches }) => matches(seen));
  if (allowed) return { decision: "allowed", entry: allowed.entry };
  const denied = lists.deny.find(({ matches }) => matches(seen));
  return denied ? { decision: "denied", entry: denied.entry } : null;
}

function compileLists(rules: VisitRules): Lists {
  const entries = (userAgents: readonly string[], networks: readonly string[], countries: readonly string[]) => [
    ...networks.map((text) => {
      const matches = matchNetwork(text);
      return { entry: `network ${text}`, matches: (seen: Observation) => matches?.(seen.address) === true };
    }),
    ...countries.map((code) => ({
      entry: `country ${code}`,
      matches: ({ country }: Observation) => country === code,
    })),
    ...userAgents.map((text) => {
      const match = matchUserAgent(text);
      return { entry: `user agent ${text}`, matches: (seen: Observation) => match(seen.userAgent) };
    }),
  ];
  return {
    allow: entries(rules.allowUserAgents, rules.allowNetworks, rules.allowCountries),
    deny: entries(rules.denyUserAgents, rules.denyNetworks, rules.denyCountries),
  };
}

/** `*` matches anything; case is ignored. Parts are searched one after another, so no pattern can be slow. */
export function matchUserAgent(pattern: string): (userAgent: string) => boolean {
  const parts = pattern.toLowerCase().split("*");
  return (userAgent) => {
    const text = userAgent.toLowerCase();
    let from = 0;
    for (const part of parts) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return true;
  };
}

/** The user agents of most visits: a rule that denies one of them is a mistake. */
export const commonUserAgents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
] as const;
