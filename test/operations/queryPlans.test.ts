// The query plans of every list of the dashboard over a hundred thousand events: no full scan of a table that grows, and no
// more rows than a few pages.

import { emailRef } from "../../src/store/events/eventRow.ts";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idAt } from "../../src/kernel/ids.ts";
import { packAttribution } from "../../src/store/people/personCodec.ts";
import { confirmationStore } from "../../src/store/confirmations/confirmations.ts";
import { auditStore } from "../../src/store/sites/audit.ts";
import type { Database, Value } from "../../src/store/engine/database.ts";
import { readDeliveriesOf } from "../../src/store/deliveries/readDeliveries.ts";
import { eventListStore } from "../../src/store/events/eventList.ts";
import { inboundCountStore } from "../../src/store/statistics/inboundCounts.ts";
import { candidateStore } from "../../src/store/reconciliation/candidates.ts";
import { orderStore } from "../../src/store/reconciliation/orders.ts";
import { runStore } from "../../src/store/reconciliation/runs.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { connectPostgres } from "../../src/store/engine/postgres/engine.ts";
import { rejectedRequestStore } from "../../src/store/statistics/rejectedRequests.ts";
import { sealWith } from "../../src/store/engine/seal.ts";
import { connectSqlite } from "../../src/store/engine/sqlite/engine.ts";
import { statisticsStore } from "../../src/store/statistics/statistics.ts";
import { syncLogStore } from "../../src/store/deliveries/syncLog/syncLog.ts";
import { hourMs } from "../../src/kernel/time.ts";
import { trafficStore } from "../../src/store/statistics/traffic.ts";
import { freshDatabase, freshFolder } from "../support/databases.ts";
import { unattributed } from "../support/events.ts";
import { sha256 } from "../support/sha256.ts";

const events = 100_000;
/** One event every twenty seconds. */
const stepMs = 20_000;
const start = Date.UTC(2026, 9, 1);
const at = (part: number) => start + Math.floor(events * part) * stepMs;
const hourAt = (part: number) => Math.floor(at(part) / hourMs);
const hash = sha256("e".repeat(64));
const growing =
  /\b(events|deliveries|attempts|confirmations|confirmation_counts|audit|bot_visits|rejected_requests|statistics|statistics_segments|statistics_hours|visit_counts|inbound_counts|orders|reconciliation_rows)\b/;
/** More rows than any page needs, and far fewer than the tables have. */
const fewRows = 3000;

type Statement = { sql: string; params: readonly Value[] };

