// Measures the delivery worker: the drain of a backlog that an outage left, and a poll that finds nothing due.

import { Client } from "pg";
import { nodesCpu, type Fleet } from "./support/fleet.ts";
import { cpuOfFamily, sleep } from "./support/processes.ts";
import { openStoreOf } from "./support/relay.ts";

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

export async function drainBacklog(fleet: Fleet): Promise<Drain> {
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
  await client.query(`DELETE FROM attempts`);
  const { rowCount } = await client.query(
    `UPDATE deliveries SET state = 'queued', due_at = 0, owner = '', attempts = 0
     WHERE event_id IN (SELECT id FROM events ORDER BY id DESC LIMIT ${Math.floor(maxDeliveries / fleet.connections)})`,
  );
  const deliveries = rowCount ?? 0;
  if (deliveries === 0) throw new Error("there is nothing to drain");
  const cpu = nodesCpu(fleet);
  const databaseCpu = cpuOfFamily(fleet.databasePid);
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

/** Microseconds of CPU per connection in the query. */
export type PollCost = { connections: number; cpu: number; databaseCpu: number };

const polledConnections = 32_768;

/** Every node runs this query once a second, over all connections. */
export async function measurePoll({ installation, databasePid }: Fleet): Promise<PollCost> {
  const store = await openStoreOf(installation);
  const among = Array.from({ length: polledConnections }, (_, i) => ({
    siteId: `site-${i >> 1}`,
    connectionId: `connection-${i}`,
  }));
  // The first query prepares statements and reads pages, so it is not measured.
  await store.deliveries.findDue(Date.now(), among);
  const own = process.cpuUsage();
  const databaseCpu = cpuOfFamily(databasePid);
  await store.deliveries.findDue(Date.now(), among);
  const spent = process.cpuUsage(own);
  const databaseSpent = cpuOfFamily(databasePid) - databaseCpu;
  await store.close();
  return {
    connections: polledConnections,
    cpu: (spent.user + spent.system) / polledConnections,
    databaseCpu: databaseSpent / polledConnections,
  };
}
