// Checks the integrity of the data in one moment of the database, some rows at a time, without changing anything.

import { backfillStates } from "../../../kernel/backfill.ts";
import { confirmationStates } from "../../../kernel/confirmation.ts";
import { correctionStates } from "../../../kernel/correction.ts";
import { connectionStates, consentStates, deliveryStates, visitBuckets } from "../../../kernel/event.ts";
import { orderStatuses, rowClasses, runStates } from "../../../kernel/reconciliation.ts";
import { dayMs } from "../../../kernel/time.ts";
import { isObject, tryParse } from "../../damagedRows.ts";
import { eventStatuses } from "../../events/eventRow.ts";
import { clickBuckets, evidenceBuckets } from "../../statistics/traffic.ts";
import { webhookStates } from "../../outbound/webhooks.ts";
import { sourceStates } from "../../sites/sources.ts";
import { importKinds } from "../../sites/imports.ts";
import { segmentKinds, statisticsKinds } from "../../statistics/statistics.ts";
import { checkClaims } from "./claims.ts";
import { checkEvents, type EventRules } from "./events.ts";
import { Faults, incompleteSites, type FaultQuery, type Inconsistency } from "./faults.ts";
import { checkPeople } from "./people.ts";
import { sealedColumns, sealedIn, sealedNames } from "../sealedColumns.ts";
import { tryUnseal, type Seal } from "../../engine/seal.ts";
import type { Snapshot } from "../snapshot.ts";
import { tablesAt } from "../../schema/tables.ts";

const yearMs = 366 * dayMs;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");

const queries: readonly FaultQuery[] = [
  ...["deliveries", "outcomes", "confirmations", "corrections"].map((table) => ({
    what: `${table} without their event`,
    advice: "orphaned" as const,
    sql: `SELECT event_id AS example FROM ${table} WHERE NOT EXISTS
      (SELECT 1 FROM events WHERE ${table}.site_id = events.site_id AND events.id = ${table}.event_id)
      AND site_id NOT IN (${incompleteSites})`,
  })),
  {
    what: "attempts without their delivery",
    advice: "orphaned",
    sql: `SELECT event_id AS example FROM attempts WHERE NOT EXISTS
      (SELECT 1 FROM deliveries WHERE deliveries.site_id = attempts.site_id
         AND deliveries.event_id = attempts.event_id AND deliveries.connection_id = attempts.connection_id)
      AND site_id NOT IN (${incompleteSites})`,
  },
  {
    what: "deliveries that wait for a connection that does not exist",
    advice: "unsendable",
    sql: `SELECT event_id AS example FROM deliveries WHERE state IN ('queued', 'parked') AND NOT EXISTS
      (SELECT 1 FROM connections WHERE connections.site_id = deliveries.site_id
         AND connections.id = deliveries.connection_id) AND site_id NOT IN (${incompleteSites})`,
  },
  {
    what: "deliveries that are due in more than a year",
    advice: "unsendable",
    sql: `SELECT event_id AS example FROM deliveries WHERE state = 'queued' AND due_at > updated_at + ${yearMs}`,
  },
  {
    what: "deliveries of filtered events",
    advice: "resendable",
    sql: `SELECT event_id AS example FROM events JOIN deliveries ON deliveries.site_id = events.site_id
        AND deliveries.event_id = events.id WHERE events.status = 'filtered'`,
  },
  {
    what: "consent decisions that cannot be read (they count as a refusal)",
    advice: "unreadable",
    sql: `SELECT subject AS example FROM consents WHERE state NOT IN (${quoted(consentStates)})`,
  },
  {
    // A refusal may outlive the decision after it, which is purged with its person.
    what: "agreements in the consent history without a decision",
    advice: "orphaned",
    sql: `SELECT subject AS example FROM consent_history WHERE state <> 'denied' AND NOT EXISTS
      (SELECT 1 FROM consents WHERE consents.site_id = consent_history.site_id
         AND consents.subject = consent_history.subject AND consents.given_by = consent_history.given_by)
      AND site_id NOT IN (${incompleteSites})`,
  },
  {
    what: "sites whose closed periods exceed their totals",
    advice: "miscounted",
    sql: `SELECT period_heads.site_id AS example FROM period_heads LEFT JOIN (
        SELECT site_id, SUM(conversions) AS conversions, SUM(removed_events + bot_visits) AS removed
        FROM totals GROUP BY site_id) AS counted ON counted.site_id = period_heads.site_id
      WHERE period_heads.conversions > COALESCE(counted.conversions, 0)
        OR period_heads.removed > COALESCE(counted.removed, 0)`,
  },
  {
    what: "periods after the last closed one",
    advice: "miscounted",
    sql: `SELECT periods.site_id AS example FROM periods LEFT JOIN period_heads
        ON period_heads.site_id = periods.site_id
      WHERE (period_heads.number IS NULL OR periods.number > period_heads.number)
        AND periods.site_id NOT IN (${incompleteSites})`,
  },
  {
    what: "queued pushes without their period",
    advice: "orphaned",
    sql: `SELECT webhook_id AS example FROM pushes WHERE state = 'queued' AND NOT EXISTS
      (SELECT 1 FROM periods WHERE periods.site_id = pushes.site_id AND periods.number = pushes.number)
      AND site_id NOT IN (${incompleteSites})`,
  },
  {
    what: "uses of keys that do not exist",
    advice: "orphaned",
    // Those of API keys are under site ''. Uses of sources are counted like those of keys.
    sql: `SELECT key_id AS example FROM key_uses WHERE site_id <> '' AND NOT EXISTS
      (SELECT 1 FROM inbound_keys WHERE inbound_keys.site_id = key_uses.site_id AND inbound_keys.id = key_uses.key_id)
      AND NOT EXISTS (SELECT 1 FROM sources WHERE sources.site_id = key_uses.site_id AND sources.id = key_uses.key_id)
      AND site_id NOT IN (${incompleteSites})`,
  },
  {
    what: "webhooks of sites without periods",
    advice: "misconfigured",
    sql: `SELECT id AS example FROM webhooks WHERE site_id NOT IN (SELECT site_id FROM period_heads)`,
  },
  {
    what: "sites in a database without a single host",
    advice: "misconfigured",
    sql: `SELECT site_id AS example FROM sites WHERE NOT EXISTS (SELECT 1 FROM hosts)`,
  },
  {
    what: "missing settings of the installation",
    advice: "misconfigured",
    sql: `SELECT column1 AS example FROM (VALUES ('revision'), ('${sealedNames.check}')) AS wanted
      WHERE column1 NOT IN (SELECT name FROM settings)`,
  },
  ...["sessions", "passwords", "two_factors", "grants", "push_devices"].map((table) => ({
    what: `${table} of users that do not exist`,
    advice: "orphaned" as const,
    sql: `SELECT user_id AS example FROM ${table} WHERE user_id NOT IN (SELECT id FROM users)`,
  })),
];

