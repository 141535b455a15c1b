// Lists events, newest first, without the person and without sealed fields.
//
// A page is read along an index: by order id, by email, of filtered events, or of all. The rest of the filter is checked
// on the rows. One call reads a bounded number of rows, so a page can be short and still have a next one.

import { threadShare } from "../../kernel/concurrency.ts";
import type { Mode, Sha256 } from "../../kernel/event.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import { orderKey } from "../../kernel/reconciliation.ts";
import { allByKeys, type Database, type Row, type Value } from "../engine/database.ts";
import {
  emailRef,
  readCounted,
  readSummary,
  summaryColumns,
  type CountedEvent,
  type EventStatus,
  type EventSummary,
} from "./eventRow.ts";

export type EventFilter = {
  emailSha256?: Sha256;
  /** In any spelling. */
  orderId?: string;
  status?: EventStatus;
  mode?: Mode;
  /** Compared without regard to case. */
  name?: string;
  /** The name of a click id; "none" for events without one. */
  clickId?: string;
  /** Received from `from` on, and before `to`. */
  from?: number;
  to?: number;
  /** What else the caller asks of an event. */
  accept?: (event: CountedEvent) => boolean;
};

type EventPage = { events: EventSummary[]; next: string | null };

const maxRowsRead = 20_000;
/**
 * So many are read at once. The embedded engine reads them on the thread that accepts events, in a fraction of a slice. On a server each
 * read is a round trip.
 */
const maxRows = { embedded: 64, server: 500 };

export function eventListStore(db: Database) {
  /** Reads the rows that match the filter. */
  async function readMatching(siteId: string, rows: readonly Row[], filter: EventFilter): Promise<EventSummary[]> {
    const found = await threadShare.map(siteId, rows, (row) => {
      const event = readSummary(row);
      return fits(event, row, filter) ? event : null;
    });
    return found.filter((event) => event !== null);
  }

  /** Lists the newest first. `before` is the `next` of the previous page. */
  async function listPage(siteId: string, filter: EventFilter, at: { before: string | null; limit: number }): Promise<EventPage> {
    const events: EventSummary[] = [];
    let below = at.before ?? lastId;
    const max = db.isServer ? maxRows.server : maxRows.embedded;
    // A filter that no index serves may drop most rows, so more are read at once.
    let some = Math.min(max, mayDropRows(filter) ? max : at.limit + 1);
    for (let rowsRead = 0; rowsRead < maxRowsRead; rowsRead += some) {
      await threadShare.rest(siteId);
      if (rowsRead > 0) some = Math.min(max, 2 * some);
      const params: Value[] = [siteId];
      const condition = indexCondition(filter, below, params);
      const rows = await db.all(
        `SELECT ${summaryColumns}, ${emailColumn} FROM events WHERE site_id = $1 AND ${condition} LIMIT $${params.push(some)}`,
        params,
      );
      events.push(...(await readMatching(siteId, rows, filter)));
      const last = rows.at(-1);
      const isEnd = rows.length < some || !last;
      if (events.length > at.limit) {
        const shown = events.slice(0, at.limit);
        return { events: shown, next: shown.at(-1)?.id ?? null };
      }
      if (isEnd) return { events, next: null };
      below = String(last.id);
    }
    return { events, next: below };
  }

  return {
    listPage,

    /** Lists the keys of orders that begin with a text, at most `limit`. Those with the most events may hide others. */
    async listOrderKeys(siteId: string, prefix: string, limit: number): Promise<string[]> {
      const first = orderKey(prefix);
      const rows = await db.all(
        `SELECT order_key FROM events WHERE site_id = $1 AND order_key >= $2 AND order_key <= $3 ORDER BY order_key LIMIT $4`,
        // A database may sort by a language's rules, in which letters come last.
        [siteId, first, `${first}${"z".repeat(20)}`, 20 * limit],
      );
      const keys = new Set(rows.map((row) => String(row.order_key)));
      return [...keys].filter((key) => key.startsWith(first)).slice(0, limit);
    },

    /** Lists those of these events that match the filter, newest first. */
    async listByIds(siteId: string, ids: readonly string[], filter: EventFilter): Promise<EventSummary[]> {
      const sql = `SELECT ${summaryColumns}, ${emailColumn} FROM events WHERE site_id = $1 AND id IN ({KEYS})`;
      const rows = await allByKeys(db, sql, [siteId], ids);
      const found = await readMatching(siteId, rows, filter);
      return found.toSorted((one, other) => (one.id < other.id ? 1 : -1));
    },

    /** Lists the ids of an order's or a person's events, newest first, from `from` on and below `below`. The caller checks the person. */
    async listIds(siteId: string, filter: EventFilter, below: string, limit: number): Promise<string[]> {
      const params: Value[] = [siteId];
      const condition = indexCondition(filter, below, params);
      const rows = await db.all(`SELECT id FROM events WHERE site_id = $1 AND ${condition} LIMIT $${params.push(limit)}`, params);
      return rows.map((row) => String(row.id));
    },
  };
}

/** Few people share an `email_ref`, so the row confirms the person. As a condition this would mislead the planner. */
export const emailColumn = "SUBSTR(person, 1, 64) AS email_sha256";
export const isOfPerson = (row: Row | undefined, { emailSha256 }: { emailSha256?: Sha256 }) =>
  emailSha256 === undefined || row?.email_sha256 === emailSha256;

/** Filtered events have an index; the index of an order or a person is narrower. */
const usesFilteredIndex = ({ status, orderId, emailSha256 }: EventFilter) =>
  status === "filtered" && orderId === undefined && emailSha256 === undefined;

/** True when the filter may drop many of the rows that the index gives. Most events are live. */
const mayDropRows = (filter: EventFilter) =>
  (filter.status !== undefined && !usesFilteredIndex(filter)) ||
  filter.mode === "test" ||
  filter.name !== undefined ||
  filter.clickId !== undefined ||
  filter.accept !== undefined;

/** Checks everything on the row. */
const fits = (event: EventSummary, row: Row | undefined, filter: EventFilter) =>
  isOfPerson(row, filter) &&
  matches(event, filter) &&
  (filter.accept === undefined || (row !== undefined && filter.accept(readCounted(row))));

const folded = (name: string) => name.trim().toLowerCase();

/** Checks what no index serves; an event that was found by its id must match it too. */
function matches(
  event: Pick<EventSummary, "status" | "mode" | "event" | "clickIds">,
  { status, mode, name, clickId }: EventFilter,
): boolean {
  return (
    (status === undefined || event.status === status) &&
    (mode === undefined || event.mode === mode) &&
    (name === undefined || folded(event.event) === folded(name)) &&
    (clickId === undefined || (clickId === "none" ? event.clickIds.length === 0 : event.clickIds.includes(clickId)))
  );
}

/** Returns the condition and the order, which with the site use the first columns of an index. */
function indexCondition(filter: EventFilter, below: string, params: Value[]): string {
  const { emailSha256, orderId, from, to } = filter;
  const end = to === undefined ? lastId : idAt(to);
  const where: string[] = [];
  if (orderId !== undefined) where.push(`order_key = $${params.push(orderKey(orderId))}`);
  if (emailSha256 !== undefined) {
    where.push(`email_ref = $${params.push(emailRef(emailSha256))}`);
  }
  if (usesFilteredIndex(filter)) where.push("status = 'filtered'");
  where.push(`id >= $${params.push(from === undefined ? "" : idAt(from))}`);
  where.push(`id < $${params.push(below < end ? below : end)}`);
  return `${where.join(" AND ")} ORDER BY id DESC`;
}
