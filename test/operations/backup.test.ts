// A backup is taken from a relay under load, restored elsewhere, and has everything that was answered before it began.
// A truncated file is refused.

import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { change, databaseFile, keepAliveAgent, listDeliveries, postOver, rows, setUpSite } from "../support/installation.ts";
import { emptyInstallation, engines, eventually, newInstallation, type Engine, type Installation } from "../support/relay.ts";
import { startReceiver } from "../support/receiver.ts";

/** Creates an empty installation with the encryption key of another. */
async function installationWithKeyOf(home: Installation, engine: Engine): Promise<Installation> {
  const created = await emptyInstallation(engine);
  const from = home.env.CLEANCAST_ENCRYPTION_KEY ?? keyOf(home);
  if (engine === "postgres") created.env.CLEANCAST_ENCRYPTION_KEY = from;
  else writeFileSync(join(created.env.CLEANCAST_DATA as string, "encryption.key"), from, { mode: 0o600 });
  return created;
}

const keyOf = (home: Installation) => readFileSync(join(home.env.CLEANCAST_DATA as string, "encryption.key"), "utf8").trim();

/** Returns all lines but the header, sorted, because engines return rows in different orders. */
const linesIn = (file: string) =>
  gunzipSync(readFileSync(file).subarray(0, -32))
    .toString()
    .split("\n")
    .slice(1)
    .filter((line) => line.startsWith("["))
    .toSorted();

const hostsIn = async (home: Installation) => (await rows(home, "SELECT host FROM hosts")).map((row) => String(row.host));

const ordersIn = async (home: Installation) =>
  new Set((await rows(home, "SELECT order_id FROM events")).map((row) => String(row.order_id)));

