// A backlog as an outage leaves it: everything that was delivered is due again, and the workers take it up.

import { Client } from "pg";
import { nodesCpu, type Fleet } from "./support/fleet.ts";
import { cpuOfFamily, sleep } from "./support/processes.ts";

/** Of one delivery, CPU in microseconds. */
export type Drain = {
  nodes: number;
  deliveries: number;
  perSecond: number;
  cpu: number;
  databaseCpu: number;
};

const most = 12_000;
const maxMs = 30_000;

export async function drainBacklog(fleet: Fleet): Promise<Drain> {
  const client = new Client({ connectionString: fleet.installation.env.DATABASE_URL });
  await client.connect();
  /** By the index that the workers use: counting would cost more than what is measured. */
  const isWaiting = async () => {
    const found = await client.query(
      `SELECT 1 FROM deliveries WHERE site_id = $1 AND connection_id = ANY($2) AND state = 'queued' LIMIT 1`,
      [fleet.installation.siteId, fleet.installation.connectionIds],
    );
    return found.rows.length > 0;
  };
  await client.query(`DELETE FROM attempts`);
  const { rowCount } = await client.query(
    `UPDATE deliveries SET state = 'queued', due_at = 0, owner = '', attempts = 0
     WHERE event_id IN (SELECT id FROM events ORDER BY id DESC LIMIT ${Math.floor(most / fleet.connections)})`,
  );
  const deliveries = rowCount ?? 0;
  if (deliveries === 0) throw new Error("there is nothing to drain");
  const cpu = nodesCpu(fleet);
  const databaseCpu = cpuOfFamily(fleet.databasePid);
  const began = performance.now();
  let waits = true;
  while (waits && performance.now() - began < maxMs) {
    await sleep(50);
    waits = await isWaiting();
  }
  const ms = performance.now() - began;
  await client.end();
  if (waits) throw new Error(`not all of ${deliveries} deliveries left within ${maxMs} ms`);
  return {
    nodes: fleet.nodes,
    deliveries,
    perSecond: (deliveries / ms) * 1000,
    cpu: (nodesCpu(fleet) - cpu) / deliveries,
    databaseCpu: (cpuOfFamily(fleet.databasePid) - databaseCpu) / deliveries,
  };
}
