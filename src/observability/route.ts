// GET /readyz for everyone, GET /metrics for the operator. (/healthz, which checks nothing, belongs to the server.)

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { sendNotFound, sendText } from "../http/reply.ts";
import { wasForwarded, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isHostOfSite } from "../sites/hosts.ts";
import type { Readiness } from "./readiness.ts";

type MetricsAccess = {
  directory: Pick<Directory, "host">;
  transport: TransportRules;
  /** CLEANCAST_METRICS_TOKEN. */
  token: string | null;
  /** The host of CLEANCAST_URL, where it is set: it is reachable from the internet. */
  publicHost: string | null;
};

type ObservabilityRouteOptions = {
  readiness: () => Promise<Readiness>;
  /** Loaded by the first permitted scrape. */
  loadMetrics: () => Promise<{ contentType: string; read(): Promise<string> }>;
  access: MetricsAccess;
};

export function mountObservabilityRoutes(app: FastifyInstance, options: ObservabilityRouteOptions): void {
  app.get("/readyz", async (_request, reply) => {
    const readiness = await options.readiness();
    return reply
      .code(readiness.ok ? 200 : 503)
      .headers({ "cache-control": "no-store" })
      .send(readiness);
  });

  let loaded: ReturnType<ObservabilityRouteOptions["loadMetrics"]> | null = null;
  app.get("/metrics", async (request, reply) => {
    const access = checkAccess(request.raw, options.access);
    if (access !== "allowed") return refuse(reply, access);
    const metrics = await (loaded ??= options.loadMetrics());
    return reply
      .type(metrics.contentType)
      .header("cache-control", "no-store")
      .send(await metrics.read());
  });
}

type AccessDecision = "allowed" | "not found" | "unauthorized";

/** With a configured token only its holder may read; otherwise trusted addresses, but not requests that they forward. */
function checkAccess(request: IncomingMessage, access: MetricsAccess): AccessDecision {
  const host = hostOf(request.headers.host);
  // The token comes first: its holder runs the installation, and no site can take away the host name that they use.
  if (access.token !== null && hasToken(request, access.token)) return "allowed";
  if (isHostOfSite(access.directory, host)) return "not found";
  if (access.token !== null) return "unauthorized";
  // A trusted proxy's own requests are trusted, not those that it forwards. A proxy that adds no header still forwards
  // the public host name.
  const isDirect = !wasForwarded(request) && host !== access.publicHost;
  const address = request.socket.remoteAddress ?? "";
  return isDirect && access.transport.trusted(address) ? "allowed" : "unauthorized";
}

function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function refuse(reply: FastifyReply, decision: "not found" | "unauthorized"): FastifyReply {
  if (decision === "not found") return sendNotFound(reply);
  reply.header("www-authenticate", 'Bearer realm="metrics"');
  return sendText(reply, 401, "Metrics need the CLEANCAST_METRICS_TOKEN, or a trusted address where no token is set.");
}
