// Starts a proxy that terminates HTTPS for a relay, as a shop's own server does; each host may be misconfigured.

import { once } from "node:events";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestCertificate } from "./certificates.ts";

export type ProxyBehaviour = {
  /** The host name that is forwarded to the relay; the requested one unless given. */
  host?: string;
  /** Sends X-Forwarded-For without X-Forwarded-Proto. */
  hidesScheme?: true;
  /** Answers by itself, or not at all. */
  answers?: { status: number; text: string } | "never";
  /** The certificate of this host. */
  certificate?: TestCertificate;
};

export type TlsProxy = { port: number; server: Server; close(): void };

export async function startTlsProxy(
  certificate: TestCertificate,
  relayUrl: () => string,
  behaviours: Record<string, ProxyBehaviour> = {},
): Promise<TlsProxy> {
  const server = createServer(certificate, (incoming, outgoing) => {
    const host = (incoming.headers.host ?? "").replace(/:\d+$/, "");
    const behaviour = behaviours[host] ?? {};
    if (behaviour.answers === "never") return;
    if (behaviour.answers) return void outgoing.writeHead(behaviour.answers.status).end(behaviour.answers.text);
    const headers = {
      ...incoming.headers,
      host: behaviour.host ?? host,
      "x-forwarded-for": incoming.socket.remoteAddress ?? "",
      ...(behaviour.hidesScheme ? {} : { "x-forwarded-proto": "https" }),
    };
    const passed = request(
      new URL(incoming.url ?? "/", relayUrl()),
      { method: incoming.method, headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(passed);
  });
  for (const [host, { certificate: own }] of Object.entries(behaviours)) if (own) server.addContext(host, own);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    server,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
