// Opens the management API on a real port with a real store, and with a clock and a mailbox that the test controls.

import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { createAccess, type Access } from "../../src/access/access.ts";
import type { AccessOptions } from "../../src/access/context.ts";
import type { Handlers } from "../../src/api/call.ts";
import { apiKeyHandlers, memberHandlers } from "../../src/api/handlers/members.ts";
import type { ApiContext } from "../../src/api/context.ts";
import { createAdmission } from "../../src/api/admission.ts";
import { createRouter } from "../../src/api/router.ts";
import { sessionHandlers } from "../../src/api/handlers/session.ts";
import type { RouteName } from "../../src/contract/contract.ts";
import { parseTrustedProxies } from "../../src/http/transport.ts";
import { newHashCosts } from "../../src/access/password.ts";
import { createLoad } from "../../src/inbound/load.ts";
import { createDirectory, type Directory, type Site } from "../../src/sites/directory.ts";
import { addSite } from "../../src/sites/manage.ts";
import type { Store } from "../../src/store/store.ts";
import { newLocation, createAt } from "./nodes.ts";
import type { Engine } from "./relay.ts";
import { afterFile } from "./afterFile.ts";

type Answered = {
  status: number;
  body: unknown;
  retryAfter: string | null;
  setCookie: string[];
  text: string;
};

export type TestApi = {
  store: Store;
  directory: Directory;
  access: Access;
  /** The access of another node on the same store. */
  otherNode: Access;
  sites: readonly [Site, Site];
  /** All sent emails, and all logged errors. */
  mails: { to: string; subject: string; text: string }[];
  defects: unknown[];
  clock: { aheadMs: number };
  /** The access secret. */
  secret: string;
  browser(address?: string): Browser;
  close(): Promise<void>;
};

export type Browser = {
  cookies: Map<string, string>;
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
};

// Most of the time of a sign-in is its hash. The costs are part of each hash, so both kinds verify.
const { memory } = newHashCosts;
afterFile(() => void (newHashCosts.memory = memory));

export async function createTestApi(
  engine: Engine,
  { mail = false, publicUrl = "https://cc.example.com" }: { mail?: boolean | "broken"; publicUrl?: string } = {},
): Promise<TestApi> {
  newHashCosts.memory = 64;
  const store = await createAt(await newLocation(engine));
  const directory = createDirectory(store);
  const by = { actor: "test", now: Date.now() };
  const sites = [
    await addSite({ store, directory }, "one.example", by),
    await addSite({ store, directory }, "two.example", by),
  ] as const;
  const mails: TestApi["mails"] = [];
  const defects: unknown[] = [];
  const clock = { aheadMs: 0 };
  const now = () => Date.now() + clock.aheadMs;
  const trusted = parseTrustedProxies("loopback");
  if (typeof trusted !== "function") throw new Error(trusted.fault);
  const mailer = async ([to]: readonly string[], subject: string, text: string) => {
    if (mail === "broken") return { ok: false, error: "no mail today" } as const;
    mails.push({ to: String(to), subject, text });
    return { ok: true } as const;
  };
  const options: AccessOptions = {
    store,
    directory,
    mailer: mail ? mailer : null,
    publicUrl,
    secret: "5a".repeat(32),
    trusted,
    now,
    onDefect: (error) => defects.push(error),
  };
  const access = createAccess(options);
  const otherNode = createAccess(options);
  const context = { version: "test", store, directory, access, publicUrl, now } as ApiContext;
  const router = createRouter({
    handlers: {
      ...sessionHandlers(context),
      ...memberHandlers(context),
      ...apiKeyHandlers(context),
    } as Handlers<RouteName>,
    directory,
    transport: { trusted, requireTls: false },
    admission: createAdmission({ members: createLoad(64), strangers: createLoad(64) }),
    actorOf: (request) => access.actorOf(request),
    now,
    onDefect: (error) => defects.push(error),
  });
  const app = Fastify();
  app.addContentTypeParser("application/json", (_request, _payload, done) => done(null));
  app.all("/api/v1/*", (request, reply) => router.answer(request, reply));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;

  return {
    store,
    directory,
    access,
    otherNode,
    sites,
    mails,
    defects,
    clock,
    secret: options.secret,
    browser: (address = "203.0.113.1") => browserAt(`http://127.0.0.1:${port}/api/v1`, address),
    async close() {
      await app.close();
      await access.close();
      await otherNode.close();
      await store.close();
    },
  };
}

/** Keeps cookies as a browser does, and sends its address. */
function browserAt(base: string, address: string): Browser {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async call(route, body, headers = {}) {
      const [method = "", path = ""] = route.split(" ");
      const response = await fetch(`${base}${path}`, {
        method,
        headers: {
          "x-forwarded-for": address,
          "x-forwarded-proto": "https",
          ...(cookies.size ? { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") } : {}),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const setCookie = response.headers.getSetCookie();
      for (const line of setCookie) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === "" || /max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      const text = await response.text();
      return {
        status: response.status,
        body: JSON.parse(text),
        retryAfter: response.headers.get("retry-after"),
        setCookie,
        text,
      };
    },
  };
}
