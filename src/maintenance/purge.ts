// Deletes rows after their retention period, in the background. Nodes divide the sites among themselves.
// docs/reference/stored-data.md lists the stored data with its periods and settings.

import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../background/leaderJob.ts";
import { createStepSize, type Pace } from "../background/pace.ts";
import { readShare } from "../background/share.ts";
import { keepRunsDays, maxRuns } from "../kernel/reconciliation.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import { hasSettings } from "../sites/directory.ts";
import { lockoutRule } from "../store/sites/keyUse.ts";
import type { PurgeStep } from "../store/maintenance/purge.ts";
import type { Store } from "../store/store.ts";
import { purgeDeletedSites } from "./purgeDeletedSites.ts";

const defaultEveryMs = 10 * minuteMs;
/** A site of which nothing was purged is purged half as often the next time, down to this interval. */
const maxIntervalMs = 4 * hourMs;
/** Whole requests of sources are gone a day after they came, although a site may wait for so long. */
const keepWholeMs = dayMs - maxIntervalMs;
const keepBotsMs = 14 * dayMs;
/** Platforms look into clicks of the last two months. */
const keepClicksMs = 62 * dayMs;
const keepPushesMs = 90 * dayMs;
const keepAlertsMs = 90 * dayMs;
const keepKeyUsesMs = 90 * dayMs;
const keepSnapshotsMs = 90 * dayMs;
/** The lifetime of the visitor's cookie. */
const keepAgreementsMs = 400 * dayMs;
/** A little more than two years, so that this month can be compared with that of the year before last. */
const keepStatisticsMs = 800 * dayMs;
const keepAuditMs = 800 * dayMs;
const keepRunsMs = keepRunsDays * dayMs;

/** The limits of one transaction. Events are removed by one statement for each table, whatever their number. */
const maxEvents = 5000;
/** A site with more events than can be removed in this time goes on after the others. */
const turnMs = 30_000;
const maxRows = 500;
const maxHours = 12;

type PurgedSite = {
  id: string;
  keys: readonly { id: string }[];
  sources: readonly { id: string }[];
  settings: { keepMs: number; keepEventsMs: number; keepLogMs: number };
  unreadable?: readonly string[];
  leaving?: { state: string } | null;
};

export type PurgeOptions = JobNode & {
  store: Pick<
    Store,
    | "leases"
    | "nodes"
    | "purge"
    | "people"
    | "keyUse"
    | "traffic"
    | "platformSignIns"
    | "pushes"
    | "syncLog"
    | "alerts"
    | "deletedSites"
    | "orders"
    | "reconciliations"
    | "snapshots"
    | "senderRefs"
    | "sourceRequests"
  >;
  sites: () => Iterable<PurgedSite>;
  pace: Pace;
  /** Records of a site were purged. */
  onPurged?: (siteId: string, records: number) => void;
};

