// Connects the relay to its metrics, its log and /readyz. main.ts passes these functions to the parts as hooks, so that
// none of them depends on metrics or on the log.

import type { FastifyInstance } from "fastify";
import type { Config } from "../installation/config.ts";
import type { Breaker } from "../delivery/lanes/breaker.ts";
import type { Lanes } from "../delivery/lanes/lanes.ts";
import type { InboundRefusal } from "../inbound/refusals.ts";
import type { InboundLine } from "../inbound/event.ts";
import type { SourceLine } from "../inbound/sources/route.ts";
import { errorCode } from "../kernel/errorCode.ts";
import type { VisitBucket } from "../kernel/event.ts";
import { isLinked, link } from "../kernel/ring.ts";
import { minuteMs } from "../kernel/time.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { Settlement } from "../store/deliveries/delivery.ts";
import { DatabaseMoved } from "../store/engine/sqlite/moveLock.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Tally } from "../store/reconciliation/tally.ts";
import type { Store } from "../store/store.ts";
import type { CommitObserver, InFlightCommit } from "../store/engine/timed.ts";
import { createBacklog } from "./backlog.ts";
import { createCapacity } from "./capacity.ts";
import { createCounts } from "./counts.ts";
import type { Log } from "./log.ts";
import { countConsecutiveFailures, createReadiness, watchClockJumps } from "./readiness.ts";
import { mountObservabilityRoutes } from "./route.ts";
import type { TraceCounts } from "./traces/exporter.ts";
import { defectKind, isTransient, messageOf, createRepeatedFaults, transientLine } from "./repeatedFaults.ts";

export type Observability = ReturnType<typeof createObservability>;

/** The parts that /readyz and /metrics read. */
type ObservedParts = {
  store: Store;
  directory: Directory;
  lanes: Lanes;
  breaker: Breaker;
  version: string;
  certificateExpiresAt: () => number | null;
  /** Null where no traces are made. */
  traces: { counts: TraceCounts } | null;
};

/** Outcomes of sites on a machine that is down wait for it for a minute. */
const maxSettleMs = 70_000;

