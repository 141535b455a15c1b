// The customer's site as browsers see it: HTTPS with HTTP/2, pages of its own, and the relay under /__cc/. Every browser has a
// listener of its own, which stands for one client address at a time. Everything that reaches the relay is recorded.

import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { request as httpRequest } from "node:http";
import type { TLSSocket } from "node:tls";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { newAuthority } from "../../test/support/servers/certificates.ts";
import { shop } from "./relay.ts";

export type Recorded = {
  visit: string;
  address: string;
  at: number;
  method: string;
  path: string;
  /** Names and values in the order in which they came. */
  headers: string[];
  /** The signature algorithms that the client offered in its TLS handshake. */
  offered: string;
  body: string;
};

export type Place = { x: number; y: number };
/** What a page tells about itself: where its elements are on the screen, and what the other detectors found. */
export type PageNews = {
  path: string;
  places: Record<string, Place & { inPage: Place }>;
  /** The height of the page's view, and the size of its pixels. */
  height: number;
  scale: number;
  isFirefox: boolean;
  botd?: boolean;
};

export type Front = {
  port: number;
  /** A CONNECT proxy, for browsers that cannot map a name to a port. */
  proxyPort: number;
  /** Of the current visit. */
  news: PageNews[];
  userAgents: Set<string>;
  /** The next page is another person's: without cookies, and from another address. */
  begin(visit: string, address: string): void;
  close(): Promise<void>;
};

/** Self-signed authority: the browsers of the benchmark are told to accept it. */
export const certificate = newAuthority().issue([shop]);

type FrontOptions = {
  relayPort: number;
  pages: (path: string) => string | null;
  /** Headers that a gateway between the visitor and the site removes. */
  strips: readonly string[];
  onRequest: (recorded: Recorded) => void;
};

export async function openFront({ relayPort, pages, strips, onRequest }: FrontOptions): Promise<Front> {
  const news: PageNews[] = [];
  const userAgents = new Set<string>();
  let [visit, address, isNew] = ["", "", false];
  const server = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => {});
    request.on("end", () => answer(request, response, Buffer.concat(parts)));
  });
  server.on("sessionError", () => {});

  function answer(request: Http2ServerRequest, response: Http2ServerResponse, body: Buffer): void {
    const path = request.url.split("?")[0] ?? "/";
    userAgents.add(request.headers["user-agent"] ?? "");
    if (path.startsWith("/__cc/")) return forward(request, response, body);
    if (path === "/__bench/news") {
      news.push(JSON.parse(body.toString()) as PageNews);
      response.writeHead(204);
      response.end();
      return;
    }
    const page = pages(path);
    const cookies = isNew && path === "/" ? (request.headers.cookie ?? "").split("; ").filter(Boolean) : [];
    if (path === "/") isNew = false;
    response.writeHead(page === null ? 404 : 200, {
      "content-type": path.endsWith(".js") ? "text/javascript" : "text/html; charset=utf-8",
      ...(cookies.length && { "set-cookie": cookies.map((one) => `${one.split("=")[0]}=; Path=/; Max-Age=0; Secure; HttpOnly`) }),
    });
    response.end(page ?? "");
  }

  function forward(request: Http2ServerRequest, response: Http2ServerResponse, body: Buffer): void {
    const headers = forwardedHeaders(request.rawHeaders, new Set([...hopHeaders, ...strips]));
    // Libraries that cannot map the name use the address.
    const local = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const named = (text: string) => text.replaceAll(local, `https://${shop}`);
    const { method } = request;
    const recorded = {
      visit,
      address,
      at: Date.now(),
      method,
      path: request.url,
      headers: headers.map(named),
      offered: ((request.stream?.session?.socket as TLSSocket | undefined) ?? (request.socket as TLSSocket))
        .getSharedSigalgs()
        .join(),
      body: named(body.toString()),
    };
    onRequest(recorded);
    const sent = sendToRelay(relayPort, recorded, (status, answered, bytes) => {
      const { connection: _connection, "keep-alive": _keep, "transfer-encoding": _encoding, ...kept } = answered;
      // The browser's next person has not been here before.
      response.writeHead(status, method === "GET" ? { ...kept, "cache-control": "no-store" } : kept);
      response.end(bytes);
    });
    sent.on("error", () => {
      response.writeHead(502);
      response.end();
    });
  }

  const proxy = createServer((socket) => {
    socket.once("data", () => {
      const { port } = server.address() as AddressInfo;
      const target = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(target).pipe(socket);
      });
      target.on("error", () => socket.destroy());
    });
    socket.on("error", () => {});
  });
  const listen = (one: Server) => new Promise<void>((resolve) => one.listen(0, "127.0.0.1", resolve));
  await Promise.all([listen(server), listen(proxy)]);
  return {
    port: (server.address() as AddressInfo).port,
    proxyPort: (proxy.address() as AddressInfo).port,
    news,
    userAgents,
    begin(...of) {
      [visit, address] = of;
      isNew = true;
      news.length = 0;
      userAgents.clear();
    },
    async close() {
      server.close();
      proxy.close();
    },
  };
}

const hopHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "host", "te", "content-length"]);

function forwardedHeaders(raw: readonly string[], removed: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    if (!name.startsWith(":") && !removed.has(name.toLowerCase())) kept.push(name, raw[at + 1] ?? "");
  }
  return kept;
}

type OnAnswer = (status: number, headers: Record<string, string | string[] | undefined>, body: Buffer) => void;

/** Sends a recorded request to a relay, as a proxy does that keeps the order of headers. */
export function sendToRelay(port: number, { address, method, path, headers, body }: Recorded, onAnswer: OnAnswer) {
  const all = [
    "host",
    shop,
    "x-forwarded-proto",
    "https",
    "x-forwarded-for",
    address,
    ...headers,
    "content-length",
    String(Buffer.byteLength(body)),
  ];
  const sent = httpRequest({ port, host: "127.0.0.1", method, path, headers: all }, (answered) => {
    const parts: Buffer[] = [];
    answered.on("data", (part: Buffer) => parts.push(part));
    answered.on("end", () => onAnswer(answered.statusCode ?? 502, answered.headers, Buffer.concat(parts)));
  });
  sent.end(body);
  return sent;
}
