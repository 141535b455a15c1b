// Reads the rows of files of data: the events of an hour with their deliveries and attempts, and what changed in an hour of
// earlier events. Requests and responses stay here: they hold hashes of people.
//
// Every row belongs to one hour. An event belongs to the hour of its id, and so do its deliveries, in the state in which they
// are found, and first attempts that were sent. Another attempt belongs to the hour of its start, or to its event's if that is
// later. A later change of a delivery belongs to the hour of the last one: a state that was replaced before its hour was read is in
// no file. A commit takes minutes at most (deliveries/outcomes.ts: settleOptions), and a node whose clock is off by more is not
// ready: a reader that waits longer than that after the end of an hour finds all of it.

import { idAt } from "../../kernel/ids.ts";
import type { ConfirmationRow } from "../confirmations/confirmations.ts";
import { readConfirmations } from "../confirmations/confirmations.ts";
import { correctionRow, type CorrectionRow } from "../corrections/corrections.ts";
import { attemptRow, type Attempt, type Delivery, type DeliveryKey } from "../deliveries/delivery.ts";
import { readOutcomesOf } from "../deliveries/outcomes.ts";
import { deliverySource, readDeliveries, readPlanned } from "../deliveries/readDeliveries.ts";
import { allByKeys, type Database, type Row } from "../engine/database.ts";
import { emailColumn } from "../events/eventList.ts";
import { readCounted, summaryColumns, type CountedEvent } from "../events/eventRow.ts";

export type ExportedEvent = CountedEvent & { siteId: string; time: number; keyId: string; emailSha256: string };

export type ExportedDelivery = Delivery & { confirmation: ConfirmationRow | null; correction: CorrectionRow | null };

export type ExportedAttempt = DeliveryKey & Omit<Attempt, "request" | "response">;

type Exported = { event: ExportedEvent; deliveries: ExportedDelivery[]; attempts: ExportedAttempt[] };

/** From `from` until before `to`. */
type Period = { from: number; to: number };

const eventColumns = `${summaryColumns}, ${emailColumn}, time, key_id, ${deliverySource}`;

const attemptFields = [
  "siteId",
  "eventId",
  "connectionId",
  "number",
  "startedAt",
  "durationMs",
  "state",
  "reason",
  "httpStatus",
  "batch",
] as const;
const attemptColumns = attemptRow.columnsOf(attemptFields).join(", ");

/** The tables whose rows change a delivery. Where two changed it at the same moment, the first one counts. */
const changeTables = ["deliveries", "confirmations", "corrections"] as const;
type ChangeTable = (typeof changeTables)[number];

/** The last row of a page, as the next page needs it. */
type After<Key> = Key | null;
type ChangeKey = { at: number; eventId: string; connectionId: string };

