// One site moves to another installation: the runs that tests make on every pair of databases.

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { readConfig } from "../../src/installation/config.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { hourMs } from "../../src/kernel/time.ts";
import { purgeDeletedSites } from "../../src/maintenance/purgeDeletedSites.ts";
import { moveSite, type SiteMovePlan } from "../../src/maintenance/moves/siteMove.ts";
import type { Database, Value } from "../../src/store/engine/database.ts";
import { sealWith } from "../../src/store/engine/seal.ts";
import { lineOf, readPages, readTable } from "../../src/store/copy/rows.ts";
import { historyTables, countTables, liveTables } from "../../src/store/copy/siteTables.ts";
import { connectDatabase } from "../../src/store/connect.ts";
import type { Store } from "../../src/store/store.ts";
import { freshFolder } from "./databases.ts";
import { deliveryStates, onPostgres, rows, setUpSite, withStore } from "./installation.ts";
import { startReceiver } from "./receiver.ts";
import { eventually, type Installation } from "./relay.ts";

/** An attempt that is given up on a busy machine would be made twice, by the rules. */
export const patient = {
  CLEANCAST_ATTEMPT_SECONDS: "20",
  CLEANCAST_ANSWER_SECONDS: "20",
  CLEANCAST_LEASE_SECONDS: "40",
  CLEANCAST_RETRY_SECONDS: "2",
};

type Target = {
  target: Installation;
  /** The options of the command that name it. */
  to: string[];
  /** Settings of its node. */
  serve: Record<string, string>;
};

/** Gives an installation on PostgreSQL an encryption key and a site of its own. `serve`: settings of its node and for the command. */
export async function createTarget(there: Installation, serve: Record<string, string> = {}): Promise<Target> {
  const key = "7b".repeat(32);
  const target = there.with({ CLEANCAST_ENCRYPTION_KEY: key });
  const file = join(freshFolder(), "key");
  writeFileSync(file, `${key}\n`);
  await target.run("site", "add", "resident.example.com");
  const url = serve["DATABASE_URL"] ?? target.env["DATABASE_URL"] ?? "";
  return { target, to: ["--to", url, "--key-file", file], serve };
}

/** The rows of a site, with their secrets unsealed. */
async function contentOf(home: Installation, siteId: string, tables: readonly string[]): Promise<string[]> {
  const side = connectSide(home);
  const lines: string[] = [];
  for (const name of tables) {
    const table = await readTable(side.db, name, siteId);
    for await (const page of readPages(side, table)) lines.push(...page.map((row) => `${name} ${lineOf(table, row)}`));
  }
  await side.db.close();
  return lines.toSorted();
}

/** Runs `work` while no site can become live there, so that a kill is never too late. */
const beforeLive = (target: Installation, work: () => Promise<void>) =>
  onPostgres(target, async (client) => {
    await client.query("BEGIN; LOCK TABLE sites IN EXCLUSIVE MODE");
    await work();
  });

/** Kills a command when it has printed this. */
async function killAt({ child, ended, printed }: ReturnType<Installation["launch"]>, moment: string): Promise<void> {
  while (!printed.err.includes(moment) && child.exitCode === null) await sleep(2);
  child.kill("SIGKILL");
  expect(await ended, printed.err).not.toBe(0);
  expect(printed.err).toContain(moment);
}

/** Moves a site in this process. Nodes may run on both sides. */
export const moveInProcess = (plan: Pick<SiteMovePlan, "siteId" | "from" | "to"> & Partial<SiteMovePlan>) =>
  moveSite({
    by: { actor: "test", now: Date.now() },
    newId: ulid,
    now: Date.now,
    hasNoNode: () => false,
    drainMs: 60_000,
    settleMs: 0,
    report() {},
    ...plan,
  });

const stateOf = async (home: Installation) =>
  ((await rows(home, "SELECT state FROM site_moves"))[0]?.["state"] as string | undefined) ?? "";

export type Moved = {
  rows: number;
  readOnlyMs: number;
  /** The slowest answer to an event of another site, from the first kill to the end. */
  otherMaxMs: number;
};

/**
 * Moves a site while both installations work, events arrive, and the command is killed again and again. Every event that was answered
 * 200 is in exactly one of them, and every delivery is made once.
 */
