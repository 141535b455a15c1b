// Opens the store and starts everything but the HTTP server. Each started thing is registered with the shutdown where it
// is started.

import type { Logger } from "pino";
import type { LeaderJob } from "../background/leaderJob.ts";
import { commandOf } from "../background/ownProcess.ts";
import { leasesBy } from "../background/lease.ts";
import { createSharedClock } from "../background/sharedClock.ts";
import { createMailer } from "../alerts/mail.ts";
import { createAlertJob } from "../alerts/monitor.ts";
import { mailOwners } from "../alerts/owners.ts";
import { sampleVisits } from "../collect/visitSample.ts";
import { shareTraffic } from "../collect/sharedTraffic.ts";
import { createTagSightings } from "../collect/tagSightings.ts";
import { countVisits } from "../collect/visitCounts.ts";
import { createBackfillJob } from "../delivery/backfill/worker.ts";
import { createConfirmationJob } from "../delivery/confirmations/worker.ts";
import { createCorrectionJob } from "../delivery/corrections/worker.ts";
import { createDueWork, startSharedDueWork } from "../delivery/due/dueWork.ts";
import { createBreaker } from "../delivery/lanes/breaker.ts";
import { createLanes } from "../delivery/lanes/lanes.ts";
import { createTokens } from "../delivery/oauth/tokens.ts";
import { createQualityJob } from "../delivery/quality/worker.ts";
import { createQuota } from "../delivery/lanes/quota.ts";
import { markForReconnection } from "../sites/connect.ts";
import { startOpenEvents } from "../delivery/openEvents/openEvents.ts";
import { recheckWith } from "../delivery/recheck.ts";
import { createSender } from "../delivery/send.ts";
import { startWorker } from "../delivery/due/worker.ts";
import { createChecker, relayOf } from "../domains/checker.ts";
import { startHostMonitor } from "../domains/hostMonitor.ts";
import { createExportJob } from "../export/job.ts";
import { watchRejectedRequests } from "../inbound/rejectedRequests.ts";
import { createLinks } from "../identity/links.ts";
import { createLookUpJob } from "../inbound/sources/lookUpJob.ts";
import { observeSources } from "../inbound/sources/observer.ts";
import type { Config } from "../installation/config.ts";
import { loadCountryFile, loadInstallation, readNetworksFile, readVersion } from "../installation/installation.ts";
import { shortId, ulid } from "../kernel/ids.ts";
import { startDueTimes } from "../maintenance/dueTimes.ts";
import { createPace } from "../background/pace.ts";
import { createPurgeJob } from "../maintenance/purge.ts";
import type { Observability } from "../observability/observability.ts";
import { pushAttemptMs } from "../outbound/push.ts";
import { startOutbound } from "../outbound/worker.ts";
import { startFeeds } from "../reconcile/feedWorker.ts";
import { createReconciliationJob } from "../reconcile/worker.ts";
import { isWorking, createDirectory } from "../sites/directory.ts";
import { countKeyUses } from "../sites/keyUses.ts";
import { createWeeklyReportJob } from "../sharing/weekly.ts";
import { createStatisticsJob } from "../statistics/worker.ts";
import type { Settlement } from "../store/deliveries/delivery.ts";
import { createTrafficMemory, type TrafficMemory } from "../traffic/frequency.ts";
import { tracedPipeline } from "../observability/traces/tracedPipeline.ts";
import type { Traces } from "../observability/traces/traces.ts";
import type { Shutdown } from "./shutdown.ts";

type ServiceOptions = {
  config: Config;
  log: Logger;
  observability: Observability;
  shutdown: Shutdown;
  /** Null where no traces are made. */
  traces: Traces | null;
  now: () => number;
};

export type Services = Awaited<ReturnType<typeof startServices>>;

type Node = Awaited<ReturnType<typeof createNode>>;

export async function startServices(options: ServiceOptions) {
  const { config, shutdown } = options;
  const countries = loadCountryFile(config);
  readNetworksFile(config);
  const node = await createNode(options);
  const delivery = await startDelivery(node, options);
  const counters = startCounters(node, options);
  startLookUps(node, delivery, counters, options);
  const pushSender = await startPushes(node, options);
  const checker = createChecker(config);
  shutdown.add("clients", "host checks", () => checker.sender.close());
  const mailer = config.smtp && createMailer(config.smtp);
  const channels = { mailer, sender: delivery.sender, publicUrl: config.publicUrl };
  const { observability } = options;
  const onPurged = (siteId: string, records: number) => observability.onPurged(siteId, records);
  const createOwnPace = () =>
    createPace({
      isServer: node.store.engine === "postgres",
      elapsed: node.elapsed,
      readCommits: observability.readCommits,
      readLagBytes: () => node.store.health.readReplicationLag(),
    });
  const startJob = (job: LeaderJob) => shutdown.add("background", job.name, job.start());
  startJob(createPurgeJob({ ...node, pace: createOwnPace(), onPurged }));
  await startBackups(node, options, mailer);
  startJob(createExportJob({ ...node, runExport: commandOf(["export", "due"]) }));
  startJob(createStatisticsJob({ ...node, pace: createOwnPace(), sites: () => [...node.sites()].filter(isWorking) }));
  startJob(createReconciliationJob({ ...node, onEnded: (run) => observability.onReconciled(run) }));
  const feeds = startFeeds({
    ...node,
    allow: config.allowPrivate,
    connectMs: config.connectMs,
    onFetched: (...fetched) => observability.onFeedFetched(...fetched),
  });
  shutdown.add("background", "order feeds", feeds);
  shutdown.add("background", "hosts", startHostMonitor({ ...node, checker }));
  startJob(createAlertJob({ ...node, channels, everyMs: config.alertMs }));
  startJob(createWeeklyReportJob({ ...node, channels, everyMs: config.alertMs }));
  return { ...node, ...delivery, ...counters, pushSender, checker, mailer, countries, traces: options.traces };
}

