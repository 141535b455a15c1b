// Counts the work of this process since it started. The hot path pays one addition per count: no label set is built,
// and nothing is allocated once a label is known. The exporter turns the counts into Prometheus' format on a scrape.

import type { CommitTimes } from "../background/pace.ts";
import type { InboundLine } from "../inbound/event.ts";
import type { SourceLine } from "../inbound/sources/route.ts";
import type { DeliveryState } from "../kernel/event.ts";

export type Counts = ReturnType<typeof createCounts>;

/** Upper bounds of the histograms' buckets in seconds. */
const answerBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const attemptBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The counted fields of an inbound request's log line. */
type CountedLine = Pick<InboundLine, "ms"> & Partial<InboundLine>;

export function createCounts({ bySite }: { bySite: boolean }) {
  const answers = createLabelCounter();
  const filtered = createLabelCounter();
  const deliveries = createLabelCounter();
  const attempts = createLabelCounter();
  const siteEvents = createLabelCounter();
  const visits = createLabelCounter();
  const confirmations = createLabelCounter();
  const confirmationCalls = createLabelCounter();
  const reconciled = createLabelCounter();
  const feedFetches = createLabelCounter();
  const corrections = createLabelCounter();
  const sourceRequests = createLabelCounter();
  const answerSeconds = createBucketCounts(answerBounds);
  const attemptSeconds = new Map<string, BucketCounts>();
  const commitSeconds = createBucketCounts(commitBounds);
  const totals = { commitFailures: 0, writes: 0, defects: 0, clockJumps: 0, purgedRecords: 0, commits: 0, commitMs: 0 };

  function attemptSecondsOf(platform: string): BucketCounts {
    let buckets = attemptSeconds.get(platform);
    if (!buckets) attemptSeconds.set(platform, (buckets = createBucketCounts(attemptBounds)));
    return buckets;
  }

  return {
    answers,
    filtered,
    deliveries,
    attempts,
    siteEvents,
    visits,
    confirmations,
    confirmationCalls,
    reconciled,
    feedFetches,
    corrections,
    sourceRequests,
    answerSeconds,
    attemptSeconds,
    commitSeconds,
    totals,

    /** Counts an answered inbound request. `countRejected` counts the reasons of rejected ones. */
    countAnswer: (line: CountedLine): void => {
      answerSeconds.add(line.ms / 1000);
      if (line.status === undefined) answers.add("500", "defect");
      if (line.status !== 200) return;
      const { site = "", exit = "", reasons = [] } = line;
      answers.add("200", exit);
      for (const reason of reasons) filtered.add(reason);
      if (bySite) siteEvents.add(site, exit);
    },

    /** Counts what became of each entry of a source's request, or why the request was refused. */
    countSource: ({ kind = "unknown", reason, outcomes }: SourceLine): void => {
      if (reason !== undefined) sourceRequests.add(kind, reason);
      // The reason of an ignored entry is in the list of requests.
      else for (const outcome of outcomes) sourceRequests.add(kind, outcome.split(":", 1)[0]);
    },

    countRejected: (status: number, reason: string): void => {
      answers.add(String(status), reason);
    },

    /** Counts deliveries that ended before anything was sent. */
    countPlanned: (planned: readonly { platform: string; state: DeliveryState }[]): void => {
      for (const { platform, state } of planned) if (state !== "queued") deliveries.add(platform, state);
    },

    /** Counts a delivery that was attempted, or given back without an attempt. */
    countSettled(
      platform: string,
      state: DeliveryState,
      attempt: { httpStatus: number | null; durationMs: number } | null,
    ): void {
      // Queued without an attempt is no outcome.
      if (attempt || state !== "queued") deliveries.add(platform, state);
      if (!attempt) return;
      attempts.add(platform, statusClassOf(attempt.httpStatus));
      attemptSecondsOf(platform).add(attempt.durationMs / 1000);
    },

    /** Counts a finished transaction. `failed`: because of the database, not of the data. */
    countCommit: (ms: number, failed: boolean): void => {
      commitSeconds.add(ms / 1000);
      totals.commits += 1;
      totals.commitMs += ms;
      if (failed) totals.commitFailures += 1;
    },

    readCommits: (): CommitTimes => ({ count: totals.commits, ms: totals.commitMs }),
  };
}

const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/** `none`: there was no answer. */
function statusClassOf(status: number | null): string {
  return statusClasses[Math.floor((status ?? 0) / 100)] ?? "none";
}

/** A counter with two labels; the second may be empty. */
type LabelCounter = {
  add: (first: string, second?: string, by?: number) => void;
  entries: () => Iterable<readonly [first: string, second: string, count: number]>;
};

export function createLabelCounter(): LabelCounter {
  const rows = new Map<string, Map<string, { count: number }>>();
  return {
    add(first, second = "", by = 1) {
      let row = rows.get(first);
      if (!row) rows.set(first, (row = new Map()));
      const cell = row.get(second);
      if (cell) cell.count += by;
      else row.set(second, { count: by });
    },
    *entries() {
      for (const [first, row] of rows) for (const [second, { count }] of row) yield [first, second, count];
    },
  };
}

/** A histogram: one count per bucket, and a last count for values above all bounds. */
export type BucketCounts = {
  bounds: readonly number[];
  counts: number[];
  sum: number;
  add(value: number): void;
};

export function createBucketCounts(bounds: readonly number[]): BucketCounts {
  const buckets: BucketCounts = {
    bounds,
    counts: Array.from({ length: bounds.length + 1 }, () => 0),
    sum: 0,
    add(value) {
      let at = 0;
      while (at < bounds.length && value > (bounds[at] as number)) at += 1;
      buckets.counts[at] = (buckets.counts[at] as number) + 1;
      buckets.sum += value;
    },
  };
  return buckets;
}