export function exportRowStore(db: Database) {
  /** Reads deliveries and attempts of events. `until` is the time before which attempts belong to these files. */
  async function readExported(siteId: string, rows: readonly Row[], until: number): Promise<Exported[]> {
    const ids = rows.map((row) => String(row.id));
    const deliveries = await withLaterRows(siteId, ids, await readDeliveries(db, siteId, rows));
    const first = await readFirstAttempts(siteId, rows);
    const sql = `SELECT ${attemptColumns} FROM attempts WHERE site_id = $1 AND event_id IN ({KEYS})`;
    const stored = Map.groupBy(await allByKeys(db, sql, [siteId], ids), (row) => String(row.event_id));
    return rows.map((row) => {
      const event = readEvent(siteId, row);
      const later = (stored.get(event.id) ?? []).map((one) => attemptRow.readSome(one, attemptFields));
      return {
        event,
        deliveries: deliveries.get(event.id) ?? [],
        attempts: [...(first.get(event.id) ?? []), ...later.filter(({ startedAt }) => startedAt < until)],
      };
    });
  }

  async function withLaterRows(
    siteId: string,
    ids: readonly string[],
    deliveries: ReadonlyMap<string, readonly Delivery[]>,
  ): Promise<Map<string, ExportedDelivery[]>> {
    const confirmations = await readConfirmations(db, siteId, ids);
    const sql = `SELECT ${correctionRow.list} FROM corrections WHERE site_id = $1 AND event_id IN ({KEYS})`;
    const corrections = (await allByKeys(db, sql, [siteId], ids)).map(correctionRow.read);
    const confirmed = new Map(confirmations.map((one) => [keyOf(one), one]));
    const corrected = new Map(corrections.map((one) => [keyOf(one), one]));
    return new Map(
      Array.from(deliveries, ([id, of]) => [
        id,
        of.map((delivery) => {
          const key = keyOf(delivery);
          return { ...delivery, confirmation: confirmed.get(key) ?? null, correction: corrected.get(key) ?? null };
        }),
      ]),
    );
  }

  /** Reads the attempts that have no row: first ones that were sent. */
  async function readFirstAttempts(siteId: string, rows: readonly Row[]): Promise<Map<string, ExportedAttempt[]>> {
    const events = rows.map(readPlanned);
    const { outcomes } = await readOutcomesOf(
      db,
      siteId,
      events.map(({ id }) => id),
    );
    return new Map(
      events.map(({ id, plan }) => [
        id,
        (outcomes.get(id) ?? []).flatMap(({ position, sent }) => {
          const connectionId = plan[position]?.connectionId;
          if (!sent || connectionId === undefined) return [];
          const { startedAt, durationMs, httpStatus, batch } = sent;
          const key = { siteId, eventId: id, connectionId };
          return [{ ...key, number: 1, startedAt, durationMs, state: "sent" as const, reason: null, httpStatus, batch }];
        }),
      ]),
    );
  }

  /** The deliveries that have a row of their own. */
  async function readStored(siteId: string, ids: readonly string[]): Promise<Set<string>> {
    const sql = `SELECT event_id, connection_id FROM deliveries WHERE site_id = $1 AND event_id IN ({KEYS})`;
    return new Set((await allByKeys(db, sql, [siteId], ids)).map((row) => `${row.event_id} ${row.connection_id}`));
  }

  const readEvents = (siteId: string, ids: readonly string[]) =>
    allByKeys(db, `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id IN ({KEYS})`, [siteId], ids);

  return {
    /** The time of the oldest event; null where there is none. */
    async findFirst(siteId: string): Promise<string | null> {
      const [row] = await db.all(`SELECT id FROM events WHERE site_id = $1 ORDER BY id LIMIT 1`, [siteId]);
      return row ? String(row.id) : null;
    },

    /** Lists events whose ids are of a period; `after` is the last id of the previous page. */
    async listHour(
      siteId: string,
      { from, to }: Period,
      until: number,
      after: After<string>,
      limit: number,
    ): Promise<Exported[]> {
      const rows = await db.all(
        `SELECT ${eventColumns} FROM events
         WHERE site_id = $1 AND id ${after === null ? ">=" : ">"} $2 AND id < $3 ORDER BY id LIMIT $4`,
        [siteId, after ?? idAt(from), idAt(to), limit],
      );
      return readExported(siteId, rows, until);
    },

    /** Lists earlier events that were released in the period, with the deliveries that it skipped: those have no rows. */
    async listReleased(
      siteId: string,
      { from, to }: Period,
      after: After<{ at: number; id: string }>,
      limit: number,
    ): Promise<Omit<Exported, "attempts">[]> {
      const rows = await db.all(
        `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND released_at IS NOT NULL AND released_at < $3 AND id < $4
           AND (released_at, id) > ($2, $5) ORDER BY released_at, id LIMIT $6`,
        [siteId, after?.at ?? from, to, idAt(from), after?.id ?? "", limit],
      );
      const ids = rows.map((row) => String(row.id));
      const deliveries = await withLaterRows(siteId, ids, await readDeliveries(db, siteId, rows));
      const stored = await readStored(siteId, ids);
      return rows.map((row) => {
        const event = readEvent(siteId, row);
        return { event, deliveries: (deliveries.get(event.id) ?? []).filter((one) => !stored.has(keyOf(one))) };
      });
    },

    /** Lists deliveries of earlier events that a row of `table` changed last, in the period. `next` is null at the end. */
    async listChanges(
      siteId: string,
      table: ChangeTable,
      { from, to }: Period,
      after: After<ChangeKey>,
      limit: number,
    ): Promise<{ deliveries: ExportedDelivery[]; next: ChangeKey | null }> {
      const changed = await db.all(
        `SELECT event_id, connection_id, updated_at FROM ${table} WHERE site_id = $1 AND updated_at < $3 AND event_id < $4
           AND (updated_at, event_id, connection_id) > ($2, $5, $6) ORDER BY updated_at, event_id, connection_id LIMIT $7`,
        [siteId, after?.at ?? from, to, idAt(from), after?.eventId ?? "", after?.connectionId ?? "", limit],
      );
      const keys = changed.map((row): ChangeKey => ({
        at: Number(row.updated_at),
        eventId: String(row.event_id),
        connectionId: String(row.connection_id),
      }));
      const ids = [...new Set(keys.map(({ eventId }) => eventId))];
      const rows = await readEvents(siteId, ids);
      const found = await withLaterRows(siteId, ids, await readDeliveries(db, siteId, rows));
      const stored = await readStored(siteId, ids);
      const wanted = new Set(keys.map(keyOf));
      const deliveries = [...found.values()].flat().filter((one) => {
        if (!wanted.has(keyOf(one))) return false;
        const last = lastChange(one, stored.has(keyOf(one)) ? one.updatedAt : null);
        return last?.table === table && last.at >= from && last.at < to;
      });
      return { deliveries, next: keys.length === limit ? (keys.at(-1) ?? null) : null };
    },

    /** Lists stored attempts of earlier events that were started in the period; `after` is the last one of the previous page. */
    async listAttempts(
      siteId: string,
      { from, to }: Period,
      after: After<ExportedAttempt>,
      limit: number,
    ): Promise<ExportedAttempt[]> {
      const rows = await db.all(
        `SELECT ${attemptColumns} FROM attempts WHERE site_id = $1 AND started_at < $3 AND event_id < $4
           AND (started_at, event_id, connection_id, number) > ($2, $5, $6, $7)
         ORDER BY started_at, event_id, connection_id, number LIMIT $8`,
        [
          siteId,
          after?.startedAt ?? from,
          to,
          idAt(from),
          after?.eventId ?? "",
          after?.connectionId ?? "",
          after?.number ?? 0,
          limit,
        ],
      );
      return rows.map((row) => attemptRow.readSome(row, attemptFields));
    },
  };
}

const keyOf = ({ eventId, connectionId }: { eventId: string; connectionId: string }) => `${eventId} ${connectionId}`;

const readEvent = (siteId: string, row: Row): ExportedEvent => ({
  ...readCounted(row),
  siteId,
  time: Number(row.time),
  keyId: String(row.key_id),
  emailSha256: String(row.email_sha256),
});

/** Returns the last change of a delivery by a row. `storedAt` is the time of its own row, null where it has none. */
function lastChange(
  { confirmation, correction }: ExportedDelivery,
  storedAt: number | null,
): { table: ChangeTable; at: number } | null {
  const times = { deliveries: storedAt, confirmations: confirmation?.updatedAt, corrections: correction?.updatedAt };
  let last: { table: ChangeTable; at: number } | null = null;
  for (const table of changeTables) {
    const at = times[table] ?? null;
    if (at !== null && (last === null || at > last.at)) last = { table, at };
  }
  return last;
}

/** When a delivery reached the state that a file shows. */
export const changedAt = (delivery: ExportedDelivery): number =>
  Math.max(delivery.updatedAt, delivery.confirmation?.updatedAt ?? 0, delivery.correction?.updatedAt ?? 0);
