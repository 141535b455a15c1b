// What a node's look for due deliveries costs when nothing is due: it names every connection, once a second.

import { openStore } from "../src/store/store.ts";
import type { Fleet } from "./support/fleet.ts";
import { cpuOfFamily } from "./support/processes.ts";

/** Microseconds of CPU for each connection that is asked about. */
export type Look = { connections: number; cpu: number; databaseCpu: number };

const connections = 32_768;

export async function measureLook({ installation, databasePid }: Fleet): Promise<Look> {
  const key = Buffer.from(installation.env.CLEANCAST_ENCRYPTION_KEY ?? "", "hex");
  const store = await openStore(installation.store, key, () => crypto.randomUUID());
  const among = Array.from({ length: connections }, (_, i) => ({
    siteId: `site-${i >> 1}`,
    connectionId: `connection-${i}`,
  }));
  // Once without being measured: statements are prepared, pages are read.
  await store.deliveries.findDue(Date.now(), among);
  const own = process.cpuUsage();
  const databaseCpu = cpuOfFamily(databasePid);
  await store.deliveries.findDue(Date.now(), among);
  const spent = process.cpuUsage(own);
  const databaseSpent = cpuOfFamily(databasePid) - databaseCpu;
  await store.close();
  return {
    connections,
    cpu: (spent.user + spent.system) / connections,
    databaseCpu: databaseSpent / connections,
  };
}
