// The work of an import: rows in chunks, each durable before the progress that names it. Killed at any moment, the same
// command goes on where the progress stands; the rows after it that were taken in already are found to be there.

import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../sites/directory.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Store } from "../store/store.ts";
import { roomFor } from "./pace.ts";
import type { Table, TableRow } from "./table.ts";
import { count, type Outcome, type Tally } from "./tally.ts";

/** A commit of this many rows holds up others for some milliseconds. */
const chunkRows = 200;
const minRoom = 25;
const waitMs = 250;
/** While it waits it says that it lives. */
const heartbeatMs = 5000;
/** A store that is busy or away for a moment is waited for. */
const retryDelaysMs = [500, 2000, 5000, 10_000];

export type Progress = {
  tally: Tally;
  line: number;
  bytes: number;
  /** The platform whose queue is full, while the import waits for it. */
  waitingFor: string | null;
};

export type RefusedRow = { line: number; reason: string };

export type RunOptions = {
  store: Pick<Store, "imports">;
  table: Table;
  /** Rows up to this line are done. */
  after: number;
  tally: Tally;
  site: () => Site;
  /** Reads the site again: connections may be paused, or gone, while a file is read for an hour. */
  refresh: () => Promise<void>;
  take: (rows: readonly TableRow[]) => Promise<Outcome[]>;
  /** Writes progress; throws when the import is no longer ours. */
  save: (line: number, tally: Tally) => Promise<void>;
  onRefused: (rows: readonly RefusedRow[]) => void;
  onProgress: (progress: Progress) => void;
  stop: AbortSignal;
  /** A dry run neither waits nor rests: it writes nothing. */
  paced: boolean;
};

/** True at the end of the file, false when it was stopped before. */
export async function run(options: RunOptions): Promise<{ isWhole: boolean; line: number }> {
  const { table, tally, stop } = options;
  let line = options.after;
  let bytes = 0;
  let savedAt = performance.now();
  let waiting: TableRow[] = [];

  async function takeAll(): Promise<void> {
    while (waiting.length && !stop.aborted) {
      await patiently(options.refresh, stop);
      const room = options.paced ? await roomOrWait() : waiting.length;
      if (room === 0) continue;
      const rows = waiting.slice(0, room);
      const startedAt = performance.now();
      const outcomes = await patiently(() => options.take(rows), stop);
      for (const [i, row] of rows.entries()) count(tally, row.line, outcomes[i] as Outcome);
      // Told before it is saved: after a crash the list has some twice, and the next run takes those off; none is missing.
      options.onRefused(refusedOf(rows, outcomes));
      const last = rows.at(-1) as TableRow;
      ({ line, bytes } = last);
      savedAt = performance.now();
      await patiently(() => options.save(line, tally), stop);
      waiting = waiting.slice(room);
      options.onProgress({ tally, line, bytes, waitingFor: null });
      // Leaves as much time to others as it took itself.
      if (options.paced) await sleep(Math.min(200, performance.now() - startedAt));
    }
  }

  async function roomOrWait(): Promise<number> {
    const look = () => roomFor(options.store, options.site().connections, waiting.length);
    const { rows, fullest } = await patiently(look, stop);
    if (rows >= Math.min(minRoom, waiting.length)) return rows;
    if (performance.now() - savedAt > heartbeatMs) {
      savedAt = performance.now();
      await patiently(() => options.save(line, tally), stop);
    }
    options.onProgress({ tally, line, bytes, waitingFor: fullest?.platform ?? null });
    await sleep(waitMs);
    return 0;
  }

  for await (const row of table.rows) {
    if (stop.aborted) break;
    if (row.line <= options.after) continue;
    waiting.push(row);
    if (waiting.length >= chunkRows) await takeAll();
  }
  await takeAll();
  return { isWhole: !stop.aborted, line };
}

function refusedOf(rows: readonly TableRow[], outcomes: readonly Outcome[]): RefusedRow[] {
  return rows.flatMap(({ line }, i) => {
    const outcome = outcomes[i];
    return outcome?.became === "refused" ? [{ line, reason: outcome.reason }] : [];
  });
}

async function patiently<T>(work: () => Promise<T>, stop: AbortSignal): Promise<T> {
  for (const delay of retryDelaysMs) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal || stop.aborted) throw error;
      await sleep(delay);
    }
  }
  return work();
}