/** Tables whose rows belong to no site. In the other tables, rows under the empty site belong to all. */
const installationWide =
  /^(?:settings|sites|deleted_sites|site_moves|oauth_apps|users|sessions|passwords|two_factors|verifications|one_time_links|push_devices|rate_counters)$/;

/** What the check knows of the relay: the ids of all platforms, the windows of duplicates, the time. */
type CheckRules = EventRules & { platforms: readonly string[] };

export async function checkSnapshot(snapshot: Snapshot, seal: Seal, rules: CheckRules): Promise<Inconsistency[]> {
  const faults = new Faults();
  if (snapshot.engine === "sqlite") {
    const rows = await snapshot.all("PRAGMA integrity_check(10)");
    const texts = rows.map((row) => String(row.integrity_check)).filter((text) => text !== "ok");
    for (const text of texts) faults.add("damaged pages or indexes", "broken", text);
  }
  const run = async ({ what, advice, sql }: FaultQuery) => {
    const [row] = await snapshot.all(`SELECT COUNT(*) AS n, MIN(example) AS example FROM (${sql}) AS wrong`);
    faults.add(what, advice, String(row?.example), Number(row?.n));
  };
  for (const query of [...queries, ...valueQueries(rules.platforms), ...(await numberQueries(snapshot))]) await run(query);
  for (const table of tablesAt(snapshot.version).filter((one) => !installationWide.test(one))) {
    await run({
      what: `${table} of sites that do not exist`,
      advice: "orphaned",
      sql: `SELECT site_id AS example FROM ${table} WHERE site_id <> '' AND site_id NOT IN (SELECT site_id FROM sites)
        AND site_id NOT IN (SELECT site_id FROM deleted_sites WHERE purged_at IS NULL)
        AND site_id NOT IN (SELECT site_id FROM site_moves WHERE state = 'arriving')`,
    });
  }
  await checkJson(snapshot, faults);
  await checkSealed(snapshot, seal, faults);
  await checkEvents(snapshot, rules, faults);
  await checkClaims(snapshot, rules.now, faults);
  await checkPeople(snapshot, faults);
  return faults.list();
}

/** Checks that every sealed value can be decrypted in its place. */
async function checkSealed(snapshot: Snapshot, seal: Seal, faults: Faults): Promise<void> {
  const check = (table: string, sealed: string, place: string) => {
    if (tryUnseal(seal, sealed, place) === null)
      faults.add(`sealed values in ${table} that cannot be decrypted`, "undecryptable", place);
  };
  for (const { table, key, column, place, where = "1 = 1" } of sealedColumns) {
    const sql = `SELECT ${[...key, column].join(", ")} FROM ${table} WHERE ${where}`;
    for await (const rows of snapshot.stream(sql)) for (const row of rows) check(table, String(row[column]), place(row));
  }
  for (const row of await snapshot.all(`SELECT site_id, settings FROM sites`))
    for (const { sealed, place } of sealedIn(String(row.site_id), String(row.settings))) check("sites", sealed, place);
}

