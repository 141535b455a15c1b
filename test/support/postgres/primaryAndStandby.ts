// Starts a primary and its standby. A synchronous one has a commit before the primary answers it; an asynchronous one may lack the
// last commits.

import { setTimeout as sleep } from "node:timers/promises";
import { createGateway } from "./gateway.ts";
import { startPostgres, withClient, type Postgres } from "./postgres.ts";

export type Pair = {
  primary: Postgres;
  standby: Postgres;
  /** Both servers in one URL, with the standby first, which a client must skip. */
  url: string;
  /** The same database on one of them. */
  urlOf(server: Postgres): string;
  /** Cuts the standby off: it gets no commit from now on. */
  cutReplication(): void;
  stop(): Promise<void>;
};

export async function startPair({ isSynchronous = true } = {}): Promise<Pair> {
  // A commit waits for the standby but not for the disks, because these tests kill processes, not machines.
  const settings = { synchronous_commit: "on" };
  const primary = await startPostgres({ settings });
  const database = new URL(await primary.createDatabase());
  // The data is copied while nothing writes: the binaries do not contain pg_basebackup.
  await primary.stop({ keepData: true });
  const gateway = await createGateway(primary.url);
  const name = "cleancast_standby";
  const standby = await startPostgres({
    standbyOf: primary,
    // Spaces would end the flag; a URI has none.
    settings: {
      ...settings,
      primary_conninfo: `postgres://postgres@${gateway.host}/postgres?application_name=${name}`,
      hot_standby: "on",
      // The default of 5 s would add seconds to each test.
      wal_retrieve_retry_interval: "100ms",
    },
  });
  await primary.restart();
  const expected = isSynchronous ? "sync" : "async";
  await withClient(primary.url, async (client) => {
    if (isSynchronous) await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await client.query("SELECT pg_reload_conf()");
    for (let state = ""; state !== expected; await sleep(20)) {
      const { rows } = await client.query("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'");
      state = String(rows[0]?.sync_state);
    }
  });
  const addresses = [standby, primary].map((one) => new URL(one.url).host).join(",");
  return {
    primary,
    standby,
    url: `postgres://postgres@${addresses}${database.pathname}?target_session_attrs=read-write`,
    urlOf: (server) => new URL(database.pathname, server.url).href,
    cutReplication() {
      gateway.mode = "closed";
      gateway.cut();
    },
    async stop() {
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}