/** Every list of the dashboard; a page has 50 rows. */
function queries(db: Database): Record<string, () => Promise<unknown>> {
  const lists = eventListStore(db);
  const log = syncLogStore(db);
  const candidates = candidateStore(db);
  const orders = orderStore(db, () => "");
  const runs = runStore(db, () => "");
  const run = { siteId: "s", id: "r" };
  const statistics = statisticsStore(db);
  const traffic = trafficStore(db, sealWith(Buffer.alloc(32, 7)));
  const top = { before: null, limit: 50 };
  const deep = { before: idAt(at(0.4)), limit: 50 };
  const topLog = { before: null, limit: 50 };
  const notCounted = { state: "not counted", platforms: ["google_ads"] } as const;
  const ofConnection = (connectionId: string) => ({ siteId: "s", connectionId });
  const head = { eventId: idAt(at(0.5)), attemptAt: at(0.5), attemptEventId: "" };
  const page = { beforeId: idAt(at(0.9)), before: at(0.9), openFromId: idAt(at(0.9)), limit: 200 };
  const deepLog = { before: { eventId: idAt(at(0.4)), connectionId: "c1" }, limit: 50 };
  return {
    events: () => lists.listPage("s", {}, top),
    "events, far down": () => lists.listPage("s", {}, deep),
    "events of a time": () => lists.listPage("s", { from: at(0.2), to: at(0.3) }, top),
    "filtered events": () => lists.listPage("s", { status: "filtered" }, top),
    "accepted events": () => lists.listPage("s", { status: "accepted" }, top),
    "live events": () => lists.listPage("s", { mode: "live" }, top),
    "test events, of which there are none": () => lists.listPage("s", { mode: "test" }, top),
    "accepted live events of a time": () =>
      lists.listPage("s", { mode: "live", status: "accepted", from: at(0.2), to: at(0.3) }, top),
    "filtered test events": () => lists.listPage("s", { mode: "test", status: "filtered" }, top),
    "events of a name that nothing has": () => lists.listPage("s", { name: "lead" }, top),
    "events without a click id": () => lists.listPage("s", { clickId: "none" }, top),
    "events of that order with a click id": () => lists.listPage("s", { orderId: "placeholder", clickId: "gclid" }, top),
    "events of an order that half of all have, the oldest half": () => lists.listPage("s", { orderId: "placeholder" }, top),
    "events of that order, far down": () => lists.listPage("s", { orderId: "placeholder" }, deep),
    "orders that begin with a text": () => lists.listOrderKeys("s", "A-999", 20),
    "orders that begin as the common one": () => lists.listOrderKeys("s", "placeho", 20),
    "events of an order": () => lists.listPage("s", { orderId: "A-99999" }, top),
    "events of a person with half of them": () => lists.listPage("s", { emailSha256: hash }, top),
    "events of that person in a time": () => lists.listPage("s", { emailSha256: hash, from: at(0.2), to: at(0.3) }, top),
    "deliveries of a page": async () => {
      const { events: found } = await lists.listPage("s", {}, top);
      return readDeliveriesOf(
        db,
        "s",
        found.map(({ id }) => id),
      );
    },
    "events of the orders of a reconciliation": () =>
      candidates.byOrderIds(
        "s",
        Array.from({ length: 200 }, (_, i) => `A-${events - 1000 + i}`),
      ),
    "events of orders of which one is a placeholder": () => candidates.byOrderIds("s", ["placeholder", "A-99998", "A-99999"]),
    "events of people in the days around their orders": () =>
      candidates.byPeople(
        "s",
        Array.from({ length: 5 }, () => ({
          emailSha256: hash,
          from: at(0.2),
          to: at(0.2) + 9 * 24 * hourMs,
        })),
        () => false,
      ),
    "events of a step of a reconciliation": () => candidates.listFree(run, idAt(at(0.4)), idAt(at(0.9)), 200),
    "orders of a step of a reconciliation": () =>
      orders.listPage("s", { from: at(0.2), to: at(0.3) }, { time: at(0.25), id: "=A-1" }, 200),
    "orders of a person": () => orders.listByPerson("s", sha256("f".repeat(64))),
    "orders by their ids": () =>
      orders.find(
        "s",
        Array.from({ length: 200 }, (_, i) => `=A-${i}`),
      ),
    "events that orders of a reconciliation have": () =>
      runs.listTaken(
        run,
        Array.from({ length: 200 }, (_, i) => `e${i}`),
      ),
    "rows of a reconciliation by their ids": () =>
      runs.findRows(
        run,
        Array.from({ length: 200 }, (_, i) => `=A-${i}`),
      ),
    "rows of a class of a reconciliation": () => runs.listRows(run, "missing_here", "=A-5", 500),
    "the log": () => log.listPage("s", {}, topLog),
    "the log, far down": () => log.listPage("s", {}, deepLog),
    "the log of a connection": () => log.listPage("s", { connectionId: "c2" }, topLog),
    "the log of a platform": () => log.listPage("s", { platform: "webhook" }, topLog),
    "what was rejected": () => log.listPage("s", { states: ["rejected"] }, topLog),
    "what was rejected by a connection": () => log.listPage("s", { connectionId: "c1", states: ["rejected"] }, deepLog),
    "what was sent": () => log.listPage("s", { states: ["sent"] }, topLog),
    "what is queued": () => log.listPage("s", { states: ["queued"] }, topLog),
    "the log of an event name": () => log.listPage("s", { eventName: "purchase" }, topLog),
    "the log of live events": () => log.listPage("s", { mode: "live" }, topLog),
    "the log of test events that were rejected": () => log.listPage("s", { mode: "test", states: ["rejected"] }, topLog),
    "the log of a time": () => log.listPage("s", { from: at(0.2), to: at(0.3) }, topLog),
    "the log of the common order": () => log.listPage("s", { orderId: "placeholder" }, topLog),
    "the log of the common order, far down": () => log.listPage("s", { orderId: "placeholder" }, deepLog),
    "the log of the common person": () => log.listPage("s", { emailSha256: hash }, topLog),
    "the log of an event": () => log.listPage("s", { eventId: idAt(at(0.5)) }, topLog),
    "what was not counted": () => log.listPage("s", { confirmation: notCounted }, topLog),
    "what was not counted, far down": () => log.listPage("s", { confirmation: notCounted }, deepLog),
    "what was not counted for a reason": () => log.listPage("s", { confirmation: { ...notCounted, reason: "consent" } }, topLog),
    "confirmations of a week": () => confirmationStore(db).listCounts("s", hourAt(0.5), hourAt(0.5) + 168),
    "what was accepted at once": () => confirmationStore(db).listAccepted(ofConnection("c1"), head, page),
    "what was accepted later": () => confirmationStore(db).listAccepted(ofConnection("c2"), head, page),
    "the audit log": () => auditStore(db, () => "").list("s", 51, idAt(at(0.5))),
    bots: () => traffic.listBotVisits("s", 51, idAt(start)),
    "rejected requests": () => rejectedRequestStore(db).list("s", { before: idAt(at(0.5)), limit: 51 }),
    "numbers of a week": () => statistics.listFigures("s", hourAt(0.5), hourAt(0.5) + 168),
    "numbers of a source in a week": () =>
      statistics.listSegment("s", { segment: "source", name: "n1" }, hourAt(0.5), hourAt(0.5) + 168),
    "visits of a week": () => traffic.listCounts("s", hourAt(0.5), hourAt(0.5) + 168),
    "duplicates of a week": () => inboundCountStore(db).list("s", hourAt(0.5), hourAt(0.5) + 168),
    "hours that are due": () => statistics.listDueHours("s", 1, 50),
    "the hour before": () => statistics.findPreviousHour("s", hourAt(0.5)),
    "the next hour": () => statistics.findNextHour("s", hourAt(0.5), hourAt(0.9)),
    "a portion of an hour": () => statistics.listPortion("s", hourAt(0.5), "", 250),
  };
}

