// A site's own word on visits: whom to let pass and whom not, whatever the signals say. Letting pass always wins.

import ipaddr from "ipaddr.js";
import type { Observation } from "./observation.ts";

export type VisitRules = {
  /** The score from which on a visit is a bot's. */
  botThreshold: number;
  allowUserAgents: readonly string[];
  denyUserAgents: readonly string[];
  allowNetworks: readonly string[];
  denyNetworks: readonly string[];
  allowCountries: readonly string[];
  denyCountries: readonly string[];
};

/** What a site's list says of a visit, and which entry says it. */
export type MatchedRule = { says: "allowed" | "denied"; entry: string };

type Test = (seen: Observation) => boolean;
type Entry = { entry: string; holds: Test };
type Lists = { allow: Entry[]; deny: Entry[] };

/** Settings are read anew only when somebody changes them, so what is made of them is kept with them. */
const made = new WeakMap<VisitRules, Lists>();

export function findRule(seen: Observation, rules: VisitRules): MatchedRule | null {
  let lists = made.get(rules);
  if (!lists) made.set(rules, (lists = listsOf(rules)));
  const allowed = lists.allow.find(({ holds }) => holds(seen));
  if (allowed) return { says: "allowed", entry: allowed.entry };
  const denied = lists.deny.find(({ holds }) => holds(seen));
  return denied ? { says: "denied", entry: denied.entry } : null;
}

function listsOf(rules: VisitRules): Lists {
  const entries = (
    userAgents: readonly string[],
    networks: readonly string[],
    countries: readonly string[],
  ) => [
    ...networks.map((text) => ({ entry: `network ${text}`, holds: inNetwork(text) })),
    ...countries.map((code) => ({
      entry: `country ${code}`,
      holds: ({ country }: Observation) => country === code,
    })),
    ...userAgents.map((text) => {
      const matches = matchUserAgent(text);
      return { entry: `user agent ${text}`, holds: (seen: Observation) => matches(seen.userAgent) };
    }),
  ];
  return {
    allow: entries(rules.allowUserAgents, rules.allowNetworks, rules.allowCountries),
    deny: entries(rules.denyUserAgents, rules.denyNetworks, rules.denyCountries),
  };
}

/** `*` stands for anything; without regard to case. Searched part by part: no pattern can be slow. */
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

/** What nearly everybody's browser says: a rule that denies these is a mistake. */
export const commonUserAgents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
] as const;

/** `192.0.2.0/24`, `2001:db8::/32` or one address. */
function inNetwork(text: string): Test {
  const network = readNetwork(text);
  return ({ address }) => {
    if (!network || !ipaddr.isValid(address)) return false;
    const [base, bits] = network;
    const parsed = ipaddr.process(address);
    return parsed.kind() === base.kind() && parsed.match(base, bits);
  };
}

export function readNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return null;
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
