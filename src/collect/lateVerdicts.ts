// Judges visits again with what is known later. Two things become known late: a report shows that the same browser is a bot's,
// or the source of a visit turns out to be a farm, whose first clicks looked like anybody's. The visit then moves from the
// people to the bots. Kept in memory for an hour, up to a bound.

import { createBoundedMemory } from "../http/boundedMemory.ts";
import { threadShare } from "../kernel/concurrency.ts";
import type { VisitBucket } from "../kernel/event.ts";
import { hourMs, secondMs } from "../kernel/time.ts";
import type { Frequency, Source, SourceKeys, TrafficMemory } from "../traffic/frequency.ts";
import type { VisitRules } from "../traffic/lists.ts";
import type { Observation } from "../traffic/observation.ts";
import { judge, type Judgement } from "../traffic/verdict.ts";
import type { AdClick } from "./adClick.ts";

/** A visit that was counted as a person's. Thousands are kept, so it holds no more than is needed. */
type CountedVisit = {
  siteId: string;
  /** null where the browser has no cookie. */
  visitorId: string | null;
  page: string;
  at: number;
  recount: (bucket: VisitBucket, reason: string) => void;
  /** An ad click brought the visit. Farms are known by these, so only these are judged again. */
  brought: { click: AdClick; source: Source; seen: Observation; rules: VisitRules } | null;
};

/** Of all sites. */
const maxVisits = 5000;
/** More are a program's, and all of them move at once when it shows itself. */
const maxOfVisitor = 100;
const keptMs = hourMs;
const everyMs = 10 * secondMs;
/** Fewer clicks are no farm, and need no second judgement. Those that other nodes received count too. */
const minClicks = 12;

type OnBot = (visit: CountedVisit, seen: Observation, judgement: Judgement) => void;

export function watchLateVerdicts(memory: Pick<TrafficMemory, "keysOf" | "recall">, onBot: OnBot) {
  const visits = createBoundedMemory<CountedVisit, CountedVisit>(maxVisits);
  /** The oldest visits first. */
  const byVisitor = new Map<string, Set<CountedVisit>>();
  const bySource = new Map<string, { keys: SourceKeys; visits: Set<CountedVisit> }>();
  let sweptAt = 0;
  let isSweeping = false;

  const visitorKey = (siteId: string, visitorId: string) => `${siteId} ${visitorId}`;
  const sourceKey = ({ siteId, network, userAgent }: Source) => `${siteId} ${network} ${userAgent}`;

  function add(visit: CountedVisit): void {
    const { siteId, visitorId, brought } = visit;
    // Nothing later would find it.
    if (visitorId === null && !brought) return;
    if (visitorId !== null) {
      const key = visitorKey(siteId, visitorId);
      const ofVisitor = byVisitor.get(key) ?? new Set();
      if (ofVisitor.size >= maxOfVisitor) for (const oldest of ofVisitor.values().take(1)) remove(oldest);
      byVisitor.set(key, ofVisitor.add(visit));
    }
    if (brought) {
      const key = sourceKey(brought.source);
      const known = bySource.get(key) ?? { keys: memory.keysOf(brought.source), visits: new Set() };
      known.visits.add(visit);
      bySource.set(key, known);
    }
    const displaced = visits.set(siteId, visit, visit);
    if (displaced) remove(displaced);
  }

  function remove(visit: CountedVisit): void {
    const { siteId, visitorId, brought } = visit;
    visits.delete(siteId, visit);
    if (visitorId !== null) {
      const key = visitorKey(siteId, visitorId);
      const ofVisitor = byVisitor.get(key);
      ofVisitor?.delete(visit);
      if (ofVisitor?.size === 0) byVisitor.delete(key);
    }
    if (!brought) return;
    const key = sourceKey(brought.source);
    const ofSource = bySource.get(key)?.visits;
    ofSource?.delete(visit);
    if (ofSource?.size === 0) bySource.delete(key);
  }

  function move(visit: CountedVisit, seen: Observation, judgement: Judgement): void {
    remove(visit);
    visit.recount("bots", judgement.primary);
    onBot(visit, seen, judgement);
  }

  /** In slices: thousands of sources would keep conversions waiting. */
  async function sweep(now: number): Promise<void> {
    const rest = threadShare.begin("late verdicts");
    for (const visit of [...visits.values()].filter(({ at }) => at <= now - keptMs)) {
      const resting = rest();
      if (resting) await resting;
      remove(visit);
    }
    for (const { keys, visits: some } of bySource.values())
      for (const visit of some) {
        const resting = rest();
        if (resting) await resting;
        if (!visit.brought) continue;
        const { click, seen: before, rules } = visit.brought;
        const frequency = memory.recall(keys, { visitor: visit.visitorId, clickIds: [click.value] }, now);
        const { clickIdsOfSource, goneOn, goneOnOfNeighbours, goneOnOfClick } = frequency;
        const visitsOfGroups = [goneOn, goneOnOfNeighbours, goneOnOfClick].map((group) => group?.visits ?? 0);
        if (Math.max(clickIdsOfSource, ...visitsOfGroups) < minClicks) continue;
        const seen = { ...before, frequency: laterOf(before, frequency) };
        const judgement = judge(seen, rules);
        if (judgement.verdict.bot) move(visit, seen, judgement);
      }
  }

  return {
    add,
    /** A later report of this browser was judged a bot's by what was seen of it. */
    noteBot(siteId: string, visitorId: string | null, seen: Observation, judgement: Judgement): void {
      for (const visit of byVisitor.get(visitorKey(siteId, visitorId ?? "")) ?? []) move(visit, seen, judgement);
    },
    /** Call it with every report: it works at most every ten seconds. */
    async sweep(now: number): Promise<void> {
      // The clock may have been set back.
      if (Math.abs(now - sweptAt) < everyMs || isSweeping) return;
      sweptAt = now;
      isSweeping = true;
      await sweep(now).finally(() => (isSweeping = false));
    },
  };
}

/** What was known about the visit itself stays; what is known about its source is newer. */
const laterOf = ({ frequency }: Observation, later: Frequency): Frequency => ({
  ...(frequency ?? later),
  visitorsOfClick: later.visitorsOfClick,
  clickIdsOfSource: later.clickIdsOfSource,
  shareOfSource: later.shareOfSource,
  goneOn: later.goneOn,
  secondSteps: later.secondSteps,
  goneOnOfNeighbours: later.goneOnOfNeighbours,
  goneOnOfClick: later.goneOnOfClick,
});