/** Statements that fill the tables. */
function fillingStatements(): string[] {
  const ms = `(${start} + n.i * ${stepMs})`;
  const whole = (text: string) => `CAST(${text} AS bigint)`;
  // The time in base 32, as in a ULID.
  const digit = (i: number) =>
    `substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(${whole(`${ms} / ${32 ** i}`)} % 32 AS integer) + 1, 1)`;
  const id = `${Array.from({ length: 10 }, (_, i) => `CAST(${digit(9 - i)} AS text)`).join(" || ")} || '0000000000000000'`;
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
  const old = `n.i < ${events / 2}`;
  const attribution = `'${packAttribution(unattributed)}'`;
  const ofSite = (site: string, count: number) =>
    `INSERT INTO events (site_id, id, key_id, mode, status, reasons, name, value, currency, order_id,
       email_ref, time, received_at, person, attribution, plan, owner, uses_order_event_id)
     ${numbers(count)} SELECT '${site}', ${id}, 'k', 'live', CASE WHEN n.i % 100 = 0 THEN 'filtered' ELSE 'accepted' END,
       NULL, 'purchase', 1.5, 'EUR', CASE WHEN ${old} THEN 'placeholder' ELSE 'A-' || n.i END,
       CASE WHEN ${old} THEN ${emailRef(hash)} ELSE n.i END, ${ms}, ${ms}, '${hash}', ${attribution},
       '[["c1","sandbox"],["c2","webhook","row"]]', '', 0 FROM n`;
  const deliveries = (connection: string, platform: string, every: number, state: string) =>
    `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, reason, attempts, due_at, owner, updated_at)
     ${numbers(events)} SELECT 's', ${id}, '${connection}', '${platform}', ${state}, NULL, 1, ${ms}, '', ${ms}
     FROM n WHERE n.i % ${every} = 0`;
  const hours = (events * stepMs) / hourMs;
  const figures = (table: string, columns: string, values: string) =>
    `INSERT INTO ${table} (site_id, hour, ${columns})
     ${numbers(Math.floor(hours) * 10)} SELECT 's', ${Math.floor(start / hourMs)} + n.i / 10, ${values} FROM n`;
  const chartedHour = `${Math.floor(start / hourMs)} + n.i / 10`;
  return [
    ofSite("s", events),
    ofSite("other", events / 10),
    deliveries("c1", "sandbox", 50, "'rejected'"),
    `INSERT INTO outcomes (site_id, event_id, number, results) ${numbers(events)} SELECT 's', ${id}, 0,
       CASE WHEN n.i % 50 = 0 THEN '[[0]]' ELSE '[[0,1,5,200,1,"abcdef",null]]' END FROM n`,
    deliveries("c2", "webhook", 10, "CASE WHEN n.i > 50000 THEN 'queued' ELSE 'sent' END"),
    `INSERT INTO confirmations (site_id, event_id, connection_id, state, reason, detail, retries, counted, updated_at)
     ${numbers(events)} SELECT 's', ${id}, 'c1', CASE WHEN n.i % 10 = 0 THEN 'not counted' ELSE 'confirmed' END,
       CASE WHEN n.i % 10 = 0 THEN 'consent' ELSE NULL END, NULL, 0, '', 0 FROM n`,
    `INSERT INTO attempts (site_id, event_id, connection_id, number, started_at, duration_ms, state, reason, http_status, batch, request, response)
     ${numbers(events)} SELECT 's', ${id}, 'c2', 1, ${ms}, 5, 'sent', NULL, 200, 1, 'POST', '{}' FROM n WHERE n.i % 10 = 0`,
    `INSERT INTO audit (site_id, id, at, actor, action, detail) ${numbers(5000)} SELECT 's', ${id}, 0, 'a', 'b', '{}' FROM n`,
    `INSERT INTO rejected_requests (site_id, id, at, status, error, host)
     ${numbers(5000)} SELECT 's', ${id}, 0, 400, 'e', 'h' FROM n`,
    `INSERT INTO bot_visits (site_id, id, seen_at, reason, record) ${numbers(5000)} SELECT 's', ${id}, 0, 'r', '' FROM n`,
    figures(
      "statistics",
      "charted_hour, kind, name, currency, count, value",
      `${chartedHour}, 'conversion', 'n' || (n.i % 10), '', 1, 0`,
    ),
    figures("statistics_segments", "charted_hour, segment, name, figures", `${chartedHour}, 'source', 'n' || (n.i % 10), '[]'`),
    figures("visit_counts", "bucket, reason, writer, visits", "'bots', 'r' || (n.i % 10), 'w', 1"),
    figures(
      "confirmation_counts",
      "connection_id, state, reason, platform, count",
      "'c1', 'not counted', 'r' || (n.i % 10), 'google_ads', 1",
    ),
    figures("inbound_counts", "kind, writer, count", "'duplicate', 'w' || (n.i % 10), 1"),
    `INSERT INTO orders (site_id, id, order_id, time, currency, status, listed_at)
     ${numbers(20_000)} SELECT 's', '=a-' || n.i, 'A-' || n.i, ${ms}, 'EUR', 'paid', 0 FROM n`,
    `INSERT INTO reconciliation_rows (site_id, run_id, id, class, event_id, events, time, outcomes)
     ${numbers(20_000)} SELECT 's', 'r', '=A-' || n.i, 'matched', 'e' || n.i, 1, ${ms}, '[]' FROM n`,
    `INSERT INTO statistics_hours (site_id, hour, rolled_at, due_at) ${numbers(5000)} SELECT 's', n.i, 0, 9 FROM n`,
  ];
}

