// Starts a primary and its synchronous standby: the primary answers a commit only when the standby has it.

import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres, withClient, type Postgres } from "./postgres.ts";

export type Pair = {
  primary: Postgres;
  standby: Postgres;
  /** Both servers in one URL, with the standby first, which a client must skip. */
  url: string;
  /** The same database on one of them. */
  urlOf(server: Postgres): string;
  stop(): Promise<void>;
};

export async function startPair(): Promise<Pair> {
  // A commit waits for the standby but not for the disks, because these tests kill processes, not machines.
  const settings = { synchronous_commit: "on" };
  const primary = await startPostgres({ settings });
  const database = new URL(await primary.createDatabase());
  // The data is copied while nothing writes: the binaries do not contain pg_basebackup.
  await primary.stop({ keepData: true });
  const { port } = new URL(primary.url);
  const name = "cleancast_standby";
  const standby = await startPostgres({
    standbyOf: primary,
    // Spaces would end the flag; a URI has none.
    settings: {
      ...settings,
      primary_conninfo: `postgres://postgres@127.0.0.1:${port}/postgres?application_name=${name}`,
      hot_standby: "on",
      // The default of 5 s would add seconds to each test.
      wal_retrieve_retry_interval: "100ms",
    },
  });
  await primary.restart();
  await withClient(primary.url, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await client.query("SELECT pg_reload_conf()");
    for (let isSync = false; !isSync; await sleep(20)) {
      const { rows } = await client.query("SELECT sync_state FROM pg_stat_replication");
      isSync = rows[0]?.sync_state === "sync";
    }
  });
  const addresses = [standby, primary].map((one) => new URL(one.url).host).join(",");
  return {
    primary,
    standby,
    url: `postgres://postgres@${addresses}${database.pathname}?target_session_attrs=read-write`,
    urlOf: (server) => new URL(database.pathname, server.url).href,
    async stop() {
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}
