// A sample of the requests of sources, for people: what became of each, and the shapes of the last ones. Neither holds content.

import { idAt, lastId } from "../../kernel/ids.ts";
import type { sourceOutcomes } from "../../kernel/event.ts";
import { dayMs } from "../../kernel/time.ts";
import { asNumber, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { chunks, tuples, writeBySite, type Database, type Query } from "../engine/database.ts";

export type SourceOutcome = (typeof sourceOutcomes)[number];

export type SourceRequest = {
  siteId: string;
  sourceId: string;
  id: string;
  at: number;
  outcome: SourceOutcome;
  /** Why it was ignored or refused. */
  reason: string | null;
  /** The rule that decided, or the field that is wrong. */
  detail: string | null;
  /** The sender's word for the kind of event. */
  type: string;
  deliveryId: string | null;
  eventId: string | null;
};

export type SourceShape = { siteId: string; sourceId: string; id: string; at: number; type: string; shape: string };

export const requestRow = describeRow<SourceRequest, SourceRequest>({
  siteId: asText,
  sourceId: asText,
  id: asText,
  at: asNumber,
  outcome: { read: (value) => value as SourceOutcome },
  reason: asTextOrNull,
  detail: asTextOrNull,
  type: asText,
  deliveryId: asTextOrNull,
  eventId: asTextOrNull,
});

export const shapeRow = describeRow<SourceShape, SourceShape>({
  siteId: asText,
  sourceId: asText,
  id: asText,
  at: asNumber,
  type: asText,
  shape: asText,
});

const maxKept = 1000;
const keepMs = 30 * dayMs;
const maxShapes = 10;

export function sourceRequestStore(db: Database) {
  /** Removes all but the newest `max` rows, and rows before `from`. */
  async function prune(tx: Query, table: string, siteId: string, sourceId: string, max: number, from: string): Promise<void> {
    const [oldest] = await tx.all(
      `SELECT id FROM ${table} WHERE site_id = $1 AND source_id = $2 ORDER BY id DESC LIMIT 1 OFFSET ${max - 1}`,
      [siteId, sourceId],
    );
    const first = oldest ? String(oldest.id) : from;
    await tx.all(`DELETE FROM ${table} WHERE site_id = $1 AND source_id = $2 AND id < $3`, [
      siteId,
      sourceId,
      first > from ? first : from,
    ]);
  }

  return {
    /** Safe to repeat. */
    async add(requests: readonly SourceRequest[]): Promise<void> {
      await writeBySite(db, requests, async (tx, ofSite) => {
        for (const some of chunks(ofSite))
          await tx.all(
            `INSERT INTO source_requests (${requestRow.inserted.join(",")}) VALUES ${tuples(some.length, requestRow.inserted.length)}
             ON CONFLICT DO NOTHING`,
            some.flatMap((one) => requestRow.values(one)),
          );
      });
    },

    /** Lists the newest first; `before` is the last id of the previous page. */
    async list(
      siteId: string,
      sourceId: string,
      page: { before?: string | undefined; limit: number; outcome?: SourceOutcome | undefined },
    ): Promise<SourceRequest[]> {
      const outcome = page.outcome === undefined ? "" : "AND outcome = $5";
      const rows = await db.all(
        `SELECT ${requestRow.list} FROM source_requests WHERE site_id = $1 AND source_id = $2 AND id < $3 ${outcome} ORDER BY id DESC LIMIT $4`,
        [siteId, sourceId, page.before ?? lastId, page.limit, ...(page.outcome === undefined ? [] : [page.outcome])],
      );
      return rows.map(requestRow.read);
    },

    /** Keeps the last ten shapes of a source. Safe to repeat. */
    async addShape(shape: SourceShape): Promise<void> {
      await db.write(async (tx) => {
        await tx.all(
          `INSERT INTO source_shapes (${shapeRow.inserted.join(",")}) VALUES ${tuples(1, shapeRow.inserted.length)} ON CONFLICT DO NOTHING`,
          shapeRow.values(shape),
        );
        await prune(tx, "source_shapes", shape.siteId, shape.sourceId, maxShapes, idAt(shape.at - keepMs));
      });
    },

    async listShapes(siteId: string, sourceId: string): Promise<SourceShape[]> {
      const rows = await db.all(
        `SELECT ${shapeRow.list} FROM source_shapes WHERE site_id = $1 AND source_id = $2 ORDER BY id DESC LIMIT ${maxShapes}`,
        [siteId, sourceId],
      );
      return rows.map(shapeRow.read);
    },

    /** Keeps the newest requests of a source, for a month at most. */
    async purge(siteId: string, sourceId: string, now: number): Promise<void> {
      await db.write(async (tx) => {
        await prune(tx, "source_requests", siteId, sourceId, maxKept, idAt(now - keepMs));
        await prune(tx, "source_shapes", siteId, sourceId, maxShapes, idAt(now - keepMs));
      });
    },
  };
}
