// Every metric of the relay, by Prometheus' conventions. Labels have few values: platforms, states, our own reasons. Loaded
// by the first scrape, so that a start does not pay for it. docs/how-to/monitoring.md lists them for operators.

import { within } from "../kernel/deadline.ts";
import { tokenExpiryOf } from "../sites/connectionSettings.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Backlog, QueueDepth } from "./backlog.ts";
import type { Capacity } from "./capacity.ts";
import type { Counts } from "./counts.ts";
import { createExporter, type Exporter, type Sample } from "./exporter.ts";
import type { Readiness } from "./readiness.ts";
import type { TraceCounts } from "./traces/exporter.ts";

type MetricSources = {
  version: string;
  engine: string;
  counts: Counts;
  directory: Pick<Directory, "sites" | "connection">;
  /** The load of each connection's lanes; `key` is "site connection". */
  lanes: () => Iterable<{ key: string; busy: number; waiting: number }>;
  /** Keys of the connections whose circuit breaker is open. */
  openBreakers: () => Iterable<string>;
  backlog: () => Promise<Backlog>;
  capacity: () => Promise<Capacity>;
  /** How many deletions there were, by kind, on all nodes and by the command line. */
  deletions: () => Promise<Readonly<Record<string, number>>>;
  /** Expiry of the served certificate; null where none is served. */
  certificateExpiresAt: () => number | null;
  readiness: () => Promise<Readiness>;
  /** Null where no traces are made. */
  traces: TraceCounts | null;
  /** The clock skew that the last readiness check found. */
  skewMs: () => number | null;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** Values that take time to read: they are read once per scrape, before the metrics are rendered. */
type ScrapeData = {
  backlog: Backlog | null;
  capacity: Capacity | null;
  deletions: Readonly<Record<string, number>> | null;
  readiness: Readiness | null;
};

const storeTimeoutMs = 2000;

export function createMetrics(sources: MetricSources): { contentType: string; read(): Promise<string> } {
  const exporter = createExporter();
  const data: ScrapeData = { backlog: null, capacity: null, deletions: null, readiness: null };
  declareNode(exporter, sources, data);
  declareInbound(exporter, sources.counts);
  declareDelivery(exporter, sources);
  declareQueue(exporter, data);
  declareStore(exporter, sources.counts, data);
  declareCapacity(exporter, data);
  /** When the store does not answer, the other numbers matter most. */
  const readFromStore = <T>(name: string, reading: Promise<T>): Promise<T | null> =>
    within(storeTimeoutMs, reading, `the ${name} was not read in time`).catch((error: unknown) => {
      sources.onDefect(error, { metrics: name });
      return null;
    });
  return {
    contentType: exporter.contentType,
    async read() {
      data.readiness = await sources.readiness();
      [data.backlog, data.capacity, data.deletions] = await Promise.all([
        readFromStore("backlog", sources.backlog()),
        readFromStore("capacity", sources.capacity()),
        readFromStore("number of deletions", sources.deletions()),
      ]);
      return exporter.read();
    },
  };
}

function declareNode({ gauge, counter }: Exporter, sources: MetricSources, data: ScrapeData): void {
  const { totals } = sources.counts;
  gauge("cleancast_build_info", "Always 1; the labels name the running version.", ["version", "engine"], () => [
    [sources.version, sources.engine, 1],
  ]);
  gauge("cleancast_ready", "1 where a check of /readyz holds, 0 where it fails.", ["check"], () =>
    Object.entries(data.readiness?.checks ?? {}).map(([check, state]) => [check, state === "ok" ? 1 : 0]),
  );
  gauge("cleancast_clock_skew_seconds", "This clock minus the database's.", [], () => toSeconds(sources.skewMs()));
  counter("cleancast_clock_jumps_total", "How often this machine's clock was set.", [], () => [[totals.clockJumps]]);
  counter("cleancast_defects_total", "Errors in the log.", [], () => [[totals.defects]]);
  gauge("cleancast_certificate_expiry_timestamp_seconds", "Expiry of the served certificate.", [], () =>
    toSeconds(sources.certificateExpiresAt()),
  );
  const { traces } = sources;
  if (!traces) return;
  counter("cleancast_trace_spans_exported_total", "Spans of traces that the receiver took.", [], () => [[traces.exported]]);
  counter(
    "cleancast_trace_spans_dropped_total",
    "Spans of traces that were not exported: the queue was full, or the receiver did not take them.",
    ["reason"],
    () => Object.entries(traces.dropped),
  );
}

function declareInbound({ counter, histogram }: Exporter, counts: Counts): void {
  counter(
    "cleancast_inbound_answers_total",
    "Inbound requests by status and reason: dispatched, duplicate, filtered, or why they were rejected.",
    ["status", "reason"],
    counts.answers.entries,
  );
  histogram("cleancast_inbound_answer_seconds", "Time until an inbound request was answered.", () => [
    ["", counts.answerSeconds],
  ]);
  counter("cleancast_events_filtered_total", "Filtered events by kind of reason.", ["reason"], () =>
    withoutSecondLabel(counts.filtered.entries()),
  );
  counter(
    "cleancast_source_requests_total",
    "Requests of sources by kind: what became of each entry, or why the request was refused.",
    ["kind", "outcome"],
    counts.sourceRequests.entries,
  );
  counter(
    "cleancast_site_events_total",
    "Events by site, where CLEANCAST_METRICS_SITES is on.",
    ["site", "exit"],
    counts.siteEvents.entries,
  );
  counter("cleancast_reconciled_rows_total", "Rows of the reconciliations that ended on this node, by class.", ["class"], () =>
    withoutSecondLabel(counts.reconciled.entries()),
  );
  counter("cleancast_order_feed_fetches_total", "Fetches of lists of orders on this node.", ["result"], () =>
    withoutSecondLabel(counts.feedFetches.entries()),
  );
  counter("cleancast_visits_total", "Visits that the tag reported, by bucket.", ["bucket"], () =>
    withoutSecondLabel(counts.visits.entries()),
  );
}

function declareDelivery({ counter, gauge, histogram }: Exporter, sources: MetricSources): void {
  const { counts, directory } = sources;
  const platformOfKey = (key: string) => {
    const [siteId = "", id = ""] = key.split(" ");
    return directory.connection(siteId, id)?.platform ?? "unknown";
  };
  const sumLanes = (number: (lane: { busy: number; waiting: number }) => number) => () =>
    sumByLabel(Array.from(sources.lanes(), (lane) => [platformOfKey(lane.key), number(lane)]));

  counter(
    "cleancast_deliveries_total",
    "Outcomes of deliveries; queued is a failed attempt that will be repeated.",
    ["platform", "outcome"],
    counts.deliveries.entries,
  );
  counter(
    "cleancast_attempts_total",
    "Delivery attempts by class of the HTTP status; none means no answer.",
    ["platform", "status"],
    counts.attempts.entries,
  );
  histogram("cleancast_attempt_seconds", "Duration of delivery attempts.", () => counts.attemptSeconds);
  counter(
    "cleancast_confirmation_calls_total",
    "Calls that ask a platform what became of conversions: answered, undecided, retry, rejected, unauthorized, given up.",
    ["platform", "result"],
    counts.confirmationCalls.entries,
  );
  counter(
    "cleancast_confirmations_total",
    "Answers of platforms about single conversions: confirmed, not counted, unknown.",
    ["platform", "state"],
    counts.confirmations.entries,
  );
  counter(
    "cleancast_corrections_total",
    "Corrections of refunded conversions: corrected, nothing to correct, rejected, cannot be taken back.",
    ["platform", "state"],
    counts.corrections.entries,
  );
  gauge(
    "cleancast_lane_in_flight",
    "Requests to platforms in flight, on this node.",
    ["platform"],
    sumLanes(({ busy }) => busy),
  );
  gauge(
    "cleancast_lane_waiting",
    "Deliveries that wait for a free lane, on this node.",
    ["platform"],
    sumLanes(({ waiting }) => waiting),
  );
  gauge("cleancast_breakers_open", "Connections with an open circuit breaker, on this node.", ["platform"], () =>
    sumByLabel(Array.from(sources.openBreakers(), (key) => [platformOfKey(key), 1])),
  );
  gauge("cleancast_connections", "Connections by state.", ["platform", "state"], () => countByState(directory));
  gauge(
    "cleancast_token_expiry_timestamp_seconds",
    "Expiry of the first access token that cannot be renewed.",
    ["platform"],
    () => firstTokenExpiries(directory),
  );
}

function declareQueue({ gauge }: Exporter, data: ScrapeData): void {
  const queue = (number: (depth: QueueDepth) => number) => () =>
    Array.from(data.backlog?.waiting ?? [], ([platform, depth]): Sample => [platform, number(depth)]);
  gauge(
    "cleancast_queue_waiting",
    "Deliveries that wait in the store, at most 10,000 of each connection.",
    ["platform"],
    queue(({ count }) => count),
  );
  gauge(
    "cleancast_queue_overdue_seconds",
    "Delay of the most overdue delivery.",
    ["platform"],
    queue(({ overdueSeconds }) => overdueSeconds),
  );
  gauge(
    "cleancast_queue_oldest_seconds",
    "Age of the oldest waiting event.",
    ["platform"],
    queue(({ ageSeconds }) => ageSeconds),
  );
  gauge("cleancast_push_lag_seconds", "Age of the oldest period not yet pushed to a webhook.", [], () =>
    data.backlog ? [[data.backlog.pushLagSeconds]] : [],
  );
}

function declareStore({ counter, histogram }: Exporter, { commitSeconds, totals }: Counts, data: ScrapeData): void {
  counter("cleancast_purged_records_total", "Records that this node purged after their retention.", [], () => [
    [totals.purgedRecords],
  ]);
  counter(
    "cleancast_deletions_total",
    "Deleted sites, connections, webhooks and persons, and shortened retention periods.",
    ["kind"],
    () => Object.entries(data.deletions ?? {}),
  );
  histogram("cleancast_store_commit_seconds", "Duration of transactions, including their wait.", () => [["", commitSeconds]]);
  counter("cleancast_store_writes_total", "Written events and outcomes; divided by the commits it is the batch size.", [], () => [
    [totals.writes],
  ]);
  counter("cleancast_store_commit_failures_total", "Transactions that the database failed.", [], () => [[totals.commitFailures]]);
}

function declareCapacity({ gauge }: Exporter, data: ScrapeData): void {
  const disks = (number: (disk: { freeBytes: number; wholeBytes: number }) => number) => () =>
    Array.from(data.capacity?.disks ?? [], ([folder, disk]): Sample => [folder, number(disk)]);
  gauge(
    "cleancast_disk_free_bytes",
    "Free space on the disk of a folder of this node.",
    ["folder"],
    disks(({ freeBytes }) => freeBytes),
  );
  gauge(
    "cleancast_disk_size_bytes",
    "Size of the disk of a folder of this node.",
    ["folder"],
    disks(({ wholeBytes }) => wholeBytes),
  );
  gauge("cleancast_database_bytes", "Size of the database.", [], () => (data.capacity ? [[data.capacity.databaseBytes]] : []));
  gauge("cleancast_backup_timestamp_seconds", "Time of the newest backup in the folder.", [], () =>
    toSeconds(data.capacity?.backup.last?.at ?? null),
  );
  gauge("cleancast_backup_bytes", "Size of the newest backup in the folder.", [], () => {
    const last = data.capacity?.backup.last;
    return last ? [[last.bytes]] : [];
  });
  gauge("cleancast_backup_overdue_seconds", "Delay of the scheduled backup.", [], () =>
    toSeconds(data.capacity?.backupOverdueMs ?? null),
  );
  gauge("cleancast_backup_failed", "1 where the last backup, or the hook after it, failed.", ["step"], () => {
    if (!data.capacity) return [];
    const failed = data.capacity.backup.failure?.step;
    return ["backup", "hook"].map((step): Sample => [step, step === failed ? 1 : 0]);
  });
  gauge("cleancast_purge_timestamp_seconds", "Time of the last complete run of the purge.", [], () =>
    toSeconds(data.capacity?.purge?.at ?? null),
  );
  gauge("cleancast_purge_lag_seconds", "Time that the oldest event is past its retention.", [], () =>
    toSeconds(data.capacity?.purge?.lagMs ?? null),
  );
}

/** Returns no sample where the value is unknown. */
const toSeconds = (ms: number | null): Sample[] => (ms === null ? [] : [[ms / 1000]]);

function groupByPlatform(directory: Pick<Directory, "sites">): Map<string, Connection[]> {
  const connections = Array.from(directory.sites()).flatMap((site) => site.connections);
  return Map.groupBy(connections, ({ platform }) => platform);
}

function* countByState(directory: Pick<Directory, "sites">): Generator<Sample> {
  for (const [platform, connections] of groupByPlatform(directory))
    for (const [state, some] of Map.groupBy(connections, (one) => one.state)) yield [platform, state, some.length];
}

function* firstTokenExpiries(directory: Pick<Directory, "sites">): Generator<Sample> {
  for (const [platform, connections] of groupByPlatform(directory)) {
    const expiries = connections.map(tokenExpiryOf).filter((at) => at !== null);
    if (expiries.length) yield [platform, Math.min(...expiries) / 1000];
  }
}

function sumByLabel(samples: Iterable<readonly [string, number]>): Sample[] {
  const sums = new Map<string, number>();
  for (const [label, number] of samples) sums.set(label, (sums.get(label) ?? 0) + number);
  return [...sums];
}

function* withoutSecondLabel(entries: Iterable<readonly [string, string, number]>): Generator<Sample> {
  for (const [first, , count] of entries) yield [first, count];
}
