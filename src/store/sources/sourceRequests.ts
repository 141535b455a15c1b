// A sample of the requests of sources, for people: what became of each, and the shapes of the last ones. Neither holds content,
// unless a person wants whole requests to be kept for a day: those are sealed. A request that waits, for a look-up or for another
// request of its sender, is durable, with what was read of it, sealed, until the wait ends.

import { threadShare } from "../../kernel/concurrency.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import type { Sha256, sourceOutcomes } from "../../kernel/event.ts";
import { dayMs, minuteMs } from "../../kernel/time.ts";
import { asNumber, asNumberOrNull, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { tryUnseal, type Seal } from "../engine/seal.ts";
import { allByKeys, insertRow, insertRows, writeBySite, type Database, type Query, type Row } from "../engine/database.ts";

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
  /** When the next attempt to end its wait is made; null for one that does not wait. */
  dueAt: number | null;
  /** Such attempts so far. */
  attempts: number;
};

/** The reasons to wait for what the relay itself does. Any other is a wait for another request of the sender. */
export const lookUpReason = "look-up";
export const turnReason = "other refunds";

/** `waiting` is what was read of the request, as JSON; null where it can no longer be read. */
export type WaitingRequest = SourceRequest & { reason: string; dueAt: number; waiting: string | null };

/** How a look-up ended, or why it is to be repeated. */
type LookUpResult = Pick<SourceRequest, "outcome" | "reason" | "detail" | "eventId" | "dueAt">;

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
  dueAt: asNumberOrNull,
  attempts: asNumber,
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
/** Requests of one source that may wait for the same. */
const maxWaiting = 10_000;
/** Requests that are read at once to find those of a person. */
const maxRead = 200;
/** The action of the audit line of an erasure. */
export const erasedAction = "person erased";
/** Clocks of nodes differ by less. */
const clockMs = 5 * minuteMs;
/** How long whole requests can be read. */
const wholeMs = dayMs;

const ownReason = ({ reason }: WaitingRequest) => (reason === lookUpReason || reason === turnReason ? reason : null);

