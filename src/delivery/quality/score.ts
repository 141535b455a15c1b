// Our own match score of a connection: how many of the sent conversions carry each match key, weighted, from 0 to 10. It is
// no platform's score, which knows its own users; it shows what could be sent and is not.

import { matchKeys, type MatchKey } from "../../kernel/quality.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";

export type ScoredConversion = {
  event: Pick<StoredEvent, "keyId" | "time" | "receivedAt"> & {
    attribution: Pick<StoredEvent["attribution"], "identity" | "withheld">;
  };
  sent: ReadonlySet<MatchKey>;
};

type KeyCoverage = {
  key: MatchKey;
  /** The share of the conversions that carry it, from 0 to 1. */
  coverage: number;
};

export type Improvement = {
  /** What is to be sent, or that people are to be recognised on the site. */
  kind: "send" | "identify";
  key: MatchKey;
  /** The inbound key of the sender; null where no sender can change it. */
  keyId: string | null;
  /** The share of the conversions that would carry the key in addition. */
  gain: number;
};

export type MatchScore = {
  conversions: number;
  /** 0 to 10; null where the platform takes no match key, or nothing was sent. */
  score: number | null;
  keys: KeyCoverage[];
  /** The share of conversions that were received within an hour after they happened. */
  withinHour: number | null;
  improvements: Improvement[];
};

/** How much a key helps to find the person or the click. Platforms publish an order, and no numbers: these are ours. */
const weights: Record<MatchKey, number> = {
  email: 3,
  "click id": 3,
  phone: 2,
  "browser id": 2,
  name: 1,
  "address and user agent": 1,
};

const hourMs = 3_600_000;
const maxImprovements = 3;
const minGain = 0.01;

/** `supported` are the keys that the connection can send at all. */
export function scoreMatch(supported: ReadonlySet<MatchKey>, conversions: readonly ScoredConversion[]): MatchScore {
  const total = conversions.length;
  const shareOf = (isIn: (one: ScoredConversion) => boolean) => conversions.filter(isIn).length / total;
  const keys = matchKeys.filter((key) => supported.has(key));
  if (total === 0) return { conversions: 0, score: null, keys: [], withinHour: null, improvements: [] };
  const coverages = keys.map((key) => ({ key, coverage: shareOf(({ sent }) => sent.has(key)) }));
  const possible = keys.reduce((sum, key) => sum + weights[key], 0);
  const reached = coverages.reduce((sum, { key, coverage }) => sum + weights[key] * coverage, 0);
  return {
    conversions: total,
    score: possible === 0 ? null : Math.round((100 * reached) / possible) / 10,
    keys: coverages,
    withinHour: shareOf(({ event }) => event.receivedAt - event.time <= hourMs),
    improvements: findImprovements(keys, conversions),
  };
}

function findImprovements(keys: readonly MatchKey[], conversions: readonly ScoredConversion[]): Improvement[] {
  const total = conversions.length;
  const found = keys.flatMap((key): Improvement[] => {
    // What a person refused cannot be sent.
    const missing = conversions.filter(({ sent, event }) => !sent.has(key) && event.attribution.withheld === null);
    if (key === "phone" || key === "name") {
      const bySender = [...Map.groupBy(missing, ({ event }) => event.keyId)];
      return bySender.map(([keyId, some]) => ({ kind: "send", key, keyId, gain: some.length / total }));
    }
    if (key === "email") return [];
    // A visit that is known had no such id: the person did not come from this platform's ads.
    const unrecognised = missing.filter(({ event }) => event.attribution.identity === "none");
    return [{ kind: "identify", key, keyId: null, gain: unrecognised.length / total }];
  });
  const sorted = found
    .filter(({ gain }) => gain >= minGain)
    .toSorted((one, other) => weights[other.key] * other.gain - weights[one.key] * one.gain);
  // Recognising people adds several keys at once, and is one change.
  const firstIdentify = sorted.find(({ kind }) => kind === "identify");
  return sorted.filter((one) => one.kind === "send" || one === firstIdentify).slice(0, maxImprovements);
}
