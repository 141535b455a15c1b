// Access rules on every route of the management API.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { contract, type RouteName } from "../../src/contract/contract.ts";
import { errorAnswer, scopesOf, type Route } from "../../src/contract/route.ts";
import { scopes, type Scope } from "../../src/kernel/scopes.ts";
import { ask, becomeOwner, invite, type Person } from "../support/apiClient.ts";
import { freshEvent } from "../contract/answers.ts";
import { freshFolder } from "../support/databases.ts";
import { call, engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";

const routes = (Object.entries(contract) as [RouteName, Route][]).map(([name, route]) => {
  const [method, path] = name.split(" ") as [string, string];
  return { name, route, method, path, ofSite: path.includes("/:site") };
});
const isChange = ({ method }: { method: string }) => method !== "GET";

describe.each(engines)("the routes of the management API on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let mine: TestSite;
  let other: TestSite;
  let owner: Person;
  let viewer: Person;
  let admin: Person;
  let stranger: Person;
  let apiKey: string;
  /** Ids of the other site's objects. */
  let ids: Record<string, string>;

  beforeAll(async () => {
    home = await newInstallation(engine);
    // Listens on every address of the machine, so that a test can also call from another address than loopback.
    relay = await home.start({ HOST: "0.0.0.0" });
    mine = await home.addSite("mine.example");
    other = await home.addSite("other.example");
    const {
      connection: { id: connection },
    } = await home.run("connection", "add", other.host, "sandbox");
    const {
      webhook: { id: webhook },
    } = await home.run("webhook", "add", other.host, "https://example.com/hook");
    await eventually("the relay knows the key", async () => (await relay.post(other.key, {})).status === 400);
    await relay.post(other.key, freshEvent());
    const { items: events } = await home.run("event", "list", other.host);
    const { items: keys } = await home.run("key", "list", other.host);
    owner = await becomeOwner(relay);
    [viewer, admin, stranger] = [
      await invite(relay, owner, "viewer@example.com", "viewer", mine.id),
      await invite(relay, owner, "admin@example.com", "admin", mine.id),
      await invite(relay, owner, "stranger@example.com", "admin", other.id),
    ];
    const key = await owner.ask("POST /api-keys", { name: "reports", site: mine.id, scopes });
    apiKey = key.json.key;
    const list = join(freshFolder(), "orders.csv");
    writeFileSync(list, `order,date\n1,2026-11-01\n`);
    await home.run("reconcile", "upload", other.host, list);
    const { reconciliation } = await home.run("reconcile", "start", other.host);
    const [event, run] = [events[0].id, reconciliation.id];
    const { source } = await home.run("source", "add", other.host, "stripe", "signing_secret=s3cret-of-stripe");
    ids = { connection, webhook, event, run, source: source.id, key: keys[0].id, visit: "none", signIn: "none" };
  });

  const at = (path: string, site: string) =>
    path.replace(/:(\w+)/g, (_, name: string) => (name === "site" ? site : (ids[name] ?? "none")));
  /** Returns a body that is valid JSON, so that a refusal is about the caller and not about the body. */
  const bodyOf = ({ route }: { route: Route }) => (route.body ? {} : undefined);

  test("a caller without a session reaches only the public routes", async () => {
    for (const one of routes.filter(({ route }) => route.allow !== "public")) {
      const asked = await ask(relay, `${one.method} ${at(one.path, mine.id)}`, bodyOf(one), {});
      expect([one.name, asked.status, asked.json?.error.code]).toEqual([one.name, 401, "signed_out"]);
      expect(errorAnswer.safeParse(asked.json).success).toBe(true);
    }
  });

  test("an invalid API key gets 401", async () => {
    for (const key of ["ccm_wrong", `ccm_${"a".repeat(38)}`, mine.key]) {
      const asked = await ask(relay, "GET /sites", undefined, { Authorization: `Bearer ${key}` });
      expect(asked.status).toBe(401);
    }
  });

  test("a member of one site gets 404 for another site on every route", async () => {
    for (const one of routes.filter(({ ofSite }) => ofSite))
      for (const person of [viewer, admin]) {
        const asked = await person.ask(`${one.method} ${at(one.path, other.id)}`, bodyOf(one));
        expect([one.name, asked.status]).toEqual([one.name, 404]);
        expect(asked.answer.text).not.toContain("other.example");
      }
  });

  test("an API key of one site reaches no other site and no route that only people may use", async () => {
    const bearer = { Authorization: `Bearer ${apiKey}` };
    for (const one of routes.filter(({ route }) => route.allow !== "public")) {
      const asked = await ask(relay, `${one.method} ${at(one.path, other.id)}`, bodyOf(one), bearer);
      const expected = one.route.apiKeys === false ? 403 : one.ofSite ? 404 : one.route.allow === "signed in" ? 200 : 403;
      expect([one.name, asked.status]).toEqual([one.name, expected]);
      expect(asked.answer.text).not.toContain("other.example");
    }
  });

  test("an API key gets 403 on every route that needs another scope", async () => {
    for (const scope of scopes) {
      const created = await owner.ask("POST /api-keys", { name: scope, site: mine.id, scopes: [scope] });
      const bearer = { Authorization: `Bearer ${created.json.key}` };
      const others = routes.filter(({ route, ofSite }) => ofSite && route.apiKeys !== false && !scopesOf(route).includes(scope));
      expect(others.length).toBeGreaterThan(10);
      for (const one of others) {
        const asked = await ask(relay, `${one.method} ${at(one.path, mine.id)}`, bodyOf(one), bearer);
        expect([scope, one.name, asked.status, asked.json?.error.message]).toEqual([
          scope,
          one.name,
          403,
          `This API key needs the scope ${scopesOf(one.route).join(" or ")}.`,
        ]);
      }
    }
  });

  test("a key to write makes no inbound keys and sees no person; a key for each of them does only that", async () => {
    const keyWith = async (...given: Scope[]) => {
      const created = await owner.ask("POST /api-keys", { name: "one", site: mine.id, scopes: given });
      const bearer = { Authorization: `Bearer ${created.json.key}` };
      return (route: string, body?: unknown) => ask(relay, route, body, bearer);
    };
    const calls: Record<string, [route: string, body?: unknown]> = {
      read: [`GET /sites/${mine.id}/settings`],
      write: [`PATCH /sites/${mine.id}/settings`, { settings: { dedup_order: "30d" } }],
      keys: [`POST /sites/${mine.id}/keys`, { name: "made by a program" }],
      people: [`POST /sites/${mine.id}/people/export`, { email: "ada@example.com" }],
    };
    for (const scope of scopes) {
      const send = await keyWith(scope);
      for (const [name, [route, body]] of Object.entries(calls))
        expect([scope, name, (await send(route, body)).status]).toEqual([scope, name, name === scope ? 200 : 403]);
      const listed = (await send(`GET /sites/${mine.id}/keys`)).status;
      expect([scope, listed]).toEqual([scope, scope === "read" || scope === "keys" ? 200 : 403]);
    }
    const all = await keyWith(...scopes);
    for (const [route, body] of Object.values(calls)) expect((await all(route, body)).status).toBe(200);
  });

  test("no API key reaches what only owners can do", () => {
    const reached = routes.filter(({ route }) => route.allow === "owner" && route.apiKeys !== false);
    expect(reached.map(({ name }) => name)).toEqual([]);
  });

  test("a viewer cannot change anything", async () => {
    for (const one of routes.filter(({ route }) => route.allow === "admin" || route.allow === "owner")) {
      const asked = await viewer.ask(`${one.method} ${at(one.path, mine.id)}`, bodyOf(one));
      expect([one.name, asked.status, asked.json?.error.code]).toEqual([one.name, 403, "forbidden"]);
    }
    // Apart from reading, a viewer can only check a described visit.
    const left = routes.filter((one) => one.ofSite && isChange(one) && one.route.allow === "viewer");
    expect(left.map(({ name }) => name)).toEqual(["POST /sites/:site/traffic/check"]);
  });

  test("an admin cannot reach another site's objects through the path of their own site", async () => {
    const bodies: Partial<Record<RouteName, unknown>> = {
      "POST /sites/:site/keys/:key/rotate": {},
      "PATCH /sites/:site/connections/:connection": { settings: {} },
      "POST /sites/:site/connections/:connection/test": {},
      "POST /sites/:site/connections/:connection/backfill": { days: 1 },
      "POST /sites/:site/connections/:connection/backfill/count": { days: 1 },
      "POST /sites/:site/webhooks/:webhook/replay": { from: 0, to: 1 },
      "POST /sites/:site/reconciliations/:run/corrections": { class: "status_changed" },
    };
    for (const one of routes.filter(
      ({ ofSite, path }) => ofSite && /:(?:key|connection|webhook|event|run|visit|signIn)\b/.test(path),
    )) {
      const asked = await admin.ask(`${one.method} ${at(one.path, mine.id)}`, bodies[one.name] ?? bodyOf(one));
      expect([one.name, asked.status]).toEqual([one.name, 404]);
    }
    // Nothing was deleted.
    expect((await stranger.ask(`GET /sites/${other.id}/connections`)).json.items).toHaveLength(1);
    expect((await stranger.ask(`GET /sites/${other.id}/webhooks`)).json.items).toHaveLength(1);
  });

  test("an admin cannot reach another site's objects through an id in a body", async () => {
    const expect404 = async (route: string, body: unknown) => {
      const asked = await admin.ask(route, body);
      expect([route, asked.status]).toEqual([route, 404]);
    };
    const { connection, event } = ids;
    await expect404(`POST /sites/${mine.id}/connections/preview`, {
      platform: "sandbox",
      settings: {},
      connection,
    });
    await expect404(`POST /sites/${mine.id}/connections/preview`, {
      platform: "sandbox",
      settings: {},
      event,
    });
    await expect404(`POST /sites/${mine.id}/settings/copy`, { from: other.id, names: ["keep"] });
    const replay = await admin.ask(`POST /sites/${mine.id}/deliveries/replay`, {
      eventId: event,
      dryRun: false,
    });
    expect([404, 200]).toContain(replay.status);
    if (replay.status === 200) expect(replay.json).toMatchObject({ found: 0, changed: 0 });
  });

  test("a page of another origin cannot act for a signed-in user", async () => {
    const foreign = [
      { Origin: "https://evil.example" },
      { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
      { "Sec-Fetch-Site": "same-site", Origin: "https://other.example" },
      { Origin: "null" },
    ];
    for (const one of routes.filter(isChange))
      for (const headers of foreign) {
        const asked = await owner.ask(`${one.method} ${at(one.path, mine.id)}`, bodyOf(one), headers);
        expect([one.name, asked.status]).toEqual([one.name, 403]);
      }
    // A form, which cannot send JSON, is refused too.
    const form = await owner.ask(`POST /sites/${mine.id}/keys`, undefined, {
      "Content-Type": "application/x-www-form-urlencoded",
    });
    expect(form.status).toBe(400);
  });

  test("every answer to a GET matches the contract", async () => {
    const times = `from=${Date.now() - 86_400_000}&to=${Date.now()}`;
    const queries: Partial<Record<RouteName, string>> = {
      "GET /sites/:site/statistics": `?${times}&step=hour`,
      "GET /sites/:site/why": "?id=A-1",
    };
    for (const one of routes.filter(({ method, route }) => method === "GET" && typeof route.answer !== "string")) {
      const asked = await owner.ask(`GET ${at(one.path, other.id)}${queries[one.name] ?? ""}`);
      if (asked.status === 404 && /:(?:visit|signIn)/.test(one.path)) continue;
      expect([one.name, asked.status, asked.json?.error]).toEqual([one.name, 200, undefined]);
      const schema = one.route.answer as Exclude<Route["answer"], string>;
      const parsed = schema.safeParse(asked.json);
      expect([one.name, parsed.error?.issues ?? []]).toEqual([one.name, []]);
    }
  });

  test("invalid cursors, zero bytes, impossible times and names of several lines are answered 400", async () => {
    for (const one of routes.filter(({ route }) => route.query && "cursor" in route.query.shape)) {
      const asked = await owner.ask(`GET ${at(one.path, other.id)}?cursor=garbage`);
      expect([one.name, asked.status, asked.json.error.field]).toEqual([one.name, 400, "cursor"]);
    }
    const refusedBody = async (route: string, body: unknown, field?: string) => {
      const asked = await owner.ask(route, body);
      expect([route, asked.status, asked.json.error.field]).toEqual([route, 400, field]);
    };
    await refusedBody(`POST /sites/${mine.id}/keys`, { name: "a\0b" });
    await refusedBody(`POST /sites/${mine.id}/keys`, { name: "a", expiresAt: Number.MAX_SAFE_INTEGER }, "expiresAt");
    await refusedBody(`PATCH /sites/${mine.id}`, { name: "x\r\nBcc: y" }, "name");
    expect((await owner.ask(`GET /sites/${mine.id}%00/keys`)).status).toBe(400);
    for (const path of ["/oauth/start/a.b%00.c", "/oauth/callback?state=a%00.b.c&code=1"]) {
      const headers = { Authorization: "Bearer ccm_x", Cookie: "cc_sign_in_b=x" };
      expect((await call(relay.url, { method: "GET", path, headers })).status).toBe(400);
    }
  });

  test("the dashboard is served on its own host only, and no site can take that host", async () => {
    const page = async (headers: Record<string, string>) =>
      (await call(relay.url, { method: "GET", path: "/dashboard/", headers })).status;
    expect(await page({})).toBe(200);
    expect(await page({ Host: "relay.example.net" })).toBe(200);
    for (const host of ["mine.example", "mine.example..", "mine.example:80:80", "x@mine.example", "mine.example%2e"])
      expect([host, await page({ Host: host })]).toEqual([host, 404]);
    const taking = await owner.ask(
      `POST /sites/${mine.id}/hosts`,
      { host: "relay.example.net" },
      {
        Host: "relay.example.net",
        "X-Forwarded-Proto": "https",
      },
    );
    expect([taking.status, taking.json.error.field]).toEqual([400, "host"]);
    // A request that reached the proxy over plain HTTP is refused, whatever its host.
    const open = await owner.ask("GET /sites", undefined, { Host: "localhost", "X-Forwarded-Proto": "http" });
    expect(open.json.error.code).toBe("insecure");
  });

  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address && !address.internal && address.family === "IPv4")?.address;

  // A machine without any network has no other address than loopback.
  test.runIf(outside)("plain HTTP from another machine is refused, whatever its headers say", async () => {
    const url = `http://${outside}:${new URL(relay.url).port}`;
    const claims: Record<string, string>[] = [
      {},
      { "X-Forwarded-Proto": "https" },
      { "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "https" },
      { "X-Forwarded-For": "127.0.0.1, 127.0.0.1", "X-Forwarded-Host": "localhost", "X-Forwarded-Ssl": "on" },
      { "X-Real-IP": "::1" },
      { Forwarded: "for=127.0.0.1;host=localhost;proto=https" },
      { Origin: "https://localhost", Referer: "https://localhost/dashboard/" },
    ];
    for (const Host of ["localhost", "127.0.0.1", "[::1]:8080", "relay.example.net"])
      for (const claim of claims)
        for (const Authorization of ["", `Bearer ${apiKey}`]) {
          const headers = { Host, ...claim, ...(Authorization && { Authorization }) };
          const answer = await call(url, { method: "GET", path: "/api/v1/session", headers });
          const code = JSON.parse(answer.text).error?.code;
          expect([headers, answer.status, code]).toEqual([headers, 426, "insecure"]);
        }
  });

  test("a closed live feed does not count against the limit, however soon it was closed", async () => {
    const createFeed = () => {
      const socket = connect(Number(new URL(relay.url).port), "127.0.0.1");
      socket.write(`GET /api/v1/sites/${mine.id}/feed HTTP/1.1\r\nHost: localhost\r\nCookie: ${owner.cookie}\r\n\r\n`);
      return socket;
    };
    for (let i = 0; i < 30; i += 1) {
      const socket = createFeed();
      await new Promise((resolve) => setTimeout(resolve, i % 6));
      socket.destroy();
    }
    await eventually("the feed is open", async () => {
      const socket = createFeed();
      const [first] = (await once(socket, "data")) as [Buffer];
      socket.destroy();
      return first.toString().startsWith("HTTP/1.1 200");
    });
  });

  test("no answer to a GET contains a secret", async () => {
    const all = await Promise.all(
      routes
        .filter(({ method, route }) => method === "GET" && typeof route.answer !== "string")
        .map(async (one) => (await owner.ask(`GET ${at(one.path, other.id)}`)).answer.text),
    );
    for (const secret of [other.key, mine.key, apiKey, "s3cret-of-stripe", "$argon2", "/hook"])
      expect(all.join("\n")).not.toContain(secret);
  });
});
