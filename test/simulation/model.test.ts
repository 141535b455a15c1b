// The model of PostgreSQL's transactions behaves as the real engines do, for the kinds of statements that the product uses.

import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { types } from "../../src/store/engine/postgres/client.ts";
import { migrations } from "../../src/store/schema/schema.ts";
import { migratedDatabase } from "../support/databases.ts";
import {
  contents,
  describeResult,
  describeRows,
  runOnModel,
  sessions,
  setUp,
  type Observation,
  type Step,
} from "./database/conformance.ts";
import { Tables, type Row } from "./database/tables.ts";
import { Random } from "./runtime/random.ts";

function newTables(): Tables {
  const tables = new Tables();
  for (const { statements } of migrations) for (const statement of statements) tables.exec(statement.replace("{COMPACT}", ""));
  tables.watch({ hasLocks: true });
  return tables;
}

type Connected = { client: Client; pid: number };

async function connect(url: string): Promise<Connected> {
  const client = new Client({ connectionString: url, types });
  // A test that fails leaves its connections to the end of the server.
  client.on("error", () => {});
  await client.connect();
  // At once: the session that closes the circle finds the deadlock, as it does in the model.
  await client.query("SET deadlock_timeout = '1ms'");
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return { client, pid: Number(rows[0]?.pid) };
}

/** Waits until every statement has ended or waits for a lock. */
async function settle(monitor: Client, pids: () => readonly number[]): Promise<void> {
  for (let quiet = 0; pids().length > 0 && quiet < 2;) {
    await sleep(3);
    const waiting = pids();
    const { rows } = await monitor.query<{ pid: number; blockers: number[] }>(
      "SELECT pid, pg_blocking_pids(pid) AS blockers FROM UNNEST(CAST($1 AS integer[])) AS pid",
      [waiting],
    );
    const blockers = new Map(rows.map((row) => [row.pid, row.blockers]));
    const isQuiet = rows.every((row) => row.blockers.length > 0) && !hasCircle(blockers);
    quiet = isQuiet && pids().length === waiting.length ? quiet + 1 : 0;
  }
}

/** PostgreSQL ends each circle, but on a busy machine not at once. */
function hasCircle(blockers: ReadonlyMap<number, readonly number[]>): boolean {
  return [...blockers.keys()].some((start) => {
    const reached = new Set(blockers.get(start));
    for (const pid of reached) for (const next of blockers.get(pid) ?? []) reached.add(next);
    return reached.has(start);
  });
}

async function runOnPostgres(opened: readonly Connected[], monitor: Client, steps: readonly Step[]): Promise<Observation[]> {
  const observations: Observation[] = [];
  const pending = new Map<number, number>();
  for (const { session, text, values } of steps) {
    const ended: Observation["ended"] = [];
    const { client, pid } = opened[session] as Connected;
    pending.set(session, pid);
    client.query<Row>(text, values).then(
      ({ rows }) => note(describeResult(rows)),
      (error: { code?: string }) => note(`error ${error.code}`),
    );
    function note(result: string): void {
      pending.delete(session);
      latest.push({ session, result });
    }
    await settle(monitor, () => [...pending.values()]);
    ended.push(...latest.splice(0));
    observations.push({
      ended: ended.toSorted((one, other) => one.session - other.session),
      blocked: [...pending.keys()].toSorted(),
    });
  }
  return observations;
}

const latest: Observation["ended"] = [];
const deadlock = "error 40P01";

/**
 * Finds the step after which another session goes on than in the model, of several that waited for the same row or in a circle. The
 * first that waited comes first in the model, and the session that closes a circle is refused. In PostgreSQL, all of them race for
 * the new version once the row was changed, and on a busy machine another session of the circle may be the first to find it.
 */
