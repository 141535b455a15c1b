// A site's allow and deny lists for visits. They override the signals, and allow overrides deny. A list may have ten thousand entries, so
// it is compiled before its first use: then it takes about as long as a list of ten.

import { threadShare } from "../kernel/concurrency.ts";
import { readAddress, readNetwork } from "./networks/addresses.ts";
import type { Observation } from "./observation.ts";
import { compilePatterns } from "./userAgent/patterns.ts";

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

type List = readonly string[];
/** Returns the first entry that matches. */
type Find = (text: string) => string | undefined;
type Kind = {
  /** Yields after each entry. */
  compile(entries: List): Generator<undefined, Find>;
  /** Settings keep the array of a list until the list changes. */
  compiled: WeakMap<List, Find>;
};
const networks: Kind = { compile: compileNetworks, compiled: new WeakMap() };
const userAgents: Kind = { compile: compilePatterns, compiled: new WeakMap() };

export function findRule(seen: Observation, rules: VisitRules): MatchedRule | null {
  const allowed = findEntry(seen, rules.allowNetworks, rules.allowCountries, rules.allowUserAgents);
  if (allowed !== null) return { decision: "allowed", entry: allowed };
  const denied = findEntry(seen, rules.denyNetworks, rules.denyCountries, rules.denyUserAgents);
  return denied === null ? null : { decision: "denied", entry: denied };
}

function findEntry({ address, country, userAgent }: Observation, ofNetworks: List, ofCountries: List, ofUserAgents: List) {
  const network = finderOf(networks, ofNetworks)(address);
  if (network !== undefined) return `network ${network}`;
  if (country !== null && ofCountries.includes(country)) return `country ${country}`;
  const pattern = finderOf(userAgents, ofUserAgents)(userAgent);
  return pattern === undefined ? null : `user agent ${pattern}`;
}

function finderOf(kind: Kind, entries: List): Find {
  const compiled = kind.compiled.get(entries);
  if (compiled) return compiled;
  const steps = compile(kind, entries);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function* compile(kind: Kind, entries: List): Generator<undefined, Find> {
  const find = kind.compiled.get(entries) ?? (yield* kind.compile(entries));
  kind.compiled.set(entries, find);
  return find;
}

const compiling = new WeakMap<VisitRules, Promise<void> | undefined>();

/** Compiles the lists in slices, because other sites would wait for long ones. Returns undefined when that is done. */
export function compileLists(siteId: string, rules: VisitRules): Promise<void> | undefined {
  if (!compiling.has(rules))
    compiling.set(
      rules,
      compileInSlices(siteId, rules).finally(() => compiling.set(rules, undefined)),
    );
  return compiling.get(rules);
}

async function compileInSlices(siteId: string, rules: VisitRules): Promise<void> {
  const rest = threadShare.begin(siteId);
  const ofNetworks = [rules.allowNetworks, rules.denyNetworks].map((entries) => compile(networks, entries));
  const ofUserAgents = [rules.allowUserAgents, rules.denyUserAgents].map((entries) => compile(userAgents, entries));
  for (const steps of [...ofNetworks, ...ofUserAgents])
    for (const _ of steps) {
      const resting = rest();
      if (resting) await resting;
    }
}

/** A network is known by the bits that its addresses share, and an address is looked for in each size of network that the list has. */
function* compileNetworks(entries: List): Generator<undefined, Find> {
  const indexes = new Map<string, number>();
  const sizes = new Set<number>();
  for (const [index, entry] of entries.entries()) {
    const network = readNetwork(entry);
    const key = network && keyOf(network.bits, network.size);
    if (key !== null && !indexes.has(key)) indexes.set(key, index);
    if (network) sizes.add(network.size);
    yield;
  }
  return (address) => {
    const bits = readAddress(address);
    let found = Infinity;
    for (const size of sizes) found = Math.min(found, indexes.get(keyOf(bits, size)) ?? Infinity);
    return entries[found];
  };
}

/** The first bits of an address, after the length of its kind and their number. */
function keyOf(bits: string, size: number): string {
  const whole = Math.floor(size / 16);
  return String.fromCharCode(bits.length, size, bits.charCodeAt(whole) >>> (16 - (size % 16))) + bits.slice(0, whole);
}

/** The user agents of most visits: a rule that denies one of them is a mistake. */
export const commonUserAgents = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
] as const;
const commonTexts = commonUserAgents.map((userAgent) => userAgent.toLowerCase());

export function matchesCommonUserAgent(pattern: string): boolean {
  const parts = pattern.toLowerCase().split("*");
  return commonTexts.some((text) => {
    let end = 0;
    return parts.every((part) => {
      const at = text.indexOf(part, end);
      end = at + part.length;
      return at >= 0;
    });
  });
}
