// Confirmations of accepted deliveries, and their sums by hour. A row and its share of the sums change in one transaction, and
// the row keeps what it was counted as: an answer that is written twice, or is followed by another one, counts once.

import type { Confirmation, ConfirmationReason, ConfirmationState, CountedAs } from "../../kernel/confirmation.ts";
import { timeOfId } from "../../kernel/ids.ts";
import { hourMs } from "../../kernel/time.ts";
import { asNumber, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { allByKeys, chunks, rowStatement, type Database, type Query, type RowQuery } from "../engine/database.ts";
import type { DeliveryKey } from "../deliveries/delivery.ts";
import { lockEvents } from "../events/eventRow.ts";
import { acceptedDeliveryStore } from "../deliveries/acceptedDeliveries.ts";
import { questionStore, type Question } from "./questions.ts";

export type ConfirmationRow = DeliveryKey & {
  state: ConfirmationState;
  reason: ConfirmationReason | null;
  detail: string | null;
  /** How often the delivery was sent again because of a temporary reason. */
  retries: number;
  /** State and reason in the sums, as text; empty while the delivery is sent again and a further answer is awaited. */
  counted: string;
  updatedAt: number;
};

export type ConfirmationCount = CountedAs & {
  /** Of the receipt of the events, counted from the epoch. */
  hour: number;
  connectionId: string;
  platform: string;
  count: number;
};

/** An answer about one event, and what it adds to the sums: they differ where the platform gives counts and names no event. */
type NewConfirmation = { eventId: string; confirmation: Confirmation; countedAs: CountedAs };

export const confirmationRow = describeRow<ConfirmationRow, ConfirmationRow>({
  siteId: asText,
  eventId: asText,
  connectionId: asText,
  state: asOneOf<ConfirmationState>(),
  reason: asOneOf<ConfirmationReason | null>(),
  detail: asTextOrNull,
  retries: asNumber,
  counted: asText,
  updatedAt: asNumber,
});

const saveConfirmations = rowStatement({
  text: `INSERT INTO confirmations (${confirmationRow.inserted.join(", ")}) VALUES {ROWS}
    ON CONFLICT (site_id, event_id, connection_id) DO UPDATE SET state = excluded.state, reason = excluded.reason,
      detail = excluded.detail, retries = excluded.retries, counted = excluded.counted, updated_at = excluded.updated_at`,
  columns: confirmationRow.inserted.length,
  types: ["text", "text", "text", "text", "text", "text", "integer", "text", "bigint"],
});

const countRow = describeRow<ConfirmationCount, ConfirmationCount>({
  hour: asNumber,
  connectionId: asText,
  platform: asText,
  state: asOneOf<ConfirmationState>(),
  reason: { column: "reason", read: (value) => (value || null) as ConfirmationReason | null },
  count: asNumber,
});

export function confirmationStore(db: Database) {
  return {
    ...acceptedDeliveryStore(db),
    ...questionStore(db),

    /**
     * Writes the answers to a question. Events that were purged meanwhile are left out. Returns the events that may be sent
     * again: the answer is temporary, their person was not erased, and they were sent again less than `maxRetries` times.
     */
    async answer(
      question: Question,
      platform: string,
      answers: readonly NewConfirmation[],
      maxRetries: number,
      at: number,
    ): Promise<string[]> {
      const again: string[] = [];
      // Each transaction writes one chunk, so that a large batch does not block the store.
      for (const some of chunks(answers))
        again.push(...(await db.write((tx) => writeAnswers(tx, db.forUpdate, { ...question, platform }, some, maxRetries, at))));
      return again;
    },

    listByEvents: (siteId: string, ids: readonly string[]): Promise<ConfirmationRow[]> => readConfirmations(db, siteId, ids),

    /** Lists the sums from `fromHour` to before `toHour`. */
    async listCounts(siteId: string, fromHour: number, toHour: number): Promise<ConfirmationCount[]> {
      const rows = await db.all(
        `SELECT ${countRow.list} FROM confirmation_counts
         WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND count > 0 ORDER BY hour, connection_id, state, reason`,
        [siteId, fromHour, toHour],
      );
      return rows.map(countRow.read);
    },
  };
}

/** Reads the confirmations of events. What has none is unknown. */
export async function readConfirmations(db: Query, siteId: string, ids: readonly string[]): Promise<ConfirmationRow[]> {
  const sql = `SELECT ${confirmationRow.list} FROM confirmations WHERE site_id = $1 AND event_id IN ({KEYS})
    ORDER BY event_id, connection_id`;
  return (await allByKeys(db, sql, [siteId], ids)).map(confirmationRow.read);
}

async function writeAnswers(
  tx: RowQuery,
  forUpdate: string,
  question: Question & { platform: string },
  answers: readonly NewConfirmation[],
  maxRetries: number,
  at: number,
): Promise<string[]> {
  const { siteId, connectionId, acceptedAt } = question;
  const ids = answers.map(({ eventId }) => eventId);
  const events = await lockEvents(tx, forUpdate, siteId, ids, "id, email_ref");
  const isErased = new Map(events.map((row) => [String(row.id), row.email_ref === null]));
  const rows = await readConfirmations(tx, siteId, ids);
  const known = new Map(rows.filter((row) => row.connectionId === connectionId).map((row) => [row.eventId, row]));
  const again: string[] = [];
  const changed: ConfirmationRow[] = [];
  const sums = new Map<string, number>();
  const add = (hour: number, counted: string, n: number) => {
    const key = `${hour} ${counted}`;
    if (counted) sums.set(key, (sums.get(key) ?? 0) + n);
  };
  for (const { eventId, confirmation, countedAs } of answers) {
    const erased = isErased.get(eventId);
    if (erased === undefined) continue;
    const before = known.get(eventId);
    const { state, reason, detail, isTemporary } = confirmation;
    // A conversion that was sent twice, and counted, does not become unknown because one of its requests has no answer.
    if (before?.state === "confirmed" && state === "unknown") continue;
    // A step that is repeated finds the row that it wrote itself, and counts its retry once.
    const isOwn = before !== undefined && before.updatedAt > acceptedAt;
    const spent = (before?.retries ?? 0) - (isOwn && isTemporary ? 1 : 0);
    const canRetry = isTemporary === true && !erased && spent < maxRetries;
    if (canRetry) again.push(eventId);
    const retries = canRetry ? spent + 1 : (before?.retries ?? 0);
    const counted = canRetry ? "" : toText(countedAs);
    const hour = Math.floor(timeOfId(eventId) / hourMs);
    add(hour, before?.counted ?? "", -1);
    add(hour, counted, 1);
    changed.push({ siteId, eventId, connectionId, state, reason, detail, retries, counted, updatedAt: at });
  }
  await tx.change(
    saveConfirmations,
    changed.map((row) => confirmationRow.values(row)),
  );
  await addCounts(tx, question, sums);
  return again;
}

const toText = ({ state, reason }: CountedAs) => `${state}/${reason ?? ""}`;

/** `sums` has keys of an hour and of what was counted. In the order of their keys, so that two nodes never wait for each other. */
async function addCounts(
  tx: RowQuery,
  { siteId, connectionId, platform }: Question & { platform: string },
  sums: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [key, n] of [...sums].filter(([, one]) => one !== 0).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [hour = "", ...rest] = key.split(" ");
    const [state = "", reason = ""] = rest.join(" ").split("/");
    await tx.all(
      `INSERT INTO confirmation_counts (site_id, hour, connection_id, state, reason, platform, count)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (site_id, hour, connection_id, state, reason)
       DO UPDATE SET count = confirmation_counts.count + excluded.count`,
      [siteId, Number(hour), connectionId, state, reason, platform, n],
    );
  }
}
