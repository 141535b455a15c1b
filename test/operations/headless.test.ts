// An installation that is set up by commands alone, as scripts and configuration management do it.

import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { exampleSettings } from "../../src/platforms/examples.ts";
import { platforms } from "../../src/platforms/index.ts";
import { standins } from "../../standins/index.ts";
import { commandIn } from "../support/commands.ts";
import { freshFolder } from "../support/databases.ts";
import { root } from "../support/documents/documents.ts";
import { reconnectHint } from "../../src/sites/connectionHints.ts";
import { findConnection } from "../../src/sites/connect.ts";
import { change, withStore } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { call, endToEndEngines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { accepted, freshEvent, jsonError, summarize } from "../contract/answers.ts";

const id = expect.stringMatching(/^[0-9a-z]{10}$/);

describe.each(endToEndEngines)("an installation without a browser, on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
    // Commands that ask a platform get their answer at once.
    const origins = Object.fromEntries(standins.map((standin) => [standin.id, "http://127.0.0.1:9"]));
    home = await newInstallation(engine, {
      CLEANCAST_FIRST_SITE: "off",
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(origins),
    });
    relay = await home.start();
  });
  afterAll(() => relay.kill());

  const api = (key: string, path: string) =>
    call(relay.url, { method: "GET", path: `/api/v1${path}`, headers: { authorization: `Bearer ${key}` } });

  test("CLEANCAST_FIRST_SITE=off creates neither a site nor a key at the first start", async () => {
    expect(relay.output()).toContain("is running on");
    expect(relay.output()).toContain("create the owner");
    expect(relay.output()).not.toMatch(/First start|cc_/);
    expect(await home.run("site", "list")).toEqual({ items: [] });
  });

  test("an API key is revoked with the inbound keys that it made, after a question, or without them", async () => {
    const site = await home.run("site", "add", "made.example.com");
    const made: string[] = [];
    for (const name of ["kept", "gone"]) {
      const apiKey = await home.run("api-key", "add", name, "--scope", "keys");
      const headers = { authorization: `Bearer ${apiKey.key}`, "content-type": "application/json" };
      const body = JSON.stringify({ name, mode: "live" });
      let added = "";
      await eventually("the relay knows the site", async () => {
        const answer = await call(relay.url, { path: `/api/v1/sites/${site.id}/keys`, headers, body });
        added = answer.text;
        return answer.status === 200;
      });
      const { id: inboundKey } = JSON.parse(added) as { id: string };
      made.push(inboundKey);
      expect(await home.fails("api-key", "remove", apiKey.id)).toEqual({
        code: "invalid",
        field: "yes",
        error: `This also revokes the inbound keys that API key ${apiKey.id} made: ${name} (${inboundKey}). --keep-inbound-keys keeps them. Add --yes to do it.`,
      });
      const revoked = await home.run("api-key", "remove", apiKey.id, name === "kept" ? "--keep-inbound-keys" : "--yes");
      expect(revoked.inboundKeys).toEqual(name === "kept" ? [] : [inboundKey]);
    }
    const { items: keys } = await home.run("key", "list", "made.example.com");
    const states = keys.map((one: { id: string; state: string }) => [one.id, one.state]);
    expect(Object.fromEntries(states)).toEqual({ [made[0] ?? ""]: "active", [made[1] ?? ""]: "revoked" });
  });

  test("an API key is added, used, listed and revoked", async () => {
    const added = await home.run("api-key", "add", "terraform", "--scope", "write, read", "--expires", "30d");
    expect(added).toMatchObject({ id });
    expect(added.key).toMatch(/^ccm_[0-9A-Za-z]{38}$/);
    expect((await api(added.key, "/sites")).status).toBe(200);
    const { items: keys } = await home.run("api-key", "list");
    expect(keys.find((one: { id: string }) => one.id === added.id)).toMatchObject({
      name: "terraform",
      site: null,
      scopes: ["read", "write"],
      createdBy: "command line",
    });
    expect(JSON.stringify(keys)).not.toContain(added.key);
    expect(await home.print("api-key", "list")).toMatch(/terraform {2}ccm_\w{4}… {2}read, write {2}all sites {2}active/);
    expect(await home.run("api-key", "remove", added.id)).toEqual({ inboundKeys: [] });
    await eventually("the key is refused", async () => (await api(added.key, "/sites")).status === 401);
    expect(await home.fails("api-key", "remove", "nothing")).toEqual({
      code: "not_found",
      field: "key",
      error: "There is no API key nothing. 'cleancast api-key list' shows their ids.",
    });
    expect(await home.fails("api-key", "add", " ")).toMatchObject({ field: "name" });
    expect(await home.exitCode("api-key", "add", "x", "--scope", "read,everything")).toBe(2);
  });

  test("an inbound key that was made elsewhere is added by its hash, and works", async () => {
    await home.run("site", "add", "hash.example.com");
    const key = `cc_${"k".repeat(40)}`;
    const sha256 = hash("sha256", key);
    const add = (...more: string[]) => ["key", "add", "hash.example.com", "vault", "--hash", ...more];
    expect(await home.run(...add(sha256.toUpperCase(), "--prefix", "cc_kkkkk"))).toEqual({
      id,
      openedInbound: true,
    });
    expect(summarize(await relay.post(key, freshEvent()))).toEqual(accepted("purchase"));
    expect(summarize(await relay.post(`${key}x`, freshEvent()))).toEqual(jsonError(401, "Invalid API key"));
    const { items: keys } = await home.run("key", "list", "hash.example.com");
    expect(keys).toMatchObject([{ name: "vault", prefix: "cc_kkkkk", state: "active" }]);
    expect(await home.fails(...add(sha256))).toEqual({
      code: "invalid",
      field: "hash",
      error: `This key was added already: it is the key ${keys[0].id} of hash.example.com.`,
    });
    expect(await home.exitCode(...add(sha256))).toBe(4);
    expect(await home.fails(...add("abc"))).toMatchObject({ field: "hash" });
    for (const prefix of ["cc_123456", "cc_test_", "ccm_1234"])
      expect(await home.fails(...add("a".repeat(64), "--prefix", prefix))).toMatchObject({ field: "prefix" });
    expect(await home.run(...add("a".repeat(64), "--prefix", "cc_test_", "--test"))).toEqual({ id, openedInbound: false });
  });

  test("key generate prints a key and its hash, and stores nothing", async () => {
    const listIds = async () => (await home.run("key", "list")).items.map((one: { id: string }) => one.id) as string[];
    const before = await listIds();
    for (const [options, form] of [
      [[], /^cc_[0-9A-Za-z]{38}$/],
      [["--test"], /^cc_test_[0-9A-Za-z]{38}$/],
    ] as const) {
      const made = await home.run("key", "generate", ...options);
      expect(made.key).toMatch(form);
      expect(made.hash).toBe(hash("sha256", made.key));
      expect(made.key.startsWith(made.prefix)).toBe(true);
    }
    expect(await listIds()).toEqual(before);
  });

  test("connection set changes one setting and keeps the others", async () => {
    await home.run("site", "add", "set.example.com");
    const settings = [`url=${receiver.url}`, "events=purchase", 'headers={"x-token":"old"}'];
    const { connection: connected } = await home.run("connection", "add", "set.example.com", "webhook", ...settings);
    const file = join(freshFolder(), "headers.txt");
    writeFileSync(file, '{"x-token":"new"}\n');
    const changed = await home.run("connection", "set", connected.id, `headers=@${file}`);
    expect(changed).toMatchObject({
      released: 0,
      connection: {
        verification: { state: "unverified", reason: expect.stringMatching(/send it a test event$/) },
        sendsNothing: null,
        id: connected.id,
        state: "active",
        events: ["purchase"],
        settings: { headers: "(configured)" },
      },
    });
    const { request } = await home.run("connection", "preview", connected.id);
    expect(request.url).toBe(`${new URL(receiver.url).origin}/…`);
    expect(await home.run("connection", "set", connected.id, "events=lead,purchase")).toMatchObject({
      connection: { events: ["lead", "purchase"], settings: { headers: "(configured)" } },
    });
    expect(await home.print("connection", "set", connected.id, "headers=")).toBe(
      `Connection ${connected.id} to webhook is active. Changed: headers. Test it: cleancast connection test ${connected.id}\n` +
        "Saved, not verified: your endpoint would take any call for a conversion; send it a test event.\n" +
        `Ask again: cleancast connection verify ${connected.id}\n`,
    );
    expect(await home.print("connection", "set", connected.id, "events=lead", "--no-verify")).not.toContain("verified");
    const [one] = (await home.run("connection", "list", "set.example.com")).items;
    expect(one.settings).toEqual({
      url: `${new URL(receiver.url).origin}/…`,
      method: "POST",
      success: "2xx",
      signing_secret: "(configured)",
    });
    expect(await home.fails("connection", "set", connected.id, "colour=red")).toMatchObject({
      field: "colour",
    });
    expect(await home.exitCode("connection", "set", "nothing", "events=lead")).toBe(3);
    // As in a configuration file, @@ begins a text that is not the name of a file.
    expect(await home.run("connection", "set", connected.id, "events=@@pay")).toMatchObject({
      connection: { events: ["@pay"] },
    });
    expect(await home.fails("connection", "set", connected.id, "events=@pay")).toMatchObject({
      error: "The file pay cannot be read. Write @@ for a value that begins with @ and is not a file.",
    });
  });

  test("connection show prints everything about a connection that is not secret", async () => {
    await home.run("site", "add", "shown.example.com");
    const settings = ["url=https://hooks.example.com/secret-path", 'headers={"x-token":"secret"}', "events=lead"];
    const connected = await home.run("connection", "add", "shown.example.com", "webhook", ...settings, "--no-verify");
    const connection = await home.run("connection", "show", connected.connection.id);
    expect(connection).toMatchObject({
      id: connected.connection.id,
      platform: "webhook",
      state: "active",
      events: ["lead"],
      settings: { url: "https://hooks.example.com/…", headers: "(configured)" },
      lastSentAt: null,
      verification: { state: "unverified", reason: "not checked yet" },
      sendsNothing: null,
    });
    const text = await home.print("connection", "show", connected.connection.id);
    expect(text).toMatch(
      /^Connection \w{10} of shown\.example\.com to .*, created .* UTC\n\nState {6}active\nVerified {3}no: not checked yet\nLast sent {2}–\nEvents {5}lead\n\nSettings\n/,
    );
    expect(text).toContain("\n  url=https://hooks.example.com/…\n");
    for (const secret of ["secret-path", "x-token", connected.newSecret])
      expect(JSON.stringify(connection) + text).not.toContain(secret);
    expect(await home.exitCode("connection", "show", "nothing")).toBe(3);
  });

  test("the hint for refused credentials is a command that works as it is printed", async () => {
    await home.run("site", "add", "hint.example.com");
    const pasted = ["pixel_id=1234567890", "access_token=EAAold"];
    const {
      connection: { id: connection },
    } = await home.run("connection", "add", "hint.example.com", "meta", ...pasted);
    await markRefused(home, connection);
    const { findings } = await home.run("doctor", "--offline");
    const remedy = findings.find(({ what }: { what: string }) => what.includes(connection))?.remedy ?? "";
    expect(remedy).toBe(
      `Write the new value to access_token.txt, then: cleancast connection set ${connection} access_token=@access_token.txt`,
    );
    const folder = freshFolder();
    writeFileSync(join(folder, "access_token.txt"), "EAAnew\n");
    const [, command = ""] = /cleancast (.*)$/.exec(remedy) ?? [];
    const ran = await commandIn({ args: command.split(" "), env: home.env, folder });
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect((await home.run("connection", "list", "hint.example.com")).items).toMatchObject([{ id: connection, state: "active" }]);
  });

  test("a site is deleted while the relay runs: its key stops, its deliveries end, and nothing fails", async () => {
    const site = await home.run("site", "add", "deleted.example.com");
    const { key } = await home.run("key", "add", "deleted.example.com", "CRM");
    await home.run("connection", "add", "deleted.example.com", "webhook", `url=${receiver.url}`);
    const before = receiver.got.length;
    receiver.behave = (_got, response) => response.writeHead(503).end();
    // The relay may know the key before the connection.
    await eventually("the platform was asked", async () => {
      await relay.post(key, freshEvent());
      return receiver.got.length > before;
    });
    receiver.behave = (_got, response) => response.writeHead(200).end("{}");
    await home.run("site", "remove", "deleted.example.com", "--yes");
    await eventually(
      "the key is refused",
      async () => (await relay.post(key, freshEvent(), { Host: "deleted.example.com" })).status === 401,
    );
    const { key: apiKey } = await home.run("api-key", "add", "reader");
    expect((await api(apiKey, `/sites/${site.id}`)).status).toBe(404);
    expect(relay.output()).not.toContain('"level":50');
  });

  test("hints begin with npx where npm has started the command", async () => {
    const started = home.with({ npm_command: "exec" });
    const nothing = "There is no API key nothing. 'npx cleancast api-key list' shows their ids.\n";
    expect((await commandIn({ args: ["api-key", "remove", "nothing"], env: started.env })).err).toBe(nothing);
    // Programs that read JSON compare texts.
    expect((await started.fails("api-key", "remove", "nothing")).error).not.toContain("npx");
  });

  test("site show prints everything about a site that is not secret", async () => {
    await home.run("site", "add", "show.example.com");
    const { key } = await home.run("key", "add", "show.example.com", "CRM");
    await home.run("connection", "add", "show.example.com", "webhook", "url=https://hooks.example.com/secret-path");
    await home.run("webhook", "add", "show.example.com", "https://hooks.example.com/other-path");
    const shown = await home.run("site", "show", "show.example.com");
    expect(shown).toMatchObject({
      site: { id, hosts: ["show.example.com"], health: { figures: { lastEventAt: null } } },
      hosts: { items: [{ host: "show.example.com", state: expect.any(String) }] },
      keys: { items: [{ name: "CRM", state: "active" }] },
      connections: { items: [{ platform: "webhook", state: "active" }] },
      webhooks: { items: [{ url: "https://hooks.example.com/…", state: "active" }] },
    });
    expect(shown.settings.items[0]).toMatchObject({ name: "inbound", value: "on" });
    const text = await home.print("site", "show", "show.example.com");
    expect(text).toMatch(/^Site \w{10}, created .* UTC, last event –\n\nHosts\n {2}show\.example\.com/);
    expect(text).toContain("keep_events=90d");
    for (const secret of [key, "secret-path", "other-path"]) expect(JSON.stringify(shown) + text).not.toContain(secret);
  });
});

