// A real HTTPS site for tests: pages that the test writes, and the relay behind them, either under the site's own host at
// /__cc/ or on a host of its own. Everything that browsers send is recorded, and the relay can be made to fail.

import { Agent, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { afterFile, takeAll } from "../support/afterFile.ts";
import { eventually } from "../support/relay.ts";
import { certificate } from "./certificate.ts";

/** down: the connection is cut; slow: answers after `slowMs`; error: answers 500. */
export type Trouble = "none" | "down" | "slow" | "error";

type Page = string | { html: string; headers?: Record<string, string> };

export type Recorded = {
  host: string;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
  /** The relay's answer; null while there is none, and for pages. */
  answer: { status: number; headers: IncomingHttpHeaders } | null;
  isForRelay: boolean;
};

/** A report of the tag to one of its endpoints. */
export type Report = Recorded & { fields: Record<string, unknown> };

export type TestSite = {
  origin: string;
  /** The origin of the tag: "" on the site's own host. */
  relayOrigin: string;
  tagLine: string;
  port: number;
  pages: Record<string, Page>;
  /** The address of a server that has the pages that the test did not write; null if there is none. */
  upstream: string | null;
  recorded: Recorded[];
  trouble: Trouble;
  slowMs: number;
  /** The delay of each connection to the relay's own host. If it is set, every request opens a new connection. */
  connectMs: number;
  /** The address of the browser that this proxy forwards to the relay. */
  visitorAddress: string;
  /** The reports that reached the relay and were answered, in order. */
  reports(endpoint: string): Report[];
  /** Waits until an endpoint has answered this many reports, and returns them. */
  waitForReports(endpoint: string, count: number): Promise<Report[]>;
  /** Holds back the relay's answers to this path until the returned function is called. */
  holdAnswers(path: string): () => void;
  /** Ends the trouble, and answers the waiting requests. */
  recover(): void;
  clearRecorded(): void;
};

export const shop = "shop.example.test";

const servers = new Set<() => Promise<void>>();

afterFile(async () => {
  for (const close of takeAll(servers)) await close();
});

/** With `relayHost` the relay has its own host, and the site's host has no /__cc/. */
export async function startSite(relay: { url: string }, { relayHost }: { relayHost?: string } = {}): Promise<TestSite> {
  const agent = new Agent({ keepAlive: true });
  /** Requests that a slow relay has not answered yet, with the function that answers each. */
  const waiting = new Map<NodeJS.Timeout, () => void>();
  const held = new Map<string, Promise<void>>();
  const server = createServer(certificate, (request, response) => {
    const recorded: Recorded = {
      host: (request.headers.host ?? "").replace(/:\d+$/, ""),
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: "",
      at: Date.now(),
      answer: null,
      isForRelay: false,
    };
    recorded.isForRelay = relayHost ? recorded.host === relayHost : recorded.path.startsWith("/__cc/");
    site.recorded.push(recorded);
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      recorded.body = body.toString("utf8");
      if (recorded.isForRelay) toRelay(request, response, body, recorded);
      else if (site.upstream) forward(request, response, body, recorded, site.upstream);
      else servePage(recorded, response);
    });
  });
  // Connections to the relay's own host reach the same server through this one, which may delay them.
  const farAway = createTcpServer({ pauseOnConnect: true }, (socket) => {
    setTimeout(() => server.emit("connection", socket), site.connectMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await new Promise<void>((resolve) => farAway.listen(0, "127.0.0.1", resolve));
  servers.add(async () => {
    for (const timer of waiting.keys()) clearTimeout(timer);
    server.closeAllConnections();
    agent.destroy();
    farAway.close();
    await new Promise((resolve) => server.close(resolve));
  });

  function toRelay(request: IncomingMessage, response: ServerResponse, body: Buffer, recorded: Recorded): void {
    const pass = () => forward(request, response, body, recorded);
    switch (site.trouble) {
      case "none":
        return pass();
      case "down":
        return void response.destroy();
      case "error":
        recorded.answer = { status: 500, headers: {} };
        return void response.writeHead(500, { "content-type": "text/plain" }).end("Out of order.\n");
      case "slow": {
        const timer = setTimeout(() => {
          waiting.delete(timer);
          pass();
        }, site.slowMs);
        waiting.set(timer, pass);
      }
    }
  }

  function forward(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    recorded: Recorded,
    target = relay.url,
  ): void {
    const headers: OutgoingHttpHeaders = {
      ...request.headers,
      "x-forwarded-proto": "https",
      "x-forwarded-for": site.visitorAddress,
    };
    delete headers.connection;
    const onward = httpRequest(new URL(recorded.path, target), { method: recorded.method, headers, agent }, (answer) => {
      const more = site.connectMs ? { connection: "close" } : {};
      const pass = () => {
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...more });
        answer.pipe(response);
      };
      answer.on("end", () => {
        recorded.answer = { status: answer.statusCode ?? 0, headers: answer.headers };
      });
      const release = held.get(recorded.path);
      if (!release) return pass();
      // The relay has answered, although the browser does not know it yet.
      recorded.answer = { status: answer.statusCode ?? 0, headers: answer.headers };
      void release.then(pass);
    });
    onward.on("error", () => void response.destroy());
    onward.end(body);
  }

  function servePage({ method, path }: Recorded, response: ServerResponse): void {
    const name = path.split("?", 1)[0] as string;
    const page = site.pages[name];
    if (name === "/favicon.ico") return void response.writeHead(204).end();
    if (page === undefined && method === "GET") return void response.writeHead(404).end("No such page.\n");
    const { html, headers = {} } = typeof page === "object" ? page : { html: page ?? thanks };
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(html);
  }

  const { port } = server.address() as AddressInfo;
  const relayPort = (farAway.address() as AddressInfo).port;
  const relayOrigin = relayHost ? `https://${relayHost}:${relayPort}` : "";
  const site: TestSite = {
    origin: `https://${shop}:${port}`,
    relayOrigin,
    tagLine: `<script async src="${relayOrigin}/__cc/tag.js"></script>`,
    port,
    pages: {},
    upstream: null,
    recorded: [],
    trouble: "none",
    slowMs: 20_000,
    connectMs: 0,
    visitorAddress: "203.0.113.7",
    reports: (endpoint) =>
      site.recorded
        .filter((one) => one.method === "POST" && one.path === `/__cc/${endpoint}` && one.answer !== null)
        .map((one) => ({ ...one, fields: JSON.parse(one.body) as Record<string, unknown> })),
    async waitForReports(endpoint, count) {
      await eventually(`${count} reports to ${endpoint}`, () => site.reports(endpoint).length >= count);
      return site.reports(endpoint);
    },
    holdAnswers(path) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(path, promise);
      return () => {
        held.delete(path);
        resolve();
      };
    },
    recover() {
      site.trouble = "none";
      for (const [timer, pass] of waiting) {
        clearTimeout(timer);
        pass();
      }
      waiting.clear();
    },
    clearRecorded: () => void site.recorded.splice(0),
  };
  return site;
}

/** The page for paths without a page, such as the target of a form. */
const thanks = "<!doctype html><title>Thank you</title><h1>Thank you</h1>";

/** Returns a page; `head` holds the tag, as in the installation guide. */
export function pageWith(head: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${head}</head><body>${body}</body></html>`;
}
