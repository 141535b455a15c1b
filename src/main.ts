// Wiring: opens every part, hands each what it needs, and closes them in order.

import { readFileSync } from "node:fs";
import { openAccess, type Access } from "./access/access.ts";
import { mountDashboard } from "./api/mountDashboard.ts";
import { isDashboardHost } from "./api/dashboardHost.ts";
import type { ApiContext } from "./api/context.ts";
import { followCertificate, openCertificate } from "./server/certificate.ts";
import type { Config } from "./installation/config.ts";
import { openMailer } from "./alerts/mail.ts";
import { startWatch } from "./alerts/watch.ts";
import { startPurge } from "./maintenance/purge.ts";
import { sampleBots } from "./collect/botSample.ts";
import { collectRoutes } from "./collect/route.ts";
import { readTag } from "./collect/tagScript.ts";
import { countVisits } from "./collect/visitCounts.ts";
import { openBreaker } from "./delivery/breaker.ts";
import { openLanes } from "./delivery/lanes.ts";
import { openQuota } from "./delivery/quota.ts";
import { askForReconnection } from "./delivery/reconnection.ts";
import { openSender } from "./delivery/send.ts";
import { openTokens } from "./delivery/oauth/tokens.ts";
import { startWorker } from "./delivery/worker.ts";
import { openChecker, relayOf } from "./domains/checker.ts";
import { nameRoutes } from "./domains/route.ts";
import { startHostWatch } from "./domains/hostWatch.ts";
import { closeServer, followRequests } from "./server/draining.ts";
import { firstStart, ownerLine } from "./installation/firstStart.ts";
import { packageFolder } from "./kernel/packageFolder.ts";
import { shortId, uuidv7 } from "./kernel/ids.ts";
import {
  lockStore,
  makeDataFolder,
  openCountryFile,
  openInstallation,
  readNetworksFile,
} from "./installation/installation.ts";
import { countByMinute } from "./http/rate.ts";
import { inboundRoute } from "./inbound/route.ts";
import { watchUnseen } from "./inbound/rejectedRequests.ts";
import { countWrongKeys } from "./inbound/wrongKeys.ts";
import { openLog } from "./observability/log.ts";
import { callbackPath, oauthRoutes } from "./oauth/route.ts";
import { startObserving } from "./observability/observability.ts";
import { pushAttemptMs } from "./outbound/push.ts";
import { startOutbound } from "./outbound/worker.ts";
import { relay } from "./pipeline.ts";
import { addressOf, openServer, startFault } from "./server/server.ts";
import { directoryOf } from "./sites/directory.ts";
import { countKeyUses } from "./sites/keyUses.ts";
import { startStatistics } from "./statistics/worker.ts";
import { stopRelay } from "./server/shutdown.ts";

export type Running = { address: string; stop(): Promise<void> };