/** Opens what all services share. */
async function createNode({ config, observability, shutdown, now }: ServiceOptions) {
  const { commitObserver, onConfigurationRead, onDefect } = observability;
  const opened = await loadInstallation(config, commitObserver);
  shutdown.add("database", "store", () => opened.close());
  const elapsed = () => performance.now();
  const { pollMs } = config;
  const clock = createSharedClock({ readDatabase: () => opened.health.readClock(), now, elapsed });
  // The embedded database has one relay: what an earlier process held is free.
  if (opened.engine === "sqlite") {
    await opened.leases.releaseAll(now());
    await opened.deliveries.releaseLeases(now());
    await opened.pushes.releaseLeases();
  }
  const store = { ...opened, leases: { ...opened.leases, ...leasesBy(clock, opened.leases) } };
  const owner = shortId();
  const ownHost = relayOf(config)?.host ?? null;
  const directory = createDirectory(store, ownHost);
  await directory.refresh();
  onConfigurationRead();
  const following = directory.follow({ refreshed: onConfigurationRead, error: (error) => onDefect(error), pollMs });
  shutdown.add("watchers", "directory", following);
  const sites = () => directory.sites();
  const dueWork = opened.isSharded
    ? startSharedDueWork({ store, sites, owner, clock, pushMs: config.pushMs, onDefect })
    : createDueWork(store);
  shutdown.add("background", "due work", dueWork);
  return {
    store,
    dueWork,
    ownHost,
    directory,
    sites,
    links: createLinks(store.accessSecret),
    /** This process, as the owner of leases and the writer of counts. */
    owner,
    now,
    clock,
    elapsed,
    /** How often background work looks for something to do. */
    pollMs,
    onDefect,
  };
}

async function startDelivery(node: Node, { config, log, observability, shutdown, traces }: ServiceOptions) {
  const { store, directory, dueWork, now, elapsed, onDefect } = node;
  const sender = createSender({ ...config, allow: config.allowPrivate, origins: config.platformOrigins });
  shutdown.add("clients", "platforms", () => sender.close());
  const tokens = createTokens({ ...node, sender, renewalMs: config.attemptMs + 2000 });
  const breaker = createBreaker();
  const onSettled = (settlement: Settlement) => {
    const connection = directory.connection(settlement.siteId, settlement.connectionId);
    observability.onSettled(connection?.platform ?? "unknown", settlement);
    traces?.addAttempt(connection?.platform ?? "unknown", directory.site(settlement.siteId), settlement);
    if (settlement.state === "queued") dueWork.note(settlement, settlement.dueAt);
  };
  const openEvents = await startOpenEvents({
    ...node,
    version: readVersion(),
    leaseMs: config.leaseMs,
    maxOpenMs: config.answerMs + config.attemptMs,
  });
  const quota = createQuota();
  const lanes = createLanes({
    directory,
    sender,
    settle: store.deliveries.settle,
    onSettled,
    tokens,
    breaker,
    quota,
    retry: { scheduleMs: config.retryScheduleMs, random: Math.random },
    attemptMs: config.attemptMs,
    now,
    elapsed,
    clock: node.clock,
    recheck: recheckWith({ store, directory }),
    traceHeaders: traces?.headersFor,
    onDefect,
    markForReconnection: (connection, reason) => markForReconnection(node, connection, reason, now()),
  });
  const dueTimes = startDueTimes({
    ...node,
    retryScheduleMs: config.retryScheduleMs,
    pushRetryMs: config.pushRetryMs,
    onCorrected: ({ siteId, connectionId }, deliveries) =>
      log.warn({ site: siteId, connection: connectionId, deliveries }, "due times of a clock that ran ahead corrected"),
  });
  observability.whenClockSet(dueTimes.correct);
  shutdown.add("background", "due times", dueTimes);
  const { leaseMs } = config;
  const { onWorkerPolled: onPoll, onAsked, onConfirmed, onCorrected } = observability;
  shutdown.add("worker", "worker", startWorker({ ...node, lanes, leaseMs, onSettled, onPoll }));
  const startJob = (job: LeaderJob) => shutdown.add("worker", job.name, job.start());
  startJob(createBackfillJob({ ...node, lanes }));
  startJob(createQualityJob({ ...node, sender, tokens }));
  const asking = { ...node, sender, tokens, quota, everyMs: config.confirmationMs };
  startJob(createConfirmationJob({ ...asking, onAsked, onConfirmed }));
  startJob(createCorrectionJob({ ...asking, onCorrected }));
  shutdown.add("lanes", "deliveries", {
    async close() {
      await lanes.close();
      await openEvents.close();
    },
  });
  return { sender, tokens, breaker, lanes, openEvents };
}

