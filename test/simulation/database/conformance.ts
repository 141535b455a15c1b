// Random schedules of concurrent transactions, made of the kinds of statements that the product sends to PostgreSQL. The model
// runs a schedule first; what each session sees then has to be the same on a real engine.

import { Machine, World } from "../runtime/world.ts";
import type { Random } from "../runtime/random.ts";
import { Cluster } from "./cluster.ts";
import { Session, type Reply } from "./session.ts";
import type { Row, Tables, Value } from "./tables.ts";

export type Step = { session: number; text: string; values: Value[] };

/** What is known after a step: the statements that have ended since the one before, and the sessions that wait. */
export type Observation = { ended: { session: number; result: string }[]; blocked: number[] };

export const sessions = 3;
const maxSteps = 24;

/** The rows that a schedule begins with. Every schedule has a site of its own. */
export const setUp = (site: string): { text: string; values: Value[] }[] => [
  ...[1, 2, 3, 4].map((n) => ({
    text: `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, reason, attempts, due_at, owner, updated_at)
           VALUES ($1, $2, 'c', 'webhook', 'queued', NULL, 0, $3, '', 0)`,
    values: [site, `e${n}`, n * 10],
  })),
  {
    text: `INSERT INTO period_heads (site_id, number, ends_at, closed_at, conversions, removed) VALUES ($1, 1, 0, 0, 0, 0)`,
    values: [site],
  },
  {
    text: `INSERT INTO totals (site_id, writer, conversions, removed_events, bot_visits) VALUES ($1, 'w1', 5, 0, 0)`,
    values: [site],
  },
  { text: `INSERT INTO settings (name, value) VALUES ($1, '7')`, values: [site] },
];

/** Reads everything that a schedule may have changed. */
export const contents = (site: string): { text: string; values: Value[] }[] => [
  { text: `SELECT * FROM deliveries WHERE site_id = $1 ORDER BY event_id`, values: [site] },
  { text: `SELECT * FROM dedup_claims WHERE site_id = $1 ORDER BY claim`, values: [site] },
  { text: `SELECT * FROM outcomes WHERE site_id = $1 ORDER BY event_id, number`, values: [site] },
  { text: `SELECT * FROM totals WHERE site_id = $1 ORDER BY writer`, values: [site] },
  { text: `SELECT * FROM period_heads WHERE site_id = $1`, values: [site] },
  { text: `SELECT * FROM identities WHERE site_id = $1 ORDER BY email_sha256`, values: [site] },
  { text: `SELECT * FROM nodes WHERE site_id = $1 ORDER BY owner`, values: [site] },
  { text: `SELECT value FROM settings WHERE name = $1`, values: [site] },
];

type Draw = (random: Random, site: string, session: number) => { text: string; values: Value[] };

