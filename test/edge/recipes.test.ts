// The workers of docs/examples/edge, as they stand, between a visitor and a real relay. Cloudflare's runs in Cloudflare's own
// runtime (npm ci --ignore-scripts --prefix test/edge); the others are standard handlers of requests, and run in Node with the
// few names that their platforms add.

import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request as httpsRequest, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { newInstallation, eventually, call, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { newAuthority } from "../support/servers/certificates.ts";
import { startDns } from "../support/servers/dnsServer.ts";

type Handler = (request: Request) => Promise<Response> | Response;
type Worker = { handle: Handler; stop(): Promise<void> };
type Settings = { RELAY: string; EDGE_SECRET: string };

const file = (name: string) => fileURLToPath(new URL(`../../docs/examples/edge/${name}.js`, import.meta.url));
const read = (name: string) => readFileSync(file(name), "utf8");
const visitor = "198.51.100.7";
const [oldSecret, newSecret] = ["o".repeat(40), "n".repeat(40)];
const host = "shop.test";

const miniflare = new URL("node_modules/miniflare/dist/src/index.js", import.meta.url);
const hasRuntime = existsSync(miniflare);

type Miniflare = {
  dispatchFetch(url: string, init: object): Promise<Response>;
  dispose(): Promise<void>;
};

async function cloudflare(bindings: Settings): Promise<Worker> {
  const { Miniflare: Runtime } = (await import(miniflare.href)) as { Miniflare: new (options: object) => Miniflare };
  const runtime = new Runtime({ modules: true, script: read("cloudflare"), bindings, compatibilityDate: "2026-07-01" });
  return {
    async handle(request) {
      const headers = [...request.headers, ["CF-Connecting-IP", visitor]];
      const body = request.body ? await request.text() : undefined;
      return runtime.dispatchFetch(request.url, { method: request.method, headers, body, redirect: "manual" });
    },
    stop: () => runtime.dispose(),
  };
}

async function vercel(settings: Settings): Promise<Worker> {
  Object.assign(process.env, settings);
  const { default: middleware } = (await import(file("vercel"))) as { default: Handler };
  return {
    handle(request) {
      const headers = new Headers(request.headers);
      // Vercel overwrites these.
      headers.set("x-real-ip", visitor);
      headers.set("x-forwarded-for", visitor);
      return middleware(new Request(request, { headers }));
    },
    async stop() {
      for (const name of Object.keys(settings)) delete process.env[name];
    },
  };
}

async function netlify(settings: Settings): Promise<Worker> {
  Object.assign(globalThis, { Netlify: { env: { get: (name: keyof Settings) => settings[name] } } });
  const { default: handler } = (await import(file("netlify"))) as {
    default: (request: Request, context: { ip: string }) => Response;
  };
  return { handle: (request) => handler(request, { ip: visitor }), stop: async () => {} };
}

async function fastly(settings: Settings): Promise<Worker> {
  type FetchEvent = { request: Request; client: { address: string }; respondWith(answer: Promise<Response>): void };
  let listener: (event: FetchEvent) => void = () => {};
  class ConfigStore {
    get = (name: keyof Settings) => settings[name];
  }
  class SecretStore {
    get = async (name: keyof Settings) => ({ plaintext: () => settings[name] });
  }
  const text = read("fastly").replaceAll(/^import .*$/gm, "");
  // oxlint-disable-next-line typescript/no-implied-eval -- the file imports modules that exist only at Fastly
  new Function("ConfigStore", "SecretStore", "addEventListener", text)(
    ConfigStore,
    SecretStore,
    (_kind: string, on: typeof listener) => (listener = on),
  );
  return {
    handle: (request) =>
      new Promise((resolve, reject) =>
        listener({ request, client: { address: visitor }, respondWith: (answer) => void answer.then(resolve, reject) }),
      ),
    stop: async () => {},
  };
}

const workers = { cloudflare, vercel, netlify, fastly };

test.each(Object.keys(workers))("the worker for %s has at most 40 lines", (name) => {
  expect(read(name).trimEnd().split("\n").length).toBeLessThanOrEqual(40);
});

test("Cloudflare's runtime is installed, or the log says how to install it", () => {
  if (!hasRuntime)
    console.log("The Cloudflare worker is not run: npm ci --ignore-scripts --prefix test/edge installs its runtime.");
});

describe.each(Object.entries(workers).filter(([name]) => name !== "cloudflare" || hasRuntime))(
  "a worker at %s",
  (_name, start) => {
    let front: Server;
    let dns: Awaited<ReturnType<typeof startDns>>;
    let home: Installation;
    let relay: Relay;
    let site: TestSite;
    let owner: Person;
    let worker: Worker;
    let ca: string;

    /** The CDN: it ends TLS and gives the request to the worker. */
    async function startFront(certificate: { cert: string; key: string }): Promise<Server> {
      const server = createServer(certificate, (incoming, outgoing) => {
        const parts: Buffer[] = [];
        incoming.on("data", (part: Buffer) => parts.push(part));
        incoming.on("end", () => {
          const headers = new Headers();
          for (const [key, value] of Object.entries(incoming.headers)) if (typeof value === "string") headers.set(key, value);
          const method = incoming.method ?? "GET";
          const body = method === "GET" ? null : Buffer.concat(parts);
          void Promise.resolve(worker.handle(new Request(`https://${host}${incoming.url}`, { method, headers, body })))
            .then(async (answer) => {
              const bytes = Buffer.from(await answer.arrayBuffer());
              const passed = Object.fromEntries(
                [...answer.headers].filter(
                  ([key]) => !/^(?:content-encoding|content-length|transfer-encoding|connection)$/.test(key),
                ),
              );
              outgoing.writeHead(answer.status, passed).end(bytes);
            })
            .catch((error: unknown) => outgoing.writeHead(502).end(String(error)));
        });
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }

    const portOf = () => (front.address() as AddressInfo).port;
    const ask = (
      method: string,
      path: string,
      headers: Record<string, string> = {},
      body = "",
    ): Promise<{ status: number; text: string; headers: Record<string, unknown> }> =>
      new Promise((resolve, reject) => {
        const sent = httpsRequest(
          { host: "127.0.0.1", port: portOf(), path, method, ca, servername: host, headers: { host, ...headers }, agent: false },
          (answer) => {
            let text = "";
            answer.setEncoding("utf8").on("data", (part: string) => (text += part));
            answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }));
          },
        );
        sent.on("error", reject);
        sent.end(body);
      });

    beforeAll(async () => {
      const authority = newAuthority();
      ca = authority.cert;
      const trusted = join(freshFolder(), "authority.pem");
      writeFileSync(trusted, ca);
      dns = await startDns({ [host]: { address: "127.0.0.1" } });
      front = await startFront(authority.issue([host]));
      home = await newInstallation("sqlite", {
        CLEANCAST_URL: `https://cc.relay.test:${portOf()}`,
        CLEANCAST_DNS: dns.address,
        NODE_EXTRA_CA_CERTS: trusted,
        CLEANCAST_EDGE_SECRETS: `${host}=${oldSecret},${host}=${newSecret}`,
      });
      site = await home.addSite(host);
      relay = await home.start();
      owner = await becomeOwner(relay);
      worker = await start({ RELAY: relay.url, EDGE_SECRET: newSecret });
    });
    afterAll(async () => {
      await worker?.stop();
      front.closeAllConnections();
      front.close();
      dns.close();
    });

    test("serves the tag, takes conversions, keeps the visitor's address and not what the visitor claims, and is verified", async () => {
      // Directly, the relay's own host name serves no tag.
      expect((await call(relay.url, { method: "GET", path: "/__cc/tag.js", headers: {} })).status).toBe(404);
      const tag = await ask("GET", "/__cc/tag.js");
      expect([tag.status, tag.headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);

      const json = { "content-type": "application/json" };
      const forged = { "x-forwarded-for": "192.0.2.66", "x-real-ip": "192.0.2.66", "x-cleancast-edge-address": "192.0.2.66" };
      const event = JSON.stringify({ email: "ada@example.com", event: "purchase", orderId: "EDGE-1" });
      const taken = await ask("POST", "/__cc/inbound", { ...json, ...forged, "x-cc-api-key": site.key }, event);
      expect([taken.status, JSON.parse(taken.text).ok]).toEqual([200, true]);
      const refused = await ask("POST", "/__cc/inbound", { ...json, ...forged, "x-cc-api-key": "cc_wrong" }, event);
      expect(refused.status).toBe(401);
      await eventually("the refused request is listed", async () => {
        const { json: listed } = await owner.ask(`GET /sites/${site.id}/rejected-requests`);
        const [first] = listed.items as { address: string; host: string }[];
        if (!first) return false;
        expect([first.address, first.host]).toEqual(["198.51.100.0", host]);
        return true;
      });

      expect(await home.print("host", "verify", host)).toContain("verified");
    });

    test("a wrong secret gets 403 and nothing is counted, and the old one is valid while it is replaced", async () => {
      await worker.stop();
      worker = await start({ RELAY: relay.url, EDGE_SECRET: "w".repeat(40) });
      for (const [method, path] of [
        ["GET", "/__cc/tag.js"],
        ["POST", "/__cc/inbound"],
        ["POST", "/__cc/visit"],
      ] as const) {
        const refused = await ask(
          method,
          path,
          { "x-cc-api-key": site.key, "content-type": "application/json" },
          method === "POST" ? "{}" : "",
        );
        expect([path, refused.status, refused.text]).toEqual([path, 403, "Wrong edge secret.\n"]);
      }
      await worker.stop();
      worker = await start({ RELAY: relay.url, EDGE_SECRET: oldSecret });
      expect((await ask("GET", "/__cc/tag.js")).status).toBe(200);
      expect(relay.output()).not.toContain(oldSecret);
      expect(relay.output()).not.toContain("w".repeat(40));
    });
  },
);