export function createObservability(config: Config, { log, writeInbound, writeSource, writeAttempt }: Log, now: () => number) {
  const counts = createCounts({ bySite: config.metricsBySite });
  const elapsed = () => performance.now();
  let workerPolledAt = elapsed();
  let configurationReadAt = elapsed();
  let readiness: ReturnType<typeof createReadiness> | null = null;
  let onClockSet = () => {};
  const stopClock = watchClockJumps({ now, elapsed }, (ms) => {
    counts.totals.clockJumps += 1;
    log.warn({ ms }, "the system clock was set");
    onClockSet();
  });

  const loggedMoves = new Set<string>();
  const transientFaults = createRepeatedFaults({
    everyMs: 1000,
    kindOf: () => "",
    write: (error, _about, times) => log.error(transientLine(error, times), "the database fails"),
  });
  const defects = createRepeatedFaults({
    everyMs: minuteMs,
    kindOf: defectKind,
    write(error, about, times, isFirst) {
      if (isFirst) log.error({ err: error, ...about });
      else log.error({ fault: messageOf(error), code: errorCode(error), times, ...about }, "repeated");
    },
  });
  function onDefect(error: unknown, about: Record<string, unknown> = {}): void {
    // After a move, every write fails until the relay is restarted. That is no defect, and is logged once.
    if (error instanceof DatabaseMoved) {
      if (!loggedMoves.has(error.message)) log.error(error.message);
      loggedMoves.add(error.message);
      return;
    }
    counts.totals.defects += 1;
    if (isTransient(error)) return transientFaults.add(error);
    defects.add(error, about);
  }

  const failedCommits = countConsecutiveFailures(elapsed);
  const failedEvents = countConsecutiveFailures(elapsed);
  let isOfDownMachine = (_error: unknown): boolean => false;
  let committedAt = 0;
  const commitObserver: CommitObserver = {
    inFlight: link<InFlightCommit>({ startedAt: 0 }),
    onCommit(ms, failed, isOfMachine) {
      counts.countCommit(ms, failed);
      if (!isOfMachine) failedCommits.add(failed);
      if (!failed) committedAt = elapsed();
    },
    onWrite: () => void (counts.totals.writes += 1),
    onDefect,
  };

  return {
    onDefect,
    commitObserver,
    onPlanned: counts.countPlanned,
    onWorkerPolled: () => void (workerPolledAt = elapsed()),
    onConfigurationRead: () => void (configurationReadAt = elapsed()),

    /** An inbound request was answered; `line` is its log line. */
    onAnswered: (line: InboundLine): void => {
      counts.countAnswer(line);
      // Events of sites on a machine that is down fail, and this node serves all others.
      const isCounted = line.exit !== undefined && !isOfDownMachine(line.error);
      if (isCounted) failedEvents.add(line.exit === "unavailable");
      writeInbound(line);
    },

    /** A request of a source was answered. */
    onSourceAnswered: (line: SourceLine): void => {
      counts.countSource(line);
      writeSource(line);
    },

    onRejected: ({ status, code }: InboundRefusal): void => counts.countRejected(status, code),

    readCommits: counts.readCommits,

    onPurged(siteId: string, records: number): void {
      counts.totals.purgedRecords += records;
      log.info({ site: siteId, records }, "purged");
    },

    /** A reconciliation ended. */
    onReconciled({ id, siteId, tally }: Run): void {
      const { classes = {}, orders = 0, received = 0 } = tally as Partial<Tally>;
      for (const [name, count] of Object.entries(classes)) counts.reconciled.add(name, "", count);
      log.info({ site: siteId, reconciliation: id, orders, received }, "reconciled");
    },

    /** A list of orders was fetched, or could not be. */
    onFeedFetched({ siteId }: { siteId: string }, error: string | null, tally: { written: number; refused: number }): void {
      counts.feedFetches.add(error === null ? "ok" : "failed");
      const { written, refused } = tally;
      if (error === null) log.info({ site: siteId, written, refused }, "list of orders fetched");
      else log.warn({ site: siteId, error }, "list of orders not fetched");
    },

    onVisitCounted: (bucket: VisitBucket): void => counts.visits.add(bucket),

    /** A delivery was attempted, or given back without an attempt. */
    onSettled(platform: string, settlement: Settlement): void {
      counts.countSettled(platform, settlement.state, settlement.attempt);
      writeAttempt(platform, settlement);
    },

    /** A platform was asked what became of conversions. */
    onAsked: (platform: string, result: string): void => counts.confirmationCalls.add(platform, result),
    onCorrected: (platform: string, state: string): void => counts.corrections.add(platform, state),
    onConfirmed: (platform: string, state: string): void => counts.confirmations.add(platform, state),

    /** Calls `work` whenever the clock was set. */
    whenClockSet: (work: () => void): void => void (onClockSet = work),

    /** Mounts /readyz and /metrics. */
    mountRoutes(app: FastifyInstance, parts: ObservedParts): void {
      const { store, directory, lanes, breaker } = parts;
      const { health } = store;
      isOfDownMachine = (error) => health.isMachineError(error) && health.countDownMachines() > 0;
      const ready = createReadiness({
        pulse: () => health.readPulse(),
        schema: store.migrated.to,
        workerPolledAt: () => workerPolledAt,
        configurationReadAt: () => configurationReadAt,
        // While a machine is down, events of its sites may also run out of time.
        failedInARow: () => Math.max(failedCommits.inARow(), health.countDownMachines() > 0 ? 0 : failedEvents.inARow()),
        stuckMs() {
          const { inFlight } = commitObserver;
          const ms = isLinked(inFlight) ? elapsed() - Math.max(inFlight.next.startedAt, committedAt) : 0;
          return ms < maxSettleMs && health.countDownMachines() > 0 ? 0 : ms;
        },
        now,
        elapsed,
      });
      readiness = ready;
      const sources = {
        version: parts.version,
        engine: store.engine,
        counts,
        directory,
        lanes: () => lanes.depths(),
        openBreakers: () => breaker.listOpen(elapsed()),
        backlog: createBacklog({ store, directory, now, elapsed }),
        capacity: createCapacity({ ...config, store, now, elapsed }),
        certificateExpiresAt: parts.certificateExpiresAt,
        traces: parts.traces?.counts ?? null,
        deletions: () => store.deletions.readTotals(),
        readiness: () => ready.read(),
        skewMs: ready.skewMs,
        onDefect,
      };
      mountObservabilityRoutes(app, {
        readiness: () => ready.read(),
        loadMetrics: async () => (await import("./metrics.ts")).createMetrics(sources),
        access: {
          directory,
          transport: config.transport,
          token: config.metricsToken,
          publicHost: publicHostOf(config),
        },
      });
    },

    /** A shutdown has begun: from now on /readyz answers 503. */
    drain: () => readiness?.stop(),
    stop: (): void => {
      stopClock();
      transientFaults.stop();
      defects.stop();
    },
  };
}

/** A loopback name is not reachable from outside. */
function publicHostOf({ hasUrl, publicUrl }: Config): string | null {
  const host = hasUrl ? hostOf(new URL(publicUrl).host) : "";
  return namesNoSite(host) ? null : host;
}
