// Judges visits again with what is known later. Two things become known late: a report shows that the same browser is a bot's,
// or the source of a visit turns out to be a farm, whose first clicks looked like anybody's. The visit then moves from the
// people to the bots. Kept in memory for an hour, up to a bound.

import type { VisitBucket } from "../kernel/event.ts";
import { hourMs, secondMs } from "../kernel/time.ts";
import type { Frequency, Source, TrafficMemory } from "../traffic/frequency.ts";
import type { VisitRules } from "../traffic/lists.ts";
import type { Observation } from "../traffic/observation.ts";
import { judge, type Judgement } from "../traffic/verdict.ts";
import type { AdClick } from "./adClick.ts";

/** A visit that was counted as a person's. */
type CountedVisit = {
  source: Source;
  /** null where the browser has no cookie. */
  visitorId: string | null;
  page: string;
  click: AdClick | null;
  seen: Observation;
  rules: VisitRules;
  at: number;
  recount: (bucket: VisitBucket, reason: string) => void;
};

const maxVisits = 5000;
const keptMs = hourMs;
const everyMs = 10 * secondMs;
/** Fewer visits are no farm, and need no second judgement. */
const minVisits = 12;

type LateVerdict = { visit: CountedVisit; seen: Observation; judgement: Judgement };

export function watchLateVerdicts(memory: Pick<TrafficMemory, "recall">, onBot: (late: LateVerdict) => void) {
  /** The oldest first. */
  const visits = new Set<CountedVisit>();
  const byVisitor = new Map<string, CountedVisit[]>();
  let sweptAt = 0;

  function remove(visit: CountedVisit): void {
    visits.delete(visit);
    const { visitorId } = visit;
    if (visitorId === null) return;
    const left = byVisitor.get(visitorId)?.filter((one) => one !== visit);
    if (left?.length) byVisitor.set(visitorId, left);
    else byVisitor.delete(visitorId);
  }

  function move(visit: CountedVisit, seen: Observation, judgement: Judgement): void {
    remove(visit);
    visit.recount("bots", judgement.primary);
    onBot({ visit, seen, judgement });
  }

  function sweep(now: number): void {
    for (const visit of visits) {
      if (visit.at > now - keptMs && visits.size <= maxVisits) break;
      remove(visit);
    }
    const bySource = Map.groupBy(visits, ({ source }) => `${source.siteId} ${source.network} ${source.userAgent}`);
    for (const some of bySource.values()) {
      const [first] = some;
      if (!first || some.length < minVisits) continue;
      const frequency = memory.recall(first.source, now);
      for (const visit of some) {
        const seen = { ...visit.seen, frequency: laterOf(visit, frequency) };
        const judgement = judge(seen, visit.rules);
        if (judgement.verdict.bot) move(visit, seen, judgement);
      }
    }
  }

  return {
    add(visit: CountedVisit): void {
      visits.add(visit);
      if (visit.visitorId !== null) byVisitor.set(visit.visitorId, [...(byVisitor.get(visit.visitorId) ?? []), visit]);
      if (visits.size > maxVisits) for (const oldest of visits.values().take(1)) remove(oldest);
    },
    /** A later report of this browser was judged a bot's. */
    noteBot(visitorId: string | null, judgement: Judgement): void {
      for (const visit of byVisitor.get(visitorId ?? "") ?? []) move(visit, visit.seen, judgement);
    },
    /** Call it with every report: it works at most every ten seconds. */
    sweep(now: number): void {
      if (now - sweptAt < everyMs) return;
      sweptAt = now;
      sweep(now);
    },
  };
}

/** What was known about the visit itself stays; what is known about its source is newer. */
const laterOf = ({ seen }: CountedVisit, later: Frequency): Frequency => ({
  ...(seen.frequency ?? later),
  clickIdsOfSource: later.clickIdsOfSource,
  shareOfSource: later.shareOfSource,
  goneOn: later.goneOn,
});
