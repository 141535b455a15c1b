// The numbers of a wall: today so far, yesterday by the same time, and the newest conversions. No order id, no person, no reason of a
// platform: what hangs in an office is read by everybody who comes in.

import { createHash } from "node:crypto";
import { hourMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import { dayOf, startOfDay } from "../../reconcile/window.ts";
import { reportSums, type SharedReport } from "../../sharing/report.ts";
import type { Site } from "../../sites/directory.ts";
import { moneyOf } from "../../statistics/aggregate.ts";
import { createStatistics } from "../../statistics/read.ts";
import type { ApiContext } from "../context.ts";
import { withDeliveries, type ShownEvent } from "../handlers/events.ts";

type Money = SharedReport["values"];

export type WallEvent = {
  key: string;
  at: number;
  event: string;
  value: number | null;
  currency: string;
  isFiltered: boolean;
  deliveries: { platform: string; state: string }[];
};

export type WallData = {
  host: string;
  timeZone: string;
  at: number;
  today: Pick<SharedReport, "received" | "conversions" | "values" | "connections">;
  /** Until the same time of day. */
  yesterday: { conversions: number; values: Money };
  recent: WallEvent[];
};

/** Several screens share a reading. */
const cachedMs = 4000;
const maxCached = 200;
const maxRecent = 12;

export function createWallData(context: ApiContext): (site: Site) => Promise<WallData> {
  const { store, now } = context;
  const statistics = createStatistics(store, now);
  const cache = new Map<string, { at: number; data: Promise<WallData> }>();

  async function read({ id, hosts, settings: { timeZone } }: Site): Promise<WallData> {
    const at = now();
    const from = hourOf(startOfDay(dayOf(at, timeZone), timeZone));
    const dayBefore = hourOf(startOfDay(dayOf(from - hourMs, timeZone), timeZone));
    const to = hourOf(at) + hourMs;
    const [today, yesterday, { events }] = await Promise.all([
      statistics.read(id, { from, to, step: "day", timeZone }),
      // The running hour of yesterday would count as a whole one.
      statistics.read(id, {
        from: dayBefore,
        to: Math.max(dayBefore + hourMs, dayBefore + (hourOf(at) - from)),
        step: "day",
        timeZone,
      }),
      store.events.listPage(id, { mode: "live", from }, { before: null, limit: maxRecent }),
    ]);
    return {
      host: hosts[0] ?? id,
      timeZone,
      at,
      today: reportSums(today),
      yesterday: { conversions: yesterday.total.conversions, values: moneyOf(yesterday.total.values) },
      recent: (await withDeliveries(context, id, events)).map(toWallEvent),
    };
  }

  return (site) => {
    const known = cache.get(site.id);
    if (known && Math.abs(now() - known.at) < cachedMs) return known.data;
    const data = read(site);
    data.catch(() => cache.delete(site.id));
    if (cache.size >= maxCached) cache.clear();
    cache.set(site.id, { at: now(), data });
    return data;
  };
}

const hourOf = (at: number) => Math.floor(at / hourMs) * hourMs;

function toWallEvent({ id, receivedAt, event, value, currency, status, deliveries }: ShownEvent): WallEvent {
  return {
    // Tells a screen which line to change, and nobody anything else.
    key: createHash("sha256").update(id).digest("base64url").slice(0, 12),
    at: receivedAt,
    event,
    value,
    currency,
    isFiltered: status === "filtered",
    deliveries: deliveries.map(({ platform, state }) => ({ platform: platformOf(platform)?.name ?? platform, state })),
  };
}

/** Null for test events: they never count. */
export const toWallMessage = (event: ShownEvent): string | null =>
  event.mode === "live" ? `data: ${JSON.stringify(toWallEvent(event))}\n\n` : null;
