// An installation moves from the embedded database to PostgreSQL while its relay is under load, and the move is killed
// again and again. Every event that was answered 200 is in PostgreSQL afterwards, exactly once.

import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, inject, test } from "vitest";
import { move } from "../../src/maintenance/moves/move.ts";
import { createProgress } from "../../src/maintenance/moves/moveProgress.ts";
import { latestVersion } from "../../src/store/schema/migrate.ts";
import { connectDatabase } from "../../src/store/connect.ts";
import { tablesAt } from "../../src/store/schema/tables.ts";
import { tryLock } from "../../src/installation/lock.ts";
import { freshDatabase, freshFolder } from "../support/databases.ts";
import { startReceiver } from "../support/receiver.ts";
import { idAt } from "../../src/kernel/ids.ts";
import { eventually, newInstallation, Installation } from "../support/relay.ts";
import {
  change,
  databaseFile,
  deliveryStates,
  setUpSite,
  keepAliveAgent,
  onPostgres,
  postOver,
  rows,
} from "../support/installation.ts";

/** The number of events before the move begins; `npm run test:long` has more. */
const before = Number(process.env["MOVE_EVENTS"] ?? 1000);

const startMove = (home: Installation, url: string) => home.launch("--json", "move", "--to", url);

function markOf(home: Installation): number {
  const db = new DatabaseSync(databaseFile(home), { readOnly: true, timeout: 5000 });
  try {
    return Number(db.prepare("PRAGMA user_version").get()?.user_version);
  } finally {
    db.close();
  }
}

/** Returns the same installation with the environment that it has after the move. */
function movedTo(home: Installation, url: string): Installation {
  return new Installation("postgres", { ...home.env, DATABASE_URL: url });
}

/** Reads every row, sorted. */
async function contentOf(home: Installation): Promise<string[]> {
  const lines: string[] = [];
  for (const table of tablesAt(latestVersion)) {
    // Numbers become text, because the PostgreSQL driver returns large ones as text.
    const found = await rows(home, `SELECT * FROM ${table}`);
    for (const row of found)
      lines.push(
        JSON.stringify([
          table,
          ...Object.keys(row)
            .toSorted()
            .map((column) => (row[column] === null ? null : String(row[column] as string | number))),
        ]),
      );
  }
  return lines.toSorted();
}

/** Copies an existing event many times, directly in the database. */
async function copyEvents(home: Installation, count: number): Promise<void> {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  // The ids have the present time, because older events would be purged during the test.
  const id = `printf('${idAt(Date.now()).slice(0, 10)}%016d', i)`;
  const statements: string[] = [];
  const settled = "events WHERE id = (SELECT event_id FROM outcomes ORDER BY event_id LIMIT 1)";
  for (const [table, ids, first] of [
    ["events", { id, order_id: "'old-' || i" }, settled],
    ["outcomes", { event_id: id }, "outcomes ORDER BY event_id"],
  ] as const) {
    const columns = (await rows(home, `SELECT name FROM pragma_table_info('${table}')`)).map((row) => String(row.name));
    const values = columns.map((column) => (ids as Record<string, string>)[column] ?? column);
    statements.push(
      `INSERT INTO ${table} (${columns.join(", ")}) ${numbers} SELECT ${values.join(", ")} FROM n, (SELECT * FROM ${first} LIMIT 1)`,
    );
  }
  // In one transaction, as the relay writes them, so that the purge never sees an event without its deliveries.
  await change(home, "BEGIN IMMEDIATE", ...statements, "COMMIT");
}

