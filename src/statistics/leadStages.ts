// The ladder of lead stages: how many leads reached each stage, how long that took, and which went back. By the source of the lead,
// because later stages mostly come from another system than the first.

import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import { stageOf } from "../identity/leadStages.ts";
import { threadShare } from "../kernel/concurrency.ts";
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

/** The rest may be large, and thousands are held. */
function toStageEvent({ id, name, time, person, leadId, attribution: { utm, clickIds, path } }: StoredEvent): StageEvent {
  const { emailSha256, phoneSha256 } = person;
  return {
    id,
    name,
    time,
    person: { ...(emailSha256 && { emailSha256 }), ...(phoneSha256 && { phoneSha256 }) },
    ...(leadId !== undefined && { leadId }),
    attribution: { utm, clickIds, ...(path && { path }) },
  };
}

/** A lead is a lead id. Events without one are of the lead of their person, who may have none or several: then the person is one. */
function leadsOf(events: readonly StageEvent[]): Map<string, StageEvent[]> {
  /** The lead of each person who has one; null for those with several. */
  const onlyLeads = new Map<string, string | null>();
  for (const event of events) {
    const known = onlyLeads.get(personOf(event));
    if (event.leadId !== undefined)
      onlyLeads.set(personOf(event), known === undefined || known === event.leadId ? event.leadId : null);
  }
  return Map.groupBy(events, (event) => event.leadId ?? onlyLeads.get(personOf(event)) ?? personOf(event));
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
/** Read and decoded at once, on the thread that accepts events. */
const pageSize = 50;

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
  const events: StageEvent[] = [];
  let before: string | null = null;
  do {
    const page = await store.events.listPage(siteId, filter, { before, limit: pageSize });
    const ids = page.events.map(({ id }) => id);
    const found = await store.events.getMany(siteId, ids);
    for (const event of found.values()) if (event !== "damaged") events.push(toStageEvent(event));
    before = page.next;
  } while (before !== null && events.length < maxEvents);
  await threadShare.rest(siteId);
  return { ...toLadder(events, stages), isComplete: before === null };
}
