// The part of the check that looks at single columns: does each hold what the code takes it for?

import { connectionStates, consentStates, deliveryStates, visitBuckets } from "../../kernel/event.ts";
import { gather, type Add, type Question } from "./checkRecords.ts";
import { eventStatuses } from "../events/eventRow.ts";
import type { Snapshot } from "./snapshot.ts";
import { statisticsKinds } from "../statistics/statistics.ts";
import { tablesAt } from "../schema/tables.ts";
import { webhookStates } from "../outbound/webhooks.ts";

const modes = ["live", "test"];

/** Columns that hold one word out of a few, and what names their rows. */
const words: readonly [table: string, key: string, column: string, words: readonly string[]][] = [
  ["inbound_keys", "id", "mode", modes],
  ["connections", "id", "state", connectionStates],
  ["events", "id", "mode", modes],
  ["events", "id", "status", eventStatuses],
  ["deliveries", "event_id", "state", deliveryStates],
  ["attempts", "event_id", "state", deliveryStates],
  ["consent_history", "subject", "state", consentStates],
  ["webhooks", "id", "state", webhookStates],
  ["pushes", "webhook_id", "state", ["queued", "sent"]],
  ["visit_counts", "site_id", "bucket", visitBuckets],
  ["statistics", "site_id", "kind", statisticsKinds],
  ["imports", "id", "kind", ["conversions", "identities"]],
  ["imports", "id", "state", ["running", "stopped", "done"]],
];

const quoted = (some: readonly string[]) => some.map((word) => `'${word}'`).join(", ");

export function wordQuestions(platforms: readonly string[]): Question[] {
  return [...words, ["connections", "id", "platform", platforms] as const].map(
    ([table, key, column, known]) => ({
      what: `${table} with a ${column} that there is not`,
      sql: `SELECT ${key} AS example FROM ${table} WHERE ${column} NOT IN (${quoted(known)})`,
    }),
  );
}

export const isObject = (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSelection = (value: unknown) => value === null || Array.isArray(value);

/** Columns that hold JSON, but for those of events and people, which are looked at as a whole. */
const json: readonly [table: string, key: string, column: string, fits: (value: unknown) => boolean][] = [
  ["sites", "site_id", "settings", isObject],
  ["connections", "id", "settings", isObject],
  ["connections", "id", "events", isSelection],
  ["alerts", "subject", "told", isObject],
  ["audit", "id", "detail", () => true],
  ["imports", "id", "options", isObject],
  ["imports", "id", "tally", isObject],
];

export async function checkJson(snapshot: Snapshot, add: Add): Promise<void> {
  const { wrong, tell } = gather(add);
  for (const [table, key, column, fits] of json) {
    for await (const rows of snapshot.stream(`SELECT ${key} AS id, ${column} AS text FROM ${table}`))
      for (const row of rows)
        if (!isJson(String(row.text), fits)) wrong(`${table} whose ${column} cannot be read`, String(row.id));
  }
  tell();
}

function isJson(text: string, fits: (value: unknown) => boolean): boolean {
  try {
    return fits(JSON.parse(text));
  } catch {
    return false;
  }
}

/** The embedded database takes a text for any column, whatever was declared. */
export async function numberQuestions(snapshot: Snapshot): Promise<Question[]> {
  const questions: Question[] = [];
  if (snapshot.engine !== "sqlite") return questions;
  for (const table of tablesAt(snapshot.version)) {
    const columns = await snapshot.all(`SELECT name, type, pk FROM pragma_table_info($1)`, [table]);
    const numbers = columns.filter(({ type }) => /int|double/.test(String(type)));
    if (numbers.length === 0) continue;
    const key = columns.toSorted((one, other) => Number(other.pk) - Number(one.pk))[0]?.name;
    const isText = numbers.map(({ name }) => `typeof("${name}") NOT IN ('integer', 'real', 'null')`);
    questions.push({
      what: `${table} with something else in place of a number`,
      sql: `SELECT "${key}" AS example FROM ${table} WHERE ${isText.join(" OR ")}`,
    });
  }
  return questions;
}