export function createPurgeJob(options: PurgeOptions): LeaderJob {
  const { store, owner, sites, pace, everyMs = defaultEveryMs, now, elapsed, onDefect, onPurged = () => {} } = options;
  /** The time of the last daily purge of each site, on the monotonic clock. */
  const dailyAt = new Map<string, number>();
  /**
   * The time of the next frequent purge of each site, on the monotonic clock: most of thousands of sites have nothing to purge
   * most of the time. Shorter retention applies at once.
   */
  const next = new Map<string, { at: number; intervalMs: number; retention: string }>();
  /** By site: how long its oldest event has been past its retention. */
  const lags = new Map<string, number>();
  let leadership: Leadership | undefined;
  let isClockTrusted: (() => boolean) | null = null;

  const mayContinue = async () => isClockTrusted?.() === true && (await leadership?.mayContinue()) === true;
  let purged = 0;

  const inSteps = (max: number, step: Step, until?: number) =>
    runSteps({ pace, elapsed, mayContinue, signal: leadership?.signal, until }, max, async (after, limit) => {
      const done = await step(after, limit);
      purged += done.removed;
      return done;
    });

  /** For steps that always begin at the oldest row, and return how many they removed. */
  const untilNone = (step: (limit: number) => Promise<number>) =>
    inSteps(maxRows, async (_after, limit) => {
      const removed = await step(limit);
      return { removed, next: removed > 0 ? "" : null };
    });

  async function purgeShortLived(siteId: string): Promise<void> {
    try {
      await store.keyUse.purge(siteId, now(), lockoutRule);
      await store.platformSignIns.purge(siteId, now());
    } catch (error) {
      onDefect(error, { worker: "purge", site: siteId });
    }
  }

  /** Returns how many records were removed. */
  async function purgeFrequent({ id, settings }: PurgedSite): Promise<number> {
    const until = elapsed() + turnMs;
    let removed = await store.traffic.purge(id, { before: now() - keepBotsMs, clicksBefore: now() - keepClicksMs }, now());
    removed += await store.pushes.purge(id, now() - keepPushesMs);
    removed += await store.alerts.purge(id, now() - keepAlertsMs);
    removed += await store.sourceRequests.forgetRequests(id, now() - keepWholeMs);
    removed += await inSteps(maxRows, (_after, limit) => store.orders.purge(id, now() - settings.keepEventsMs, limit));
    removed += await inSteps(maxRows, (_after, limit) => store.reconciliations.purge(id, now() - keepRunsMs, maxRuns, limit));
    removed += await untilNone((limit) => store.people.purgeVisitors(id, now() - settings.keepMs, limit));
    const ages = { before: now() - settings.keepEventsMs, statisticsFrom: now() - keepStatisticsMs };
    removed += await inSteps(maxEvents, (after, limit) => store.purge.events(id, ages, after, limit), until);
    // Events that are left take their answers along in the next turn.
    if (elapsed() >= until) return removed;
    return removed + (await untilNone((limit) => store.syncLog.purge(id, answersBefore(settings, now()), limit)));
  }

  /** Purges what is found only by reading all rows, or is rare. */
  async function purgeDaily({ id, keys, sources, settings }: PurgedSite): Promise<void> {
    purged += await store.snapshots.purge(id, now() - keepSnapshotsMs);
    await inSteps(maxRows, (after, limit) => store.people.purgePeople(id, now() - settings.keepMs, after, limit));
    await inSteps(maxRows, (after, limit) => store.purge.claims(id, now(), after, limit));
    await inSteps(maxRows, (after, limit) => store.purge.agreements(id, now() - keepAgreementsMs, after, limit));
    await inSteps(maxRows, (after, limit) => store.senderRefs.purge(id, now() - settings.keepEventsMs, after, limit));
    for (const source of sources) await store.sourceRequests.purge(id, source.id, now());
    for (const key of [...keys, ...sources])
      await inSteps(maxRows, (_after, limit) => store.purge.keyUses(id, key.id, now() - keepKeyUsesMs, limit));
    for (const table of [
      "statistics",
      "statistics_segments",
      "statistics_hours",
      "visit_counts",
      "inbound_counts",
      "confirmation_counts",
    ] as const)
      await inSteps(maxHours, (_after, limit) => store.purge.hours(id, table, now() - keepStatisticsMs, limit));
    await inSteps(maxRows, (_after, limit) => store.purge.audit(id, now() - keepAuditMs, limit));
  }

  async function measureLag({ id, settings }: PurgedSite): Promise<void> {
    const before = now() - settings.keepEventsMs;
    const oldestAt = await store.purge.oldestDueAt(id, before);
    lags.set(id, oldestAt === null ? 0 : before - oldestAt);
  }

  /** Purges what is due of a site. False where more of its events are left. */
  async function purgeSite(site: PurgedSite, { signal }: Leadership): Promise<boolean> {
    const due = next.get(site.id);
    const retention = retentionOf(site);
    const isDue = !due || due.at <= elapsed() || due.retention !== retention;
    const isDailyDue = (dailyAt.get(site.id) ?? -Infinity) <= elapsed() - dayMs;
    // The defaults may be shorter than the retention that cannot be read.
    if ((!isDue && !isDailyDue) || !hasSettings(site)) return true;
    // While its last rows are copied, nothing may change. Afterwards personal data ends here in time, too.
    if (site.leaving?.state === "locked") return true;
    const startedAt = elapsed();
    let isFinished = true;
    purged = 0;
    try {
      if (isDue) {
        const removed = await purgeFrequent(site);
        isFinished = elapsed() - startedAt < turnMs;
        const intervalMs = removed > 0 ? everyMs : Math.min(2 * (due?.intervalMs ?? everyMs), maxIntervalMs);
        // A run begins a little earlier or later than its interval after the last one.
        if (isFinished) next.set(site.id, { at: elapsed() + intervalMs - everyMs / 2, intervalMs, retention });
        await measureLag(site);
      }
      if (isDailyDue && isFinished) await purgeDaily(site);
      if (isDailyDue && isFinished && !signal.aborted) dailyAt.set(site.id, elapsed());
    } catch (error) {
      // One site whose rows cannot be read must not stop the others.
      onDefect(error, { worker: "purge", site: site.id });
    } finally {
      if (purged > 0) onPurged(site.id, purged);
    }
    await pace.rest(elapsed() - startedAt, signal);
    return isFinished;
  }

  const saveRun = () => store.purge.saveRun(owner, { at: now(), lagMs: Math.max(0, ...lags.values()) });

  async function work(leading: Leadership): Promise<void> {
    leadership = leading;
    // This comes before the first run is saved, which writes a time, too.
    isClockTrusted ??= trustClock(now, elapsed, await store.purge.newestTime([...sites()].map(({ id }) => id)));
    if (!(await mayContinue())) return;
    const isMine = await readShare(options);
    // Hosts that no site owns count under the empty site.
    for (const id of await store.purge.sitesOfShortLived()) if (isMine(id)) await purgeShortLived(id);
    const mine = Array.from(sites()).filter(({ id }) => isMine(id));
    const present = new Set(mine.map(({ id }) => id));
    for (const id of lags.keys()) if (!present.has(id)) lags.delete(id);
    for (let left = mine; left.length > 0;) {
      const unfinished: PurgedSite[] = [];
      for (const site of left) {
        if (!(await mayContinue())) return;
        if (!(await purgeSite(site, leading))) unfinished.push(site);
      }
      left = unfinished;
      // A purge that never gets to its end must not look as if it did nothing, nor hide how late it is.
      if (left.length > 0 && (await mayContinue())) await saveRun();
    }
    await purgeDeletedSites({ store, isMine, now, onPurged, onDefect, inSteps: (step) => inSteps(maxRows, step) });
    if (await mayContinue()) await saveRun();
  }

  return createLeaderJob({
    firstMs: 1000 + 2000 * Math.random(),
    ...options,
    everyMs,
    name: "purge",
    leases: store.leases,
    leaseMs: minuteMs,
    isDivided: true,
    work,
  });
}

