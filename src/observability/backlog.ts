// Reads the queue depth and delay from the store, for the metrics. It runs on a scrape, at most every 15 seconds, one
// connection at a time, so that a backlog of any size never slows down requests.

import { yieldToEventLoop } from "../kernel/deadline.ts";
import { timeOfId } from "../kernel/ids.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

export type QueueDepth = { count: number; overdueSeconds: number; ageSeconds: number };

export type Backlog = {
  /** By platform. */
  waiting: Map<string, QueueDepth>;
  pushLagSeconds: number;
};

export type BacklogOptions = {
  store: Pick<Store, "health"> & { deliveries: Pick<Store["deliveries"], "findDue"> };
  directory: Pick<Directory, "sites">;
  now: () => number;
  elapsed: () => number;
};

const cacheMs = 15_000;

/** Returns a cached reader of the backlog. */
export function createBacklog({ store, directory, now, elapsed }: BacklogOptions): () => Promise<Backlog> {
  let cached: { backlog: Promise<Backlog>; at: number } | null = null;

  async function readBacklog(): Promise<Backlog> {
    const waiting: Backlog["waiting"] = new Map();
    const connections = new Map<string, Connection>();
    for (const site of directory.sites()) {
      for (const connection of site.connections) {
        connections.set(`${connection.siteId} ${connection.id}`, connection);
        if (!waiting.has(connection.platform)) waiting.set(connection.platform, { count: 0, overdueSeconds: 0, ageSeconds: 0 });
      }
    }
    for (const { siteId, connectionId } of await store.deliveries.findDue(Number.MAX_SAFE_INTEGER)) {
      const depth = waiting.get(connections.get(`${siteId} ${connectionId}`)?.platform ?? "");
      if (!depth) continue;
      await yieldToEventLoop();
      const found = await store.health.measureBacklog(siteId, connectionId);
      const secondsSince = (at: number | null) => Math.max(0, now() - (at ?? now())) / 1000;
      depth.count += found.count;
      depth.overdueSeconds = Math.max(depth.overdueSeconds, secondsSince(found.dueAt));
      const oldestAt = found.oldestEvent === null ? null : timeOfId(found.oldestEvent);
      depth.ageSeconds = Math.max(depth.ageSeconds, secondsSince(oldestAt));
    }
    const oldestPushes = await store.health.oldestPushes();
    return { waiting, pushLagSeconds: Math.max(0, ...oldestPushes.map((at) => (now() - at) / 1000)) };
  }

  return async () => {
    if (!cached || elapsed() - cached.at >= cacheMs) cached = { backlog: readBacklog(), at: elapsed() };
    try {
      return await cached.backlog;
    } catch (error) {
      // A failure is not cached: the next scrape reads again.
      cached = null;
      throw error;
    }
  };
}
