// Reads the health of a site: the figures in the list of sites.

import { forEachConcurrently } from "../../kernel/concurrency.ts";
import { dayMs, hourMs } from "../../kernel/time.ts";
import { roleOn, type Actor } from "../../access/actor.ts";
import type { Answer } from "../../contract/contract.ts";
import { hasSettings, type Site } from "../../sites/directory.ts";
import type { Statistics } from "../../statistics/read.ts";
import type { Store } from "../../store/store.ts";
import type { ApiContext } from "../context.ts";

type Described = Answer<"POST /sites">;
type Health = Answer<"GET /sites/:site">["health"];
type Figures = NonNullable<Health["figures"]>;

export function describeSite(site: Site, actor: Actor | null): Described {
  const { id, name, hosts, createdAt, settings, leaving } = site;
  // The router has checked that the caller has a role here.
  const role = (actor && roleOn(actor, id)) ?? "viewer";
  const { timeZone, inbound } = settings;
  return { id, name, hosts, createdAt, timeZone, inbound, role, isReadable: hasSettings(site), leaving };
}

/** Counts queued and parked deliveries of a connection. */
export async function countWaiting(
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

type HealthContext = Pick<ApiContext, "store" | "now"> & { statistics: Statistics };

/** Sums the current hour and the 23 before it, as the Overview does for 24 h. */
async function readLastDay({ statistics, now }: HealthContext, siteId: string) {
  const to = (Math.floor(now() / hourMs) + 1) * hourMs;
  const range = { from: to - dayMs, to, step: "hour", timeZone: "UTC" } as const;
  return (await statistics.read(siteId, range)).total;
}

async function readFigures(context: HealthContext, site: Site): Promise<Figures> {
  const { store } = context;
  const [day, lastEventAt, open, waiting] = await Promise.all([
    readLastDay(context, site.id),
    store.health.lastEventAt(site.id),
    store.alerts.listSince(site.id, Number.MAX_SAFE_INTEGER),
    Promise.all(site.connections.map(({ id }) => countWaiting(store, site.id, id))),
  ]);
  return {
    conversions24h: day.conversions,
    removed24h: day.visits.bots + day.botEvents,
    lastEventAt,
    openAlerts: open.length,
    waiting: waiting.reduce((sum, count) => sum + count, 0),
  };
}

/** Where the rows of a site are out of reach, what is in memory is still told: a machine that is down must not hide the sites. */
export async function readHealth(context: HealthContext, site: Site): Promise<Health> {
  const inState = (wanted: string) => site.connections.filter(({ state }) => state === wanted).length;
  const figures = await readFigures(context, site).catch((error: unknown) => {
    if (context.store.health.isMachineError(error)) return null;
    throw error;
  });
  return {
    keys: site.keys.filter(({ revokedAt }) => revokedAt === null).length,
    connections: {
      active: inState("active"),
      paused: inState("paused"),
      needsReconnection: inState("needs reconnection"),
    },
    figures,
  };
}

const concurrency = 8;

/** Reads a few sites at a time: one by one would be slow for an agency, all at once would burden the store. */
export async function readHealthOfAll(context: HealthContext, sites: readonly Site[]): Promise<Map<string, Health>> {
  const found = new Map<string, Health>();
  await forEachConcurrently(sites, concurrency, async (site) => {
    found.set(site.id, await readHealth(context, site));
  });
  return found;
}