function findRace(model: readonly Observation[], real: readonly Observation[]): number | undefined {
  const differs = model.findIndex((one, i) => JSON.stringify(one) !== JSON.stringify(real[i]));
  const waited = model[differs - 1]?.blocked ?? [];
  const others = (ended: Observation["ended"] = []) =>
    ended.filter(({ session }) => !waited.includes(session)).map(({ session }) => session);
  const isRowRace =
    waited.length > 1 &&
    model[differs]?.blocked.length === real[differs]?.blocked.length &&
    others(model[differs]?.ended).join() === others(real[differs]?.ended).join();
  const isOtherVictim = [model, real].every(
    (all) => all[differs]?.ended.filter(({ result }) => result === deadlock).length === 1,
  );
  return isRowRace || isOtherVictim ? differs : undefined;
}

describe("the model of concurrent transactions", () => {
  test("sessions see and wait for the same in the model as in PostgreSQL", async () => {
    const url = await migratedDatabase();
    const [monitor, ...opened] = await Promise.all(Array.from({ length: sessions + 1 }, () => connect(url)));
    if (!monitor) throw new Error("not connected");
    const tables = newTables();
    let [blocked, failed, races] = [0, 0, 0];
    for (let schedule = 0; schedule < 40; schedule++) {
      const site = `site${schedule}`;
      const model = await runOnModel(tables, new Random(site), site, false);
      for (const { text, values } of setUp(site)) await monitor.client.query(text, values);
      const observations = await runOnPostgres(opened, monitor.client, model.steps);
      const race = findRace(model.observations, observations);
      model.steps.slice(0, race).forEach((step, i) =>
        expect({ schedule, step, ...observations[i] }).toEqual({
          schedule,
          step,
          ...model.observations[i],
        }),
      );
      const found: string[] = [];
      for (const { text, values } of contents(site))
        found.push(describeRows((await monitor.client.query<Row>(text, values)).rows));
      if (race === undefined) expect(found).toEqual(model.contents);
      else races += 1;
      blocked += model.observations.filter((one) => one.blocked.length > 0).length;
      failed += model.observations.flatMap(({ ended }) => ended).filter(({ result }) => result === deadlock).length;
    }
    await Promise.all([monitor, ...opened].map(({ client }) => client.end()));
    // The schedules are worth something only if sessions wait for each other, and some never get what they wait for.
    expect(blocked).toBeGreaterThan(40);
    expect(failed).toBeGreaterThan(0);
    expect(races).toBeLessThan(10);
  });

  test("one transaction after the other leaves the same in the model as in SQLite", async () => {
    const tables = newTables();
    const db = new DatabaseSync(":memory:");
    for (const { statements } of migrations)
      for (const statement of statements) db.exec(statement.replace("{COMPACT}", "WITHOUT ROWID"));
    const all = (text: string, values: Step["values"]) =>
      db.prepare(text.replace(/FOR UPDATE(?: SKIP LOCKED)?\s*$/, "").replaceAll(/\$(\d+)/g, "?$1")).all(...values) as Row[];
    for (let schedule = 0; schedule < 40; schedule++) {
      const site = `site${schedule}`;
      const model = await runOnModel(tables, new Random(`serial ${site}`), site, true);
      for (const { text, values } of setUp(site)) all(text, values);
      let hasFailed = false;
      model.steps.forEach(({ text, values, session }, i) => {
        let result = "";
        if (text === "BEGIN") hasFailed = false;
        if (hasFailed && text !== "COMMIT" && text !== "ROLLBACK") result = "error 25P02";
        else if (text === "COMMIT" && hasFailed) db.exec("ROLLBACK");
        else {
          try {
            result = describeResult(all(text, values));
          } catch (error) {
            hasFailed = true;
            result = (error as { errcode?: number }).errcode === 1555 ? "error 23505" : String(error);
          }
        }
        expect({ step: text, ended: [{ session, result }] }).toEqual({
          step: text,
          ended: model.observations[i]?.ended,
        });
      });
      const found = contents(site).map(({ text, values }) => describeRows(all(text, values)));
      expect(found).toEqual(model.contents);
    }
  });
});