export async function moveUnderLoad(
  home: Installation,
  { target, to, serve }: Target,
  serveHere: Record<string, string> = {},
): Promise<Moved> {
  const receiver = await startReceiver();
  const delivered = new Map<string, number>();
  let isFailing = true;
  receiver.behave = ({ text }, response) => {
    const order = /(?:o|other)-\d+/.exec(text)?.[0] ?? "";
    // Some deliveries fail as long as the site is here, and have to be made there.
    if (isFailing && /^o-\d*7$/.test(order)) return void response.writeHead(500).end("{}");
    delivered.set(order, (delivered.get(order) ?? 0) + 1);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  };
  const { key, siteId } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const other = await setUpSite(home, [["webhook", { url: receiver.url }]], "other.example.com");
  await home.run("site", "set", "shop.example.com", "alert_webhook=https://hooks.example.com/t0ken");
  const [here, there] = [
    await home.start({ LOG_LEVEL: "error", ...serveHere }),
    await target.start({ LOG_LEVEL: "error", ...serve }),
  ];

  const answered = new Map<string, "here" | "there">();
  const refused = new Map<string, number>();
  let sending = true;
  let n = 0;
  const eventOf = (orderId: string) => ({
    email: `${orderId}@example.com`,
    event: "purchase",
    orderId,
    value: 5,
  });
  // Senders keep an event until it is answered 200, as behind a front that asks one installation and then the other.
  const senders = Array.from({ length: 3 }, async () => {
    while (sending) {
      const orderId = `o-${(n += 1)}`;
      while (sending && !answered.has(orderId))
        for (const [place, relay] of [
          ["here", here],
          ["there", there],
        ] as const) {
          const { status, text } = await relay.post(key, eventOf(orderId)).catch(() => ({ status: 0, text: "" }));
          if (status === 200 && !answered.has(orderId)) answered.set(orderId, place);
          else if (status !== 200) refused.set(`${place} ${status} ${text}`, 1);
          if (status === 200) break;
          await sleep(50);
        }
      await sleep(100);
    }
  });
  // The other site has to be served all the time.
  const otherSite = { count: 0, maxMs: 0, refused: new Set<number>() };
  senders.push(
    (async () => {
      while (sending) {
        const startedAt = performance.now();
        const event = eventOf(`other-${(otherSite.count += 1)}`);
        const { status } = await here.post(other.key, event, { host: "other.example.com" });
        if (status !== 200) otherSite.refused.add(status);
        otherSite.maxMs = Math.max(otherSite.maxMs, performance.now() - startedAt);
        await sleep(100);
      }
    })(),
  );
  await eventually("there is something to move", () => answered.size > 20);
  otherSite.maxMs = 0;

  const launch = () => home.launch("--json", "site", "move", "shop.example.com", ...to);
  // The next test dies at later moments.
  await beforeLive(target, async () => {
    for (const moment of ["Pass 1:", "is read-only"]) {
      await killAt(launch(), moment);
      // The site goes on working here, unless the kill was late, and nothing of it is served there.
      if ((await stateOf(home)) !== "copying") continue;
      const soFar = answered.size;
      await eventually("events are accepted", () => answered.size > soFar + 5);
      expect((await target.run("site", "list")).items).toHaveLength(1);
      expect(await target.run("check")).toMatchObject({ ok: true });
    }
  });
  const last = launch();
  expect(await last.ended, last.printed.err).toBe(0);
  const moved = JSON.parse(last.printed.out) as { state: string; rows: number; readOnlyMs: number };
  expect(moved.state).toBe("moved");
  expect([await stateOf(home), await stateOf(target)]).toEqual(["moved", "live"]);

  const soFar = [...answered.values()].filter((place) => place === "there").length;
  await eventually(
    "events are accepted there",
    () => [...answered.values()].filter((place) => place === "there").length > soFar + 5,
  );
  isFailing = false;
  sending = false;
  await Promise.all(senders);
  expect([...otherSite.refused]).toEqual([]);

  // Here it is refused for good, with the reason, as soon as the node has read the state; the other site goes on.
  const refusal = "Site was moved: route its host to the new server, retry";
  const isRefused = async () => JSON.parse((await here.post(key, eventOf("late"))).text).error === refusal;
  await eventually("the node knows that the site was moved", isRefused);
  const late = await here.post(key, eventOf("late"));
  expect([late.status, JSON.parse(late.text).error]).toEqual([503, refusal]);
  expect(Number(late.headers["retry-after"])).toBe(60);
  expect((await here.post(other.key, eventOf("o-99999"), { host: "other.example.com" })).status).toBe(200);
  expect([...refused.keys()].filter((text) => text.startsWith("here") && !text.includes("retry"))).toEqual([]);
  expect((await home.fails("key", "add", "shop.example.com", "x")).error).toMatch(/was moved to /);

  const ordersOf = async (place: Installation) =>
    (await rows(place, `SELECT order_id FROM events WHERE site_id = '${siteId}'`)).map((row) => String(row["order_id"]));
  const stored = await ordersOf(target);
  expect(new Set(stored).size).toBe(stored.length);
  expect([...answered.keys()].filter((order) => !stored.includes(order))).toEqual([]);
  // What was accepted there is not here.
  const left = new Set(await ordersOf(home));
  expect([...answered].filter(([order, place]) => place === "there" && left.has(order))).toEqual([]);

  // Duplicates are still recognised.
  const [first = ""] = [...answered].find(([, place]) => place === "here") ?? [];
  expect(JSON.parse((await there.post(key, eventOf(first))).text)).toEqual({ ok: true, deduped: true });

  await eventually(
    "everything was delivered",
    async () => {
      const { sent: _sent, ...others } = await deliveryStates(target);
      return Object.keys(others).length === 0;
    },
    90,
  );
  expect([...answered.keys()].filter((order) => delivered.get(order) !== 1)).toEqual([]);
  expect([...delivered].filter(([, count]) => count > 1)).toEqual([]);

  for (const place of [home, target]) expect((await place.run("check")).wrong, place.engine).toEqual([]);
  const { settings } = await target.run("site", "show", "shop.example.com");
  expect(settings.items).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "inbound", value: "on" }),
      expect.objectContaining({ name: "alert_webhook", value: expect.stringContaining("hooks.example.com") }),
    ]),
  );

  // Then it is deleted here.
  await home.run("site", "remove", "shop.example.com", "--yes");
  expect((await home.run("site", "list")).items).toHaveLength(1);
  expect([await here.stop(), await there.stop()]).toEqual([0, 0]);
  return { rows: moved.rows, readOnlyMs: moved.readOnlyMs, otherMaxMs: otherSite.maxMs };
}

