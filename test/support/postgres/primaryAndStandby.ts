// A primary that answers a commit only when its standby has it, and that standby. Both are real servers.

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { startPostgres, type Postgres } from "./postgres.ts";

export type Pair = {
  primary: Postgres;
  standby: Postgres;
  /** Both servers in one URL, with the standby first: it must not be taken. */
  url: string;
  /** The same database on one of them. */
  urlOf(server: Postgres): string;
  stop(): Promise<void>;
};

export async function startPair(): Promise<Pair> {
  // A commit waits for the standby; the disks are not waited for, because only processes die here, not machines.
  const settings = { synchronous_commit: "on" };
  const primary = await startPostgres({ settings });
  const database = new URL(await primary.createDatabase());
  // Copied without writers: a base backup without the tool for it, which the binaries do not have.
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
      // Seconds off each test: how long it waits before it asks again.
      wal_retrieve_retry_interval: "100ms",
    },
  });
  await primary.restart();
  await onServer(primary, async (client) => {
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

async function onServer<T>(server: Postgres, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
