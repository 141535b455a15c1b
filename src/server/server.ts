// The HTTP server on which the routes are mounted.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { errorCode } from "../kernel/errorCode.ts";
import type { Edge } from "../http/edge.ts";
import { sendNotFound, sendText, writeAnswer } from "../http/reply.ts";
import { hasSeveralHosts } from "../http/transport.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { CertificatePair } from "./certificate.ts";
import { ConfigFaults, type Config } from "../installation/config.ts";
import { refusals, sendRefusal } from "../inbound/refusals.ts";
import { inboundPathOf } from "../inbound/route.ts";

/** Headers and body together. Where it is less than that of the headers alone, whose default is 60 s, Node exchanges the two. */
const requestTimeout = 30_000;

/** How often Node looks for requests that have timed out. With its default of 30 s they could last twice as long. */
const checks = { connectionsCheckingInterval: 2000, headersTimeout: requestTimeout };

export function createHttpServer(
  tls: CertificatePair | null,
  onDefect: (error: unknown) => void,
  edge: Edge | null = null,
): FastifyInstance {
  const options = {
    // Requests on keep-alive connections get their answer during a shutdown, not an error.
    return503OnClosing: false,
    forceCloseConnections: "idle" as const,
    requestTimeout,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 200 },
    clientErrorHandler,
    frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) => void sendText(reply, 400, "Bad request."),
  };
  const app = (
    tls ? Fastify({ ...options, https: { ...tls, ...checks } }) : Fastify({ ...options, http: checks })
  ) as FastifyInstance;
  onEveryRequest(app, closeAfterUpgrade);
  if (tls) onEveryRequest(app, sendStrictTransport);
  // Before everything else: what follows sees the visitor's host.
  if (edge) {
    onEveryRequest(app, (request, response) => {
      const refusal = edge(request);
      if (!refusal) return;
      request.resume();
      writeAnswer(response, refusal.status, `${refusal.text}\n`, { format: "text", afterBody: true });
    });
    app.addHook("onRequest", async (_request, reply) => {
      if (reply.raw.headersSent) reply.hijack();
    });
  }
  app.addHook("onRequest", async ({ raw: request }, reply) => {
    if (!hasSeveralHosts(request)) return;
    sendRefusal(reply.hijack().raw, refusals.severalHosts);
  });
  // Routes read bodies themselves, after they have authenticated the request.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null, undefined));
  app.get("/healthz", (_request, reply) => sendText(reply, 200, "ok"));
  app.setNotFoundHandler((request, reply) => {
    // Methods that the router does not know arrive here too.
    if (!inboundPathOf(request.url)) return sendNotFound(reply);
    sendRefusal(reply.hijack().raw, refusals.methodNotAllowed);
    return reply;
  });
  app.setErrorHandler((error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    if (status >= 500) onDefect(error);
    return sendText(reply, status, status >= 500 ? "Internal error." : "Bad request.");
  });
  return app;
}

/**
 * Calls `work` for the requests that the framework handles and for those that are answered before it. For some requests it is
 * called twice.
 */
export function onEveryRequest(app: FastifyInstance, work: (request: IncomingMessage, response: ServerResponse) => void): void {
  app.server.prependListener("request", work);
  // For requests to the second server of the host name "localhost".
  app.addHook("onRequest", ({ raw: request }, { raw: response }, done) => {
    work(request, response);
    done();
  });
}

/** After a request that asks for another protocol, Node's parser reports no errors: nothing more is read from the connection. */
function closeAfterUpgrade({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
}

const yearSeconds = 365 * 24 * 60 * 60;

/**
 * Tells browsers to use HTTPS for this host only, because its owner decides about other hosts. A loopback name is shared by
 * everything that is developed on a machine, also without TLS.
 */
function sendStrictTransport({ headers }: IncomingMessage, response: ServerResponse): void {
  if (!namesNoSite(hostOf(headers.host))) response.setHeader("strict-transport-security", `max-age=${yearSeconds}`);
}

/** Answers malformed or oversized HTTP in plain text too. */
function clientErrorHandler(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const status =
    {
      HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
      ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
    }[error.code ?? ""] ?? "400 Bad Request";
  // The other side may never close: what the connection holds is given back once the answer is written.
  const close = () => socket.destroy();
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status.slice(4)}.\n`,
    close,
  );
}

export function addressOf(app: FastifyInstance, config: Config): string {
  const bound = app.server.address();
  const port = typeof bound === "object" && bound ? bound.port : config.port;
  const shown = ["0.0.0.0", "::", "127.0.0.1", "::1"].includes(config.host) ? "localhost" : config.host;
  return `${config.tls ? "https" : "http"}://${shown}:${port}`;
}

/** Explains an error of the operating system in terms of the variable that caused it. */
export function toStartFault(error: unknown, config: Config): unknown {
  const code = errorCode(error);
  if (code === "EADDRINUSE") return new ConfigFaults([`port ${config.port} is already in use; set PORT to a free one.`]);
  if (code === "EACCES")
    return new ConfigFaults([
      `this user may not listen on port ${config.port}; set PORT to one above 1023, or give the service ` +
        "CAP_NET_BIND_SERVICE (docs/how-to/run-on-one-machine.md). Root is not needed.",
    ]);
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"].includes(code))
    return new ConfigFaults([`HOST ${config.host} is not an address of this machine.`]);
  return error;
}
