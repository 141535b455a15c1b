// A proxy that terminates HTTPS before a relay, as a shop's own server does; correctly or wrongly configured, by name.

import { once } from "node:events";
import { request } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Made } from "./certificates.ts";

export type Manner = {
  /** The name that is forwarded to the relay; the requested one unless given. */
  host?: string;
  /** X-Forwarded-For without X-Forwarded-Proto. */
  hidesScheme?: true;
  /** Answers by itself, or not at all. */
  answers?: { status: number; text: string } | "never";
  /** A certificate of its own. */
  certificate?: Made;
};

export type TlsProxy = { port: number; server: Server; close(): void };

export async function startTlsProxy(
  certificate: Made,
  relayUrl: () => string,
  manners: Record<string, Manner> = {},
): Promise<TlsProxy> {
  const server = createServer(certificate, (incoming, outgoing) => {
    const host = (incoming.headers.host ?? "").replace(/:\d+$/, "");
    const manner = manners[host] ?? {};
    if (manner.answers === "never") return;
    if (manner.answers) return void outgoing.writeHead(manner.answers.status).end(manner.answers.text);
    const headers = {
      ...incoming.headers,
      host: manner.host ?? host,
      "x-forwarded-for": incoming.socket.remoteAddress ?? "",
      ...(manner.hidesScheme ? {} : { "x-forwarded-proto": "https" }),
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
  for (const [host, { certificate: own }] of Object.entries(manners)) if (own) server.addContext(host, own);
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