const statements: readonly Draw[] = [
  // A claim: src/store/events/claims.ts.
  (random, site, session) => ({
    text: `INSERT INTO dedup_claims (site_id, claim, event_id, person_ref, expires_at) VALUES ($2, $3, $4, 1, $5), ($2, $6, $4, 1, $5)
           ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, expires_at = excluded.expires_at
           WHERE dedup_claims.expires_at <= $1 OR dedup_claims.event_id = excluded.event_id RETURNING site_id, claim`,
    values: [
      random.pick([0, 50]),
      site,
      random.pick(["k1", "k2"]),
      `s${session}`,
      random.pick([10, 100]),
      random.pick(["k3", "k4"]),
    ],
  }),
  // An outcome: src/store/deliveries/outcomes.ts.
  (random, site, session) => ({
    text: `INSERT INTO outcomes (site_id, event_id, number, results)
           VALUES (CAST($1 AS text), CAST($2 AS text), CAST($3 AS integer), CAST($4 AS text))
           ON CONFLICT DO NOTHING RETURNING event_id, number`,
    values: [site, random.pick(["e1", "e2"]), random.below(2), `by ${session}`],
  }),
  // A claim of due deliveries: src/store/deliveries/queued.ts.
  (random, site) => ({
    text: `SELECT event_id FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at <= $3
           ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED`,
    values: [site, "c", random.pick([15, 100]), 1 + random.below(2)],
  }),
  (random, site, session) => ({
    text: `UPDATE deliveries SET owner = $4, due_at = $5, updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN ($6,$7) AND state || '' = 'queued' AND due_at <= $3
           RETURNING event_id`,
    values: [
      site,
      "c",
      random.pick([15, 100]),
      `s${session}`,
      200 + session,
      random.pick(["e1", "e2"]),
      random.pick(["e3", "e4"]),
    ],
  }),
  // A settlement: src/store/deliveries/deliveries.ts.
  (random, site, session) => ({
    text: `WITH v AS MATERIALIZED (VALUES (CAST($2 AS text),CAST($3 AS text),CAST($4 AS text),CAST($5 AS bigint)))
           UPDATE deliveries SET state = v.column3, due_at = v.column4, owner = ''
           FROM v WHERE deliveries.site_id = $1 AND deliveries.event_id IN ($2) AND deliveries.event_id = v.column1
             AND deliveries.owner = v.column2 RETURNING event_id, connection_id`,
    values: [site, random.pick(["e1", "e2"]), random.pick(["", `s${session}`]), "sent", 0],
  }),
  // Totals and periods: src/store/outbound.
  (random, site) => ({
    text: `INSERT INTO totals (site_id, writer, conversions, removed_events, bot_visits) VALUES ($1, $2, $3, 0, 0)
           ON CONFLICT (site_id, writer) DO UPDATE SET conversions = totals.conversions + excluded.conversions`,
    values: [site, random.pick(["w1", "w2"]), 1 + random.below(3)],
  }),
  (random, site) => ({
    text: `SELECT number, conversions FROM period_heads WHERE site_id = $1 AND number = $2 ${random.pick(["FOR UPDATE", "FOR UPDATE SKIP LOCKED"])}`,
    values: [site, random.pick([1, 1, 2])],
  }),
  (_random, site) => ({
    text: `UPDATE period_heads SET number = number + 1, conversions = $2 WHERE site_id = $1 AND number = 1 RETURNING number`,
    values: [site, 5],
  }),
  (_random, site) => ({
    text: `SELECT CAST(COALESCE(SUM(conversions), 0) AS bigint) AS conversions FROM totals WHERE site_id = $1`,
    values: [site],
  }),
  // The revision: src/store/sites/revision.ts.
  (_random, site) => ({
    text: `UPDATE settings SET value = CAST(CAST(value AS bigint) + 1 AS text) WHERE name = $1 RETURNING value`,
    values: [site],
  }),
  // A person's record: src/store/people/people.ts.
  (random, site) => ({
    text: `INSERT INTO identities (site_id, email_sha256, record, oldest_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (site_id, email_sha256) DO NOTHING`,
    values: [site, random.pick(["p1", "p2"]), "new", 1],
  }),
  (random, site) => ({
    text: `SELECT record FROM identities WHERE site_id = $1 AND email_sha256 = $2 FOR UPDATE`,
    values: [site, random.pick(["p1", "p2"])],
  }),
  (random, site, session) => ({
    text: `UPDATE identities SET record = $3 WHERE site_id = $1 AND email_sha256 = $2`,
    values: [site, random.pick(["p1", "p2"]), `by ${session}`],
  }),
  // The row of a node: src/store/deliveries/nodes.ts.
  (random, site, session) => ({
    text: `INSERT INTO nodes (site_id, owner, low_water, until) VALUES ($1, $2, $3, $4)
           ON CONFLICT (site_id, owner) DO UPDATE SET low_water = excluded.low_water, until = excluded.until`,
    values: [site, random.pick(["n1", "n2"]), `mark ${session}`, session],
  }),
  (random, site) => ({
    text: `DELETE FROM nodes WHERE site_id = $1 AND owner = $2 AND until < 3`,
    values: [site, random.pick(["n1", "n2"])],
  }),
  // A key that must be new.
  (random, site, session) => ({
    text: `INSERT INTO nodes (site_id, owner, low_water, until) VALUES ($1, $2, $3, 9)`,
    values: [site, random.pick(["n1", "n2", "n3"]), `plain ${session}`],
  }),
  (_random, site) => ({
    text: `SELECT event_id, owner, state FROM deliveries WHERE site_id = $1 ORDER BY event_id`,
    values: [site],
  }),
];

