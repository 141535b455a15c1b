// The ladder of lead stages: how many leads reached each stage, how long that took, and which went back. By the source of the lead,
// because later stages mostly come from another system than the first.

import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import { stageOf } from "../identity/leadStages.ts";
import { dayMs } from "../kernel/time.ts";
import { sourceOf } from "./source.ts";

export const defaultStages: readonly string[] = ["lead", "qualified_lead", "closed_won"];

/** What the ladder needs of an event. */
export type StageEvent = Pick<StoredEvent, "id" | "name" | "time" | "person" | "leadId"> & {
  attribution: Pick<StoredEvent["attribution"], "utm" | "clickIds" | "path">;
};

type Step = {
  stage: string;
  /** Leads that reached the stage. */
  leads: number;
  /** From the nearest stage before that the lead reached; null where no lead came from one. */
  medianMs: number | null;
};

type StepBack = { eventId: string; stage: string; from: string; time: number };

type Ladder = {
  sources: { source: string; leads: number; wentBack: number; steps: Step[] }[];
  /** The newest first. */
  back: StepBack[];
};

const maxShownBack = 50;

/** A lead is a lead id. Events without one are of the lead of their person, who may have none or several: then the person is one. */
function leadsOf(events: readonly StageEvent[]): Map<string, StageEvent[]> {
  const ids = Map.groupBy(
    events.filter(({ leadId }) => leadId !== undefined),
    personOf,
  );
  return Map.groupBy(events, (event) => {
    if (event.leadId !== undefined) return event.leadId;
    const known = new Set((ids.get(personOf(event)) ?? []).map(({ leadId }) => leadId));
    const [only] = known;
    return known.size === 1 && only !== undefined ? only : personOf(event);
  });
}

/** Of an erased person nothing tells which events are theirs. */
const personOf = ({ id, person }: StageEvent): string => person.emailSha256 || person.phoneSha256 || id;

export function toLadder(events: readonly StageEvent[], stages: readonly string[]): Ladder {
  const ranks = new Map(stages.map((stage, rank) => [stageOf(stage), rank]));
  const leads = leadsOf(events.filter(({ name }) => ranks.has(stageOf(name))));
  const walked = [...leads.values()].map((ofLead) => walk(ofLead, stages, ranks));
  const sources = [...Map.groupBy(walked, ({ source }) => source)].map(([source, some]) => ({
    source,
    leads: some.length,
    wentBack: some.filter(({ back }) => back.length > 0).length,
    steps: stages.map((stage, rank) => ({
      stage,
      leads: some.filter(({ reached }) => reached[rank] !== undefined).length,
      medianMs: medianOf(some.flatMap(({ reached }) => timeTo(rank, reached) ?? [])),
    })),
  }));
  const back = walked.flatMap((one) => one.back).toSorted((one, other) => other.time - one.time);
  return {
    sources: sources.toSorted((one, other) => other.leads - one.leads || (one.source < other.source ? -1 : 1)),
    back: back.slice(0, maxShownBack),
  };
}

/** The first time of each stage of a lead, and every event that is not a step up. */
function walk(events: readonly StageEvent[], stages: readonly string[], ranks: ReadonlyMap<string, number>) {
  const inOrder = events.toSorted((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1));
  const reached: (number | undefined)[] = [];
  const back: StepBack[] = [];
  let last = -1;
  for (const { id, name, time } of inOrder) {
    const rank = ranks.get(stageOf(name)) ?? -1;
    if (rank < last) back.push({ eventId: id, stage: stages[rank] ?? "", from: stages[last] ?? "", time });
    reached[rank] ??= time;
    last = rank;
  }
  const sources = inOrder.map(({ attribution: { utm, clickIds, path } }) =>
    sourceOf({ utm, newestClickId: newestOf(clickIds), path }),
  );
  return { reached, back, source: sources.find((source) => source !== "(none)") ?? "(none)" };
}

const newestOf = (clickIds: StageEvent["attribution"]["clickIds"]): string | null =>
  Object.entries(clickIds).toSorted(([, one], [, other]) => other.seenAt - one.seenAt)[0]?.[0] ?? null;

/** Null where the lead did not reach the stage, reached none before it, or reached it out of order. */
function timeTo(rank: number, reached: readonly (number | undefined)[]): number | null {
  const at = reached[rank];
  const before = reached.slice(0, rank).findLast((time) => time !== undefined);
  return at === undefined || before === undefined || at < before ? null : at - before;
}

function medianOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [upper = 0, lower = 0] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 ? upper : Math.round((lower + upper) / 2);
}

/** More would take too long to read for one answer. */
const maxEvents = 5000;

/** Reads the live stages that were received in the last days; `isComplete` is false where there are more than can be read. */
export async function readLadder(
  store: Pick<Store, "events">,
  siteId: string,
  { stages, days, now }: { stages: readonly string[]; days: number; now: number },
): Promise<Ladder & { isComplete: boolean }> {
  const wanted = new Set(stages.map(stageOf));
  const filter = {
    status: "accepted",
    mode: "live",
    from: now - days * dayMs,
    accept: ({ event }: { event: string }) => wanted.has(stageOf(event)),
  } as const;
  const events: StoredEvent[] = [];
  let before: string | null = null;
  do {
    const page = await store.events.listPage(siteId, filter, { before, limit: 500 });
    const ids = page.events.map(({ id }) => id);
    const found = await store.events.getMany(siteId, ids);
    for (const event of found.values()) if (event !== "damaged") events.push(event);
    before = page.next;
  } while (before !== null && events.length < maxEvents);
  return { ...toLadder(events, stages), isComplete: before === null };
}
