// The command line: the shapes that scripts rely on, and changes that a running relay follows.

import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { platforms } from "../../src/platforms/index.ts";
import { freshFolder } from "../support/databases.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { accepted, filtered, freshEvent, jsonError, summarize } from "../contract/answers.ts";

const id = expect.stringMatching(/^[0-9a-z]{10}$/);
const liveKey = expect.stringMatching(/^cc_[0-9A-Za-z]{38}$/);

describe.each(endToEndEngines)("the command line on %s", (engine) => {
  let home: Installation;

  beforeAll(async () => {
    home = await newInstallation(engine);
  });

  test("every list of a fresh installation prints the next step", async () => {
    await home.run("migrate");
    expect(await home.print("site", "list")).toBe("No sites yet. Add one: cleancast site add shop.example.com\n");
    expect(await home.print("key", "list")).toBe("No keys yet. Create one: cleancast key add SITE NAME\n");
    expect(await home.print("connection", "list")).toMatch(/^No connections yet\. Create one: cleancast connection add /);
    expect(await home.run("site", "list")).toEqual({ items: [] });
    expect(await home.run("key", "list")).toEqual({ items: [] });
    expect(await home.run("connection", "list")).toEqual({ items: [] });
    const { ok, findings } = await home.run("doctor", "--offline");
    expect(ok).toBe(false);
    expect(findings).toContainEqual({
      level: "error",
      what: "there is no site",
      remedy: "cleancast site add shop.example.com",
    });
  });

  test("site add, key add and connect print the documented JSON", async () => {
    // In processes of their own, as people run them.
    const added = await home.spawn("site", "add", "Shop.Example.");
    expect(added).toMatchObject({ id, hosts: ["shop.example"], inbound: false });

    // The first key enables the inbound webhook and reports it; the second does not.
    const first = await home.spawn("key", "add", added.id, "CRM");
    expect(first).toEqual({ id, key: liveKey, openedInbound: true });
    expect(await home.run("key", "add", "shop.example", "forms")).toEqual({ id, key: liveKey, openedInbound: false });

    const connected = await home.spawn("connection", "add", "shop.example", "webhook", "url=https://hooks.example.com/a");
    const checked = expect.any(Number);
    const unverified = {
      state: "unverified",
      reason: expect.stringMatching(/^your endpoint would take any call for a conversion/),
      verifiedAt: null,
      checkedAt: checked,
      unchecked: null,
      isCheckable: false,
    };
    const newSecret = expect.stringMatching(/^whsec_/);
    const saved = {
      isNew: true,
      released: 0,
      newSecret,
      connection: { platform: "webhook", verification: unverified, sendsNothing: null },
    };
    expect(connected).toMatchObject(saved);
    const again = ["connection", "add", "shop.example", "webhook", "url=https://hooks.example.com/a", "events=Lead"];
    const known = { ...saved, isNew: false, newSecret: null, connection: { ...saved.connection, id: connected.connection.id } };
    expect(await home.run(...again)).toMatchObject(known);
    const other = await home.run("connection", "add", "shop.example", "webhook", "url=https://hooks.example.com/b");
    expect(other).toMatchObject(saved);
    expect(other.connection.id).not.toBe(connected.connection.id);
    const unasked = await home.run("connection", "add", "shop.example", "sandbox", "--no-verify");
    expect(unasked.connection).toMatchObject({ platform: "sandbox", sendsNothing: null });

    const { items: connections } = await home.run("connection", "list", "shop.example");
    expect(connections).toEqual([
      {
        id: connected.connection.id,
        platform: "webhook",
        state: "active",
        stateReason: null,
        events: ["lead"],
        settings: {
          url: "https://hooks.example.com/…",
          method: "POST",
          success: "2xx",
          signing_secret: "(configured)",
        },
        createdAt: expect.any(Number),
        waiting: 0,
        attempts24h: { sent: 0, others: 0 },
        lastSentAt: null,
        verification: unverified,
        sendsNothing: null,
      },
      expect.objectContaining({ id: other.connection.id, platform: "webhook", events: null }),
      expect.objectContaining({ platform: "sandbox", settings: {}, events: null }),
    ]);
    expect((await home.run("site", "list")).items).toMatchObject([
      {
        id: added.id,
        hosts: ["shop.example"],
        inbound: true,
        isReadable: true,
        leaving: null,
        health: { keys: 2, connections: { active: 3, paused: 0, needsReconnection: 0 } },
      },
    ]);
    expect(await home.print("site", "list")).toContain(`${added.id}  shop.example  on       2     3\n`);
    expect(await home.run("connection", "remove", other.connection.id, "--yes")).toEqual({});
    expect(await home.run("connection", "pause", connected.connection.id)).toEqual({});
    expect(await home.run("key", "remove", first.id)).toEqual({});
  });

  test("site set prints all settings, and people read back what they wrote", async () => {
    await home.run("site", "add", "set.example");
    const written = {
      inbound: "on",
      dedup_order: "30d",
      dedup_no_order: "90s",
      rate_limit: "600",
      consent_mode: "opt-in",
      conversions_without_email: "off",
      link_domains: "",
      corrections: "off",
      keep: "90d",
      keep_events: "90d",
      keep_log: "90d",
      country: "DE",
      time_zone: "Europe/Berlin",
      block_domains: "spam.test,junk.test",
      block_disposable: "on",
      block_persons: sha256Of("mallory@example.com"),
      allow_persons: sha256Of("ada@example.com"),
      bot_threshold: "75",
      allow_user_agents: "our-monitor*/2",
      deny_user_agents: "scraper",
      allow_networks: "203.0.113.7,2001:db8::/32",
      deny_networks: "198.51.100.0/24",
      allow_countries: "DE,GB",
      deny_countries: "KP",
      evidence: "typing:too even=on",
      alert_emails: "",
      alert_webhook: "none",
      alert_success_rate: "80",
      weekly_report: "off",
      report_language: "en",
    };
    const words = Object.entries(written).map(([name, value]) => `${name}=${value}`);
    const { items, notes } = await home.run("site", "set", "set.example", ...words);
    const read = items.map(({ name, value }: { name: string; value: string }) => [name, value]);
    expect(Object.fromEntries(read)).toEqual(written);
    expect(notes).toContainEqual(expect.stringMatching(/^deny_countries has no effect yet/));
    expect(await home.print("site", "set", "set.example", "rate_limit=off")).toMatch(/: rate_limit=off\n$/);
  });

  test("a key's expiry is a date or a time from now", async () => {
    await home.addSite("expiry.example");
    const add = (when: string) => home.run("key", "add", "expiry.example", when, "--expires", when);
    const before = Date.now();
    for (const when of ["30d", "12h", "90m", "2199-01-31"]) await add(when);
    const { items: keys } = await home.run("key", "list", "expiry.example");
    const expiry = (name: string) => keys.find((one: { name: string }) => one.name === name).expiresAt;
    expect(expiry("test sender")).toBeNull();
    expect(expiry("2199-01-31")).toBe(Date.UTC(2199, 0, 31));
    for (const [name, hours] of [
      ["30d", 720],
      ["12h", 12],
      ["90m", 1.5],
    ] as const) {
      expect(expiry(name)).toBeGreaterThanOrEqual(before + hours * 3_600_000);
      expect(expiry(name)).toBeLessThan(Date.now() + hours * 3_600_000 + 1);
    }
    const old = ["key", "add", "expiry.example", "old", "--expires", "2020-01-01"];
    expect(await home.fails(...old)).toEqual({
      code: "invalid",
      error: "The expiry is in the past.",
      field: "expires",
    });
  });

  describe("refusals", () => {
    beforeAll(() => home.addSite("taken.example"));

    test.each([
      [["site", "add", "not a host"], "not a host is not a host name. Write it like shop.example.com.", "host"],
      [["site", "add", "192.0.2.1"], "192.0.2.1 is not a host name. Write it like shop.example.com.", "host"],
      [
        ["site", "set", "nobody.example", "inbound=on"],
        "There is no site nobody.example. 'cleancast site list' shows them.",
        "site",
      ],
      [["site", "set", "taken.example", "inbound=maybe"], "inbound must be on or off.", "inbound"],
      [["site", "set", "taken.example", "inbound"], '"inbound" is not of the form name=value.', "arguments"],
      [
        ["site", "set", "taken.example", "country=Germany"],
        "country must be none or a two-letter country code like DE.",
        "country",
      ],
      [
        ["site", "set", "taken.example", "rate_limit=0"],
        "rate_limit must be off or a whole number of requests per minute.",
        "rate_limit",
      ],
      [["key", "add", "taken.example", " "], "A key needs a name of at most 100 characters.", "name"],
      [["key", "remove", "nothing"], "There is no key nothing. 'cleancast key list' shows their ids.", "key"],
      [
        ["connection", "add", "taken.example", "myspace"],
        `There is no platform myspace. Known: ${platforms.map((one) => one.id).join(", ")}.`,
        "platform",
      ],
      [
        ["connection", "remove", "nothing"],
        "There is no connection nothing. 'cleancast connection list' shows their ids.",
        "connection",
      ],
      [["identity", "put", "taken.example", "gclid=x"], "Name the person with --email or --hashed-email.", "email"],
      [["identity", "put", "taken.example", "--email", "ada", "gclid=x"], "--email is not an email address.", "email"],
      [
        ["identity", "get", "taken.example", "--hashed-email", "abc"],
        "--hashed-email must be 64 hex characters.",
        "hashed-email",
      ],
      [
        ["consent", "set", "taken.example", "maybe", "--email", "ada@example.com"],
        '"maybe" is not a decision; write granted or denied.',
        "decision",
      ],
      [["event", "show", "nothing"], "There is no event nothing.", "event"],
      [["event", "list", "taken.example", "--limit", "0"], "--limit must be 1 to 200.", "limit"],
    ])("the command %j is refused in one sentence", async (args, error, field) => {
      expect(await home.fails(...args)).toMatchObject({ error, field });
    });
  });

  test("a host belongs to one site", async () => {
    const site = await home.run("site", "add", "once.example");
    const { error } = await home.spawnFails("site", "add", "ONCE.example");
    expect(error).toBe(`once.example belongs to site ${site.id} already.`);
  });

  test("a value that begins with @ is read from a file, so that no secret is typed", async () => {
    await home.addSite("file.example");
    const path = fileURLToPath(new URL("../fixtures/tls-cert.pem", import.meta.url));
    const { error, field } = await home.fails(
      "connection",
      "add",
      "file.example",
      "webhook",
      "url=https://hooks.example.com",
      `headers=@${path}`,
    );
    expect([field, error]).toEqual(["headers", "headers must be a JSON object of header names and text values."]);
  });

  test("--json works before and after the command", async () => {
    expect(JSON.parse(await home.print("site", "list", "--json"))).toEqual(await home.run("site", "list"));
  });

  test("migrate reports that nothing is left to do", async () => {
    const { from, to, applied } = await home.run("migrate");
    expect([from, applied]).toEqual([to, []]);
  });

  // npm takes as long as dozens of commands, and which database the command opens is nothing to it.
  test.runIf(engine === "sqlite")(
    "npx cleancast is the same command, and builds nothing again under running relays",
    async () => {
      const root = fileURLToPath(new URL("../..", import.meta.url));
      const builtAt = () => statSync(join(root, "dist/relay/cli.js")).mtimeMs;
      const before = builtAt();
      const run = promisify(execFile);
      const { stdout } = await run("npx", ["--no-install", "cleancast", "--json", "site", "list"], {
        cwd: root,
        // With an empty cache, npm installs the checkout as a package, and so runs its script `prepare`.
        env: { ...home.env, npm_config_cache: freshFolder() },
      });
      expect(JSON.parse(stdout)).toEqual(await home.run("site", "list"));
      expect(builtAt()).toBe(before);
    },
  );
});

