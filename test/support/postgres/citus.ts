// A Citus cluster for tests: a coordinator and workers on this machine, where Citus is installed.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "./binaries.ts";
import { createDatabase, startPostgres, withClient, type Postgres } from "./postgres.ts";

export type Citus = {
  coordinator: Postgres;
  workers: Postgres[];
  /** Creates an empty database that is distributed over the workers. */
  createDatabase(shardCount: number): Promise<string>;
  /** Creates an empty database without Citus on the coordinator's server, to compare with. */
  createPlainDatabase(): Promise<string>;
  /** Starts one more worker, which has no shards yet. */
  addWorker(databaseUrl: string): Promise<Postgres>;
  stop(): Promise<void>;
};

/** Name and port of a server, as in a URL. */
export const hostOf = ({ url }: Postgres): string => new URL(url).host;

/** The folder of an installed PostgreSQL that has Citus; null where there is none. */
export function findCitus(): string | null {
  if (!existsSync(packageFolder)) return null;
  const folders = readdirSync(packageFolder).map((version) => join(packageFolder, version));
  return folders.find((folder) => existsSync(join(folder, "lib", "citus.so"))) ?? null;
}

const settings = {
  shared_preload_libraries: "citus",
  max_prepared_transactions: "200",
  // A worker that is killed must have what it has committed.
  synchronous_commit: "on",
  // Shards are moved with logical replication.
  wal_level: "logical",
};

export async function startCitus(installed: string, workerCount = 2): Promise<Citus> {
  const start = () => startPostgres({ installed, settings });
  const [coordinator, ...workers] = await Promise.all([start(), ...Array.from({ length: workerCount }, start)]);

  const address = (server: Postgres) => hostOf(server).split(":");
  async function prepare(server: Postgres, name: string): Promise<void> {
    await withClient(server.url, (client) => client.query(`CREATE DATABASE ${name}`));
    await withClient(new URL(name, server.url).href, (client) => client.query("CREATE EXTENSION citus"));
  }
  const addNode = (databaseUrl: string, server: Postgres) =>
    withClient(databaseUrl, (client) => client.query("SELECT citus_add_node($1, $2)", address(server)));

  return {
    coordinator,
    workers,
    async createDatabase(shardCount) {
      const url = await createDatabase(coordinator.url);
      await withClient(url, async (client) => {
        await client.query("CREATE EXTENSION citus");
        const name = new URL(url).pathname.slice(1);
        await client.query(`ALTER DATABASE ${name} SET citus.shard_count = ${shardCount}`);
        await client.query("SELECT citus_set_coordinator_host($1, $2)", address(coordinator));
      });
      await Promise.all(workers.map((worker) => prepare(worker, new URL(url).pathname.slice(1))));
      for (const worker of workers) await addNode(url, worker);
      return url;
    },
    createPlainDatabase: () => createDatabase(coordinator.url),
    async addWorker(databaseUrl) {
      const worker = await start();
      await prepare(worker, new URL(databaseUrl).pathname.slice(1));
      await addNode(databaseUrl, worker);
      workers.push(worker);
      return worker;
    },
    async stop() {
      await Promise.all([coordinator, ...workers].map((server) => server.stop()));
    },
  };
}
