// Feeds running backfills into the queue of deliveries, a chunk at a time. The next chunk follows when every delivery of the
// last one was attempted, and not faster than the backfill's pace. In the lanes, first attempts of a backfill wait for live
// events and use at most half of the lanes, so a backfill of any length delays a live event by one request at most.
//
// One node does this for all sites; the store keeps the progress, so any node can go on.

import { createLeaderJob, type JobNode, type LeaderJob } from "../../background/leaderJob.ts";
import { minuteMs } from "../../kernel/time.ts";
import { isWorking, type Directory } from "../../sites/directory.ts";
import type { BackfillRow, BackfillTally } from "../../store/deliveries/backfills.ts";
import type { Store } from "../../store/store.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { DueWork } from "../due/dueWork.ts";
import { createEligibility, type Eligibility } from "./eligibility.ts";

type BackfillOptions = JobNode & {
  store: Pick<Store, "backfills" | "leases" | "deliveries" | "events" | "people" | "configuration">;
  directory: Directory;
  /** Finds running backfills; by default by asking the store. */
  dueWork?: Pick<DueWork, "runningBackfills" | "isShared">;
  lanes: Pick<Lanes, "capacity">;
};

const pollMs = 1000;
/** Events that a step judges at most. */
const maxJudged = 500;
const maxChunk = 100;

export const createBackfillJob = (options: BackfillOptions): LeaderJob =>
  createLeaderJob({
    everyMs: pollMs,
    firstMs: 0,
    ...options,
    name: "backfills",
    leases: options.store.leases,
    leaseMs: 10_000,
    // Where due work is shared, a backfill is listed on one node.
    isDivided: options.dueWork?.isShared,
    async work({ each }) {
      const { store, dueWork, now } = options;
      const rows = await (dueWork?.runningBackfills(now()) ?? store.backfills.listRunning());
      await each(
        rows,
        ({ connectionId }) => ({ connection: connectionId }),
        (row) => stepBackfill(options, row),
      );
    },
  });

/** Does the next step of a backfill, if it is due and its connection can send. */
export async function stepBackfill(options: BackfillOptions, row: BackfillRow): Promise<void> {
  const { store, directory, lanes } = options;
  const connection = await directory.connectionNow(row.siteId, row.connectionId);
  const site = directory.site(row.siteId);
  const now = options.now();
  if (!connection || !site) {
    await store.backfills.end(row, "cancelled", "disconnected", null, now);
    return;
  }
  if (!isWorking(site)) return;
  if (connection.state !== "active" || row.dueAt > now || lanes.capacity(connection) === 0) return;
  const outcomes = await store.backfills.readOutcomes(row);
  if (outcomes === null) return;
  const tally = addOutcomes(row.tally, outcomes);
  const next = await judgeNext(await createEligibility(store, site, connection), { ...row, tally }, now);
  if (next.isEnd && next.chunk.length === 0) {
    await store.backfills.end(row, "done", null, next.tally, now);
    return;
  }
  const { cursor, chunk } = next;
  const dueAt = now + Math.ceil((chunk.length * minuteMs) / row.perMinute);
  const step = { cursor, chunk, tally: next.tally, dueAt, platform: connection.platform, at: now };
  await store.backfills.step(row, step);
}

/** A pace of one in two seconds is a chunk of one. */
const chunkOf = (perMinute: number) => Math.min(maxChunk, Math.max(1, Math.ceil((perMinute * pollMs) / minuteMs)));

/** Judges events until there is a chunk of them to send, a bounded number have been judged, or none is left. */
async function judgeNext(judge: Eligibility, row: BackfillRow, now: number) {
  const { tally: before } = row;
  const size = chunkOf(row.perMinute);
  const leftOut = { ...before.leftOut };
  const chunk: string[] = [];
  let { cursor } = row;
  let isEnd = false;
  for (let judged = 0; !isEnd && chunk.length < size && judged < maxJudged; judged += maxChunk) {
    const page = await judge(cursor, row.toId, maxChunk, now);
    isEnd = page.length < maxChunk;
    for (const one of page) {
      if (chunk.length === size) {
        isEnd = false;
        break;
      }
      cursor = one.id;
      if (one.leftOut === null) chunk.push(one.id);
      else leftOut[one.leftOut] = (leftOut[one.leftOut] ?? 0) + 1;
    }
  }
  const tally: BackfillTally = { ...before, queued: before.queued + chunk.length, leftOut };
  return { cursor, chunk, isEnd, tally };
}

function addOutcomes(tally: BackfillTally, more: BackfillTally["outcomes"]): BackfillTally {
  const outcomes = { ...tally.outcomes };
  for (const [state, count] of Object.entries(more)) {
    const name = state as keyof typeof outcomes;
    outcomes[name] = (outcomes[name] ?? 0) + count;
  }
  return { ...tally, outcomes };
}
