// Does everything fit together? Read from one moment of the database, in portions, without changing anything.

import { dayMs } from "../../kernel/time.ts";
import { consentStates } from "../../kernel/event.ts";
import { checkJson, numberQuestions, wordQuestions } from "./checkColumns.ts";
import { checkEvents, checkPeople, gather, type Add, type Question } from "./checkRecords.ts";
import type { Row } from "../engine/database.ts";
import { sealedColumns, sealedIn, sealedNames } from "./sealedColumns.ts";
import { tryOpen, type Seal } from "../engine/seal.ts";
import type { Snapshot } from "./snapshot.ts";
import { tablesAt } from "../schema/tables.ts";

/** `example` names the first of them. */
export type Inconsistency = { what: string; count: number; example: string };

const yearMs = 366 * dayMs;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");

/** Each selects what is wrong, as `example`. */
const questions: readonly Question[] = [
  {
    what: "deliveries without their event",
    sql: `SELECT event_id AS example FROM deliveries WHERE NOT EXISTS
      (SELECT 1 FROM events WHERE events.site_id = deliveries.site_id AND events.id = deliveries.event_id)`,
  },
  {
    what: "attempts without their delivery",
    sql: `SELECT event_id AS example FROM attempts WHERE NOT EXISTS
      (SELECT 1 FROM deliveries WHERE deliveries.site_id = attempts.site_id
         AND deliveries.event_id = attempts.event_id AND deliveries.connection_id = attempts.connection_id)`,
  },
  {
    what: "attempts that their delivery does not count",
    sql: `SELECT attempts.event_id AS example FROM attempts JOIN deliveries ON deliveries.site_id = attempts.site_id
        AND deliveries.event_id = attempts.event_id AND deliveries.connection_id = attempts.connection_id
      WHERE attempts.number > deliveries.attempts`,
  },
  {
    what: "deliveries whose attempts are not all there",
    sql: `SELECT deliveries.event_id AS example FROM deliveries LEFT JOIN attempts ON attempts.site_id = deliveries.site_id
        AND attempts.event_id = deliveries.event_id AND attempts.connection_id = deliveries.connection_id
      WHERE deliveries.attempts > 0
      GROUP BY deliveries.site_id, deliveries.event_id, deliveries.connection_id, deliveries.attempts
      HAVING deliveries.attempts > COUNT(attempts.number)`,
  },
  {
    what: "deliveries that wait for a connection that is not there",
    sql: `SELECT event_id AS example FROM deliveries WHERE state IN ('queued', 'parked') AND NOT EXISTS
      (SELECT 1 FROM connections WHERE connections.site_id = deliveries.site_id
         AND connections.id = deliveries.connection_id)`,
  },
  {
    what: "deliveries that wait for more than a year",
    sql: `SELECT event_id AS example FROM deliveries WHERE state = 'queued' AND due_at > updated_at + ${yearMs}`,
  },
  {
    what: "deliveries of filtered events",
    sql: `SELECT event_id AS example FROM events JOIN deliveries ON deliveries.site_id = events.site_id
        AND deliveries.event_id = events.id WHERE events.status = 'filtered'`,
  },
  {
    what: "decisions about consent that cannot be read (they count as a refusal)",
    sql: `SELECT subject AS example FROM consents WHERE state NOT IN (${quoted(consentStates)})`,
  },
  {
    // A refusal may outlive the decision after it, which is forgotten with its person.
    what: "agreements in the history that are not in force",
    sql: `SELECT subject AS example FROM consent_history WHERE state <> 'denied' AND NOT EXISTS
      (SELECT 1 FROM consents WHERE consents.site_id = consent_history.site_id
         AND consents.subject = consent_history.subject AND consents.given_by = consent_history.given_by)`,
  },
  {
    what: "sites whose closed periods hold more than was ever counted",
    sql: `SELECT period_heads.site_id AS example FROM period_heads LEFT JOIN (
        SELECT site_id, SUM(conversions) AS conversions, SUM(removed_events + bot_visits) AS removed
        FROM totals GROUP BY site_id) AS counted ON counted.site_id = period_heads.site_id
      WHERE period_heads.conversions > COALESCE(counted.conversions, 0)
        OR period_heads.removed > COALESCE(counted.removed, 0)`,
  },
  {
    what: "periods after the one that was closed last",
    sql: `SELECT periods.site_id AS example FROM periods LEFT JOIN period_heads
        ON period_heads.site_id = periods.site_id
      WHERE period_heads.number IS NULL OR periods.number > period_heads.number`,
  },
  {
    what: "pushes that wait without their period",
    sql: `SELECT webhook_id AS example FROM pushes WHERE state = 'queued' AND NOT EXISTS
      (SELECT 1 FROM periods WHERE periods.site_id = pushes.site_id AND periods.number = pushes.number)`,
  },
  {
    what: "webhooks of sites that count no periods",
    sql: `SELECT id AS example FROM webhooks WHERE site_id NOT IN (SELECT site_id FROM period_heads)`,
  },
  {
    what: "sites in a database without a single host",
    sql: `SELECT site_id AS example FROM sites WHERE NOT EXISTS (SELECT 1 FROM hosts)`,
  },
  {
    what: "missing settings of the installation",
    sql: `SELECT column1 AS example FROM (VALUES ('revision'), ('${sealedNames.check}')) AS wanted
      WHERE column1 NOT IN (SELECT name FROM settings)`,
  },
  ...["sessions", "passwords", "two_factors", "grants"].map((table) => ({
    what: `${table} of users that are not there`,
    sql: `SELECT user_id AS example FROM ${table} WHERE user_id NOT IN (SELECT id FROM users)`,
  })),
];