/** Searches for single keys: a search by the site, or by the days alone, would read far more than these indexes. */
const neededIndexes: Readonly<Record<string, string>> = {
  "events of people in the days around their orders": "events_by_email (site_id=? AND email_ref=?",
  "orders of a person": "orders_by_email (site_id=? AND email_ref=?",
  "events that orders of a reconciliation have": "reconciliation_rows_by_event (",
};

/** Records the statements that a query sends to the database. */
function recordStatements(db: Database): Database & { asked: Statement[] } {
  const asked: Statement[] = [];
  const all = (sql: string, params: readonly Value[] = []) => {
    asked.push({ sql, params });
    return db.all(sql, params);
  };
  return { ...db, all, asked };
}

describe("query plans on sqlite", () => {
  let db: Database & { asked: Statement[] };

  beforeAll(async () => {
    const opened = connectSqlite(`${freshFolder()}/store.db`);
    await migrate(opened);
    await opened.write(async (tx) => {
      for (const text of fillingStatements()) await tx.all(text);
    });
    db = recordStatements(opened);
  });
  afterAll(() => db.close());

  test.each(Object.keys(queries(null as never)))("the query for %s scans no large table", async (name) => {
    db.asked.length = 0;
    await queries(db)[name]?.();
    expect(db.asked.length).toBeGreaterThan(0);
    const needed = neededIndexes[name];
    const plans: string[] = [];
    for (const { sql, params } of db.asked.splice(0)) {
      const plan = (await db.all(`EXPLAIN QUERY PLAN ${sql}`, params)).map((row) => String(row.detail));
      const whole = plan.filter((line) => line.startsWith("SCAN ") && growing.test(line));
      expect(whole, `${sql}\n${plan.join("\n")}`).toEqual([]);
      // A search by the site alone reads the whole index of the site, unless a limit ends it early.
      const wide = plan.filter((line) => line.startsWith("SEARCH") && line.endsWith("(site_id=?)"));
      const isSorted = plan.some((line) => /TEMP B-TREE FOR (?:LAST|ORDER)/.test(line));
      expect(isSorted || needed ? wide : [], `${sql}\n${plan.join("\n")}`).toEqual([]);
      plans.push(...plan);
    }
    if (needed) expect(plans.join("\n")).toContain(needed);
  });

  test("replacing an hour of the statistics reads that hour alone", async () => {
    const asked: Statement[] = [];
    const recording: Database = {
      ...db,
      write: (work) =>
        db.write((tx) =>
          work({
            ...tx,
            all(sql, params = []) {
              asked.push({ sql, params });
              return tx.all(sql, params);
            },
          }),
        ),
    };
    await statisticsStore(recording).replaceHour("s", hourAt(0.5), [], { rolledAt: 1, dueAt: 2 });
    expect(asked.filter(({ sql }) => sql.startsWith("DELETE"))).toHaveLength(2);
    for (const { sql, params } of asked) {
      const plan = (await db.all(`EXPLAIN QUERY PLAN ${sql}`, params)).map((row) => String(row.detail));
      expect(
        plan.filter((line) => line.startsWith("SCAN ") || line.endsWith("(site_id=?)")),
        sql,
      ).toEqual([]);
    }
  });
});

