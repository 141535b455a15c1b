// Measures the delivery worker: the drain of a backlog that an outage left, and a poll during an outage that finds nothing due.

import { Client } from "pg";
import { nodesCpu, type Fleet } from "./support/fleet.ts";
import { cpuOfFamily, sleep } from "./support/processes.ts";
import type { Harness } from "./support/loadTest.ts";
import { connectStoreOf, platforms } from "./support/relay.ts";
import type { StubState } from "./support/stub.ts";

/** `cpu` and `databaseCpu` are microseconds per delivery. */
export type Drain = {
  nodes: number;
  deliveries: number;
  perSecond: number;
  cpu: number;
  databaseCpu: number;
};

const maxDeliveries = 12_000;
const maxMs = 30_000;

/** The clock starts with the first request, because the workers look for due deliveries once a second. */
export async function drainBacklog({ stub }: Harness, fleet: Fleet): Promise<Drain> {
  const countRequests = async () => (await stub.ask<StubState>("state")).requests;
  const client = new Client({ connectionString: fleet.installation.env.DATABASE_URL });
  await client.connect();
  /** Uses the index of the workers: counting would cost more than the measured work. */
  const hasQueued = async () => {
    const found = await client.query(
      `SELECT 1 FROM deliveries WHERE site_id = $1 AND connection_id = ANY($2) AND state = 'queued' LIMIT 1`,
      [fleet.installation.siteId, fleet.installation.connectionIds],
    );
    return found.rows.length > 0;
  };
  const requests = await countRequests();
  // The rows of a replay: deliveries that were sent get a row again. They fall due after they were inserted, whose cost does
  // not count.
  const dueAt = Date.now() + 1500;
  const { siteId, connectionIds } = fleet.installation;
  const connections = connectionIds.map((id, i) => `('${id}', '${platforms[i]}')`).join(", ");
  const { rowCount } = await client.query(
    `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
     SELECT newest.site_id, newest.id, connection.id, connection.platform, 'queued', 1, ${dueAt}, '', newest.received_at
     FROM (SELECT site_id, id, received_at FROM events WHERE site_id = $1
       ORDER BY id DESC LIMIT ${Math.floor(maxDeliveries / fleet.connections)}) AS newest,
       (VALUES ${connections}) AS connection(id, platform)`,
    [siteId],
  );
  const deliveries = rowCount ?? 0;
  if (deliveries === 0) throw new Error("there is nothing to drain");
  const cpu = nodesCpu(fleet);
  const databaseCpu = cpuOfFamily(fleet.databasePid);
  while ((await countRequests()) === requests) await sleep(2);
  const began = performance.now();
  let isQueued = true;
  while (isQueued && performance.now() - began < maxMs) {
    await sleep(50);
    isQueued = await hasQueued();
  }
  const ms = performance.now() - began;
  await client.end();
  if (isQueued) throw new Error(`not all of ${deliveries} deliveries left within ${maxMs} ms`);
  return {
    nodes: fleet.nodes,
    deliveries,
    perSecond: (deliveries / ms) * 1000,
    cpu: (nodesCpu(fleet) - cpu) / deliveries,
    databaseCpu: (cpuOfFamily(fleet.databasePid) - databaseCpu) / deliveries,
  };
}

/** Microseconds of CPU per connection that has waiting deliveries. */
export type PollCost = { connections: number; cpu: number; databaseCpu: number };

const polledConnections = 32_768;

/** Every node runs this query once a second. Its cost is that of an outage: a delivery waits at every connection. */
export async function measurePoll({ installation, databasePid }: Fleet): Promise<PollCost> {
  const client = new Client({ connectionString: installation.env.DATABASE_URL });
  await client.connect();
  await client.query(
    `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
     SELECT 'polled-' || n / 2, 'e', 'connection-' || n, 'meta', 'queued', 1, ${Date.now() + 3_600_000}, '', 0
     FROM generate_series(1, ${polledConnections}) AS n`,
  );
  await client.query("VACUUM ANALYZE deliveries");
  const store = await connectStoreOf(installation);
  // The first query prepares statements and reads pages, so it is not measured.
  await store.deliveries.findDue(Date.now());
  const own = process.cpuUsage();
  const databaseCpu = cpuOfFamily(databasePid);
  await store.deliveries.findDue(Date.now());
  const spent = process.cpuUsage(own);
  const databaseSpent = cpuOfFamily(databasePid) - databaseCpu;
  await store.close();
  await client.query("DELETE FROM deliveries WHERE site_id LIKE 'polled-%'");
  await client.end();
  return {
    connections: polledConnections,
    cpu: (spent.user + spent.system) / polledConnections,
    databaseCpu: databaseSpent / polledConnections,
  };
}
