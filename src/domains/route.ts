// Two endpoints about hosts. Our own checks call the first under any host, to learn whether a request arrives here. A local
// proxy that gets certificates on demand calls the second, to learn whether a host is ours.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isLoopback, isSecure, wasForwarded, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isProven, namesNoSite, readHost } from "../sites/hosts.ts";
import type { Checker } from "./check.ts";
import { answerTo, probePath } from "./probe.ts";

type NameOptions = {
  directory: Directory;
  transport: TransportRules;
  checker: Pick<Checker, "secrets" | "relay">;
};

const tlsCheckPath = "/__cc/tls-check";

export function nameRoutes(app: FastifyInstance, options: NameOptions): void {
  const { directory, transport, checker } = options;

  app.get<{ Querystring: { challenge?: unknown } }>(probePath, ({ raw, query }, reply) => {
    const arrival = { host: hostOf(raw.headers.host), https: isSecure(raw, transport) };
    const answer = answerTo(checker.secrets(), query.challenge, arrival);
    if (!answer) return notFound(reply);
    return reply.header("cache-control", "no-store").send(answer);
  });

  app.get<{ Querystring: { domain?: unknown } }>(tlsCheckPath, ({ raw, query }, reply) => {
    if (!isLocalProxy(raw, options) || !isOurs(query.domain)) return notFound(reply);
    return reply.header("cache-control", "no-store").type("text/plain; charset=utf-8").send("ok\n");
  });

  function isOurs(domain: unknown): boolean {
    const host = typeof domain === "string" ? readHost(domain) : null;
    if (host === null || namesNoSite(host)) return false;
    return host === checker.relay?.host || directory.siteOfHost(host) !== undefined;
  }
}

/** True for the proxy itself: not for a request that it passes on, and not under a customer's host. */
function isLocalProxy(request: IncomingMessage, { directory, transport }: NameOptions): boolean {
  const address = request.socket.remoteAddress ?? "";
  if (wasForwarded(request) || !(isLoopback(address) || transport.trusted(address))) return false;
  const host = hostOf(request.headers.host);
  // A loopback name belongs to no site, even where one uses it for tests; and a claim that is not proven does not count.
  const known = namesNoSite(host) ? undefined : directory.host(host);
  return !(known && isProven(known));
}

const notFound = (reply: FastifyReply) =>
  reply.code(404).header("cache-control", "no-store").type("text/plain; charset=utf-8").send("Not found.\n");
