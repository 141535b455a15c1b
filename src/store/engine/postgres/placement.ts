// Reads from Citus which machine has the rows of which site, and finds the machines that DATABASE_URL lists itself.

import type { Query } from "../database.ts";
import { createClient } from "./client.ts";
import { isServerSuspect, sqlState } from "./errors.ts";
import { probe, probeTimeoutMs, type WritableServer } from "./probe.ts";

export type Placement = {
  /** The shards of the sites that were asked for. A shard is a slice of the sites. */
  shards: ReadonlyMap<string, string>;
  /** The machine of each shard. */
  machines: ReadonlyMap<string, string>;
  /**
   * The machines that are connected to directly; null when they were not probed. The statements for the others go through the
   * coordinator.
   */
  servers: ReadonlyMap<string, WritableServer> | null;
};

export type PlacementRequest = {
  /** The sites whose shards are not known; null for all. */
  siteIds: readonly string[] | null;
  /** A probe opens a connection, so it is not made each time. */
  isProbing: boolean;
};

/** The shard of a site hardly ever changes, its machine may. */
export async function readPlacement(
  coordinator: Query,
  servers: readonly string[],
  { siteIds, isProbing }: PlacementRequest,
): Promise<Placement> {
  const shardOf = `CAST(get_shard_id_for_distribution_column('events', id) AS text) AS shard`;
  const [machines, shards, direct] = await Promise.all([
    // The tables of a site are on one machine, so one table stands for all.
    coordinator.all(
      `SELECT CAST(pg_dist_shard.shardid AS text) AS shard, CAST(groupid AS text) AS machine FROM pg_dist_shard
       JOIN pg_dist_placement ON pg_dist_placement.shardid = pg_dist_shard.shardid
       WHERE logicalrelid = CAST('events' AS regclass)`,
    ),
    siteIds
      ? coordinator.all(`SELECT id, ${shardOf} FROM string_to_table($1, ',') AS asked(id)`, [
          // An empty text has no parts, but the empty site is asked for as well.
          [...siteIds, ""].join(","),
        ])
      : coordinator.all(`SELECT id, ${shardOf} FROM (SELECT site_id AS id FROM sites) AS known`),
    isProbing && servers.length > 1 ? findMachines(servers) : null,
  ]);
  return {
    machines: new Map(machines.map((row) => [String(row.shard), String(row.machine)])),
    shards: new Map(shards.map((row) => [String(row.id), String(row.shard)])),
    servers: direct,
  };
}

/** The listed servers that can be written to, by the machine of the cluster that each is. */
async function findMachines(servers: readonly string[]): Promise<Map<string, WritableServer>> {
  const found = new Map<string, WritableServer>();
  await Promise.all(
    servers.map(async (server) => {
      const one = await probe(server).catch(() => null);
      if (one?.machine != null) found.set(one.machine, one);
    }),
  );
  return found;
}

/** True when a machine answers a statement about a site of its own within `timeoutMs`; null where it is not known to have any. */
export async function answersFor(server: string, siteId: string | null, timeoutMs: number): Promise<boolean> {
  const client = createClient(server, "cleancast probe", Math.min(timeoutMs, probeTimeoutMs), {
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
  });
  try {
    await client.connect();
    if (siteId === null) await client.query(`SELECT 1`);
    else await client.query(`SELECT 1 FROM leases WHERE site_id = $1 LIMIT 1`, [siteId]);
    return true;
  } catch (error) {
    // A server that is full answers. One that cannot reach the machine says so with 08…, or its time runs out.
    const code = sqlState(error);
    return !(code.startsWith("08") || code === "57014" || isServerSuspect(error));
  } finally {
    client.end().catch(() => {});
  }
}