function startCounters(node: Node, { config, observability, shutdown }: ServiceOptions) {
  const { store, owner, onDefect, pollMs } = node;
  const keyUses = countKeyUses(store, owner, onDefect, pollMs);
  const visitCounts = countVisits(store, owner, onDefect, pollMs);
  const visitSample = sampleVisits(store, ulid, onDefect);
  const memory = startTrafficMemory(node, shutdown);
  const { transport } = config;
  const { onRejected } = observability;
  const rejectedRequests = watchRejectedRequests({
    ...node,
    transport,
    writer: owner,
    newId: ulid,
    onRejected,
  });
  const sourceObserver = observeSources({ ...node, writer: owner, newId: ulid });
  shutdown.add("counters", "source requests", sourceObserver);
  shutdown.add("counters", "key uses", keyUses);
  shutdown.add("counters", "visits", visitCounts);
  shutdown.add("counters", "visit sample", visitSample);
  shutdown.add("counters", "rejected requests", rejectedRequests);
  return { keyUses, visitCounts, sightings: createTagSightings(), visitSample, memory, rejectedRequests, sourceObserver };
}

/** The embedded database has one node, which shares its memory with no other. */
function startTrafficMemory({ store, owner, now, onDefect, pollMs }: Node, shutdown: ServiceOptions["shutdown"]) {
  const secret = store.accessSecret;
  if (store.engine === "sqlite") return createTrafficMemory({ secret });
  const shared = shareTraffic({ store, owner, memory: () => memory, now, onDefect, pollMs });
  shutdown.add("counters", "shared traffic", shared);
  const memory: TrafficMemory = createTrafficMemory({ secret, onNews: (news) => shared.add(news) });
  return memory;
}

/** Look-ups at senders, which requests of sources wait for. */
function startLookUps(
  node: Node,
  { sender, lanes, openEvents }: Awaited<ReturnType<typeof startDelivery>>,
  { sourceObserver }: ReturnType<typeof startCounters>,
  { config, observability, shutdown, traces }: ServiceOptions,
): void {
  const parts = { store: node.store, lanes, now: node.now, onPlanned: observability.onPlanned };
  const job = createLookUpJob({
    ...node,
    sender,
    retry: { scheduleMs: config.retryScheduleMs, random: Math.random },
    answerMs: config.answerMs,
    acceptBatch: tracedPipeline(parts, traces).acceptBatch,
    reserveId: (at) => openEvents.reserveId(at),
    onLookedUp: (...lookedUp) => sourceObserver.countLookedUp(...lookedUp),
  });
  shutdown.add("worker", job.name, job.start());
}

/** Loaded only where it is used. */
async function startBackups(
  node: Node,
  { config, log, shutdown }: ServiceOptions,
  mailer: ReturnType<typeof createMailer> | null,
) {
  const { folder, schedule } = config.backups;
  if (folder === null || schedule === null) return;
  const { createBackupJob } = await import("../maintenance/backups/scheduledBackups.ts");
  const backups = createBackupJob({
    ...node,
    schedule,
    runBackup: commandOf(["backup"]),
    onMade: () => log.info({ folder }, "backup made"),
    onFailed: (reason) => {
      const mail = {
        title: "the scheduled backup failed",
        text: `The backup into ${folder} failed: ${reason}.`,
        whatToDo: "cleancast backup shows the reason; cleancast doctor shows when the last backup was made.",
      };
      mailOwners({ store: node.store, mailer }, mail)
        .then((fault) => fault !== null && log.warn({ fault }, "the owners could not be mailed"))
        .catch(node.onDefect);
    },
  });
  shutdown.add("background", backups.name, backups.start());
}

async function startPushes(node: Node, { config, log, shutdown, traces }: ServiceOptions) {
  const { connectMs, allowPrivate: allow } = config;
  // Receivers get more time than platforms, and no operator redirects them to another origin.
  const sender = createSender({ connectMs, attemptMs: pushAttemptMs, allow, origins: {} });
  shutdown.add("clients", "receivers", () => sender.close());
  const stop = startOutbound({
    ...node,
    sender: traces ? traces.tracePushes(sender) : sender,
    attemptMs: pushAttemptMs,
    pushMs: config.pushMs,
    retry: { scheduleMs: config.pushRetryMs, random: Math.random },
    newId: ulid,
    onDisabled: ({ siteId, webhookId }, reason) => log.warn({ site: siteId, webhook: webhookId, reason }, "webhook disabled"),
  });
  shutdown.add("background", "outbound", stop);
  return sender;
}