describe("a move under load", { timeout: 600_000 + 10 * before }, () => {
  test("a move under load, killed at several moments and then finished, neither loses nor duplicates an event", async () => {
    const receiver = await startReceiver();
    // Deliveries that were in flight when the file was marked are sent again after their lease.
    const home = await newInstallation("sqlite", {
      CLEANCAST_ATTEMPT_SECONDS: "1",
      CLEANCAST_ANSWER_SECONDS: "2",
      CLEANCAST_LEASE_SECONDS: "3",
      // On a starved machine attempts may take longer than their second.
      CLEANCAST_RETRY_SECONDS: "1",
    });
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const relay = await home.start({ LOG_LEVEL: "error" });
    const agent = keepAliveAgent(2);
    const answered = new Set<string>();
    const refusals = new Map<number, number>();
    let sending = true;
    let n = 0;
    const senders = Array.from({ length: 2 }, async () => {
      while (sending) {
        const orderId = `o-${(n += 1)}`;
        const event = { email: `${orderId}@example.com`, event: "purchase", orderId, value: 5 };
        const { status } = await postOver(agent, relay, key, event).catch(() => ({ status: 0 }));
        if (status === 200) answered.add(orderId);
        else refusals.set(status, (refusals.get(status) ?? 0) + 1);
        await sleep(status === 200 ? 20 : 50);
      }
    });
    await eventually("there is something to move", async () => {
      return ((await deliveryStates(home)).sent ?? 0) > 20;
    });
    await copyEvents(home, before);
    // The copies have neither claims nor totals.
    const checked = await home.run("check");

    const url = await freshDatabase();
    const there = movedTo(home, url);
    // The move is killed during the first pass and while writes are blocked; the long run also kills it at its start and when it
    // reports the first pass.
    let over: ReturnType<typeof startMove> | null = null;
    const moments: ((stderr: string) => boolean | Promise<boolean>)[] = [
      async () => (await countThere(there)) > 0,
      () => markOf(home) > 0,
      () => true,
      (stderr) => stderr.includes("Pass 1"),
    ];
    for (const moment of process.env["MOVE_EVENTS"] ? moments : moments.slice(0, 2)) {
      const killed = startMove(home, url);
      let isOver = false;
      void killed.ended.then(() => (isOver = true));
      while (!isOver && !(await moment(killed.printed.err))) await sleep(5);
      killed.child.kill("SIGKILL");
      await killed.ended;
      // On a busy machine the move may have finished before the kill.
      if (markOf(home) === -1) {
        over = killed;
        break;
      }
      // No relay starts on a half-moved database.
      if (await countThere(there))
        for (const args of [["site", "list"], ["check"], ["backup", join(freshFolder(), "half")]])
          expect((await there.fails(...args)).error).toMatch(/has not finished: run the same move again/);
    }
    // A killed move blocks no sender: events are accepted again.
    const answeredSoFar = answered.size;
    if (over === null) await eventually("events are accepted again", () => answered.size > answeredSoFar + 20);

    const last = over && (await over.ended) === 0 ? over : startMove(home, url);
    expect(await last.ended, last.printed.err).toBe(0);
    const report = JSON.parse(last.printed.out);
    expect(report).toMatchObject({ state: "moved" });
    expect(markOf(home)).toBe(-1);

    // The relay that still runs refuses events and reports why.
    const late = await relay.post(key, { email: "late@example.com", event: "purchase", orderId: "late" });
    expect(late.status).toBe(503);
    expect(Number(late.headers["retry-after"])).toBeGreaterThan(0);
    sending = false;
    await Promise.all(senders);
    expect([...refusals.keys()]).toEqual([503]);
    expect(await relay.stop()).toBe(0);
    // The relay logs the move once, not for every failed write.
    expect(relay.output().match(/was moved to PostgreSQL/g)).toHaveLength(1);
    expect(relay.output()).not.toContain('"stack"');

    expect(await contentOf(there)).toEqual(await contentOf(home));
    const stored = (await rows(there, "SELECT order_id FROM events")).map((row) => String(row.order_id));
    expect(new Set(stored).size).toBe(stored.length);
    expect([...answered].filter((order) => !stored.includes(order))).toEqual([]);

    // No relay starts on the old file by mistake; a second move is refused.
    expect((await home.fails("site", "list")).error).toMatch(/was moved to PostgreSQL.*set DATABASE_URL/s);
    for (const args of [["backup", join(freshFolder(), "old")], ["check"]])
      expect((await home.fails(...args)).error).toMatch(/was moved to PostgreSQL/);
    expect((await home.fails("move", "--to", url)).error).toMatch(/moved already, to 127/);

    const [order = ""] = answered;
    const after = await there.start();
    const again = { email: `${order}@example.com`, event: "purchase", orderId: order, value: 5 };
    expect(JSON.parse((await after.post(key, again)).text)).toEqual({ ok: true, deduped: true });
    await eventually("everything was delivered", async () => {
      const { sent: _sent, ...others } = await deliveryStates(there);
      return Object.keys(others).length === 0;
    });
    expect(await there.run("check")).toEqual(checked);
    expect(await after.stop()).toBe(0);
    console.log(`moved ${report.rows} rows, held for ${Math.round(report.heldMs)} ms, ${report.passes} passes in the last run`);
  });
});

/** Recreates the database with a German collation, which does not sort by bytes. */
function recreateInGerman(url: string): string[] {
  const name = new URL(url).pathname.slice(1);
  return [`DROP DATABASE ${name}`, `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de-DE'`];
}

async function countThere(there: Installation): Promise<number> {
  try {
    const [row] = await rows(there, "SELECT COUNT(*) AS n FROM settings");
    return Number(row?.n);
  } catch {
    return 0;
  }
}

test("a move knows the database that it fills, and the one that it is about to mark, after it was killed", () => {
  const file = join(freshFolder(), "progress");
  createProgress(file).begin({ move: "m1", target: "db/one" });
  const again = createProgress(file);
  expect([again.begun(), again.intended()]).toEqual([{ move: "m1", target: "db/one" }, null]);
  again.intend({ move: "m2", target: "db/two" });
  const third = createProgress(file);
  expect([third.begun()?.move, third.intended()?.move]).toEqual(["m1", "m2"]);
  third.begin({ move: "m2", target: "db/two" });
  const fourth = createProgress(file);
  expect([fourth.begun()?.move, fourth.intended()]).toEqual(["m2", null]);
  // A file that is damaged is like one that was lost.
  appendFileSync(file, "{");
  expect(createProgress(file).begun()).toBeNull();
});