/** Tables whose rows belong to a site. Under the empty one stands what belongs to all. */
const installationWide = new Set(
  "settings sites oauth_apps users sessions passwords two_factors verifications tickets tries".split(" "),
);

/** `platforms`: those that there are. */
export async function checkSnapshot(
  snapshot: Snapshot,
  seal: Seal,
  platforms: readonly string[],
): Promise<Inconsistency[]> {
  const found: Inconsistency[] = [];
  const add = (what: string, count: number, example: string) => {
    if (count > 0) found.push({ what, count, example });
  };
  if (snapshot.engine === "sqlite") {
    const rows = await snapshot.all("PRAGMA integrity_check(10)");
    const faults = rows.map((row) => String(row.integrity_check)).filter((text) => text !== "ok");
    add("damaged pages or indexes", faults.length, faults[0] ?? "");
  }
  const ask = async ({ what, sql }: Question) => {
    const [row] = await snapshot.all(`SELECT COUNT(*) AS n, MIN(example) AS example FROM (${sql}) AS wrong`);
    add(what, Number(row?.n), String(row?.example));
  };
  for (const question of [...questions, ...wordQuestions(platforms), ...(await numberQuestions(snapshot))])
    await ask(question);
  for (const table of tablesAt(snapshot.version).filter((one) => !installationWide.has(one))) {
    await ask({
      what: `${table} of sites that are not there`,
      sql: `SELECT site_id AS example FROM ${table} WHERE site_id <> '' AND site_id NOT IN (SELECT site_id FROM sites)`,
    });
  }
  await checkJson(snapshot, add);
  await checkSealed(snapshot, seal, add);
  await checkEvents(snapshot, add);
  await checkPeople(snapshot, add);
  return found;
}

/** Every sealed value opens in its place. */
async function checkSealed(snapshot: Snapshot, seal: Seal, add: Add): Promise<void> {
  const { wrong, tell } = gather(add);
  const look = (table: string, sealed: string, place: string) => {
    if (tryOpen(seal, sealed, place) === null) wrong(`sealed values in ${table} that do not open`, place);
  };
  for (const { table, key, column, place, where = "1 = 1" } of sealedColumns) {
    const sql = `SELECT ${[...key, column].join(", ")} FROM ${table} WHERE ${where}`;
    for await (const rows of snapshot.stream(sql))
      for (const row of rows) look(table, String(row[column]), place(row));
  }
  for (const row of await snapshot.all(`SELECT site_id, settings FROM sites`))
    for (const { sealed, place } of sealedInReadable(row)) look("sites", sealed, place);
  tell();
}

/** Settings that cannot be read at all are told of as such. */
function sealedInReadable(row: Row): ReturnType<typeof sealedIn> {
  try {
    return sealedIn(String(row.site_id), String(row.settings));
  } catch {
    return [];
  }
}
