// Mounts every endpoint of the relay on the HTTP server.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createAccess, type Access } from "../access/access.ts";
import { createAdmission } from "../api/admission.ts";
import type { ApiContext } from "../api/context.ts";
import { isDashboardHost } from "../api/dashboardHost.ts";
import { mountDashboard } from "../api/mountDashboard.ts";
import { mountSharing } from "../api/sharing/mount.ts";
import { collectRoutes } from "../collect/route.ts";
import { hostCheckRoutes } from "../domains/route.ts";
import { createRateLimit } from "../http/rate.ts";
import type { DirectRoute } from "../http/reply.ts";
import type { TransportRules } from "../http/transport.ts";
import { createLoad } from "../inbound/load.ts";
import type { InboundOptions } from "../inbound/event.ts";
import { inboundRoute } from "../inbound/route.ts";
import { sourceRoute, sourceTokenOf } from "../inbound/sources/route.ts";
import { countWrongKeys } from "../inbound/wrongKeys.ts";
import { readTag } from "../identity/tagScript.ts";
import type { Config } from "../installation/config.ts";
import { mountMcp } from "../mcp/mount.ts";
import { callbackPath, oauthRoutes } from "../oauth/route.ts";
import type { Observability } from "../observability/observability.ts";
import { tracedPipeline } from "../observability/traces/tracedPipeline.ts";
import { addressOf } from "./server.ts";
import type { Services } from "./services.ts";
import type { Shutdown } from "./shutdown.ts";

type RouteOptions = {
  config: Config;
  services: Services;
  observability: Observability;
  shutdown: Shutdown;
  version: string;
  /** The built tag. */
  tag: string;
  certificateExpiresAt: () => number | null;
};

export type MountedRoutes = {
  /** Both work only when the server listens: the system may choose the port. */
  publicUrl: () => string;
  access: () => Access;
};

export function mountRoutes(app: FastifyInstance, options: RouteOptions): MountedRoutes {
  const { services, observability, version, certificateExpiresAt } = options;
  const { store, directory, lanes, breaker, checker, traces } = services;
  const { transport } = options.config;
  observability.mountRoutes(app, { store, directory, lanes, breaker, version, certificateExpiresAt, traces });
  mountInbound(app, options, mountCollect(app, options));
  hostCheckRoutes(app, { directory, transport, checker });
  return mountManagement(app, options);
}

function mountInbound(app: FastifyInstance, { config, services, observability }: RouteOptions, takeReport: DirectRoute): void {
  const { store, directory, lanes, links, memory, visitCounts, openEvents, keyUses, ownHost, traces, now, onDefect } = services;
  const onConverted = (siteId: string, evidence: ReadonlySet<string>, at: number) => {
    for (const name of ["", ...evidence]) visitCounts.countEvidence(siteId, "evidence at conversions", name, at);
  };
  const parts = { store, lanes, memory, now, onConverted, onPlanned: observability.onPlanned };
  const { relay, relayBatch, acceptBatch } = tracedPipeline(parts, traces);
  const load = createLoad(config.maxInFlight);
  const reserveId = (at: number) => openEvents.reserveId(at);
  const sources = sourceRoute(app, {
    store,
    directory,
    links,
    ownHost,
    transport: config.transport,
    acceptBatch,
    reserveId,
    countUse: (siteId, sourceId, at) => keyUses.count(siteId, sourceId, at),
    answerMs: config.answerMs,
    load,
    observer: services.sourceObserver,
    now,
    log: observability.onSourceAnswered,
    onDefect,
  });
  const takeSource = (url: string, request: IncomingMessage, response: ServerResponse) => {
    const token = sourceTokenOf(url);
    if (token !== null) sources.answer(token, request, response);
    return token !== null;
  };
  const options: InboundOptions = {
    authentication: {
      directory,
      ownHost,
      transport: config.transport,
      wrongKeys: countWrongKeys(store),
      rateLimit: createRateLimit(),
    },
    relay,
    relayBatch,
    readTraceParent: traces?.readParent,
    countUse: ({ site, key }, at) => keyUses.count(site.id, key.id, at),
    reserveId,
    answerMs: config.answerMs,
    load,
    now,
    rejectedRequests: services.rejectedRequests,
    log: observability.onAnswered,
    onDefect,
  };
  inboundRoute(app, options, takeReport, takeSource);
}

