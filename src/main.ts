// Wiring: opens every part, hands each what it needs, and closes them in order.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import Fastify, { type FastifyInstance } from "fastify";
import { pino, type Logger } from "pino";
import { ConfigFaults, type Config } from "./config.ts";
import { collectRoutes } from "./collect/route.ts";
import { readTag } from "./collect/tagScript.ts";
import { openLanes } from "./delivery/lanes.ts";
import { openSender } from "./delivery/send.ts";
import { startWorker } from "./delivery/worker.ts";
import { firstStart } from "./firstStart.ts";
import { shortId, uuidv7 } from "./ids.ts";
import { startPurge } from "./identity/purge.ts";
import { countByMinute } from "./http/rate.ts";
import { inboundPath, inboundRoute, refuse } from "./inbound/route.ts";
import { refusals } from "./inbound/errors.ts";
import { countWrongKeys } from "./inbound/wrongKeys.ts";
import { relay } from "./pipeline.ts";
import { directoryOf } from "./sites/directory.ts";
import { countKeyUses } from "./sites/keyUses.ts";
import { openStore } from "./store/store.ts";

export type Running = { address: string; stop(): Promise<void> };

/** Starts the relay. `say` shows people what they need to know; everything else goes to the log. */
export async function serve(config: Config, say: (text: string) => void): Promise<Running> {
  const tag = readTag();
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 });
  const unlock = config.store.engine === "sqlite" ? lockFolder(config.dataFolder) : () => {};
  const log = openLog(config.logLevel);
  const onDefect = (error: unknown, about: Record<string, unknown> = {}) =>
    log.error({ err: error, ...about });
  const now = Date.now;

  const store = await openStore(config.store, config.encryptionKey(), uuidv7).catch((error: unknown) => {
    unlock();
    throw error;
  });
  const directory = directoryOf(store);
  await directory.refresh();
  const welcome = await firstStart(store, directory, now());
  const unfollow = directory.follow((error) => onDefect(error));

  const owner = shortId();
  if (store.engine === "sqlite") await store.deliveries.reclaimAll(now());
  const sender = openSender({ ...config, allow: config.allowPrivate, origins: config.platformOrigins });
  const lanes = openLanes({
    directory,
    sender,
    settle: store.deliveries.settle,
    retry: { scheduleMs: config.retryScheduleMs, random: Math.random },
    attemptMs: config.attemptMs,
    now,
    onDefect,
    async needsReconnection({ siteId, id, platform }, reason) {
      if (directory.connection(siteId, id)?.state !== "active") return;
      const detail = { id, platform, reason };
      const change = { siteId, actor: "relay", action: "connection needs reconnection", detail, at: now() };
      await store.configuration.setConnectionState(change, id, "needs reconnection", reason);
      await directory.refresh();
    },
  });
  const stopWorker = startWorker({ store, directory, lanes, owner, leaseMs: config.leaseMs, now, onDefect });
  const stopPurge = startPurge(store, () => directory.sites(), now, onDefect);
  const keyUses = countKeyUses(store, onDefect);

  const app = openServer(config, onDefect);
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
    now,
    onDefect,
  });

  async function stop(): Promise<void> {
    // In this order nothing that was taken in is left behind: no new requests, those in flight are answered, what
    // the lanes hold is settled, and only then the store is closed.
    await app.close();
    await stopWorker();
    await stopPurge();
    await lanes.idle();
    unfollow();
    await keyUses.stop();
    await sender.close();
    await store.close();
    unlock();
    log.flush();
  }

  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await stop();
    throw portFault(error, config);
  }
  const address = addressOf(app, config);
  const data =
    store.engine === "sqlite"
      ? `${config.dataFolder} (embedded database)`
      : `PostgreSQL (DATABASE_URL), and ${config.dataFolder} for the encryption key unless it is set`;
  say(`Cleancast ${version()} is running on ${address}\nData: ${data}\n${welcome?.(address) ?? ""}`);
  return { address, stop };
}

function openServer(config: Config, onDefect: (error: unknown) => void): FastifyInstance {
  const options = {
    // Keep-alive connections that are busy during a stop get their answer, not an error.
    return503OnClosing: false,
    forceCloseConnections: "idle" as const,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 200 },
  };
  const app = (
    config.tls
      ? Fastify({
          ...options,
          https: { cert: readFileSync(config.tls.certFile), key: readFileSync(config.tls.keyFile) },
        })
      : Fastify(options)
  ) as FastifyInstance;
  // Doors read bodies by their own hand, after they know who is there.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
  app.get("/healthz", (_request, reply) => reply.type("text/plain; charset=utf-8").send("ok\n"));
  app.setNotFoundHandler((request, reply) => {
    // Methods that the router does not know end here too.
    if (request.url.split("?", 1)[0] === inboundPath) return refuse(reply, refusals.methodNotAllowed);
    return reply.code(404).type("text/plain; charset=utf-8").send("Not found.\n");
  });
  app.setErrorHandler((error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    if (status >= 500) onDefect(error);
    const text = status >= 500 ? "Internal error." : "Bad request.";
    return reply.code(status).type("text/plain; charset=utf-8").send(`${text}\n`);
  });
  return app;
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

function addressOf(app: FastifyInstance, config: Config): string {
  const bound = app.server.address();
  const port = typeof bound === "object" && bound ? bound.port : config.port;
  const shown = ["0.0.0.0", "::", "127.0.0.1", "::1"].includes(config.host) ? "localhost" : config.host;
  return `${config.tls ? "https" : "http"}://${shown}:${port}`;
}

function portFault(error: unknown, config: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "EADDRINUSE")
    return new ConfigFaults([`port ${config.port} is taken; set PORT to a free one.`]);
  if (code === "EACCES")
    return new ConfigFaults([`port ${config.port} needs root; set PORT to one above 1023.`]);
  if (code === "EADDRNOTAVAIL")
    return new ConfigFaults([`HOST ${config.host} is not an address of this machine.`]);
  return error;
}

export function version(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return String(JSON.parse(text).version);
}
