// Every metric of the relay, by Prometheus' conventions. Labels have few values: platforms, states, reasons of ours. Loaded
// by the first scrape, so that a start does not pay for it. docs/how-to/monitoring.md lists them for operators.

import { within } from "../kernel/deadline.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Backlog } from "./backlog.ts";
import type { Counts } from "./counts.ts";
import { openExporter, type Sample } from "./exporter.ts";
import type { Readiness } from "./readiness.ts";
import { tokenEndOf } from "./tokens.ts";

export type MetricSources = {
  version: string;
  engine: string;
  counts: Counts;
  directory: Pick<Directory, "sites" | "connection">;
  /** What each connection has in hand; `key` is "site connection". */
  lanes: () => Iterable<{ key: string; busy: number; waiting: number }>;
  /** Keys of connections that are not called for the moment. */
  openBreakers: () => Iterable<string>;
  backlog: () => Promise<Backlog>;
  /** When the certificate ends that is served; null where none is. */
  certificateEndsAt: () => number | null;
  readiness: () => Promise<Readiness>;
  /** As the last look at the readiness found it. */
  skewMs: () => number | null;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const backlogMs = 2000;

export function openMetrics(sources: MetricSources): { contentType: string; read(): Promise<string> } {
  const { counts, directory } = sources;
  const { counter, gauge, histogram, contentType, read } = openExporter();
  let backlog: Backlog | null = null;
  let readiness: Readiness | null = null;

  gauge("cleancast_build_info", "1, labelled with what runs.", ["version", "engine"], () => [
    [sources.version, sources.engine, 1],
  ]);

  gauge("cleancast_ready", "1 where a check of /readyz holds, 0 where it fails.", ["check"], () =>
    Object.entries(readiness?.checks ?? {}).map(([check, said]) => [check, said === "ok" ? 1 : 0]),
  );

  counter(
    "cleancast_inbound_answers_total",
    "Inbound requests by status and reason: dispatched, duplicate, filtered, or why they were refused.",
    ["status", "reason"],
    counts.answers.entries,
  );
  histogram("cleancast_inbound_answer_seconds", "How long senders waited for their answer.", () => [
    ["", counts.answerSeconds],
  ]);
  counter("cleancast_events_filtered_total", "Filtered events by kind of reason.", ["reason"], () =>
    withoutSecond(counts.filtered.entries()),
  );
  counter(
    "cleancast_site_events_total",
    "Events by site, where CLEANCAST_METRICS_SITES is on.",
    ["site", "exit"],
    counts.siteEvents.entries,
  );
  counter("cleancast_visits_total", "Visits that the tag reported, by bucket.", ["bucket"], () =>
    withoutSecond(counts.visits.entries()),
  );

  counter(
    "cleancast_deliveries_total",
    "Outcomes of deliveries; queued is a failed attempt that will be repeated.",
    ["platform", "outcome"],
    counts.deliveries.entries,
  );
  counter(
    "cleancast_attempts_total",
    "Attempts of deliveries by class of the HTTP status; none is no answer.",
    ["platform", "status"],
    counts.attempts.entries,
  );
  histogram("cleancast_attempt_seconds", "How long attempts took.", () => counts.attemptSeconds);

  gauge("cleancast_lane_in_flight", "Requests under way to platforms, on this node.", ["platform"], () =>
    lanesBy(({ busy }) => busy),
  );
  gauge("cleancast_lane_waiting", "Deliveries that wait for a free lane, on this node.", ["platform"], () =>
    lanesBy(({ waiting }) => waiting),
  );
  gauge(
    "cleancast_breakers_open",
    "Connections that are not called for the moment, on this node.",
    ["platform"],
    () => sumBy(Array.from(sources.openBreakers(), (key) => [platformOfKey(key), 1])),
  );
  gauge("cleancast_connections", "Connections by state.", ["platform", "state"], connectionsByState);

  const waiting = (number: (one: Waiting) => number) => () =>
    backlog ? Array.from(backlog.waiting, ([platform, one]): Sample => [platform, number(one)]) : [];
  gauge(
    "cleancast_queue_waiting",
    "Deliveries that wait in the store, at most 10,000 of each connection.",
    ["platform"],
    waiting(({ count }) => count),
  );
  gauge(
    "cleancast_queue_overdue_seconds",
    "How long the longest overdue delivery could have gone.",
    ["platform"],
    waiting(({ overdueSeconds }) => overdueSeconds),
  );
  gauge(
    "cleancast_queue_oldest_seconds",
    "Age of the oldest event that waits.",
    ["platform"],
    waiting(({ ageSeconds }) => ageSeconds),
  );
  gauge("cleancast_push_lag_seconds", "Age of the oldest period that a webhook still has to get.", [], () =>
    backlog ? [[backlog.pushLagSeconds]] : [],
  );

  histogram("cleancast_store_commit_seconds", "How long transactions took, their wait included.", () => [
    ["", counts.commitSeconds],
  ]);
  counter(
    "cleancast_store_writes_total",
    "Events and outcomes that were written; divided by commits it is the size of a group.",
    [],
    () => [[counts.plain.writes]],
  );
  counter("cleancast_store_commit_failures_total", "Transactions that the database failed.", [], () => [
    [counts.plain.commitFailures],
  ]);

  gauge("cleancast_clock_skew_seconds", "This clock minus the database's.", [], () => {
    const ms = sources.skewMs();
    return ms === null ? [] : [[ms / 1000]];
  });
  counter("cleancast_clock_jumps_total", "How often this machine's clock was set.", [], () => [
    [counts.plain.clockJumps],
  ]);
  counter("cleancast_defects_total", "Errors in the log.", [], () => [[counts.plain.defects]]);
  gauge(
    "cleancast_certificate_expiry_timestamp_seconds",
    "When the certificate that is served ends.",
    [],
    () => {
      const endsAt = sources.certificateEndsAt();
      return endsAt === null ? [] : [[endsAt / 1000]];
    },
  );
  gauge(
    "cleancast_token_expiry_timestamp_seconds",
    "When the first access token ends that cannot be renewed.",
    ["platform"],
    tokenEnds,
  );

  const platformOfKey = (key: string) => {
    const [siteId = "", id = ""] = key.split(" ");
    return directory.connection(siteId, id)?.platform ?? "unknown";
  };

  function lanesBy(number: (queue: { busy: number; waiting: number }) => number): Iterable<Sample> {
    return sumBy(Array.from(sources.lanes(), (queue) => [platformOfKey(queue.key), number(queue)]));
  }

  function* connections(): Generator<Connection> {
    for (const site of directory.sites()) yield* site.connections;
  }

  function* connectionsByState(): Generator<Sample> {
    for (const [platform, ofPlatform] of Map.groupBy(connections(), (one) => one.platform))
      for (const [state, some] of Map.groupBy(ofPlatform, (one) => one.state))
        yield [platform, state, some.length];
  }

  function* tokenEnds(): Generator<Sample> {
    for (const [platform, some] of Map.groupBy(connections(), (one) => one.platform)) {
      const ends = some.map(tokenEndOf).filter((end) => end !== null);
      if (ends.length) yield [platform, Math.min(...ends) / 1000];
    }
  }

  return {
    contentType,
    async read() {
      readiness = await sources.readiness();
      // A store that does not answer is when the other numbers are wanted most.
      backlog = await within(backlogMs, sources.backlog(), "the backlog was not counted in time").catch(
        (error: unknown) => {
          sources.onDefect(error, { metrics: "backlog" });
          return null;
        },
      );
      return read();
    },
  };
}

type Waiting = { count: number; overdueSeconds: number; ageSeconds: number };

function sumBy(samples: Iterable<readonly [string, number]>): Sample[] {
  const sums = new Map<string, number>();
  for (const [name, number] of samples) sums.set(name, (sums.get(name) ?? 0) + number);
  return [...sums];
}

function* withoutSecond(entries: Iterable<readonly [string, string, number]>): Generator<Sample> {
  for (const [first, , count] of entries) yield [first, count];
}
