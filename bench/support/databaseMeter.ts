// Reads PostgreSQL's own counters: statements, commits, bytes of the write-ahead log, connections.

import { Client } from "pg";
import { median } from "../part.ts";
import { benchPostgres } from "./relay.ts";

type Count = { statements: number; commits: number; walBytes: number };

export type Meter = {
  /** Counts statements and commits of one database; `walBytes` covers the whole server. */
  count(database: string): Promise<Count>;
  connections(database: string): Promise<number>;
  /** Returns the mean milliseconds of an fsync of the log since the server started. */
  fsyncMs(): Promise<number>;
  /** Returns the milliseconds of an empty statement. */
  roundTripMs(): Promise<number>;
  close(): Promise<void>;
};

/**
 * The extension must be loaded when the server starts; its cost is the same for all candidates. After a checkpoint the first
 * change of each page is logged with the whole page, so with checkpoints at random moments the log could not be compared.
 */
export const meterSettings = {
  shared_preload_libraries: "pg_stat_statements",
  track_wal_io_timing: "on",
  checkpoint_timeout: "1h",
  max_wal_size: "16GB",
};

export async function createMeter(): Promise<Meter> {
  const client = new Client({ connectionString: (await benchPostgres(meterSettings)).url });
  await client.connect();
  await client.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  const row = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0];
  return {
    async count(database) {
      const counted = await row(
        `SELECT COALESCE(SUM(calls), 0) AS statements,
           COALESCE(SUM(calls) FILTER (WHERE query = 'COMMIT'), 0) AS commits,
           pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS bytes
         FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)`,
        [database],
      );
      return {
        statements: Number(counted.statements),
        commits: Number(counted.commits),
        walBytes: Number(counted.bytes),
      };
    },
    async connections(database) {
      const text = `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = $1 AND application_name LIKE 'cleancast schema %'`;
      return Number((await row(text, [database])).n);
    },
    async fsyncMs() {
      const text = `SELECT SUM(fsync_time) / SUM(fsyncs) AS ms FROM pg_stat_io WHERE object = 'wal' AND fsyncs > 0`;
      return Number((await row(text)).ms);
    },
    async roundTripMs() {
      const times: number[] = [];
      for (let i = 0; i < 500; i++) {
        const began = performance.now();
        await row("SELECT 1");
        times.push(performance.now() - began);
      }
      return median(times);
    },
    close: () => client.end(),
  };
}
