// GET /readyz for everybody, GET /metrics for the operator. (/healthz, which asks nobody, is the server's own.)

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { wasForwarded, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isProven, namesNoSite } from "../sites/hosts.ts";
import type { Readiness } from "./readiness.ts";

export type MetricsDoor = {
  directory: Pick<Directory, "host">;
  transport: TransportRules;
  /** CLEANCAST_METRICS_TOKEN. */
  token: string | null;
  /** The host of CLEANCAST_URL, where it is set: the whole world comes there. */
  publicHost: string | null;
};

export type ObserveOptions = {
  readiness: () => Promise<Readiness>;
  /** Opened by the first who may see it. */
  metrics: () => Promise<{ contentType: string; read(): Promise<string> }>;
  door: MetricsDoor;
};

export function observeRoutes(app: FastifyInstance, options: ObserveOptions): void {
  app.get("/readyz", async (_request, reply) => {
    const readiness = await options.readiness();
    return reply
      .code(readiness.ok ? 200 : 503)
      .headers({ "cache-control": "no-store" })
      .send(readiness);
  });

  let opened: ReturnType<ObserveOptions["metrics"]> | null = null;
  app.get("/metrics", async (request, reply) => {
    const may = maySee(request.raw, options.door);
    if (may !== "yes") return turnAway(reply, may);
    const metrics = await (opened ??= options.metrics());
    return reply
      .type(metrics.contentType)
      .header("cache-control", "no-store")
      .send(await metrics.read());
  });
}

/** Where there is a token, with it alone; else from this machine and from trusted addresses that ask for themselves. */
export function maySee(request: IncomingMessage, door: MetricsDoor): "yes" | "not here" | "not you" {
  const host = hostOf(request.headers.host);
  // First: who holds it runs the installation, and no site can take away a name under which they ask.
  if (door.token !== null && holdsToken(request, door.token)) return "yes";
  // A loopback name is nobody's, also where a site has it for trying things out; and to claim a name is not to have it.
  const known = namesNoSite(host) ? undefined : door.directory.host(host);
  if (known && isProven(known)) return "not here";
  if (door.token !== null) return "not you";
  // A proxy is trusted for what it says of others; those others are not. One that says nothing of them still passes the
  // public name on.
  const asksForItself = !wasForwarded(request) && host !== door.publicHost;
  const address = request.socket.remoteAddress ?? "";
  return asksForItself && door.transport.trusted(address) ? "yes" : "not you";
}

function holdsToken({ headers }: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function turnAway(reply: FastifyReply, why: "not here" | "not you"): FastifyReply {
  reply.type("text/plain; charset=utf-8");
  if (why === "not here") return reply.code(404).send("Not found.\n");
  return reply
    .code(401)
    .header("www-authenticate", 'Bearer realm="metrics"')
    .send("Metrics are for who holds CLEANCAST_METRICS_TOKEN; where it is not set, for trusted addresses.\n");
}
