// What waits in the store, for the metrics. Asked when somebody scrapes, at most every 15 seconds, a connection at a time,
// so that a backlog of any size costs requests nothing.

import { setImmediate as breathe } from "node:timers/promises";
import { timeOfId } from "../kernel/ids.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

export type Backlog = {
  /** By platform. */
  waiting: Map<string, { count: number; overdueSeconds: number; ageSeconds: number }>;
  pushLagSeconds: number;
};

export type BacklogOptions = {
  store: Pick<Store, "health"> & { deliveries: Pick<Store["deliveries"], "findDue"> };
  directory: Pick<Directory, "sites">;
  now: () => number;
  elapsed: () => number;
};

const holdsMs = 15_000;

export function openBacklog({ store, directory, now, elapsed }: BacklogOptions): () => Promise<Backlog> {
  let known: { backlog: Promise<Backlog>; at: number } | null = null;

  async function look(): Promise<Backlog> {
    const waiting: Backlog["waiting"] = new Map();
    const connections = new Map<string, Connection>();
    for (const site of directory.sites()) {
      for (const connection of site.connections) {
        connections.set(`${connection.siteId} ${connection.id}`, connection);
        if (!waiting.has(connection.platform))
          waiting.set(connection.platform, { count: 0, overdueSeconds: 0, ageSeconds: 0 });
      }
    }
    const among = [...connections.values()].map(({ siteId, id }) => ({ siteId, connectionId: id }));
    for (const { siteId, connectionId } of await store.deliveries.findDue(Number.MAX_SAFE_INTEGER, among)) {
      await breathe();
      const found = await store.health.measureBacklog(siteId, connectionId);
      const { platform } = connections.get(`${siteId} ${connectionId}`) as Connection;
      const sum = waiting.get(platform);
      if (!sum) continue;
      const ageOf = (at: number | null) => Math.max(0, now() - (at ?? now())) / 1000;
      sum.count += found.count;
      sum.overdueSeconds = Math.max(sum.overdueSeconds, ageOf(found.dueAt));
      sum.ageSeconds = Math.max(
        sum.ageSeconds,
        ageOf(found.oldestEvent === null ? null : timeOfId(found.oldestEvent)),
      );
    }
    const ends = await store.health.oldestPushes();
    return { waiting, pushLagSeconds: Math.max(0, ...ends.map((at) => (now() - at) / 1000)) };
  }

  return async () => {
    if (!known || elapsed() - known.at >= holdsMs) known = { backlog: look(), at: elapsed() };
    try {
      return await known.backlog;
    } catch (error) {
      // A failure is not kept: the next scrape looks again.
      known = null;
      throw error;
    }
  };
}