describe.each(engines)("a backup of %s", (engine) => {
  const file = join(freshFolder(), "cleancast.backup");
  let home: Installation;
  let before: Set<string>;
  let after: Set<string>;

  beforeAll(async () => {
    const receiver = await startReceiver();
    home = await newInstallation(engine);
    // One connection accepts everything; the other is paused, so that deliveries wait.
    const { key, connections } = await setUpSite(home, [
      ["webhook", { url: receiver.url }],
      ["sandbox", {}],
      // Its mapping is why the extra field is kept.
      ["segment", { source: "acme/website", write_key: "s3cret-write-key", "map.userId": "extra.plan" }],
    ]);
    for (const id of connections.slice(1)) await home.run("connection", "pause", id);
    await home.run("webhook", "add", "shop.example.com", receiver.url);
    const relay = await home.start();
    const agent = keepAliveAgent(8);
    const answered = new Set<string>();
    let sending = true;
    let n = 0;
    const senders = Array.from({ length: 8 }, async () => {
      while (sending) {
        const orderId = `o-${(n += 1)}`;
        const event = { email: `${orderId}@example.com`, event: "purchase", orderId, value: 5, plan: "gold" };
        const { status } = await postOver(agent, relay, key, event);
        if (status === 200) answered.add(orderId);
      }
    });
    await eventually("a hundred events were answered", () => answered.size > 100);
    // A small backup takes only a moment, so it is repeated until a request was answered during it.
    let taken: unknown;
    for (let tries = 0; tries < 20 && !(after?.size > before?.size); tries += 1) {
      before = new Set(answered);
      taken = await home.run("backup", file, "--force");
      after = new Set(answered);
    }
    const checked = await home.run("check");
    sending = false;
    await Promise.all(senders);
    expect(checked).toEqual({ ok: true, wrong: [] });
    expect(taken).toMatchObject({ file, bytes: statSync(file).size });
    expect(await relay.stop()).toBe(0);
  });

  test("a backup can be taken, and the data checked, while events arrive, and only its owner can read the file", () => {
    expect(after.size).toBeGreaterThan(before.size);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a backup restored elsewhere is complete and continues delivering", async () => {
    const elsewhere = await installationWithKeyOf(home, engine);
    const restored = await elsewhere.run("restore", file);
    expect(restored).toMatchObject({ ok: true, wrong: [], header: { engine } });
    const stored = await ordersIn(elsewhere);
    expect([...before].filter((order) => !stored.has(order))).toEqual([]);

    // The relay recognises the events that a sender repeats, and sends the waiting deliveries.
    const { items: connections } = await elsewhere.run("connection", "list");
    const paused = connections.find((one: { platform: string }) => one.platform === "sandbox");
    await elsewhere.run("connection", "resume", paused.id);
    const { key } = await elsewhere.run("key", "add", "shop.example.com", "again");
    const relay = await elsewhere.start();
    const [order = ""] = before;
    const again = { email: `${order}@example.com`, event: "purchase", orderId: order, value: 5 };
    expect(JSON.parse((await relay.post(key, again)).text)).toEqual({ ok: true, deduped: true });
    await eventually("the waiting deliveries were sent", async () => {
      const sent = (await listDeliveries(elsewhere)).filter(({ platform, state }) => platform === "sandbox" && state === "sent");
      return sent.length >= before.size;
    });
    expect(await relay.stop()).toBe(0);
    expect(await elsewhere.run("check")).toEqual({ ok: true, wrong: [] });
  });

  test("a backup restored into the other engine has the same rows", async () => {
    const elsewhere = await installationWithKeyOf(home, engine === "sqlite" ? "postgres" : "sqlite");
    expect(await elsewhere.run("restore", file)).toMatchObject({
      ok: true,
      wrong: [],
      header: { engine },
    });
    const there = join(freshFolder(), "there");
    await elsewhere.run("backup", there);
    expect(linesIn(there)).toEqual(linesIn(file));
  });

  test("a restore is refused for a truncated file, another key, existing data, and under a running relay", async () => {
    const elsewhere = await installationWithKeyOf(home, engine);
    const cut = join(freshFolder(), "cut");
    const whole = readFileSync(file);
    writeFileSync(cut, whole.subarray(0, Math.floor(whole.length * 0.9)));
    expect((await elsewhere.fails("restore", cut)).error).toMatch(/cut off after the table \w+; it is not a whole/);
    expect(await isUnused(elsewhere)).toBe(true);

    const withOtherKey = elsewhere.with({ CLEANCAST_ENCRYPTION_KEY: "77".repeat(32) });
    expect(await withOtherKey.fails("restore", file)).toMatchObject({
      field: "key",
      error: expect.stringContaining("sealed with another encryption key"),
    });
    expect(await isUnused(elsewhere)).toBe(true);

    await setUpSite(elsewhere, [], "other.example.com");
    expect((await elsewhere.fails("restore", file)).error).toContain("--force replaces all of it");
    const relay = await elsewhere.start();
    const busy = /is running on|is using the database/;
    expect((await elsewhere.fails("restore", file, "--force")).error).toMatch(busy);
    await relay.stop();
    expect(await hostsIn(elsewhere)).toEqual(["other.example.com"]);
  });

  /** Kills a restore under way. Where it was not seen before it ended, another one is tried. */
  async function killRestore(): Promise<Installation> {
    const elsewhere = await installationWithKeyOf(home, engine);
    await setUpSite(elsewhere, [], "other.example.com");
    const { child, ended } = elsewhere.launch("restore", file, "--force");
    while (!(await isUnderWay(elsewhere)) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill("SIGKILL");
    await ended;
    return child.signalCode === "SIGKILL" ? elsewhere : killRestore();
  }

  test("a killed restore leaves the old data, and the next restore finishes", async () => {
    const elsewhere = await killRestore();
    expect(await hostsIn(elsewhere)).toEqual(["other.example.com"]);
    expect(await elsewhere.run("check")).toEqual({ ok: true, wrong: [] });
    await eventually("the killed restore no longer holds the database", async () => {
      const { ok } = await elsewhere.run("restore", file, "--force").catch(() => ({ ok: false }));
      return ok;
    });
    expect(await hostsIn(elsewhere)).toEqual(["shop.example.com"]);
    const left = readdirSync(elsewhere.env.CLEANCAST_DATA as string).filter((name) => /restoring/.test(name));
    expect(left).toEqual([]);
  });

  test("a backup warns that it lacks the key, and contains no secret", async () => {
    const other = join(freshFolder(), "again");
    expect(await home.print("backup", other)).toContain("THE ENCRYPTION KEY IS NOT IN IT");
    expect((await home.fails("backup", other)).error).toContain("exists already");
    const text = gunzipSync(readFileSync(other).subarray(0, -32)).toString();
    const key = home.env.CLEANCAST_ENCRYPTION_KEY ?? keyOf(home);
    for (const secret of [key, '"plan":"gold"', "@example.com", "s3cret-write-key"]) expect(text).not.toContain(secret);
  });

  test("the check finds missing, unreadable and contradictory rows", async () => {
    const elsewhere = await installationWithKeyOf(home, engine);
    await elsewhere.run("restore", file);
    const [event] = await rows(elsewhere, "SELECT site_id, id FROM events WHERE extra IS NOT NULL");
    const [other] = await rows(elsewhere, `SELECT id FROM events WHERE id <> '${String(event?.id)}'`);
    await change(
      elsewhere,
      `DELETE FROM events WHERE id = '${String(other?.id)}'`,
      `UPDATE events SET extra = 'v1.AAAA', attribution = '{' WHERE id = '${String(event?.id)}'`,
      `UPDATE connections SET site_id = 'nowhere' WHERE platform = 'sandbox'`,
      `DELETE FROM totals`,
      `UPDATE period_heads SET conversions = 5`,
    );
    const output = await elsewhere.print("check");
    for (const what of [
      "deliveries without their event",
      "sealed values in events that cannot be decrypted",
      "sealed values in connections that cannot be decrypted",
      "events that cannot be read",
      "connections of sites that do not exist",
      "closed periods exceed their totals",
    ])
      expect(output).toContain(what);
  });
});

/** Returns whether a restore is writing at this moment. */
async function isUnderWay(home: Installation): Promise<boolean> {
  if (home.engine === "sqlite") return existsSync(`${databaseFile(home)}.restoring`);
  const found = await rows(
    home,
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cleancast restore'
       AND query LIKE 'INSERT%'`,
  );
  return found.length > 0;
}

async function isUnused(home: Installation): Promise<boolean> {
  if (home.engine === "sqlite") return !existsSync(databaseFile(home));
  const found = await rows(home, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
  return found.length === 0;
}

test("the check detects a damaged database file", async () => {
  const home = await newInstallation("sqlite");
  await setUpSite(home, []);
  const file = databaseFile(home);
  const bytes = readFileSync(file);
  for (let at = 4096 * 20; at < 4096 * 21; at += 1) bytes[at] = 0xff;
  writeFileSync(file, bytes);
  const { error } = await home.run("check").then(
    (found: { ok: boolean }) => ({ error: found.ok ? "" : "found" }),
    (thrown: Error) => ({ error: thrown.message }),
  );
  expect(error).toMatch(/found|malformed|damaged/);
});
