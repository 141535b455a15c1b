// Runs an import in chunks of rows. Each chunk is durable before its progress is saved: after a crash the same command resumes
// at the saved progress, and rows after it that were imported already are not written twice.

import { setTimeout as sleep } from "node:timers/promises";
import type { ImportTally } from "../kernel/imports.ts";
import { Refusal } from "../kernel/refusal.ts";
import { platformOf } from "../platforms/index.ts";
import type { Connection, Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import type { Table, TableRow } from "../tables/table.ts";
import { countOutcome, type Outcome } from "./tally.ts";

/** A commit of this many rows blocks others for a few milliseconds. */
const chunkRows = 200;
const minCapacity = 25;
const waitMs = 250;
/** Renews the lease while the import waits for a full queue. */
const heartbeatMs = 5000;
/** Bridges a store that is busy or unavailable for a moment. */
const retryDelaysMs = [500, 2000, 5000, 10_000];

/**
 * Bounds what an import may queue per connection. Deliveries leave in the order in which they fall due, so a live retry may
 * wait behind an import's rows: at most ten rounds of the connection's lanes. First attempts of live events never queue.
 */
const maxQueue = 2000;
const minQueue = 200;
const laneRounds = 10;

export type Progress = {
  tally: ImportTally;
  line: number;
  bytes: number;
  /** The platform with the full queue that the import waits for. */
  waitingFor: string | null;
};

export type RefusedRow = { line: number; reason: string };

export type RunOptions = {
  store: Pick<Store, "imports">;
  table: Table;
  /** Rows up to this line are done. */
  after: number;
  tally: ImportTally;
  site: () => Site;
  /** Reads the site again: connections may be paused or removed during a long import. */
  refresh: () => Promise<void>;
  importRows: (rows: readonly TableRow[]) => Promise<Outcome[]>;
  /** Saves progress and renews the lease; throws when the lease was lost. */
  save: (line: number, tally: ImportTally) => Promise<void>;
  onRefused: (rows: readonly RefusedRow[]) => void;
  onProgress: (progress: Progress) => void;
  stop: AbortSignal;
  /** False for a dry run, which writes nothing and need not wait. */
  paced: boolean;
};

/** `isDone` is false when the import was stopped before the end of the file. */
export async function run(options: RunOptions): Promise<{ isDone: boolean; line: number }> {
  const { table, tally, stop } = options;
  let line = options.after;
  let bytes = 0;
  let savedAt = performance.now();
  let waiting: TableRow[] = [];

  async function importWaiting(): Promise<void> {
    while (waiting.length && !stop.aborted) {
      await withRetries(options.refresh, stop);
      const capacity = options.paced ? await waitForCapacity() : waiting.length;
      if (capacity === 0) continue;
      const rows = waiting.slice(0, capacity);
      const startedAt = performance.now();
      const outcomes = await withRetries(() => options.importRows(rows), stop);
      for (const [i, row] of rows.entries()) countOutcome(tally, row.line, outcomes[i] as Outcome);
      // Reported before the progress is saved: after a crash rows may be listed twice, which the next run removes.
      options.onRefused(listRefused(rows, outcomes));
      const last = rows.at(-1) as TableRow;
      ({ line, bytes } = last);
      savedAt = performance.now();
      await withRetries(() => options.save(line, tally), stop);
      waiting = waiting.slice(capacity);
      options.onProgress({ tally, line, bytes, waitingFor: null });
      // Leaves the store to others for as long as the chunk took.
      if (options.paced) await sleep(Math.min(200, performance.now() - startedAt));
    }
  }

  async function waitForCapacity(): Promise<number> {
    const readCapacity = () => findCapacity(options.store, options.site().connections, waiting.length);
    const { rows, fullest } = await withRetries(readCapacity, stop);
    if (rows >= Math.min(minCapacity, waiting.length)) return rows;
    if (performance.now() - savedAt > heartbeatMs) {
      savedAt = performance.now();
      await withRetries(() => options.save(line, tally), stop);
    }
    options.onProgress({ tally, line, bytes, waitingFor: fullest?.platform ?? null });
    await sleep(waitMs);
    return 0;
  }

  for await (const row of table.rows) {
    if (stop.aborted) break;
    if (row.line <= options.after) continue;
    waiting.push(row);
    if (waiting.length >= chunkRows) await importWaiting();
  }
  await importWaiting();
  return { isDone: !stop.aborted, line };
}

function listRefused(rows: readonly TableRow[], outcomes: readonly Outcome[]): RefusedRow[] {
  return rows.flatMap(({ line }, i) => {
    const outcome = outcomes[i];
    return outcome?.status === "refused" ? [{ line, reason: outcome.reason }] : [];
  });
}

async function withRetries<T>(work: () => Promise<T>, stop: AbortSignal): Promise<T> {
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

type Capacity = { rows: number; fullest: Connection | null };

function maxQueued(connection: Connection): number {
  const platform = platformOf(connection.platform);
  return Math.min(maxQueue, Math.max(minQueue, laneRounds * (platform?.lanes ?? 1) * (platform?.batch ?? 1)));
}

/** Finds how many rows fit into the fullest queue. Paused connections park their deliveries and are left out. */
export async function findCapacity(
  store: Pick<Store, "imports">,
  connections: readonly Connection[],
  rows: number,
): Promise<Capacity> {
  const capacity: Capacity = { rows, fullest: null };
  for (const connection of connections) {
    if (connection.state !== "active") continue;
    const limit = maxQueued(connection);
    const free = limit - (await store.imports.countQueued(connection.siteId, connection.id, limit));
    if (free < capacity.rows) Object.assign(capacity, { rows: free, fullest: connection });
  }
  return capacity;
}