function mountCollect(app: FastifyInstance, { config, services, observability, tag }: RouteOptions): DirectRoute {
  const { store, directory, links, visitCounts, sightings, visitSample, memory, countries, now, onDefect } = services;
  return collectRoutes(app, {
    store,
    directory,
    transport: config.transport,
    rateLimit: createRateLimit(),
    perMinute: config.collectPerMinute,
    tag,
    secondPart: readTag("use"),
    memory,
    counts: visitCounts,
    sightings,
    links,
    onVisitCounted: observability.onVisitCounted,
    offerVisit: (visit) => visitSample.offer(visit),
    countryOf: (address) => countries?.countryOf(address) ?? null,
    now,
    onDefect,
  });
}

/** Browsers keep the cookies of an https dashboard over HTTPS only, so that nobody could stay signed in over plain HTTP. */
const managementTransport = ({ hasUrl, publicUrl, transport }: Config): TransportRules =>
  hasUrl && publicUrl.startsWith("https:") ? { ...transport, plainFrom: null } : transport;

/** What calls of the management API may hold in memory, in units of 64 KiB: of one site at most half, which is four files. */
const maxHeld = { members: 1024, strangers: 256 };

/** The dashboard, the management API and the sign-in at platforms. */
function mountManagement(app: FastifyInstance, options: RouteOptions): MountedRoutes {
  const { config, services, shutdown, version, tag } = options;
  const { store, directory, sender, mailer, countries, now, onDefect } = services;
  const { pushSender, checker, tokens } = services;
  const { allowPrivate, exportFolder, pushMs } = config;
  const transport = managementTransport(config);
  const publicUrl = () => (config.hasUrl ? config.publicUrl : addressOf(app, config));
  let opened: Access | null = null;
  const access = (): Access =>
    (opened ??= createAccess({
      store,
      directory,
      mailer,
      publicUrl: publicUrl(),
      secret: store.accessSecret,
      trusted: transport.trusted,
      singleSignOn: config.singleSignOn && {
        settings: config.singleSignOn,
        send: (request) => pushSender.send(request, { platform: "oidc", customerAddress: true }),
      },
      passwords: config.passwords,
      now,
      onDefect,
    }));
  shutdown.add("worker", "access", () => opened?.close());
  oauthRoutes(app, {
    store,
    sender,
    get redirectUri() {
      return `${publicUrl()}${callbackPath}`;
    },
    origins: config.platformOrigins,
    // Only the cookie of a session identifies a user here.
    userOf: async (request) => (await access().userOf(request))?.id ?? null,
    now,
  });
  const isOnDashboardHost = ({ raw }: FastifyRequest) => isDashboardHost(raw, directory, config.hasUrl ? config.publicUrl : null);
  if (config.singleSignOn)
    app.register(async (scope) => {
      const { singleSignOnRoutes } = await import("../oauth/singleSignOn.ts");
      const signIn = () => access().singleSignOn();
      singleSignOnRoutes(scope, { signIn, publicUrl, transport, isDashboardHost: isOnDashboardHost });
    });
  const context = (): ApiContext => ({
    version,
    store: { ...store, ...store.forCalls },
    directory,
    access: access(),
    sender,
    pushSender,
    checker,
    tokens,
    mailer,
    allowPrivate,
    exportFolder,
    transport,
    publicUrl: publicUrl(),
    pushMs,
    readTag: () => tag,
    // Loaded on demand: a relay that starts needs no import.
    sendMissing: async (site, run, part, by) =>
      (await import("../import/missing.ts")).sendMissing({ store, site, by }, run, part),
    tagSeen: (siteId) => services.sightings.read(siteId, now()),
    imports: {
      readColumns: async (...given) => (await import("../import/uploaded.ts")).readColumns(...given),
      importPart: async (site, part, by) =>
        (await import("../import/uploaded.ts")).importPart({ store, directory, site, by, now }, part),
    },
    countryOf: countries && ((address) => countries.countryOf(address)),
    now,
  });
  const admission = createAdmission({ members: createLoad(maxHeld.members), strangers: createLoad(maxHeld.strangers) });
  const mounted = { isDashboardHost: isOnDashboardHost, context, admission, onDefect };
  shutdown.add("requests", "dashboard", mountDashboard(app, mounted));
  shutdown.add("requests", "assistants", mountMcp(app, mounted));
  shutdown.add("requests", "shared links", mountSharing(app, mounted));
  return { access, publicUrl };
}