describe("a move", () => {
  test("a move copies rows that are added, changed and removed between passes, also into a database with a German collation", async () => {
    const home = await newInstallation("sqlite");
    await setUpSite(home, []);
    const url = await freshDatabase();
    await change(new Installation("postgres", { DATABASE_URL: inject("postgresUrl") }), ...recreateInGerman(url));
    const from = new DatabaseSync(databaseFile(home), { timeout: 5000 });
    const to = connectDatabase({ engine: "postgres", url, connections: 4 });
    const progress = createProgress(`${databaseFile(home)}.move`);
    const shared = { target: "db", newId: () => "m1", now: Date.now, report: () => {} };
    const plan = { from, to, progress, ...shared, size: { rows: 15, bytes: 1_000_000 } };
    const words = ["a", "B", "_", "ä", "Z", "z", "-", "", "ß", "a b", "A", "~", "𝄞", "\uffff"];
    const put = from.prepare("INSERT OR REPLACE INTO lockouts VALUES (?, ?, ?, 0)");
    const drop = from.prepare("DELETE FROM lockouts WHERE site_id = ? AND host = ?");
    for (const site of words) for (const host of words) put.run(site, host, 1);
    await move({ ...plan, prepareOnly: true });
    for (const [i, site] of words.entries()) {
      drop.run(site, words[i] as string);
      put.run(site, words[(i + 3) % words.length] as string, 2);
      for (const host of words.slice(0, i)) put.run(site, `${host}${host}x`, 3);
    }
    for (const host of words) drop.run("Z", host);
    expect(await move({ ...plan, prepareOnly: false })).toMatchObject({ state: "moved" });
    from.close();
    await to.close();
    const there = movedTo(home, url);
    expect(await contentOf(there)).toEqual(await contentOf(home));
    expect(await rows(there, "SELECT 1 FROM pg_class WHERE relname LIKE 'moving%'")).toEqual([]);
  });

  test("a move with --prepare leaves the relay running and is finished later, and a backup restores the embedded database", async () => {
    const home = await newInstallation("sqlite");
    await setUpSite(home, []);
    const url = await freshDatabase();
    const unlock = tryLock(home.env.CLEANCAST_DATA ?? "", "move.lock");
    expect((await home.fails("move", "--to", url)).error).toMatch(/Another move of this installation/);
    unlock?.();
    const there = movedTo(home, url);
    // Another session holds the migration lock for a while; the lock of a relay is a different one.
    await onPostgres(there, async (client) => {
      await client.query("SELECT pg_advisory_lock(7220415)");
      const prepared = home.run("move", "--prepare", "--to", url);
      const sessions = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      await eventually("the move has connected", async () => (await client.query(sessions)).rows.length > 0);
      const relayLock = tryLock(home.env.CLEANCAST_DATA ?? "", "serve.lock");
      expect(relayLock).not.toBeNull();
      relayLock?.();
      await client.query("SELECT pg_advisory_unlock(7220415)");
      expect(await prepared).toMatchObject({ state: "prepared" });
    });
    expect(markOf(home)).toBe(0);
    await setUpSite(home, [], "second.example.com");
    expect((await home.fails("move")).error).toMatch(/^Name the database/);
    expect(await there.run("move")).toMatchObject({ state: "moved" });
    expect((await there.run("site", "list")).items).toHaveLength(2);

    // A backup from PostgreSQL can be restored into SQLite.
    const backup = join(freshFolder(), "from-postgres.backup");
    await there.run("backup", backup);
    expect(await home.run("restore", backup, "--force")).toMatchObject({ ok: true });
    expect(markOf(home)).toBe(0);
    expect((await home.run("site", "list")).items).toHaveLength(2);
  });

  test("a refused move names what is wrong, without the password", async () => {
    const home = await newInstallation("sqlite");
    const refusal = async (to: string) => (await home.fails("move", "--to", to)).error;
    const nowhere = "postgres://cc:secret@127.0.0.1:1/none";
    expect(await refusal(nowhere)).toMatch(/no embedded database to move/);
    writeFileSync(databaseFile(home), "no database at all, but long enough to be read as one".repeat(50));
    expect(await refusal(nowhere)).toMatch(/^The embedded database cannot be read .*not a database/);
    writeFileSync(databaseFile(home), "");
    expect(await refusal(nowhere)).toMatch(/not a database of Cleancast/);
    rmSync(databaseFile(home));
    await setUpSite(home, []);
    expect(await refusal("mysql://x")).toBe("--to must start with postgres:// .");
    expect(await refusal(`${nowhere}?cleancast=foo`)).toMatch(/^--to: cleancast="foo" is not one of/);
    const gone = await refusal(nowhere);
    expect(gone).toMatch(/^--to: nothing listens at /);
    expect(gone).not.toContain("secret");
  });
});
