// Two endpoints about hosts. Our own checks call the first under any host, to learn whether a request arrives here. A local
// proxy that gets certificates on demand calls the second, to learn whether a host is ours.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { sendNotFound, sendText } from "../http/reply.ts";
import { isLoopback, isSecure, wasForwarded, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isHostOfSite, namesNoSite, readHost } from "../sites/hosts.ts";
import type { Checker } from "./check.ts";
import { answerChallenge, probePath } from "./probe.ts";

type HostCheckOptions = {
  directory: Directory;
  transport: TransportRules;
  checker: Pick<Checker, "secrets" | "relay">;
};

const tlsCheckPath = "/__cc/tls-check";

export function hostCheckRoutes(app: FastifyInstance, options: HostCheckOptions): void {
  const { directory, transport, checker } = options;

  app.get<{ Querystring: { challenge?: unknown } }>(probePath, ({ raw, query }, reply) => {
    const arrival = { host: hostOf(raw.headers.host), https: isSecure(raw, transport) };
    const answer = answerChallenge(checker.secrets(), query.challenge, arrival);
    reply.header("cache-control", "no-store");
    return answer ? reply.send(answer) : sendNotFound(reply);
  });

  app.get<{ Querystring: { domain?: unknown } }>(tlsCheckPath, ({ raw, query }, reply) => {
    reply.header("cache-control", "no-store");
    return isLocalProxy(raw, options) && isOurs(query.domain) ? sendText(reply, 200, "ok") : sendNotFound(reply);
  });

  function isOurs(domain: unknown): boolean {
    const host = typeof domain === "string" ? readHost(domain) : null;
    if (host === null || namesNoSite(host)) return false;
    return host === checker.relay?.host || directory.siteOfHost(host) !== undefined;
  }
}

/** True for the proxy itself: not for a request that it passes on, and not under a customer's host. */
function isLocalProxy(request: IncomingMessage, { directory, transport }: HostCheckOptions): boolean {
  const address = request.socket.remoteAddress ?? "";
  if (wasForwarded(request) || !(isLoopback(address) || transport.trusted(address))) return false;
  return !isHostOfSite(directory, hostOf(request.headers.host));
}