type Node = {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Node[];
};

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe("query plans on postgres", () => {
  let db: Database & { asked: Statement[] };
  let client: Client;

  beforeAll(async () => {
    const url = await freshDatabase();
    const opened = connectPostgres(url, { connections: 2 });
    await migrate(opened);
    client = new Client({ connectionString: url });
    await client.connect();
    await client.query("BEGIN; SET LOCAL synchronous_commit = off");
    for (const text of fillingStatements())
      await client.query(text.replace(/INSERT INTO (\w+) (\([^)]*\))\s+(WITH[^]*)/, "INSERT INTO $1 $2 $3"));
    await client.query("COMMIT");
    await client.query("VACUUM ANALYZE");
    db = recordStatements(opened);
  });
  afterAll(async () => {
    await client.end();
    await db.close();
  });

  const literal = (value: Value) => (typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value));

  async function planOf(mode: string, { sql, params }: Statement): Promise<Node[]> {
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE asked AS ${sql}`);
    const { rows } = await client.query(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE asked${params.length ? `(${params.map(literal).join(", ")})` : ""}`,
    );
    await client.query("DEALLOCATE asked");
    return nodesOf(rows[0]["QUERY PLAN"][0].Plan);
  }

  test.each(Object.keys(queries(null as never)))("the query for %s scans no large table", async (name) => {
    db.asked.length = 0;
    await queries(db)[name]?.();
    expect(db.asked.length).toBeGreaterThan(0);
    for (const asked of db.asked.splice(0)) {
      // PostgreSQL plans for the given values at first, and after a few runs for any values.
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        const nodes = await planOf(mode, asked);
        const details = `${mode}\n${asked.sql}\n${JSON.stringify(nodes[0], null, 1)}`;
        const whole = nodes.filter((node) => node["Node Type"] === "Seq Scan" && node["Relation Name"]);
        expect(whole, details).toEqual([]);
        for (const node of nodes) {
          const looked = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
          expect(looked, details).toBeLessThan(fewRows);
        }
      }
    }
  });
});