/** Moves a site, ends a move, and moves the site back: every row stays as it is. `home` has the embedded database. */
export async function moveThereAndBack(home: Installation, { target, to }: Target): Promise<void> {
  const { key, siteId } = await setUpSite(home, [["sandbox", {}]]);
  const relay = await home.start();
  for (let n = 0; n < 40; n += 1)
    await relay.post(key, { email: `p${n}@example.com`, event: "purchase", orderId: `o-${n}`, value: n });
  await home.run("webhook", "add", "shop.example.com", "https://hooks.example.com/x");
  expect(await relay.stop()).toBe(0);
  const move = (...more: string[]) => home.run("site", "move", "shop.example.com", ...to, ...more);

  await beforeLive(target, () => killAt(home.launch("site", "move", "shop.example.com", ...to), "read-only"));
  expect(await stateOf(home)).toBe("locked");
  expect((await home.fails("site", "remove", "shop.example.com", "--yes")).error).toMatch(/End the move first/);
  expect((await home.fails("site", "set", "shop.example.com", "keep=10d")).error).toMatch(/being moved/);
  expect(await move("--abort")).toMatchObject({ state: "aborted" });
  expect([await stateOf(home), await stateOf(target)]).toEqual(["", ""]);
  expect(await contentOf(target, siteId, [...historyTables, ...liveTables])).toEqual([]);
  const again = await home.start();
  expect((await again.post(key, { email: "q@example.com", event: "lead" })).status).toBe(200);
  expect(await again.stop()).toBe(0);

  // Hosts and ids that exist there are refused before anything is written.
  const blocking = await target.run("site", "add", "shop.example.com");
  expect((await home.fails("site", "move", "shop.example.com", ...to)).error).toMatch(/has the host shop.example.com already/);
  expect(await stateOf(home)).toBe("");
  await target.run("site", "remove", blocking.id, "--yes");
  expect((await home.fails("site", "move", "shop.example.com", ...to.slice(0, 2))).error).toMatch(
    /encryption key is not that of/,
  );

  const tables = [...historyTables, ...liveTables].filter((table) => !countTables.includes(table) && table !== "sites");
  const before = await contentOf(home, siteId, tables);
  const moved = await move();
  expect(moved).toMatchObject({ state: "moved", members: [] });
  expect(await contentOf(target, siteId, tables)).toEqual(before);
  expect((await home.fails("site", "move", "shop.example.com", ...to)).error).toMatch(/moved already/);
  const [connection] = await rows(home, "SELECT COUNT(*) AS n FROM connections");
  expect(Number(connection?.["n"])).toBe(0);
  // The address of the webhook is sealed with the other key, and opens there.
  expect(JSON.stringify(await target.run("webhook", "list", "shop.example.com"))).toContain("hooks.example.com");
  expect(await target.run("check")).toMatchObject({ ok: true });

  // It moves back, when nothing of it is left here. A node claims late, and the process dies before the site is live here, and again
  // when it is live here and not moved there yet.
  const folder = home.env["CLEANCAST_DATA"] ?? "";
  const back = ["site", "move", "shop.example.com", "--to", folder];
  await home.run("site", "remove", "shop.example.com", "--yes");
  expect((await target.fails(...back)).error).toMatch(/still deleting an earlier site/);
  for (let passes = 0; passes < 2; passes += 1) await withStore(home, ({ deletedSites }) => purgeAll(deletedSites));
  const [there, here] = [connectSide(target), connectSide(home)];
  const claimed = withLateClaim(there.db, siteId);
  for (const [moment, state] of [
    ["are compared", "arriving"],
    ["live there", "live"],
  ] as const) {
    const dying = moveInProcess({
      siteId,
      from: { ...there, db: claimed, name: "there" },
      to: { ...here, name: resolve(folder) },
      report(text) {
        if (text.includes(moment)) throw new Error(`died when ${moment}`);
      },
    });
    await expect(dying).rejects.toThrow(`died when ${moment}`);
    expect([await stateOf(target), await stateOf(home)]).toEqual(["locked", state]);
  }
  await Promise.all([there.db.close(), here.db.close()]);
  expect(await contentOf(home, siteId, tables)).toEqual(before);
  // It is served by one of them only: here.
  const served = await home.start();
  const known = { email: "p1@example.com", event: "purchase", orderId: "o-1", value: 1 };
  expect(JSON.parse((await served.post(key, known)).text)).toEqual({ ok: true, deduped: true });
  expect((await served.post(key, { ...known, orderId: "back" })).status).toBe(200);
  expect((await target.fails("site", "set", "shop.example.com", "keep=10d")).error).toMatch(/being moved/);
  expect((await target.fails(...back, "--abort")).error).toMatch(/live there already/);
  expect(await target.run(...back)).toMatchObject({ state: "moved", readOnlyMs: null });
  expect([await stateOf(target), await stateOf(home)]).toEqual(["moved", "live"]);
  expect(await served.stop()).toBe(0);
  for (const place of [home, target]) expect((await place.run("check")).wrong, place.engine).toEqual([]);
}

