// How the relay is watched while it works: what main.ts hands to the doors, the lanes and the store in place of the bare
// functions, so that none of them knows of metrics or of the log.

import type { FastifyInstance } from "fastify";
import type { VisitCounts } from "../collect/visitCounts.ts";
import type { Config } from "../installation/config.ts";
import type { Breaker } from "../delivery/breaker.ts";
import type { Lanes } from "../delivery/lanes.ts";
import { reasonOf } from "../inbound/reasons.ts";
import type { Unseen } from "../inbound/rejectedRequests.ts";
import type { Log } from "./log.ts";
import { openBacklog } from "./backlog.ts";
import { openCounts } from "./counts.ts";
import { openFailures } from "./failures.ts";
import { attemptLine, eventLine } from "./logLines.ts";
import { openPassingFaults, passesByItself } from "./transientFaults.ts";
import { openReadiness, watchClock } from "./readiness.ts";
import { observeRoutes } from "./route.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";
import { Moved } from "../store/maintenance/moveLock.ts";
import type { Store } from "../store/store.ts";
import type { CommitWatch } from "../store/engine/timed.ts";

export type Observing = ReturnType<typeof startObserving>;

export type Observed = {
  store: Store;
  directory: Directory;
  lanes: Lanes;
  breaker: Breaker;
  version: string;
  certificateEndsAt: () => number | null;
};

export function startObserving(config: Config, { log, lines }: Log, now: () => number) {
  const counts = openCounts({ bySite: config.metricsBySite });
  const elapsed = () => performance.now();
  let workerLookedAt = elapsed();
  let readiness: ReturnType<typeof openReadiness> | null = null;
  const stopClock = watchClock({ now, elapsed }, (ms) => {
    counts.plain.clockJumps += 1;
    log.warn({ ms }, "the clock was set");
  });

  const told = new Set<string>();
  const passingFaults = openPassingFaults((line) => log.error(line, "the database fails"));
  function onDefect(error: unknown, about: Record<string, unknown> = {}): void {
    // No defect: whatever is written fails with it until the relay is started again. Said once, and not by everybody.
    if (error instanceof Moved) {
      if (!told.has(error.message)) log.error(error.message);
      told.add(error.message);
      return;
    }
    counts.plain.defects += 1;
    if (passesByItself(error)) return passingFaults.met(error);
    log.error({ err: error, ...about });
  }

  const commits = openFailures(elapsed);
  const events = openFailures(elapsed);
  let committedAt = 0;
  const watch: CommitWatch = {
    underWay: new Set(),
    committed(ms, failed) {
      counts.committed(ms, failed);
      commits.ended(failed);
      if (!failed) committedAt = elapsed();
    },
    wrote: () => void (counts.plain.writes += 1),
  };

  return {
    onDefect,
    watch,
    onPlanned: counts.planned,
    onLook: () => void (workerLookedAt = elapsed()),

    /** The line of an inbound request. */
    onAnswer: (line: Record<string, unknown>): void => {
      counts.answered(line);
      if (line.exit !== undefined) events.ended(line.exit === "unavailable");
      lines.info(eventLine(line));
    },

    /** The same store, but what becomes of deliveries is counted and logged. */
    deliveries(store: Store, directory: Directory): Store["deliveries"] {
      const { settle } = store.deliveries;
      return {
        ...store.deliveries,
        settle(settlement: Settlement) {
          const { siteId, connectionId, state, attempt } = settlement;
          const platform = directory.connection(siteId, connectionId)?.platform ?? "unknown";
          counts.settled(platform, state, attempt);
          if (attempt && lines.isLevelEnabled("info")) lines.info(attemptLine(platform, settlement));
          return settle(settlement);
        },
      };
    },

    unseen(unseen: Unseen): Unseen {
      return {
        duplicate: (siteId, at) => unseen.duplicate(siteId, at),
        refused(request, refusal, at) {
          counts.refused(refusal.status, reasonOf(refusal));
          unseen.refused(request, refusal, at);
        },
      };
    },

    visits(visits: VisitCounts): VisitCounts {
      return {
        ...visits,
        count(siteId, bucket, reason, at) {
          counts.visits.add(bucket);
          visits.count(siteId, bucket, reason, at);
        },
      };
    },

    /** Opens /readyz and /metrics. */
    routes(app: FastifyInstance, on: Observed): void {
      const { store, directory, lanes, breaker } = on;
      const ready = openReadiness({
        pulse: () => store.health.readPulse(),
        schema: store.migrated.to,
        workerLookedAt: () => workerLookedAt,
        failedInARow: () => Math.max(commits.inARow(), events.inARow()),
        stuckMs() {
          const [oldest] = watch.underWay;
          return oldest ? elapsed() - Math.max(oldest.startedAt, committedAt) : 0;
        },
        now,
        elapsed,
      });
      readiness = ready;
      const sources = {
        version: on.version,
        engine: store.engine,
        counts,
        directory,
        lanes: () => lanes.depths(),
        openBreakers: () => breaker.open(now()),
        backlog: openBacklog({ store, directory, now, elapsed }),
        certificateEndsAt: on.certificateEndsAt,
        readiness: () => ready.read(),
        skewMs: ready.skewMs,
        onDefect,
      };
      observeRoutes(app, {
        readiness: () => ready.read(),
        metrics: async () => (await import("./metrics.ts")).openMetrics(sources),
        door: {
          directory,
          transport: config.transport,
          token: config.metricsToken,
          publicHost: publicHostOf(config),
        },
      });
    },

    /** A stop has begun: from now on /readyz sends everybody elsewhere. */
    drain: () => readiness?.stop(),
    stop(): void {
      stopClock();
      passingFaults.stop();
    },
  };
}

/** Nobody from outside comes to a loopback name. */
function publicHostOf({ hasUrl, publicUrl }: Config): string | null {
  const host = hasUrl ? hostOf(new URL(publicUrl).host) : "";
  return namesNoSite(host) ? null : host;
}