export function sourceRequestStore(db: Database, seal: Seal) {
  /** Removes all but the newest `max` rows, and rows before `from`. */
  async function prune(
    tx: Query,
    table: "source_requests" | "source_shapes",
    siteId: string,
    sourceId: string,
    max: number,
    from: string,
  ): Promise<void> {
    const [oldest] = await tx.all(
      `SELECT id FROM ${table} WHERE site_id = $1 AND source_id = $2 ORDER BY id DESC LIMIT 1 OFFSET ${max - 1}`,
      [siteId, sourceId],
    );
    const first = oldest ? String(oldest.id) : from;
    const settled = table === "source_requests" ? "AND due_at IS NULL" : "";
    await tx.all(`DELETE FROM ${table} WHERE site_id = $1 AND source_id = $2 AND id < $3 ${settled}`, [
      siteId,
      sourceId,
      first > from ? first : from,
    ]);
  }

  /** A request that is written at the same moment comes before, and is found, or after, and finds the audit line. */
  const lockSite = (tx: Query, siteId: string) =>
    tx.all(`SELECT site_id FROM sites WHERE site_id = $1 ${db.forUpdate}`, [siteId]);

  async function wasErasedSince(tx: Query, siteId: string, at: number): Promise<boolean> {
    await lockSite(tx, siteId);
    const rows = await tx.all(`SELECT id FROM audit WHERE site_id = $1 AND id >= $2 AND action = '${erasedAction}' LIMIT 1`, [
      siteId,
      idAt(at - clockMs),
    ]);
    return rows.length > 0;
  }

  /** Returns the requests for which there is no room. Those that wait for something else take none of it. */
  async function findExcess(tx: Query, requests: readonly WaitingRequest[]): Promise<WaitingRequest[]> {
    const [first] = requests;
    const count = async (condition: string, ...reasons: readonly string[]) => {
      const [row] = await tx.all(
        `SELECT COUNT(*) AS waiting FROM (SELECT id FROM source_requests
         WHERE site_id = $1 AND source_id = $2 AND due_at IS NOT NULL ${condition} LIMIT ${maxWaiting}) AS known`,
        [first?.siteId ?? "", first?.sourceId ?? "", ...reasons],
      );
      return Number(row?.waiting);
    };
    // The index alone counts all.
    if ((await count("")) + requests.length <= maxWaiting) return [];
    const excess: WaitingRequest[] = [];
    for (const [reason, some] of Map.groupBy(requests, ownReason)) {
      const own = [lookUpReason, turnReason];
      const waiting = await (reason === null ? count("AND reason NOT IN ($3, $4)", ...own) : count("AND reason = $3", reason));
      if (waiting + some.length > maxWaiting) excess.push(...some);
    }
    return excess;
  }

  /** Finds the requests that wait and name a person, some of one source at a time. What is kept is sealed: all of them are read. */
  async function* findByPerson(siteId: string, emailSha256: Sha256): AsyncGenerator<SourceRequest[]> {
    const sql = `SELECT DISTINCT source_id FROM source_requests WHERE site_id = $1 AND due_at IS NOT NULL`;
    for (const { source_id: sourceId = "" } of await db.all(sql, [siteId])) {
      for (let after: string | null = ""; after !== null;) {
        const rows: Row[] = await db.all(
          `SELECT ${requestRow.list}, waiting FROM source_requests
           WHERE site_id = $1 AND source_id = $2 AND id > $3 AND due_at IS NOT NULL ORDER BY id LIMIT ${maxRead}`,
          [siteId, sourceId, after],
        );
        const requests = await threadShare.map(siteId, rows, readWaiting);
        const some = requests.filter(({ waiting }) => waiting?.includes(emailSha256));
        if (some.length > 0) yield some;
        after = rows.length < maxRead ? null : String(rows.at(-1)?.id);
        await threadShare.rest(siteId);
      }
    }
  }

  function readWaiting(row: Row): WaitingRequest {
    const request = requestRow.read(row);
    const place = requestPlace(request.siteId, request.sourceId, request.id);
    const waiting = tryUnseal(seal, String(row.waiting ?? ""), place);
    return { ...request, reason: request.reason ?? "", dueAt: Number(row.due_at), waiting };
  }

  const sealed = ({ siteId, sourceId, id, waiting }: WaitingRequest) =>
    waiting === null ? null : seal.seal(waiting, requestPlace(siteId, sourceId, id));

  return {
    /** Safe to repeat. */
    async add(requests: readonly SourceRequest[]): Promise<void> {
      await writeBySite(db, requests, async (tx, ofSite) => {
        const rows = ofSite.map((one) => requestRow.toRow(one));
        await insertRows(tx, "source_requests", rows, "ON CONFLICT DO NOTHING");
      });
    },

    /**
     * Durable when it resolves. Returns those that were not added, because too many of the source wait for the same already. Safe to
     * repeat.
     */
    async addWaiting(requests: readonly WaitingRequest[]): Promise<readonly WaitingRequest[]> {
      return db.write(async (tx) => {
        const excess = await findExcess(tx, requests);
        const added = requests.filter((one) => !excess.includes(one));
        const rows = added.map((one) => ({ ...requestRow.toRow(one), waiting: sealed(one) }));
        if (rows.length > 0) await insertRows(tx, "source_requests", rows, "ON CONFLICT DO NOTHING");
        return excess;
      });
    },

    /** Lists requests whose next attempt is due, the oldest first: those that wait for a look-up, or the others. */
    async listDue(
      siteId: string,
      sourceId: string,
      { isLookUp, now, limit }: { isLookUp: boolean; now: number; limit: number },
    ): Promise<WaitingRequest[]> {
      const rows = await db.all(
        `SELECT ${requestRow.list}, waiting FROM source_requests WHERE site_id = $1 AND source_id = $2 AND due_at <= $3
         AND reason ${isLookUp ? "=" : "<>"} $4 ORDER BY due_at, id LIMIT $5`,
        [siteId, sourceId, now, lookUpReason, limit],
      );
      return rows.map(readWaiting);
    },

    /** Notes an attempt of a look-up. What was kept of the request goes with the last one. */
    async noteLookUp({ siteId, sourceId, id }: SourceRequest, result: LookUpResult): Promise<void> {
      await db.run(
        `UPDATE source_requests SET outcome = $4, reason = $5, detail = $6, event_id = $7, due_at = $8, attempts = attempts + 1
           ${result.dueAt === null ? ", waiting = NULL" : ""}
         WHERE site_id = $1 AND source_id = $2 AND id = $3 AND due_at IS NOT NULL RETURNING id`,
        [siteId, sourceId, id, result.outcome, result.reason, result.detail, result.eventId, result.dueAt],
      );
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

    /** Keeps the last ten shapes of a source. A request that came before a person was erased is not kept. Safe to repeat. */
    async addShape({ request, ...rest }: SourceShape): Promise<void> {
      const place = requestPlace(rest.siteId, rest.sourceId, rest.id);
      await db.write(async (tx) => {
        const isKept = request !== null && !(await wasErasedSince(tx, rest.siteId, rest.at));
        const shape = { ...rest, request: isKept ? seal.seal(request, place) : null };
        await insertRow(tx, "source_shapes", shapeRow.toRow(shape), "ON CONFLICT DO NOTHING");
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
     * that erasing one forgets every request. The audit line of the erasure must be written before: nodes that still hold a request in
     * memory find it.
     */
    async forgetRequests(siteId: string, until?: number): Promise<number> {
      const sql = `UPDATE source_shapes SET request = NULL WHERE site_id = $1 AND request IS NOT NULL AND at < $2 RETURNING id`;
      return db.write(async (tx) => {
        if (until === undefined) await lockSite(tx, siteId);
        return (await tx.all(sql, [siteId, until ?? Number.MAX_SAFE_INTEGER])).length;
      });
    },

    /** Lists the requests that wait and name a person. */
    async listByPerson(siteId: string, emailSha256: Sha256): Promise<SourceRequest[]> {
      const found: SourceRequest[] = [];
      for await (const some of findByPerson(siteId, emailSha256)) found.push(...some);
      return found;
    },

    /** Ends the wait of the requests that name a person. */
    async erasePerson(siteId: string, emailSha256: Sha256): Promise<void> {
      const sql = `UPDATE source_requests SET outcome = 'ignored', reason = 'no person', detail = NULL, due_at = NULL, waiting = NULL
        WHERE site_id = $1 AND source_id = $2 AND id IN ({KEYS}) AND due_at IS NOT NULL`;
      for await (const some of findByPerson(siteId, emailSha256)) {
        const ids = some.map(({ id }) => id);
        await db.write((tx) => allByKeys(tx, sql, [siteId, some[0]?.sourceId ?? ""], ids));
      }
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
