// Wiring: opens every part, hands each what it needs, and closes them in order.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pino, type Logger } from "pino";
import { openAccess, type Access } from "./access/access.ts";
import { accessSecret } from "./access/tickets.ts";
import { openDoor } from "./api/door.ts";
import { isAtHome } from "./api/home.ts";
import type { ApiParts } from "./api/parts.ts";
import { ConfigFaults, type Config } from "./config.ts";
import { openMailer } from "./alerts/mail.ts";
import { startWatch } from "./alerts/watch.ts";
import { sampleBots } from "./collect/botSample.ts";
import { collectRoutes } from "./collect/route.ts";
import { readTag } from "./collect/tagScript.ts";
import { countVisits } from "./collect/visitCounts.ts";
import { openBreaker } from "./delivery/breaker.ts";
import { openLanes } from "./delivery/lanes.ts";
import { openQuota } from "./delivery/quota.ts";
import { openSender } from "./delivery/send.ts";
import { openTokens } from "./delivery/tokens.ts";
import { startWorker } from "./delivery/worker.ts";
import { firstStart, ownerLine } from "./firstStart.ts";
import { packageFolder } from "./folder.ts";
import { shortId, uuidv7 } from "./ids.ts";
import { makeDataFolder, openCountryFile, openInstallation, readNetworksFile } from "./installation.ts";
import { startPurge } from "./identity/purge.ts";
import { countByMinute } from "./http/rate.ts";
import { inboundRoute } from "./inbound/route.ts";
import { watchUnseen } from "./inbound/unseen.ts";
import { countWrongKeys } from "./inbound/wrongKeys.ts";
import { callbackPath, oauthRoutes } from "./oauth/route.ts";
import { pushAttemptMs } from "./outbound/push.ts";
import { startOutbound } from "./outbound/worker.ts";
import { relay } from "./pipeline.ts";
import { addressOf, closeServer, followRequests, openServer, readCertificate, startFault } from "./server.ts";
import { directoryOf } from "./sites/directory.ts";
import { countKeyUses } from "./sites/keyUses.ts";
import { startStatistics } from "./statistics/worker.ts";

export type Running = { address: string; stop(): Promise<void> };