/** Starts the relay. `say` shows people what they need to know; everything else goes to the log. */
export async function serve(config: Config, say: (text: string) => void): Promise<Running> {
  const tag = readTag();
  const certificate = openCertificate(config);
  makeDataFolder(config);
  const unlock = lockStore(config);
  const { log, lines } = openLog(config.logLevel);
  const now = Date.now;
  const observing = startObserving(config, { log, lines }, now);
  const { onDefect } = observing;

  const countries = openCountryFile(config);
  readNetworksFile(config);
  const store = await openInstallation(config, observing.watch).catch((error: unknown) => {
    unlock();
    throw error;
  });
  const ownHost = relayOf(config)?.host ?? null;
  const directory = directoryOf(store, ownHost);
  await directory.refresh();
  const unfollow = directory.follow((error) => onDefect(error));

  const owner = shortId();
  if (store.engine === "sqlite") await store.deliveries.reclaimAll(now());
  const sender = openSender({ ...config, allow: config.allowPrivate, origins: config.platformOrigins });
  const tokens = openTokens({ store, directory, sender, owner, now, renewalMs: config.attemptMs + 2000 });
  const deliveries = observing.deliveries(store, directory);
  const breaker = openBreaker();
  const lanes = openLanes({
    directory,
    sender,
    settle: deliveries.settle,
    tokens,
    breaker,
    quota: openQuota(),
    retry: { scheduleMs: config.retryScheduleMs, random: Math.random },
    attemptMs: config.attemptMs,
    now,
    onDefect,
    needsReconnection: askForReconnection(store, directory, now),
  });
  const elapsed = () => performance.now();
  const node = { store, directory, sites: () => directory.sites(), owner, now, elapsed, onDefect };
  const { leaseMs } = config;
  const stopWorker = startWorker({
    ...node,
    store: { ...store, deliveries },
    lanes,
    leaseMs,
    onLook: observing.onLook,
  });
  const stopPurge = startPurge(node);
  const keyUses = countKeyUses(store, owner, onDefect);
  const visitCounts = countVisits(store, owner, onDefect);
  const botSample = sampleBots(store, uuidv7, onDefect);
  const { transport } = config;
  const unseen = watchUnseen({ store, directory, transport, writer: owner, newId: uuidv7, now, onDefect });
  const stopStatistics = startStatistics(node);

  if (store.engine === "sqlite") await store.pushes.reclaimAll();
  // Receivers have more time than platforms, and are never anywhere but where their owner said.
  const pushSender = openSender({
    connectMs: config.connectMs,
    attemptMs: pushAttemptMs,
    allow: config.allowPrivate,
    origins: {},
  });
  const stopOutbound = startOutbound({
    ...node,
    sender: pushSender,
    attemptMs: pushAttemptMs,
    pushMs: config.pushMs,
    retry: { scheduleMs: config.pushRetryMs, random: Math.random },
    newId: uuidv7,
    onDisabled: ({ siteId, webhookId }, reason) =>
      log.warn({ site: siteId, webhook: webhookId, reason }, "webhook disabled"),
  });

  const checker = openChecker(config);
  const stopHostWatch = startHostWatch({ ...node, checker });

  const mailer = config.smtp && openMailer(config.smtp);
  const means = { mailer, sender };
  const stopWatch = startWatch({ ...node, means, everyMs: config.alertMs });

  const app = openServer(certificate?.pair ?? null, onDefect);
  const stopCertificate = followCertificate(app.server, certificate, log);
  const requests = followRequests(app);
  const parts = { store, lanes, owner, leaseMs, onPlanned: observing.onPlanned };
  const certificateEndsAt = () => certificate?.endsAt() ?? null;
  observing.routes(app, { store, directory, lanes, breaker, version: version(), certificateEndsAt });
  inboundRoute(app, {
    gate: {
      directory,
      ownHost,
      transport: config.transport,
      wrongKeys: countWrongKeys(store),
      rateLimit: countByMinute(),
    },
    relay: (received, site, deadline) => relay(received, site, deadline, parts),
    countUse: ({ site, key }, at) => keyUses.count(site.id, key.id, at),
    answerMs: config.answerMs,
    maxInFlight: config.maxInFlight,
    now,
    unseen: observing.unseen(unseen),
    log: observing.onAnswer,
    onDefect,
  });

  nameRoutes(app, { directory, transport, checker });
  collectRoutes(app, {
    store,
    directory,
    transport: config.transport,
    rate: countByMinute(),
    perMinute: config.collectPerMinute,
    tag,
    counts: observing.visits(visitCounts),
    offerBot: (bot) => botSample.offer(bot),
    countryOf: (address) => countries?.countryOf(address) ?? null,
    now,
    onDefect,
  });

  // Known when the server listens: the system may choose the port.
  const publicUrl = () => (config.hasUrl ? config.publicUrl : addressOf(app, config));
  let opened: Access | null = null;
  const access = (): Access =>
    (opened ??= openAccess({
      store,
      directory,
      mailer,
      publicUrl: publicUrl(),
      secret: store.accessSecret,
      trusted: transport.trusted,
      now,
      onDefect,
    }));
  oauthRoutes(app, {
    store,
    sender,
    get redirectUri() {
      return `${publicUrl()}${callbackPath}`;
    },
    origins: config.platformOrigins,
    userOf: async (request) => {
      // Who sends something else than a session's cookie is nobody here.
      const actor = await access().userOf(request);
      return actor?.id ?? null;
    },
    now,
  });
  const door = mountDashboard(app, {
    isDashboardHost: ({ raw }) => isDashboardHost(raw, directory, config.hasUrl ? config.publicUrl : null),
    context: (): ApiContext => ({
      version: version(),
      store,
      directory,
      access: access(),
      sender,
      pushSender,
      checker,
      tokens,
      mailer,
      allowPrivate: config.allowPrivate,
      transport,
      publicUrl: publicUrl(),
      pushMs: config.pushMs,
      tag,
      countryOf: countries && ((address) => countries.countryOf(address)),
      now,
    }),
    onDefect,
  });

  // First nobody sends more requests here. Then, so that nothing that was taken in is left behind: no new requests, those
  // in flight are answered, nobody takes more in hand, what the lanes hold is settled; and only then the store is closed.
  const stop = (drainMs: number) =>
    stopRelay({
      drainMs,
      // The last answer, and then the last attempt.
      timeoutMs: config.answerMs + config.attemptMs + 2000,
      leave() {
        observing.drain();
        requests.hangUp();
      },
      // Each may be slow to end: a mail server that hangs, a receiver.
      background: () => ({
        statistics: stopStatistics(),
        purge: stopPurge(),
        alerts: stopWatch(),
        hosts: stopHostWatch(),
        outbound: stopOutbound(),
      }),
      steps: [
        (ms) => ({ door: door.close(), requests: closeServer(app, requests, ms - 500) }),
        () => ({ access: opened?.close(), deliveries: stopWorker().then(() => lanes.close()) }),
        () => ({
          keys: keyUses.stop(),
          visits: visitCounts.stop(),
          bots: botSample.stop(),
          unseen: unseen.stop(),
        }),
        () => ({ certificate: stopCertificate(), directory: unfollow(), observing: observing.stop() }),
      ],
      last: [
        () => ({ pushes: pushSender.close(), calls: sender.close(), checks: checker.sender.close() }),
        () => ({ store: store.close() }),
        // What was said last would be lost with the process.
        () => ({ lock: unlock(), log: new Promise<void>((resolve) => log.flush(() => resolve())) }),
      ],
      onLate: onDefect,
    });

  try {
    await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
      throw startFault(error, config);
    });
    const address = addressOf(app, config);
    const data =
      store.engine === "sqlite"
        ? `${config.dataFolder} (embedded database)`
        : `PostgreSQL (DATABASE_URL), and ${config.dataFolder} for the encryption key unless it is set`;
    const setUp = await ownerLine(access(), publicUrl());
    // Only now: a start that fails must not have shown the key to nobody.
    const welcome = await firstStart(store, directory, now);
    say(
      `Cleancast ${version()} is running on ${address}\nData: ${data}\n${setUp}${welcome?.(address) ?? ""}`,
    );
    return { address, stop: () => stop(config.drainMs) };
  } catch (error) {
    await stop(0);
    throw error;
  }
}

export function version(): string {
  const text = readFileSync(new URL("package.json", packageFolder), "utf8");
  return String(JSON.parse(text).version);
}
