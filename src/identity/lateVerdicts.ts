// Judges the visits of a person again when their click ids are about to be used for a conversion: the first clicks of a farm looked
// like anybody's.

import { customerNetworkOf } from "../http/transport.ts";
import { dayMs } from "../kernel/time.ts";
import type { TrafficMemory } from "../traffic/frequency.ts";
import type { VisitRules } from "../traffic/lists.ts";
import { judgeLater } from "../traffic/verdict.ts";
import type { KnownPerson } from "./attribution.ts";
import { clickNameOf } from "./clickIds.ts";

/** The memory of a source lasts this long at most. */
const rememberedMs = 2 * dayMs;

export function withLateVerdicts(
  known: KnownPerson,
  { id: siteId, settings }: { id: string; settings: VisitRules },
  memory: Pick<TrafficMemory, "keysOf" | "recall">,
  now: number,
): KnownPerson {
  const { identity } = known;
  if (!identity || identity === "unreadable") return known;
  const visits = identity.visits.map((visit) => {
    const { browser, seenAt, visitorId: visitor } = visit;
    const click = visit.clickIds[clickNameOf(visit.clickIds) ?? ""];
    if (!browser || seenAt < now - rememberedMs || !click) return visit;
    const keys = memory.keysOf({ siteId, network: customerNetworkOf(browser.address), userAgent: browser.userAgent });
    const verdict = judgeLater(visit, memory.recall(keys, { visitor, clickIds: [click.value] }, now), settings);
    return verdict ? { ...visit, verdict } : visit;
  });
  return { ...known, identity: { ...identity, visits } };
}