export const connectSide = ({ env }: Installation) => {
  const { store, encryptionKeys } = readConfig(env);
  return { db: connectDatabase(store), seal: sealWith(encryptionKeys) };
};

/** A node claims a webhook just before the tables are locked, and has pushed it a moment later. */
function withLateClaim(db: Database, siteId: string): Database {
  let dueWork = 0;
  let dueAt: Value = null;
  const setLease = (owner: string, until: Value) =>
    db.run(`UPDATE webhooks SET owner = $2, due_at = $3 WHERE site_id = $1`, [siteId, owner, until]);
  return {
    ...db,
    async run(sql, params) {
      const changed = await db.run(sql, params);
      if (!sql.startsWith("UPDATE webhooks") || dueWork > 0) return changed;
      dueWork = 1;
      const [webhook] = await db.all(`SELECT due_at FROM webhooks WHERE site_id = $1`, [siteId]);
      dueAt = webhook?.["due_at"] ?? null;
      await setLease("late", Date.now() + hourMs);
      return changed;
    },
    async all(sql, params) {
      if (dueWork > 0 && sql.includes("FROM webhooks") && (dueWork += 1) === 4) await setLease("", dueAt);
      return db.all(sql, params);
    },
  };
}

/** What the purge of a node does an hour after a deletion. The second pass finds nothing, and ends it. */
const purgeAll = (deletedSites: Store["deletedSites"]) =>
  purgeDeletedSites({
    store: { deletedSites },
    isMine: () => true,
    now: () => Date.now() + 2 * hourMs,
    async inSteps(step) {
      let removed = 0;
      for (let after: string | null = "0"; after !== null;) {
        const done = await step(after, 1000);
        removed += done.removed;
        after = done.next;
      }
      return removed;
    },
    onPurged: () => {},
    onDefect(error) {
      throw error;
    },
  });