export const describeRows = (rows: readonly Row[]) => JSON.stringify(rows.map((row) => ({ ...row })));

/** RETURNING gives rows in any order. */
export const describeResult = (rows: readonly Row[]) =>
  rows
    .map((row) => JSON.stringify({ ...row }))
    .toSorted()
    .join();

/** Draws and runs a schedule on the model. `isSerial`: one transaction at a time. */
export async function runOnModel(
  tables: Tables,
  random: Random,
  site: string,
  isSerial: boolean,
): Promise<{ steps: Step[]; observations: Observation[]; contents: string[] }> {
  const world = new World(1);
  const cluster = new Cluster(world, tables, { isSynchronous: true, replicationMs: 600 });
  const process = new Machine(world, "model").start();
  const opened = Array.from(
    { length: sessions },
    () =>
      new Session({
        cluster,
        server: cluster.server("db1"),
        process,
        statementTimeoutMs: 1_000_000,
        onClosed: () => {},
      }),
  );
  // Longer than the time after which a deadlock is found.
  const settle = () => {
    const until = world.now + 3000;
    world.after(3000, "settled", () => {});
    return world.runUntil(() => world.now >= until);
  };
  for (const { text, values } of setUp(site)) tables.all(text, values);
  tables.takeChanges();

  const steps: Step[] = [];
  const observations: Observation[] = [];
  const pending = new Set<number>();
  const inTransaction = new Set<number>();
  let ended: Observation["ended"] = [];
  const run = async (step: Step) => {
    steps.push(step);
    const { session, text, values } = step;
    pending.add(session);
    const answer = (reply: Reply) => {
      pending.delete(session);
      const code = "error" in reply ? String((reply.error as { code?: string }).code) : "";
      ended.push({ session, result: "error" in reply ? `error ${code}` : describeResult(reply.rows) });
    };
    opened[session]?.receive({ text, values, answer });
    await settle();
    observations.push({
      ended: ended.toSorted((one, other) => one.session - other.session),
      blocked: [...pending].toSorted(),
    });
    ended = [];
  };
  const control = (session: number, text: string) => run({ session, text, values: [] });

  while (steps.length < maxSteps) {
    const [only] = inTransaction;
    const free = Array.from({ length: sessions }, (_, i) => i).filter((i) => !pending.has(i));
    const session = isSerial && only !== undefined ? only : random.pick(free);
    if (!inTransaction.has(session)) {
      inTransaction.add(session);
      await control(session, "BEGIN");
    } else if (random.chance(0.25)) {
      inTransaction.delete(session);
      await control(session, random.chance(0.7) ? "COMMIT" : "ROLLBACK");
    } else {
      await run({ session, ...random.pick(statements)(random, site, session) });
    }
  }
  // A session that waits can end only after those that it waits for.
  while (inTransaction.size > 0) {
    const session = [...inTransaction].find((one) => !pending.has(one));
    if (session === undefined) throw new Error("all sessions wait");
    inTransaction.delete(session);
    await control(session, "COMMIT");
  }
  cluster.transactions.leave();
  return {
    steps,
    observations,
    contents: contents(site).map(({ text, values }) => describeRows(tables.all(text, values))),
  };
}