/** Marks a connection as the relay does when a platform refuses its credentials. */
async function markRefused(home: Installation, connectionId: string): Promise<void> {
  const state = `state = 'needs reconnection', state_reason = 'the token has expired'`;
  await change(home, `UPDATE connections SET ${state} WHERE id = '${connectionId}'`);
}

describe("platforms", () => {
  let home: Installation;
  beforeAll(async () => {
    home = await newInstallation("sqlite");
  });

  test("platform list shows every platform, without an installation", async () => {
    const { items: listed } = await home.run("platform", "list");
    expect(listed.map((one: { id: string }) => one.id)).toEqual(platforms.map((one) => one.id));
    for (const { id: name } of platforms) expect(await home.print("platform", "list")).toContain(`\n${name} `);
  });

  test.each(platforms.map((one) => one.id))("platform show %s shows its settings, events and limits", async (name) => {
    const platform = platforms.find((one) => one.id === name);
    const shown = await home.run("platform", "show", name);
    expect(shown.settings.map((one: { name: string }) => one.name)).toEqual(platform?.settings.map((one) => one.name));
    expect(shown).toMatchObject({ clickIds: platform?.ids ?? [], batch: platform?.batch });
    const text = await home.print("platform", "show", name);
    for (const setting of platform?.settings ?? []) expect(text).toContain(`\n  ${setting.name}: `);
    for (const theirs of Object.values(platform?.events?.standard ?? {})) expect(text).toContain(theirs);
    expect(text).toContain(`cleancast connection add SITE ${name}`);
    // Without its target a connection could not send anything.
    const target = platform?.events?.others === "not sent" ? platform.events.defaultSetting : undefined;
    if (target) expect(shown.connect).toContain(` ${target}=`);
  });

  test.each(platforms.map((one) => one.id))(
    "the commands that connect %s and renew its credentials work as they are printed",
    async (name) => {
      const host = `${name.replaceAll("_", "-")}.example.com`;
      await home.run("site", "add", host);
      const { connect } = await home.run("platform", "show", name);
      const folder = freshFolder();
      const values: Record<string, string> = {
        headers: '{"x-token":"1"}',
        ...(standinConnections as Record<string, Record<string, string>>)[name],
        ...exampleSettings(name),
      };
      for (const [setting, value] of Object.entries(values)) writeFileSync(join(folder, `${setting}.txt`), value);
      /** Runs a printed command; SITE and NAME=VALUE are what a person fills in. */
      const runPrinted = (text: string) => {
        const words = text
          .replace(/^.*cleancast /, "")
          .replace("SITE", host)
          .split(" ");
        const args = words.map((word) => {
          const [, setting = ""] = /^(\w+)=[A-Z_]+$/.exec(word) ?? [];
          return setting in values ? `${setting}=${values[setting]}` : word;
        });
        return commandIn({ args: ["--json", ...args], env: home.env, folder });
      };
      const connected = await runPrinted(connect);
      expect([connected.err, connected.code]).toEqual(["", 0]);
      const { id: connection } = JSON.parse(connected.out).connection;
      await markRefused(home, connection);
      const hint = await withStore(home, async (_store, directory) =>
        reconnectHint(findConnection(directory.sites(), connection), host),
      );
      if (!hint.includes("connection set")) return expect(hint).toBe(`cleancast connection test ${connection}`);
      const renewed = await runPrinted(hint);
      expect([renewed.err, renewed.code]).toEqual(["", 0]);
      expect(JSON.parse(renewed.out).connection).toMatchObject({ id: connection, state: "active" });
    },
  );

  test("an unknown platform is not found", async () => {
    expect(await home.fails("platform", "show", "myspace")).toMatchObject({ field: "platform" });
    expect(await home.exitCode("platform", "show", "myspace")).toBe(3);
  });
});

