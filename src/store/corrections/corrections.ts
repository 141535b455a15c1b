// Corrections of conversions whose orders were refunded or cancelled, one for each conversion and connection. A further refund
// of the same order changes the row, and the correction is sent again with the new value.

import { orderListSource, type CorrectionState } from "../../kernel/correction.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import type { Period } from "../../kernel/time.ts";
import { asNumber, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import {
  allByKeys,
  chunks,
  hasRows,
  insertRow,
  orReplace,
  rowStatement,
  type Database,
  type RowQuery,
} from "../engine/database.ts";
import type { DeliveryKey } from "../deliveries/delivery.ts";
import { lockEvents } from "../events/eventRow.ts";
import { correctionsCursor, moveCursor, readCursor, removeCursor } from "../cursors.ts";

export type CorrectionRow = DeliveryKey & {
  state: CorrectionState;
  /** What is left of the conversion's value; 0 where it is taken back. */
  value: number;
  /** The refund event that led to it; `order list` where the customer's own list did. */
  source: string;
  reason: string | null;
  attempts: number;
  dueAt: number;
  updatedAt: number;
};

export const correctionRow = describeRow<CorrectionRow, CorrectionRow>({
  siteId: asText,
  eventId: asText,
  connectionId: asText,
  state: asOneOf<CorrectionState>(),
  value: asNumber,
  source: asText,
  reason: asTextOrNull,
  attempts: asNumber,
  dueAt: asNumber,
  updatedAt: asNumber,
});

// A correction to the value that was sent already is not sent again. Refunds up to the id $1 were known before, so they do not
// change what the customer's own list said since.
const saveCorrections = rowStatement({
  text: `INSERT INTO corrections (${correctionRow.inserted.join(", ")}) VALUES {ROWS}
    ON CONFLICT (site_id, event_id, connection_id) DO UPDATE SET state = excluded.state, value = excluded.value,
      source = excluded.source, reason = excluded.reason, attempts = 0, due_at = excluded.due_at,
      updated_at = excluded.updated_at
    WHERE corrections.value <> excluded.value
      AND NOT (corrections.source = '${orderListSource}' AND excluded.source <= $1)`,
  first: 1,
  columns: correctionRow.inserted.length,
  types: ["text", "text", "text", "text", "double precision", "text", "text", "integer", "bigint", "bigint"],
});

/** How far the events of a site were read for refunds. */
type CorrectionHead = {
  /** The last one. It goes back where an event came late, or a clock ran ahead. */
  eventId: string;
  /** The highest that was ever read: up to here, others are read again. */
  highestId: string;
  /** Events up to here came in before the site's switch was turned on. */
  sinceId: string;
};

/** One id stands for all three, as version 0.3.0 wrote it. */
const headText = ({ eventId, highestId, sinceId }: CorrectionHead) =>
  eventId === highestId && eventId === sinceId ? eventId : `${eventId} ${highestId} ${sinceId}`;

export type NewCorrection = Omit<CorrectionRow, "attempts">;

const keyOf = ({ siteId, eventId, connectionId }: DeliveryKey) => [siteId, eventId, connectionId];

/** The row as it was read: no other node has claimed or settled it since, and no further refund has changed its value. */
const unchanged = "event_id = $2 AND connection_id = $3 AND state = 'waiting' AND attempts = $4 AND value = $5";
const versionOf = (row: CorrectionRow) => [...keyOf(row), row.attempts, row.value];

export function correctionStore(db: Database) {
  return {
    /** Returns null while the site has never been read. */
    async readCursor(siteId: string): Promise<CorrectionHead | null> {
      const text = await readCursor(db, siteId, correctionsCursor);
      const [eventId = "", highestId = eventId, sinceId = eventId] = text?.split(" ") ?? [];
      return text === null ? null : { eventId, highestId, sinceId };
    },

    /** Stores corrections and moves the head. False when another node has moved it. Events that were purged are left out. */
    addFound: (
      siteId: string,
      before: CorrectionHead | null,
      head: CorrectionHead,
      found: readonly NewCorrection[],
    ): Promise<boolean> =>
      db.write(async (tx) => {
        const isMoved = await moveCursor(tx, siteId, correctionsCursor, before && headText(before), headText(head));
        if (isMoved) await save(tx, siteId, found, db.forUpdate, before?.highestId);
        return isMoved;
      }),

    /** Stores corrections that follow from something else than a refund event. */
    add: (siteId: string, found: readonly NewCorrection[]): Promise<void> =>
      db.write((tx) => save(tx, siteId, found, db.forUpdate)),

    /** Begins anew with the next refund: what comes in while the site's switch is off is not corrected later. */
    removeCursor: (siteId: string): Promise<void> => db.write((tx) => removeCursor(tx, siteId, correctionsCursor)),

    async listDue(siteId: string, now: number, limit: number): Promise<CorrectionRow[]> {
      const rows = await db.all(
        `SELECT ${correctionRow.list} FROM corrections WHERE site_id = $1 AND state = 'waiting' AND due_at <= $2
         ORDER BY due_at LIMIT $3`,
        [siteId, now, limit],
      );
      return rows.map(correctionRow.read);
    },

    /** Notes an attempt and when the next one is due. Returns the row of the attempt; null when the row has changed since. */
    async claim(row: CorrectionRow, dueAt: number): Promise<CorrectionRow | null> {
      const [claimed] = await db.run(
        `UPDATE corrections SET attempts = attempts + 1, due_at = $6 WHERE site_id = $1 AND ${unchanged} RETURNING ${correctionRow.list}`,
        [...versionOf(row), dueAt],
      );
      return claimed ? correctionRow.read(claimed) : null;
    },

    /** Writes a result. False when the row has changed since: it may be the late result of a node that was suspended. */
    settle: (
      row: CorrectionRow,
      { state, reason }: { state: CorrectionState; reason: string | null },
      at: number,
    ): Promise<boolean> =>
      hasRows(
        db.run(
          `UPDATE corrections SET state = $6, reason = $7, updated_at = $8 WHERE site_id = $1 AND ${unchanged} RETURNING state`,
          [...versionOf(row), state, reason, at],
        ),
      ),

    /**
     * Notes that a conversion is sent with what is left of its value. A further refund that came meanwhile stays as it is, and is
     * corrected when its turn comes.
     */
    async apply(
      { siteId, eventId, connectionId }: DeliveryKey,
      { value, source }: Pick<CorrectionRow, "value" | "source">,
      at: number,
    ): Promise<void> {
      const settled = { state: "applied", reason: null, attempts: 0, dueAt: at, updatedAt: at } as const;
      const row = correctionRow.toRow({ siteId, eventId, connectionId, value, source, ...settled });
      const replaced = orReplace("site_id, event_id, connection_id", "state", "reason", "updated_at");
      await insertRow(db, "corrections", row, `${replaced} WHERE corrections.value = excluded.value`);
    },

    async postpone(row: CorrectionRow, dueAt: number): Promise<void> {
      await db.run(`UPDATE corrections SET due_at = $6 WHERE site_id = $1 AND ${unchanged}`, [...versionOf(row), dueAt]);
    },

    async remove(row: CorrectionRow): Promise<void> {
      await db.run(`DELETE FROM corrections WHERE site_id = $1 AND event_id = $2 AND connection_id = $3`, [...keyOf(row)]);
    },

    async listByEvent(siteId: string, eventId: string): Promise<CorrectionRow[]> {
      const rows = await db.all(
        `SELECT ${correctionRow.list} FROM corrections WHERE site_id = $1 AND event_id = $2 ORDER BY connection_id`,
        [siteId, eventId],
      );
      return rows.map(correctionRow.read);
    },

    /** Those of several conversions, in no order. */
    async listByEvents(siteId: string, eventIds: readonly string[]): Promise<CorrectionRow[]> {
      const sql = `SELECT ${correctionRow.list} FROM corrections WHERE site_id = $1 AND event_id IN ({KEYS})`;
      return (await allByKeys(db, sql, [siteId], eventIds)).map(correctionRow.read);
    },

    /** Lists those of the newest conversions first. `before` is the last one of the previous page. */
    async list(
      siteId: string,
      { eventId, connectionId }: { eventId: string; connectionId: string },
      limit: number,
      { name = "", from = 0, to }: Period & { name?: string | undefined } = {},
    ): Promise<CorrectionRow[]> {
      const end = to === undefined ? lastId : idAt(to);
      const isNamed = `EXISTS (SELECT 1 FROM events WHERE events.site_id = $1 AND events.id = corrections.event_id
           AND LOWER(events.name) = LOWER($7))`;
      const rows = await db.all(
        `SELECT ${correctionRow.list} FROM corrections
         WHERE site_id = $1 AND event_id <= $2 AND (event_id, connection_id) < ($2, $3) AND event_id >= $5 AND event_id < $6
           AND ($7 = '' OR ${isNamed})
         ORDER BY event_id DESC, connection_id DESC LIMIT $4`,
        [siteId, eventId, connectionId, limit, idAt(from), end, name.trim()],
      );
      return rows.map(correctionRow.read);
    },
  };
}

/** Events that were purged meanwhile are left out. Refunds up to `knownId` are read again. */
async function save(
  tx: RowQuery,
  siteId: string,
  found: readonly NewCorrection[],
  forUpdate: string,
  knownId = "",
): Promise<void> {
  for (const some of chunks(found)) {
    const ids = [...new Set(some.map(({ eventId }) => eventId))];
    const events = await lockEvents(tx, forUpdate, siteId, ids);
    const kept = new Set(events.map((row) => String(row.id)));
    await tx.change(
      saveCorrections,
      some.flatMap((one) => (kept.has(one.eventId) ? [correctionRow.values({ ...one, attempts: 0 })] : [])),
      [knownId],
    );
  }
}
