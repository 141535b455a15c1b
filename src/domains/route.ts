// Two questions about names. "Does this request arrive here?" is asked by our own checks, under any name. "Is this name
// ours?" is asked by a proxy that gets certificates on demand, from next door.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { isLoopback, isSecure, wasForwarded, type TransportRules } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isProven, namesNoSite, readHost } from "../sites/hosts.ts";
import type { Checker } from "./check.ts";
import { answerTo, probePath } from "./probe.ts";

export type NameOptions = {
  directory: Directory;
  transport: TransportRules;
  checker: Pick<Checker, "secrets" | "relay">;
};

export const tlsCheckPath = "/__cc/tls-check";

export function nameRoutes(app: FastifyInstance, options: NameOptions): void {
  const { directory, transport, checker } = options;

  app.get<{ Querystring: { challenge?: unknown } }>(probePath, ({ raw, query }, reply) => {
    const arrival = { host: hostOf(raw.headers.host), https: isSecure(raw, transport) };
    const answer = answerTo(checker.secrets(), query.challenge, arrival);
    if (!answer) return notFound(reply);
    return reply.header("cache-control", "no-store").send(answer);
  });

  app.get<{ Querystring: { domain?: unknown } }>(tlsCheckPath, ({ raw, query }, reply) => {
    if (!isNextDoor(raw, options) || !isOurs(query.domain)) return notFound(reply);
    return reply.header("cache-control", "no-store").type("text/plain; charset=utf-8").send("ok\n");
  });

  function isOurs(domain: unknown): boolean {
    const host = typeof domain === "string" ? readHost(domain) : null;
    if (host === null || namesNoSite(host)) return false;
    return host === checker.relay?.host || directory.siteOfHost(host) !== undefined;
  }
}

/** The proxy itself: not somebody whose request it passes on, and not under a customer's name. */
function isNextDoor(request: IncomingMessage, { directory, transport }: NameOptions): boolean {
  const address = request.socket.remoteAddress ?? "";
  if (wasForwarded(request) || !(isLoopback(address) || transport.trusted(address))) return false;
  const host = hostOf(request.headers.host);
  // A loopback name is nobody's, also where a site has it for trying things out; and to claim a name is not to have it.
  const known = namesNoSite(host) ? undefined : directory.host(host);
  return !(known && isProven(known));
}

const notFound = (reply: FastifyReply) =>
  reply.code(404).header("cache-control", "no-store").type("text/plain; charset=utf-8").send("Not found.\n");