const modes = ["live", "test"];

/** Columns that hold one of a few values, and the column that names their rows. */
const enumerations: readonly [table: string, key: string, column: string, values: readonly string[]][] = [
  ["inbound_keys", "id", "mode", modes],
  ["connections", "id", "state", connectionStates],
  ["sources", "id", "state", sourceStates],
  ["events", "id", "mode", modes],
  ["events", "id", "status", eventStatuses],
  ["deliveries", "event_id", "state", deliveryStates],
  ["backfills", "connection_id", "state", backfillStates],
  ["attempts", "event_id", "state", deliveryStates],
  ["confirmations", "event_id", "state", confirmationStates],
  ["confirmation_counts", "connection_id", "state", confirmationStates],
  ["corrections", "event_id", "state", correctionStates],
  ["consent_history", "subject", "state", consentStates],
  ["webhooks", "id", "state", webhookStates],
  ["pushes", "webhook_id", "state", ["queued", "sent"]],
  ["visit_counts", "site_id", "bucket", [...visitBuckets, ...evidenceBuckets, ...clickBuckets]],
  ["statistics", "site_id", "kind", statisticsKinds],
  ["statistics_segments", "site_id", "segment", segmentKinds],
  ["imports", "id", "kind", importKinds],
  ["imports", "id", "state", ["running", "stopped", "done"]],
  ["orders", "id", "status", orderStatuses],
  ["reconciliations", "id", "state", runStates],
  ["reconciliation_rows", "id", "class", rowClasses],
];

function valueQueries(platforms: readonly string[]): FaultQuery[] {
  return [...enumerations, ["connections", "id", "platform", platforms] as const].map(([table, key, column, known]) => ({
    what: `${table} with an unknown ${column}`,
    advice: "unreadable",
    sql: `SELECT ${key} AS example FROM ${table} WHERE ${column} NOT IN (${quoted(known)})`,
  }));
}

const isSelection = (value: unknown) => value === null || Array.isArray(value);

/** Columns that hold JSON, but for those of events and people, whose rows are checked as a whole. */
const json: readonly [table: string, key: string, column: string, fits: (value: unknown) => boolean][] = [
  ["sites", "site_id", "settings", isObject],
  ["connections", "id", "settings", isObject],
  ["connections", "id", "events", isSelection],
  ["alerts", "subject", "notifications", isObject],
  ["audit", "id", "detail", (value) => value !== undefined],
  ["backfills", "connection_id", "chunk", Array.isArray],
  ["backfills", "connection_id", "tally", isObject],
  ["confirmation_requests", "subject", "events", Array.isArray],
  ["quality_snapshots", "connection_id", "reports", Array.isArray],
  ["statistics_segments", "site_id", "figures", Array.isArray],
  ["imports", "id", "options", isObject],
  ["imports", "id", "tally", isObject],
  ["data_exports", "site_id", "options", isObject],
  ["data_exports", "site_id", "runs", Array.isArray],
  ["weekly_reports", "site_id", "results", isObject],
  ["order_feeds", "site_id", "options", isObject],
  ["order_feeds", "site_id", "tally", isObject],
  ["reconciliations", "id", "tally", isObject],
  ["reconciliation_rows", "id", "outcomes", Array.isArray],
];

async function checkJson(snapshot: Snapshot, faults: Faults): Promise<void> {
  for (const [table, key, column, fits] of json) {
    for await (const rows of snapshot.stream(`SELECT ${key} AS id, ${column} AS text FROM ${table}`))
      for (const row of rows)
        if (!fits(tryParse(String(row.text))))
          faults.add(`${table} whose ${column} cannot be read`, "unreadable", String(row.id));
  }
}

/** The embedded database stores a text in any column, whatever its declared type. */
async function numberQueries(snapshot: Snapshot): Promise<FaultQuery[]> {
  const found: FaultQuery[] = [];
  if (snapshot.engine !== "sqlite") return found;
  for (const table of tablesAt(snapshot.version)) {
    const columns = await snapshot.all(`SELECT name, type, pk FROM pragma_table_info($1)`, [table]);
    const numbers = columns.filter(({ type }) => /int|double/.test(String(type)));
    if (numbers.length === 0) continue;
    const key = columns.toSorted((one, other) => Number(other.pk) - Number(one.pk))[0]?.name;
    const isText = numbers.map(({ name }) => `typeof("${name}") NOT IN ('integer', 'real', 'null')`);
    found.push({
      what: `${table} with something other than a number`,
      advice: "unreadable",
      sql: `SELECT "${key}" AS example FROM ${table} WHERE ${isText.join(" OR ")}`,
    });
  }
  return found;
}