describe.each(endToEndEngines)("the command line with a running relay on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let closing: TestSite;
  let opening: TestSite;
  let blocking: TestSite;
  let leaving: TestSite;
  let leavingId: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    site = await home.addSite("shop.example");
    closing = await home.addSite("closing.example");
    opening = await home.addSite("opening.example", "inbound=off");
    blocking = await home.addSite("blocking.example");
    leaving = await home.addSite("leaving.example");
    leavingId = (await home.run("connection", "add", leaving.host, "sandbox")).connection.id;
    relay = await home.start();
  });

  const send = async ({ key, host }: TestSite, changes: Record<string, unknown> = {}) =>
    summarize(await relay.post(key, freshEvent(changes), { Host: host }));
  const becomes = (what: string, of: TestSite, expected: unknown, changes: Record<string, unknown> = {}) =>
    eventually(what, async () => JSON.stringify(await send(of, changes)) === JSON.stringify(expected));

  test("a running relay applies every change of the command line without a restart", async () => {
    const notEnabled = jsonError(403, "Inbound webhook not enabled");
    expect(await send(closing)).toEqual(accepted("purchase"));
    expect(await send(opening)).toEqual(notEnabled);
    expect(await send(leaving)).toEqual(accepted("purchase", { sandbox: { ok: true } }));

    // All changes are made first, so that the relay reads them together.
    const added = await home.addSite("added.example");
    await home.run("site", "set", closing.host, "inbound=off");
    await home.run("site", "set", opening.host, "inbound=on");
    await home.run("site", "set", blocking.host, "block_domains=spam.test");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}`);
    await home.run("connection", "remove", leavingId, "--yes");
    await Promise.all([
      // Sent to a host of no site, because an unknown key counts as a wrong key of the host.
      becomes("a new site with its key is known", { ...added, host: "127.0.0.1" }, accepted("purchase")),
      becomes("inbound is off", closing, notEnabled),
      becomes("inbound is on", opening, accepted("purchase")),
      becomes("a rule filters", blocking, filtered, { email: "eve@spam.test" }),
      becomes("a connection receives", site, accepted("purchase", { webhook: { ok: true } })),
      becomes("a connection is gone", leaving, accepted("purchase")),
    ]);
    // The new host accepts only keys of its own site.
    expect(await send({ ...site, host: "added.example" })).toEqual(jsonError(401, "Invalid API key"));
  });

  test("the list of events is newest first, and each event has its trace", async () => {
    const event = freshEvent({
      email: "trace@example.com",
      value: 49.9,
      currency: "EUR",
      firstName: "Ada",
      phone: "+14255551234",
    });
    const before = Date.now();
    await send(leaving, { email: "first@example.com" });
    await send(leaving, event);
    const { items: events } = await home.run("event", "list", leaving.host, "--limit", "2");
    expect(events).toHaveLength(2);
    expect(events[0]).toEqual({
      id: expect.any(String),
      platformEventId: expect.any(String),
      mode: "live",
      status: "accepted",
      event: "purchase",
      value: 49.9,
      currency: "EUR",
      orderId: event.orderId,
      receivedAt: expect.any(Number),
      releasedAt: null,
      filterReasons: [],
      identity: "none",
      withheld: null,
      clickIds: [],
      deliveries: [],
    });
    expect(events[0].receivedAt).toBeGreaterThanOrEqual(before);
    const list = async (...options: string[]) => (await home.run("event", "list", leaving.host, ...options)).items;
    expect(await list("--email", " Trace@Example.com")).toEqual([events[0]]);
    expect(await list("--order", String(event.orderId))).toEqual([events[0]]);
    expect(await list("--cursor", events[0].id, "--limit", "1")).toEqual([events[1]]);

    const trace = await home.run("event", "show", events[0].id);
    expect(trace).toEqual({
      ...events[0],
      time: events[0].receivedAt,
      key: { id, name: "test sender" },
      emailSha256: sha256Of("trace@example.com"),
      contact: expect.arrayContaining(["emailSha256", "phoneSha256", "firstNameSha256"]),
      items: [],
      leadId: null,
      attribution: {
        consent: "unknown",
        withheld: null,
        identity: "none",
        clickIds: {},
        browserIds: {},
        utm: {},
        page: null,
        referrer: null,
        path: [],
      },
      filterSignals: [],
      warnings: [],
      deliveries: [],
    });
    expect(await home.run("event", "show", events[0].platformEventId)).toEqual(trace);
    const text = await home.print("event", "show", events[0].id);
    expect(text).toContain("49.9 EUR");
    expect(text).toContain("with key test sender");
    for (const secret of ["trace@example.com", "Ada", "4255551234"]) expect(text).not.toContain(secret);
  });
});
