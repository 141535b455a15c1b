// Does everything fit together? Read from one moment of the database, in portions, without changing anything.

import { consentStates, deliveryStates } from "../event.ts";
import { checkEvents, checkPeople, gather, type Add } from "./checkRecords.ts";
import { sealedColumns, sealedIn } from "./sealed.ts";
import { tryOpen, type Seal } from "./seal.ts";
import type { Snapshot } from "./snapshot.ts";
import { tablesAt } from "./tables.ts";
import { webhookStates } from "./webhooks.ts";

/** `example` names the first of them. */
export type Inconsistency = { what: string; count: number; example: string };

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");

/** Each selects what is wrong, as `example`. */
const questions: readonly { what: string; sql: string }[] = [
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
    what: "deliveries in a state that there is not",
    sql: `SELECT event_id AS example FROM deliveries WHERE state NOT IN (${quoted(deliveryStates)})`,
  },
  {
    what: "deliveries of filtered events",
    sql: `SELECT event_id AS example FROM events JOIN deliveries ON deliveries.site_id = events.site_id
        AND deliveries.event_id = events.id WHERE events.status = 'filtered'`,
  },
  {
    what: "events with a status or mode that there is not",
    sql: `SELECT id AS example FROM events WHERE status NOT IN ('accepted', 'filtered') OR mode NOT IN ('live', 'test')`,
  },
  {
    what: "decisions about consent that cannot be read (they count as a refusal)",
    sql: `SELECT subject AS example FROM consents WHERE state NOT IN (${quoted(consentStates)})`,
  },
  {
    what: "sites whose closed periods hold more than was ever counted",
    sql: `SELECT site_id AS example FROM period_heads WHERE conversions >
        (SELECT COALESCE(SUM(totals.conversions), 0) FROM totals WHERE totals.site_id = period_heads.site_id)
      OR removed > (SELECT COALESCE(SUM(removed_events + bot_visits), 0) FROM totals
        WHERE totals.site_id = period_heads.site_id)`,
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
    what: "webhooks in a state that there is not",
    sql: `SELECT id AS example FROM webhooks WHERE state NOT IN (${quoted(webhookStates)})`,
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

export async function checkSnapshot(snapshot: Snapshot, seal: Seal): Promise<Inconsistency[]> {
  const found: Inconsistency[] = [];
  const add = (what: string, count: number, example: string) => {
    if (count > 0) found.push({ what, count, example });
  };
  if (snapshot.engine === "sqlite") {
    const rows = await snapshot.all("PRAGMA integrity_check(10)");
    const faults = rows.map((row) => String(row.integrity_check)).filter((text) => text !== "ok");
    add("damaged pages or indexes", faults.length, faults[0] ?? "");
  }
  const ask = async ({ what, sql }: { what: string; sql: string }) => {
    const [row] = await snapshot.all(`SELECT COUNT(*) AS n, MIN(example) AS example FROM (${sql}) AS wrong`);
    add(what, Number(row?.n), String(row?.example));
  };
  for (const question of questions) await ask(question);
  for (const table of tablesAt(snapshot.version).filter((one) => !installationWide.has(one))) {
    await ask({
      what: `${table} of sites that are not there`,
      sql: `SELECT site_id AS example FROM ${table} WHERE site_id <> '' AND site_id NOT IN (SELECT site_id FROM sites)`,
    });
  }
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
    for (const { sealed, place } of sealedIn(String(row.site_id), String(row.settings)))
      look("sites", sealed, place);
  tell();
}