/** Starts the relay. `say` shows people what they need to know; everything else goes to the log. */
export async function serve(config: Config, say: (text: string) => void): Promise<Running> {
  const tag = readTag();
  const tls = readCertificate(config);
  makeDataFolder(config);
  const unlock = config.store.engine === "sqlite" ? lockFolder(config.dataFolder) : () => {};
  const log = openLog(config.logLevel);
  const onDefect = (error: unknown, about: Record<string, unknown> = {}) =>
    log.error({ err: error, ...about });
  const now = Date.now;

  const countries = openCountryFile(config);
  readNetworksFile(config);
  const store = await openInstallation(config).catch((error: unknown) => {
    unlock();
    throw error;
  });
  const directory = directoryOf(store);
  await directory.refresh();
  const unfollow = directory.follow((error) => onDefect(error));

  const owner = shortId();
  if (store.engine === "sqlite") await store.deliveries.reclaimAll(now());
  const sender = openSender({ ...config, allow: config.allowPrivate, origins: config.platformOrigins });
  const tokens = openTokens({ store, directory, sender, owner, now, renewalMs: config.attemptMs + 2000 });
  const lanes = openLanes({
    directory,
    sender,
    settle: store.deliveries.settle,
    tokens,
    breaker: openBreaker(),
    quota: openQuota(),
    retry: { scheduleMs: config.retryScheduleMs, random: Math.random },
    attemptMs: config.attemptMs,
    now,
    onDefect,
    async needsReconnection({ siteId, id, platform, settings }, reason) {
      // What was refused may be yesterday's credentials: somebody has just connected it anew.
      await directory.refresh();
      const current = directory.connection(siteId, id);
      if (current?.state !== "active" || JSON.stringify(current.settings) !== JSON.stringify(settings))
        return;
      const detail = { id, platform, reason };
      const change = { siteId, actor: "relay", action: "connection needs reconnection", detail, at: now() };
      await store.configuration.setConnectionState(change, id, "needs reconnection", reason);
      await directory.refresh();
    },
  });
  const stopWorker = startWorker({ store, directory, lanes, owner, leaseMs: config.leaseMs, now, onDefect });
  const stopPurge = startPurge(store, () => directory.sites(), now, onDefect);
  const keyUses = countKeyUses(store, onDefect);
  const visitCounts = countVisits(store, owner, onDefect);
  const botSample = sampleBots(store, uuidv7, onDefect);
  const { transport } = config;
  const unseen = watchUnseen({ store, directory, transport, writer: owner, newId: uuidv7, now, onDefect });
  const stopStatistics = startStatistics({ store, sites: () => directory.sites(), owner, now, onDefect });

  if (store.engine === "sqlite") await store.pushes.reclaimAll();
  // Receivers have more time than platforms, and are never anywhere but where their owner said.
  const pushSender = openSender({
    connectMs: config.connectMs,
    attemptMs: pushAttemptMs,
    allow: config.allowPrivate,
    origins: {},
  });
  const stopOutbound = startOutbound({
    store,
    sender: pushSender,
    attemptMs: pushAttemptMs,
    owner,
    pushMs: config.pushMs,
    retry: { scheduleMs: config.pushRetryMs, random: Math.random },
    now,
    elapsed: () => performance.now(),
    newId: uuidv7,
    onDisabled: ({ siteId, webhookId }, reason) =>
      log.warn({ site: siteId, webhook: webhookId, reason }, "webhook disabled"),
    onDefect,
  });

  const mailer = config.smtp && openMailer(config.smtp);
  const means = { mailer, sender };
  const stopWatch = startWatch({ store, directory, means, owner, everyMs: config.alertMs, now, onDefect });

  const app = openServer(tls, onDefect);
  const requests = followRequests(app);
  const parts = { store, lanes, owner, leaseMs: config.leaseMs };
  inboundRoute(app, {
    gate: {
      directory,
      transport: config.transport,
      wrongKeys: countWrongKeys(store),
      rateLimit: countByMinute(),
    },
    relay: (received, site, deadline) => relay(received, site, deadline, parts),
    countUse: ({ site, key }, at) => keyUses.count(site.id, key.id, at),
    answerMs: config.answerMs,
    mostInFlight: config.mostInFlight,
    now,
    unseen,
    log: (line) => log.info(line),
    onDefect,
  });

  collectRoutes(app, {
    store,
    directory,
    transport: config.transport,
    rate: countByMinute(),
    perMinute: config.collectPerMinute,
    tag,
    counts: visitCounts,
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
      secret: accessSecret(config.encryptionKey()),
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
  const door = openDoor(app, {
    serves: ({ raw }) => isAtHome(raw, directory, config.hasUrl ? config.publicUrl : null),
    parts: (): ApiParts => ({
      version: version(),
      store,
      directory,
      access: access(),
      sender,
      pushSender,
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

  async function stop(): Promise<void> {
    // In this order nothing that was taken in is left behind: no new requests, those in flight are answered, what
    // the lanes hold is settled, and only then the store is closed.
    door.close();
    await closeServer(app, requests);
    await opened?.close();
    await stopWorker();
    await stopStatistics();
    await stopPurge();
    await stopWatch();
    await lanes.close();
    unfollow();
    await keyUses.stop();
    await visitCounts.stop();
    await botSample.stop();
    await unseen.stop();
    await stopOutbound();
    await pushSender.close();
    await sender.close();
    await store.close();
    unlock();
    log.flush();
  }

  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await stop();
    throw startFault(error, config);
  }
  const address = addressOf(app, config);
  // Only now: a start that fails must not have shown the key to nobody.
  const welcome = await firstStart(store, directory, now());
  const data =
    store.engine === "sqlite"
      ? `${config.dataFolder} (embedded database)`
      : `PostgreSQL (DATABASE_URL), and ${config.dataFolder} for the encryption key unless it is set`;
  const setUp = await ownerLine(access(), publicUrl());
  say(`Cleancast ${version()} is running on ${address}\nData: ${data}\n${setUp}${welcome?.(address) ?? ""}`);
  return { address, stop };
}

/** JSON lines on stdout, written in blocks: a line per event must not cost a system call per event. */
function openLog(level: string): Logger {
  const destination = pino.destination({ sync: false, minLength: 4096 });
  const timer = setInterval(() => destination.flush(), 500);
  timer.unref();
  return pino({ level, base: null, redact: ["*.headers", "headers"] }, destination);
}

/** One server per folder. The lock is an open transaction, so it ends with the process, however that ends. */
function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, "serve.lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    throw new ConfigFaults([
      `another Cleancast is running on ${folder}; stop it, or give this one its own CLEANCAST_DATA.`,
    ]);
  }
  return () => lock.close();
}

export function version(): string {
  const text = readFileSync(new URL("package.json", packageFolder), "utf8");
  return String(JSON.parse(text).version);
}
