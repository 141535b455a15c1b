// Connects the relay to its metrics, its log and /readyz. main.ts passes these functions to the parts as hooks, so that
// none of them depends on metrics or on the log.

import type { FastifyInstance } from "fastify";
import type { Config } from "../installation/config.ts";
import type { Breaker } from "../delivery/lanes/breaker.ts";
import type { Lanes } from "../delivery/lanes/lanes.ts";
import type { InboundRefusal } from "../inbound/refusals.ts";
import type { InboundLine } from "../inbound/route.ts";
import type { VisitBucket } from "../kernel/event.ts";
import { isLinked, link } from "../kernel/ring.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";
import { DatabaseMoved } from "../store/engine/sqlite/moveLock.ts";
import type { Store } from "../store/store.ts";
import type { CommitObserver, InFlightCommit } from "../store/engine/timed.ts";
import { openBacklog } from "./backlog.ts";
import { openCounts } from "./counts.ts";
import type { Log } from "./log.ts";
import { countConsecutiveFailures, openReadiness, watchClockJumps } from "./readiness.ts";
import { mountObservabilityRoutes } from "./route.ts";
import { isTransient, openTransientFaults } from "./transientFaults.ts";

export type Observability = ReturnType<typeof openObservability>;

/** The parts that /readyz and /metrics read. */
type ObservedParts = {
  store: Store;
  directory: Directory;
  lanes: Lanes;
  breaker: Breaker;
  version: string;
  certificateExpiresAt: () => number | null;
};

export function openObservability(
  config: Config,
  { log, writeInbound, writeAttempt }: Log,
  now: () => number,
) {
  const counts = openCounts({ bySite: config.metricsBySite });
  const elapsed = () => performance.now();
  let workerPolledAt = elapsed();
  let readiness: ReturnType<typeof openReadiness> | null = null;
  const stopClock = watchClockJumps({ now, elapsed }, (ms) => {
    counts.totals.clockJumps += 1;
    log.warn({ ms }, "the system clock was set");
  });

  const loggedMoves = new Set<string>();
  const transientFaults = openTransientFaults((line) => log.error(line, "the database fails"));
  function onDefect(error: unknown, about: Record<string, unknown> = {}): void {
    // After a move, every write fails until the relay is restarted. That is no defect, and is logged once.
    if (error instanceof DatabaseMoved) {
      if (!loggedMoves.has(error.message)) log.error(error.message);
      loggedMoves.add(error.message);
      return;
    }
    counts.totals.defects += 1;
    if (isTransient(error)) return transientFaults.add(error);
    log.error({ err: error, ...about });
  }

  const failedCommits = countConsecutiveFailures(elapsed);
  const failedEvents = countConsecutiveFailures(elapsed);
  let committedAt = 0;
  const commitObserver: CommitObserver = {
    inFlight: link<InFlightCommit>({ startedAt: 0 }),
    onCommit(ms, failed) {
      counts.countCommit(ms, failed);
      failedCommits.add(failed);
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

    /** An inbound request was answered; `line` is its log line. */
    onAnswered: (line: InboundLine): void => {
      counts.countAnswer(line);
      if (line.exit !== undefined) failedEvents.add(line.exit === "unavailable");
      writeInbound(line);
    },

    onRejected: ({ status, code }: InboundRefusal): void => counts.countRejected(status, code),

    onVisitCounted: (bucket: VisitBucket): void => counts.visits.add(bucket),

    /** A delivery was attempted, or given back without an attempt. */
    onSettled(platform: string, settlement: Settlement): void {
      counts.countSettled(platform, settlement.state, settlement.attempt);
      writeAttempt(platform, settlement);
    },

    /** Mounts /readyz and /metrics. */
    mountRoutes(app: FastifyInstance, parts: ObservedParts): void {
      const { store, directory, lanes, breaker } = parts;
      const ready = openReadiness({
        pulse: () => store.health.readPulse(),
        schema: store.migrated.to,
        workerPolledAt: () => workerPolledAt,
        failedInARow: () => Math.max(failedCommits.inARow(), failedEvents.inARow()),
        stuckMs() {
          const { inFlight } = commitObserver;
          return isLinked(inFlight) ? elapsed() - Math.max(inFlight.next.startedAt, committedAt) : 0;
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
        openBreakers: () => breaker.listOpen(now()),
        backlog: openBacklog({ store, directory, now, elapsed }),
        certificateExpiresAt: parts.certificateExpiresAt,
        readiness: () => ready.read(),
        skewMs: ready.skewMs,
        onDefect,
      };
      mountObservabilityRoutes(app, {
        readiness: () => ready.read(),
        loadMetrics: async () => (await import("./metrics.ts")).openMetrics(sources),
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
    stop(): void {
      stopClock();
      transientFaults.stop();
    },
  };
}

/** A loopback name is not reachable from outside. */
function publicHostOf({ hasUrl, publicUrl }: Config): string | null {
  const host = hasUrl ? hostOf(new URL(publicUrl).host) : "";
  return namesNoSite(host) ? null : host;
}
