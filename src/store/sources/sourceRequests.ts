// A sample of the requests of sources, for people: what became of each, and the shapes of the last ones. Neither holds content,
// unless a person wants whole requests to be kept for a day: those are sealed.

import { idAt, lastId } from "../../kernel/ids.ts";
import type { sourceOutcomes } from "../../kernel/event.ts";
import { dayMs } from "../../kernel/time.ts";
import { asNumber, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { tryUnseal, type Seal } from "../engine/seal.ts";
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

export type SourceShape = {
  siteId: string;
  sourceId: string;
  id: string;
  at: number;
  type: string;
  shape: string;
  /** The whole request as JSON; null where it is not kept. */
  request: string | null;
};

/** Binds a kept request to its row. */
export const requestPlace = (siteId: string, sourceId: string, id: string) => `source request ${siteId} ${sourceId} ${id}`;

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
  request: asTextOrNull,
});

const maxKept = 1000;
const keepMs = 30 * dayMs;
const maxShapes = 10;
/** How long whole requests can be read. */
const wholeMs = dayMs;

export function sourceRequestStore(db: Database, seal: Seal) {
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
    async addShape({ request, ...rest }: SourceShape): Promise<void> {
      const place = requestPlace(rest.siteId, rest.sourceId, rest.id);
      const shape = { ...rest, request: request === null ? null : seal.seal(request, place) };
      await db.write(async (tx) => {
        await tx.all(
          `INSERT INTO source_shapes (${shapeRow.inserted.join(",")}) VALUES ${tuples(1, shapeRow.inserted.length)} ON CONFLICT DO NOTHING`,
          shapeRow.values(shape),
        );
        await prune(tx, "source_shapes", shape.siteId, shape.sourceId, maxShapes, "");
      });
    },

    /** A request that is older than a day, or that no key opens, is as good as gone. */
    async listShapes(siteId: string, sourceId: string, now: number): Promise<SourceShape[]> {
      const rows = await db.all(
        `SELECT ${shapeRow.list} FROM source_shapes WHERE site_id = $1 AND source_id = $2 ORDER BY id DESC LIMIT ${maxShapes}`,
        [siteId, sourceId],
      );
      return rows.map(shapeRow.read).map((shape) => {
        const isKept = shape.request !== null && shape.at > now - wholeMs;
        const place = requestPlace(siteId, sourceId, shape.id);
        return { ...shape, request: isKept ? tryUnseal(seal, shape.request ?? "", place) : null };
      });
    },

    /**
     * Forgets the whole requests of a site up to an age, and all of them by default: which persons are in a request is not known, so
     * that erasing one forgets every request.
     */
    async forgetRequests(siteId: string, until = Number.MAX_SAFE_INTEGER): Promise<number> {
      const sql = `UPDATE source_shapes SET request = NULL WHERE site_id = $1 AND request IS NOT NULL AND at < $2 RETURNING id`;
      return (await db.run(sql, [siteId, until])).length;
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
