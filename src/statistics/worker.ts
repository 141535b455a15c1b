// Rolls closed hours up into the statistics tables, in the background. Nodes divide the sites among themselves. Each first takes hours
// that ended since the last run, then hours whose deliveries may have changed, and then backfills, newest first, the hours before
// the first run.

import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../background/leaderJob.ts";
import { createStepSize, type Pace } from "../background/pace.ts";
import { readShare } from "../background/share.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { closedAfterMs, type StatisticsHead } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { maxPortion, rollUpHour } from "./hourlyRollup.ts";

type StatisticsOptions = JobNode & {
  store: Pick<Store, "leases" | "nodes" | "statistics" | "inboundCounts" | "rejectedRequests">;
  sites: () => Iterable<{ id: string }>;
  pace: Pace;
};

/** The interval between two updates of a site, and the time that a run may backfill before updates are due again. */
const updateMs = 5 * minuteMs;
const backfillMs = minuteMs;
const purgeMs = hourMs;
const maxDue = 50;

export function createStatisticsJob(options: StatisticsOptions): LeaderJob {
  const { store, sites, pace, now, elapsed } = options;
  const { statistics } = store;
  /** The next update and purge of each site, on the monotonic clock. */
  const updateAt = new Map<string, number>();
  const purgeAt = new Map<string, number>();

  async function work({ each, mayContinue }: Leadership): Promise<void> {
    const startedAt = elapsed();
    if (!(await mayContinue())) return;
    const isMine = await readShare(options);
    const mine = [...sites()].map(({ id }) => id).filter(isMine);
    const due = mine.filter((id) => (updateAt.get(id) ?? startedAt) <= startedAt);
    for (const id of due) updateAt.set(id, startedAt + updateMs);
    /** Sites with more to roll up. One that failed has to wait. */
    const left = new Set(due);
    const eachLeft = (step: (id: string) => Promise<boolean>) =>
      each(
        [...left],
        (id) => ({ site: id }),
        async (id) => {
          left.delete(id);
          if (await step(id)) left.add(id);
        },
      );
    await eachLeft((id) => update(id, mayContinue));
    while (left.size > 0 && elapsed() < startedAt + backfillMs && (await mayContinue())) await eachLeft(backfill);
    // The next run continues with sites whose history is not rolled up yet.
    for (const id of left) updateAt.delete(id);
  }

  const steps = { pace, size: createStepSize(pace, maxPortion) };
  const rollUp = (siteId: string, hour: number) => rollUpHour(store, siteId, hour, now(), steps);

  const closedHour = () => Math.floor((now() - closedAfterMs) / hourMs);

  async function headOf(siteId: string): Promise<StatisticsHead> {
    const closed = closedHour();
    return (await statistics.findHead(siteId)) ?? { fromHour: closed, toHour: closed };
  }

  /**
   * Rolls up the hours that ended since the last run and those that may have changed. False when it had to end early:
   * `mayContinue` is asked before every hour, because years of history take longer than a lease lasts.
   */
  async function update(siteId: string, mayContinue: () => Promise<boolean>): Promise<boolean> {
    const head = await headOf(siteId);
    const closed = closedHour();
    for (let { toHour } = head; toHour < closed;) {
      const hour = await statistics.findNextHour(siteId, toHour, closed);
      if (hour === null) break;
      if (!(await mayContinue())) return false;
      await rollUp(siteId, hour);
      toHour = hour + 1;
      await statistics.saveHead(siteId, { ...head, toHour });
    }
    for (const hour of await statistics.listDueHours(siteId, now(), maxDue)) {
      if (!(await mayContinue())) return false;
      await rollUp(siteId, hour);
    }
    if ((purgeAt.get(siteId) ?? elapsed()) <= elapsed()) {
      purgeAt.set(siteId, elapsed() + purgeMs);
      await store.inboundCounts.mergeWriters(siteId, now());
      await store.rejectedRequests.purge(siteId, now());
    }
    return true;
  }

  /** Rolls up one more hour of the history. False when none is left. */
  async function backfill(siteId: string): Promise<boolean> {
    const head = await headOf(siteId);
    if (head.fromHour === 0) return false;
    const hour = await statistics.findPreviousHour(siteId, head.fromHour);
    if (hour !== null) await rollUp(siteId, hour);
    // A site without events needs no row.
    else if (head.fromHour === head.toHour) return false;
    await statistics.saveHead(siteId, { ...head, fromHour: hour ?? 0 });
    return hour !== null;
  }

  return createLeaderJob({
    everyMs: 15_000,
    firstMs: 1000 + 2000 * Math.random(),
    ...options,
    name: "statistics",
    leases: store.leases,
    leaseMs: minuteMs,
    isDivided: true,
    work,
  });
}
