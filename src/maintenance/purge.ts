// Forgetting in the background what is older than it may be, on one node at a time: its turn is a row in the store, which
// falls to another when it dies. docs/privacy.md has the whole list: what, how long, by which setting.

import { setTimeout as wait } from "node:timers/promises";
import { lockoutRule } from "../store/sites/keyUse.ts";
import type { Step } from "../store/maintenance/purge.ts";
import type { Store } from "../store/store.ts";
import { watchClock } from "./clock.ts";
import { walk, type Pace } from "./pace.ts";

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const turnMs = 60_000;
const keepBotsMs = 14 * dayMs;
const keepPushesMs = 90 * dayMs;
const keepAlertsMs = 90 * dayMs;
const keepKeyUsesMs = 90 * dayMs;
/** As long as the visitor's cookie lives. */
const keepAgreementsMs = 400 * dayMs;
/** Two years and a little more: this month can be compared with that of the year before last. */
const keepNumbersMs = 800 * dayMs;
const keepAuditMs = 800 * dayMs;

/** Rows of one transaction, at most. */
const maxRows = 500;
const maxRecords = 100;
const maxHours = 12;

export type PurgedSite = {
  id: string;
  keys: readonly { id: string }[];
  settings: { keepMs: number; keepEventsMs: number; keepLogMs: number };
};

export type PurgeOptions = {
  store: Pick<
    Store,
    "purge" | "people" | "keyUse" | "traffic" | "platformSignIns" | "pushes" | "syncLog" | "alerts"
  >;
  sites: () => Iterable<PurgedSite>;
  /** This node. */
  owner: string;
  now: () => number;
  elapsed: () => number;
  onDefect: (error: unknown, about?: Record<string, unknown>) => void;
};

/** Starts it; the returned function stops it and gives the turn back. */
export function startPurge(options: PurgeOptions): () => Promise<void> {
  const { store, owner, onDefect } = options;
  const stopping = new AbortController();
  const purger = openPurge(options, stopping.signal);
  let purging: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function run(): void {
    purging = purger()
      .catch((error: unknown) => onDefect(error, { purge: "run" }))
      .finally(() => {
        if (!stopping.signal.aborted) timer = setTimeout(run, everyMs);
      });
  }

  timer = setTimeout(run, 1000 + 2000 * Math.random());
  return async () => {
    stopping.abort();
    clearTimeout(timer);
    await purging;
    await store.purge.giveTurnBack(owner).catch((error: unknown) => onDefect(error, { purge: "stop" }));
  };
}

/** One round over all sites. */
export function openPurge(options: PurgeOptions, signal: AbortSignal): () => Promise<void> {
  const { store, sites, owner, now, elapsed, onDefect } = options;
  /** When a site was last gone through whole. */
  const dailyAt = new Map<string, number>();
  let turnEnds = 0;
  let isClockSound: (() => boolean) | null = null;

  const pace: Pace = {
    elapsed,
    sleep: (ms) => wait(ms, undefined, { signal }).catch(() => {}),
    async mayGoOn() {
      if (signal.aborted || !isClockSound?.()) return false;
      if (now() < turnEnds - turnMs / 2) return true;
      const until = now() + turnMs;
      if (!(await store.purge.takeTurn(owner, now(), until))) return false;
      turnEnds = until;
      return true;
    },
  };
  const inSteps = (largest: number, step: (after: string, most: number) => Promise<Step>) =>
    walk(pace, largest, step);
  /** For steps that always begin at the oldest, and say how many they touched. */
  const whileSome = (step: (most: number) => Promise<number>) =>
    inSteps(maxRecords, async (_after, most) => {
      const removed = await step(most);
      return { removed, next: removed > 0 ? "" : null };
    });

  async function often({ id, settings }: PurgedSite): Promise<void> {
    await store.keyUse.purge(id, now(), lockoutRule);
    await store.platformSignIns.purge(id, now());
    await store.traffic.purge(id, now() - keepBotsMs, now());
    await store.pushes.purge(id, now() - keepPushesMs);
    await store.alerts.purge(id, now() - keepAlertsMs);
    await whileSome((most) => store.people.purgeVisitors(id, now() - settings.keepMs, most));
    await inSteps(maxRows, (after, most) =>
      store.purge.events(
        id,
        { before: now() - settings.keepEventsMs, numbersFrom: now() - keepNumbersMs },
        after,
        most,
      ),
    );
    await whileSome((most) => store.syncLog.purge(id, now() - settings.keepLogMs, most));
  }

  /** What is found only by looking at everything, or comes in small numbers. */
  async function daily({ id, keys, settings }: PurgedSite): Promise<void> {
    await inSteps(maxRows, (after, most) =>
      store.people.purgePeople(id, now() - settings.keepMs, after, most),
    );
    await inSteps(maxRows, (after, most) => store.purge.claims(id, now(), after, most));
    await inSteps(maxRecords, (after, most) =>
      store.purge.agreements(id, now() - keepAgreementsMs, after, most),
    );
    for (const key of keys)
      await inSteps(maxRows, (_after, most) => store.purge.keyUses(id, key.id, now() - keepKeyUsesMs, most));
    for (const table of ["statistics", "statistics_hours", "visit_counts", "inbound_counts"] as const)
      await inSteps(maxHours, (_after, most) => store.purge.hours(id, table, now() - keepNumbersMs, most));
    await inSteps(maxRows, (_after, most) => store.purge.audit(id, now() - keepAuditMs, most));
  }

  return async () => {
    // Before the turn is taken: that writes a time, too.
    isClockSound ??= watchClock(now, elapsed, await store.purge.newestTime([...sites()].map(({ id }) => id)));
    if (!(await pace.mayGoOn())) return;
    // Hosts that no site owns count under the empty site.
    await store.keyUse.purge("", now(), lockoutRule);
    for (const site of sites()) {
      if (!(await pace.mayGoOn())) return;
      try {
        await often(site);
        if ((dailyAt.get(site.id) ?? 0) > now() - dayMs) continue;
        await daily(site);
        if (!signal.aborted) dailyAt.set(site.id, now());
      } catch (error) {
        // One site whose rows cannot be read must not stop the others.
        onDefect(error, { purge: site.id });
      }
    }
  };
}