describe("exit codes", () => {
  let home: Installation;
  beforeAll(async () => {
    home = await newInstallation("sqlite");
    await home.run("site", "add", "shop.example.com");
  });

  test.each([
    [0, ["site", "list"]],
    [0, ["--help"]],
    [0, ["--version"]],
    [1, ["doctor", "--offline"]],
    [2, []],
    [2, ["nonsense"]],
    [2, ["site", "add"]],
    [2, ["site", "list", "--colour"]],
    [2, ["site", "add", "not a host"]],
    [2, ["site", "set", "shop.example.com", "inbound=maybe"]],
    [3, ["site", "show", "nothing.example.com"]],
    [3, ["key", "remove", "nothing"]],
    [3, ["event", "show", "nothing"]],
    [3, ["webhook", "show", "nothing"]],
    [3, ["member", "remove", "none@example.com"]],
    [4, ["site", "add", "shop.example.com"]],
    [4, ["site", "remove", "shop.example.com"]],
    [4, ["host", "remove", "shop.example.com"]],
  ] as const)("the exit code is %i after %j", async (code, args) => {
    expect((await commandIn({ args: [...args], env: home.env })).code).toBe(code);
    expect((await commandIn({ args: ["--json", ...args], env: home.env })).code).toBe(code);
  });

  test("every exit code is documented", () => {
    const page = readFileSync(join(root, "docs/reference/cli.md"), "utf8");
    for (const code of [0, 1, 2, 3, 4]) expect(page).toMatch(new RegExp(`^\\| ${code} \\|`, "m"));
  });
});
