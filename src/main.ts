// Wiring: opens every part, gives each what it needs, and stops them in order.

import type { Config } from "./installation/config.ts";
import type { FileText } from "./configFile/plan.ts";
import { applyAtStart } from "./installation/configurationFile.ts";
import { prepareFirstStart, readOwnerLine } from "./installation/firstStart.ts";
import { makeDataFolder } from "./installation/dataFolder.ts";
import { lockStore, readVersion } from "./installation/installation.ts";
import { readTag } from "./identity/tagScript.ts";
import { createEdge } from "./http/edge.ts";
import { hostOf } from "./sites/hosts.ts";
import type { Sender } from "./delivery/send.ts";
import type { SingleSignOnSettings } from "./access/singleSignOn/settings.ts";
import type { Logger } from "pino";
import { createLog } from "./observability/log.ts";
import { createObservability } from "./observability/observability.ts";
import type { TraceSettings } from "./observability/traces/settings.ts";
import type { TraceStart } from "./observability/traces/start.ts";
import { createCertificate, watchCertificate } from "./server/certificate.ts";
import { mountRoutes, type MountedRoutes } from "./server/routes.ts";
import { addressOf, createHttpServer, toStartFault } from "./server/server.ts";
import { startServices, type Services } from "./server/services.ts";
import { closeServer, createShutdown, trackRequests } from "./server/shutdown.ts";

export type Running = { address: string; stop(): Promise<void> };

/**
 * Starts the relay. `print` shows people what they need to know; everything else goes to the log. `onLogClosed` is called when
 * the reader of the log has ended. `file` is a configuration file, which is applied before the first request.
 */
export async function serve(
  config: Config,
  print: (text: string) => void,
  onLogClosed?: () => void,
  file?: FileText,
): Promise<Running> {
  const tag = readTag();
  const certificate = createCertificate(config);
  makeDataFolder(config);
  const unlock = lockStore(config);
  const now = Date.now;
  const opened = createLog(config.logLevel, onLogClosed);
  const { log } = opened;
  const observability = createObservability(config, opened, now);
  const shutdown = createShutdown({
    // The last request may take `answerMs`, and its last attempt another `attemptMs`.
    timeoutMs: config.answerMs + config.attemptMs + 2000,
    onLate: observability.onDefect,
  });
  shutdown.add("drain", "readiness", observability.drain);
  shutdown.add("watchers", "observability", observability);
  shutdown.add("process", "lock", unlock);
  // Lines that are not flushed before the process ends are lost.
  shutdown.add("process", "log", () => new Promise<void>((resolve) => log.flush(() => resolve())));

  try {
    const traces = config.traces && (await loadTraces(config.traces, { connectMs: config.connectMs, log, now }));
    if (traces) shutdown.add("clients", "traces", traces);
    const services = await startServices({ config, log, observability, shutdown, traces, now });
    const { directory } = services;
    const edge =
      config.edgeSecrets.length === 0
        ? null
        : createEdge({
            secrets: config.edgeSecrets,
            transport: config.transport,
            // A host that is only claimed counts too: its verification arrives through the edge.
            siteIdOf: (name) => directory.site(name)?.id ?? directory.host(hostOf(name))?.siteId,
          });
    const app = createHttpServer(certificate?.pair ?? null, observability.onDefect, edge);
    const requests = trackRequests(app);
    shutdown.add("drain", "connections", () => requests.closeAfterAnswer());
    shutdown.add("requests", "requests", (timeoutMs) => closeServer(app, requests, timeoutMs - 500));
    shutdown.add("watchers", "certificate", watchCertificate(app.server, certificate, log));
    const routes = mountRoutes(app, {
      config,
      services,
      observability,
      shutdown,
      version: readVersion(),
      tag,
      certificateExpiresAt: () => certificate?.expiresAt() ?? null,
    });
    const applied = file && (await applyAtStart(config, services, file));
    await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
      throw toStartFault(error, config);
    });
    const address = addressOf(app, config);
    print(await startText(address, config, services, routes, applied));
    log.info({ version: readVersion(), address }, "started");
    if (config.singleSignOn) void checkProvider(config.singleSignOn, services.pushSender, log);
    return { address, stop: () => shutdown.run(config.drainMs) };
  } catch (error) {
    await shutdown.run(0);
    throw error;
  }
}

const loadTraces = async (settings: TraceSettings, about: Omit<TraceStart, "version">) =>
  (await import("./observability/traces/start.ts")).startTraces(settings, { ...about, version: readVersion() });

/** A provider that is away for now must not keep the relay from starting. */
async function checkProvider(settings: SingleSignOnSettings, sender: Sender, log: Pick<Logger, "warn">): Promise<void> {
  const { findProviderFault } = await import("./access/singleSignOn/provider.ts");
  const fault = await findProviderFault(settings, (request) => sender.send(request, { platform: "oidc", customerAddress: true }));
  if (fault !== null) log.warn({ fault }, "nobody can sign in at the OpenID provider now; 'cleancast doctor' checks it again");
}

async function startText(
  address: string,
  { dataFolder, firstSite }: Config,
  { store, directory, now }: Services,
  { access, publicUrl }: MountedRoutes,
  applied: string | undefined,
): Promise<string> {
  const data =
    store.engine === "sqlite"
      ? `${dataFolder} (embedded database)`
      : `PostgreSQL (DATABASE_URL), and ${dataFolder} for the encryption key unless it is set`;
  const owner = await readOwnerLine(access(), publicUrl());
  // This comes last, when nothing can fail any more: the key is shown only once.
  const welcome = firstSite && applied === undefined ? await prepareFirstStart(store, directory, now) : null;
  return `Cleancast ${readVersion()} is running on ${address}\nData: ${data}\n${applied ?? ""}${owner}${welcome?.(address) ?? ""}`;
}
