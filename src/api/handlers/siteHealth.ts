// How a site does, at a glance.

import { dayMs, hourMs } from "../../kernel/time.ts";
import { roleOn, type Actor } from "../../access/actor.ts";
import type { Answer } from "../../contract/contract.ts";
import type { Site } from "../../sites/directory.ts";
import type { Statistics } from "../../statistics/read.ts";
import type { Store } from "../../store/store.ts";
import type { ApiParts } from "../context.ts";

type Described = Answer<"POST /sites">;
type Health = Answer<"GET /sites/:site">["health"];

export function describeSite(site: Site, actor: Actor | null): Described {
  const { id, name, hosts, createdAt, settings } = site;
  // The router has let the caller in, so there is one.
  const role = (actor && roleOn(actor, id)) ?? "viewer";
  return { id, name, hosts, createdAt, timeZone: settings.timeZone, inbound: settings.inbound, role };
}

/** Queued and parked: what a connection still has to send. */
export async function waitingFor(
  store: Pick<Store, "alerts" | "health">,
  siteId: string,
  connectionId: string,
): Promise<number> {
  const [queued, parked] = await Promise.all([
    store.alerts.measureQueue(siteId, connectionId),
    store.health.countParked(siteId, connectionId),
  ]);
  return queued.count + parked;
}

export type HealthParts = Pick<ApiParts, "store" | "now"> & { statistics: Statistics };

/** The hour that runs and the 23 before it: the same that the Overview shows as 24 h. */
async function lastDay({ statistics, now }: HealthParts, siteId: string) {
  const to = (Math.floor(now() / hourMs) + 1) * hourMs;
  const range = { from: to - dayMs, to, step: "hour", timeZone: "UTC" } as const;
  return (await statistics.read(siteId, range)).total;
}

export async function healthOf(parts: HealthParts, site: Site): Promise<Health> {
  const { store } = parts;
  const active = site.connections.filter(({ state }) => state === "active");
  const [day, lastEventAt, open, waiting] = await Promise.all([
    lastDay(parts, site.id),
    store.health.lastEventAt(site.id),
    store.alerts.listSince(site.id, Number.MAX_SAFE_INTEGER),
    Promise.all(site.connections.map(({ id }) => waitingFor(store, site.id, id))),
  ]);
  const inState = (wanted: string) => site.connections.filter(({ state }) => state === wanted).length;
  return {
    conversions24h: day.conversions,
    removed24h: day.visits.bots + day.botEvents,
    lastEventAt,
    openAlerts: open.length,
    connections: {
      active: active.length,
      paused: inState("paused"),
      needsReconnection: inState("needs reconnection"),
    },
    waiting: waiting.reduce((sum, count) => sum + count, 0),
  };
}

const atOnce = 8;

/** One site after the other would be slow for an agency, all at once would be hard on the store. */
export async function healthOfAll(parts: HealthParts, sites: readonly Site[]): Promise<Map<string, Health>> {
  const found = new Map<string, Health>();
  const left = sites.values();
  const work = async () => {
    for (const site of left) found.set(site.id, await healthOf(parts, site));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return found;
}