const retentionOf = ({ settings: { keepMs, keepEventsMs, keepLogMs } }: PurgedSite) => `${keepMs} ${keepEventsMs} ${keepLogMs}`;

/** Answers end with their event where both end in the same hour: to remove them before would be a second write of every event. */
function answersBefore({ keepEventsMs, keepLogMs }: PurgedSite["settings"], now: number): number {
  const before = now - keepLogMs;
  const hourOfEvents = Math.floor((now - keepEventsMs) / hourMs) * hourMs;
  return before > hourOfEvents && before < hourOfEvents + hourMs ? hourOfEvents : before;
}

type Step = (after: string, limit: number) => Promise<PurgeStep>;

type Stepping = {
  pace: Pace;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  mayContinue: () => Promise<boolean>;
  signal?: AbortSignal | undefined;
  until?: number | undefined;
};

/** Runs steps of at most `max` rows until nothing is left, or until a time. Returns how many records were removed. */
export async function runSteps(stepping: Stepping, max: number, step: Step): Promise<number> {
  const { pace, elapsed, mayContinue, signal, until = Infinity } = stepping;
  const size = createStepSize(pace, max);
  let removed = 0;
  for (let after = ""; elapsed() < until && (await mayContinue());) {
    const startedAt = elapsed();
    const done = await step(after, size.rows());
    const took = elapsed() - startedAt;
    removed += done.removed;
    if (done.next === null) break;
    after = done.next;
    size.adapt(took);
    await pace.rest(took, signal);
  }
  return removed;
}

const suspiciousMs = 2 * dayMs;
const waitMs = hourMs;

/**
 * Returns a function that returns true while the clock can be trusted: a clock that is a year ahead would purge everything.
 * A clock that is days ahead of all stored times, or was set days ahead, is trusted only after an hour: a machine that
 * started with a wrong time gets the right one from the network long before. `newest` is the latest stored time, if there is one.
 */
export function trustClock(now: () => number, elapsed: () => number, newest: number | null): () => boolean {
  // The clock's time at the start of the monotonic clock changes only when the clock is set.
  let origin = (newest ?? now()) - elapsed();
  let trustedFrom = elapsed();
  return () => {
    const seen = now() - elapsed();
    if (seen - origin > suspiciousMs) trustedFrom = elapsed() + waitMs;
    origin = seen;
    return elapsed() >= trustedFrom;
  };
}
