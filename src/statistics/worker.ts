// Makes the numbers of hours that are over, in the background and on one node at a time: its turn is a row in the store,
// which falls to another when it dies. First what has just ended, then what may stand differently by now, and then, newest
// first, what lies before anybody began to count.

import { setTimeout as sleep } from "node:timers/promises";
import type { StatisticsHead } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { hourMs } from "../store/statistics/traffic.ts";
import { rollHour } from "./roll.ts";

export type StatisticsOptions = {
  store: Pick<Store, "statistics" | "inboundCounts" | "rejectedRequests">;
  sites: () => Iterable<{ id: string }>;
  /** This node. */
  owner: string;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const everyMs = 15_000;
const turnMs = 60_000;
/** An hour is over this long after its end: what was taken in at its end is committed by then, on every node. */
const closedAfterMs = 5 * 60_000;
/** How often a site is looked at, and for how long the past may be made before that is due again. */
const lookMs = 5 * 60_000;
const catchUpMs = 60_000;
const purgeMs = hourMs;
const maxDue = 50;

/** Starts making them; the returned function stops it and gives the turn back. */
export function startStatistics(options: StatisticsOptions): () => Promise<void> {
  const { store, owner, onDefect } = options;
  const worker = statisticsWorker(options);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  function run(): void {
    working = worker
      .work()
      .catch((error: unknown) => onDefect(error, { statistics: "work" }))
      .finally(() => {
        if (!stopped) timer = setTimeout(run, everyMs);
      });
  }

  timer = setTimeout(run, 1000 + 2000 * Math.random());
  return async () => {
    stopped = true;
    worker.stop();
    clearTimeout(timer);
    await working;
    await store.statistics
      .giveTurnBack(owner)
      .catch((error: unknown) => onDefect(error, { statistics: "stop" }));
  };
}

export function statisticsWorker({ store, sites, owner, now, onDefect }: StatisticsOptions) {
  const lookAt = new Map<string, number>();
  const purgeAt = new Map<string, number>();
  let stopped = false;
  let turnEnds = 0;

  /** Whether to go on; asked before every hour, because a past of years takes longer than a turn. */
  async function mayGoOn(): Promise<boolean> {
    if (stopped) return false;
    if (now() < turnEnds - turnMs / 2) return true;
    const until = now() + turnMs;
    if (!(await store.statistics.takeTurn(owner, now(), until))) return false;
    turnEnds = until;
    return true;
  }

  /** Leaves as much time to others as it took itself. */
  async function roll(siteId: string, hour: number): Promise<void> {
    const startedAt = performance.now();
    await rollHour(store, siteId, hour, now());
    await sleep(Math.min(200, performance.now() - startedAt));
  }

  const closedHour = () => Math.floor((now() - closedAfterMs) / hourMs);

  async function headOf(siteId: string): Promise<StatisticsHead> {
    const closed = closedHour();
    return (await store.statistics.findHead(siteId)) ?? { fromHour: closed, toHour: closed };
  }

  /** What ended since the last time, and what may stand differently. False when it is not our turn any more. */
  async function look(siteId: string): Promise<boolean> {
    const head = await headOf(siteId);
    const closed = closedHour();
    for (let { toHour } = head; toHour < closed;) {
      const hour = await store.statistics.findNextHour(siteId, toHour, closed);
      if (hour === null) break;
      if (!(await mayGoOn())) return false;
      await roll(siteId, hour);
      toHour = hour + 1;
      await store.statistics.saveHead(siteId, { ...head, toHour });
    }
    for (const hour of await store.statistics.listDueHours(siteId, now(), maxDue)) {
      if (!(await mayGoOn())) return false;
      await roll(siteId, hour);
    }
    if ((purgeAt.get(siteId) ?? 0) <= now()) {
      purgeAt.set(siteId, now() + purgeMs);
      await store.inboundCounts.purge(siteId, now());
      await store.rejectedRequests.purge(siteId, now());
    }
    return true;
  }

  /** One hour of the past. False when there is none left. */
  async function goBack(siteId: string): Promise<boolean> {
    const head = await headOf(siteId);
    if (head.fromHour === 0) return false;
    const hour = await store.statistics.findPreviousHour(siteId, head.fromHour);
    if (hour !== null) await roll(siteId, hour);
    // A site without events needs no row.
    else if (head.fromHour === head.toHour) return false;
    await store.statistics.saveHead(siteId, { ...head, fromHour: hour ?? 0 });
    return hour !== null;
  }

  async function eachSite(ids: readonly string[], work: (id: string) => Promise<boolean>): Promise<string[]> {
    const more: string[] = [];
    for (const id of ids) {
      if (!(await mayGoOn())) return [];
      try {
        if (await work(id)) more.push(id);
      } catch (error) {
        // One site whose rows cannot be read must not stop the others.
        onDefect(error, { statistics: id });
      }
    }
    return more;
  }

  return {
    async work(): Promise<void> {
      const startedAt = now();
      if (!(await mayGoOn())) return;
      const due = [...sites()].map(({ id }) => id).filter((id) => (lookAt.get(id) ?? 0) <= startedAt);
      for (const id of due) lookAt.set(id, startedAt + lookMs);
      let left = await eachSite(due, look);
      while (left.length && now() < startedAt + catchUpMs) left = await eachSite(left, goBack);
      // Sites with a past that is not made yet are gone on with at the next tick.
      for (const id of left) lookAt.set(id, 0);
    },
    stop: () => {
      stopped = true;
    },
  };
}
