// Reads the sync log: deliveries, newest first, with the fields of their events.
//
// Event ids are in the order of time, so the newest are the largest. A page is read along an index where the filter allows
// it: by order id and email from the events; by connection, platform and state from the deliveries, with a branch for
// each connection and state. The rest of the filter is checked on the rows. One call reads a bounded number of rows, so a
// page can be short and still have a next one.

import { yieldToEventLoop } from "../../kernel/deadline.ts";
import type { DeliveryState, Mode, Sha256 } from "../../kernel/event.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import { chunks, list, type Database, type Row, type Value } from "../engine/database.ts";
import { deliveryRow, type Delivery } from "./delivery.ts";
import { eventListStore } from "../events/eventList.ts";
import { syncLogChangeStore, type LogKey } from "./syncLogChanges.ts";

export type LogFilter = {
  connectionId?: string;
  platform?: string;
  states?: readonly DeliveryState[];
  eventName?: string;
  mode?: Mode;
  eventId?: string;
  orderId?: string;
  emailSha256?: Sha256;
  /** Received from `from` on, and before `to`. */
  from?: number;
  to?: number;
};

export type LogLine = Delivery & {
  event: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  mode: Mode;
  receivedAt: number;
  /** The person of the event was erased. */
  erased: boolean;
};

type LogPage = { lines: LogLine[]; next: LogKey | null };

const maxBranches = 200;
const maxRowsRead = 20_000;
const maxSorted = 1000;

export function syncLogStore(db: Database) {
  const lists = eventListStore(db);

  /** Lists every connection that ever had a delivery, by skipping along the index from one to the next. */
  async function connections(siteId: string): Promise<{ id: string; platform: string }[]> {
    const rows = await db.all(
      `WITH RECURSIVE known AS (
         SELECT MIN(connection_id) AS id FROM deliveries WHERE site_id = $1
         UNION ALL
         SELECT (SELECT MIN(connection_id) FROM deliveries WHERE site_id = $1 AND connection_id > known.id)
         FROM known WHERE known.id IS NOT NULL)
       SELECT id, (SELECT platform FROM deliveries WHERE site_id = $1 AND connection_id = known.id AND event_id =
           (SELECT MIN(event_id) FROM deliveries WHERE site_id = $1 AND connection_id = known.id)) AS platform
       FROM known WHERE id IS NOT NULL`,
      [siteId],
    );
    return rows.map((row) => ({ id: String(row.id), platform: String(row.platform) }));
  }

  /** Chooses the indexes to read along; a branch without a connection is the whole site. */
  async function branchesOf(siteId: string, filter: LogFilter): Promise<Branch[]> {
    const branches = await wantedBranches(siteId, filter);
    const large = new Set<string>();
    for (const { connectionId, state } of branches)
      if (state === "queued" && connectionId !== null && (await hasLargeBacklog(siteId, connectionId)))
        large.add(connectionId);
    if (large.size === 0) return branches;
    // Such a connection is read once, without a state, and the states are checked on the rows.
    const others = branches.filter((one) => one.connectionId === null || !large.has(one.connectionId));
    return [...others, ...[...large].map((connectionId) => ({ connectionId, state: null }))];
  }

  /**
   * Queued deliveries have an index by due time and must be sorted for a page. A large backlog is not sorted: its rows
   * are soon found along the connection's index.
   */
  async function hasLargeBacklog(siteId: string, connectionId: string): Promise<boolean> {
    const rows = await db.all(
      `SELECT due_at FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'queued'
       ORDER BY due_at LIMIT 1 OFFSET ${maxSorted}`,
      [siteId, connectionId],
    );
    return rows.length > 0;
  }

  async function wantedBranches(siteId: string, filter: LogFilter): Promise<Branch[]> {
    const { connectionId, platform, states } = filter;
    const byState: (DeliveryState | null)[] = states && !states.includes("sent") ? [...states] : [null];
    if (connectionId !== undefined) return byState.map((state) => ({ connectionId, state }));
    if (platform === undefined && byState[0] === null) return [{ connectionId: null, state: null }];
    const known = (await connections(siteId)).filter(
      (one) => platform === undefined || one.platform === platform,
    );
    const branches = known.flatMap(({ id }) => byState.map((state) => ({ connectionId: id, state })));
    return branches.length <= maxBranches ? branches : [{ connectionId: null, state: null }];
  }

  /** Reads about `max` lines below a line. `next` is the line to go on after, null at the end. */
  async function readLines(
    siteId: string,
    filter: LogFilter,
    branches: readonly Branch[],
    below: LogKey,
    max: number,
  ): Promise<{ found: LogLine[]; next: LogKey | null }> {
    if (namesFewEvents(filter)) return readLinesOfEvents(siteId, filter, below, Math.min(max, 200));
    if (branches.length === 0) return { found: [], next: null };
    const params: Value[] = [siteId, ...timesOf(filter), below.eventId, below.connectionId, max];
    const found = (await db.all(deliveriesFirst(branches, params), params)).map(lineOf);
    const last = found.at(-1);
    return { found, next: found.length < max || !last ? null : keyOf(last) };
  }

  /** Reads the deliveries of an order's or a person's events, newest first. */
  async function readLinesOfEvents(
    siteId: string,
    filter: LogFilter,
    below: LogKey,
    max: number,
  ): Promise<{ found: LogLine[]; next: LogKey | null }> {
    const { eventId } = filter;
    // The event at which the previous page ended may have deliveries left.
    const end = below.eventId === lastId ? lastId : `${below.eventId}${lastId}`;
    const ids = eventId === undefined ? await lists.listIds(siteId, filter, end, max) : [eventId];
    const found: LogLine[] = [];
    for (const some of chunks(ids)) {
      const text = linesOf(
        `SELECT event_id, connection_id FROM deliveries WHERE site_id = $1 AND event_id IN (${list(some.length, 1)})`,
      );
      found.push(...(await db.all(text, [siteId, ...some])).map(lineOf));
    }
    const last = ids.at(-1);
    const isEnd = eventId !== undefined || ids.length < max || !last;
    return {
      found: found.filter((line) => isBelow(line, below)),
      next: isEnd ? null : { eventId: last, connectionId: "" },
    };
  }

  /** Lists the newest first. `next` is the line to go on after, null at the end. */
  async function listPage(
    siteId: string,
    filter: LogFilter,
    at: { before: LogKey | null; limit: number },
  ): Promise<LogPage> {
    const branches = namesFewEvents(filter) ? [] : await branchesOf(siteId, filter);
    const lines: LogLine[] = [];
    let below = at.before ?? { eventId: lastId, connectionId: "" };
    // A filter that no index serves may drop most rows, so more are read at once.
    const some = mayDropRows(filter, branches) ? 500 : at.limit + 1;
    for (let rowsRead = 0; rowsRead < maxRowsRead; rowsRead += some) {
      const { found, next } = await readLines(siteId, filter, branches, below, some);
      lines.push(...found.filter((line) => matches(line, filter)));
      if (lines.length > at.limit) {
        const shownLines = lines.slice(0, at.limit);
        return { lines: shownLines, next: keyOf(shownLines.at(-1) as LogLine) };
      }
      if (next === null) return { lines, next: null };
      below = next;
      // The embedded store shares its thread with the inbound endpoint.
      await yieldToEventLoop();
    }
    return { lines, next: below };
  }

  return {
    ...syncLogChangeStore(db, connections),
    listPage,

    /** Counts along an index where the filter allows it, else page by page. */
    async count(siteId: string, filter: LogFilter): Promise<number> {
      let counted = 0;
      const branches = await branchesOf(siteId, filter);
      const isOnIndex =
        branches.every(({ connectionId }) => connectionId !== null) || filter.platform === undefined;
      if (namesFewEvents(filter) || filtersEvents(filter) || !isOnIndex) {
        for (let before: LogKey | null | undefined; before !== null;) {
          const { lines, next }: LogPage = await listPage(siteId, filter, {
            before: before ?? null,
            limit: 1000,
          });
          counted += lines.length;
          before = next;
        }
        return counted;
      }
      for (const branch of branches) {
        const params: Value[] = [siteId, ...timesOf(filter)];
        const where = [conditionsOf(branch, params)];
        if (filter.states && branch.state === null)
          where.push(`state IN (${filter.states.map((state) => `'${state}'`).join(", ")})`);
        const id = idIn(branch);
        const [row] = await db.all(
          `SELECT COUNT(*) AS n FROM deliveries WHERE ${where.join(" AND ")} AND ${id} >= $2 AND ${id} < $3`,
          params,
        );
        counted += Number(row?.n);
      }
      return counted;
    },
  };
}

/** Order id, email and event id name a few events; their deliveries are found from them. */
const namesFewEvents = ({ eventId, orderId, emailSha256 }: LogFilter) =>
  eventId !== undefined || orderId !== undefined || emailSha256 !== undefined;

/** Deliveries have neither the name nor the mode of their event, so these are checked on the rows. */
const filtersEvents = ({ eventName, mode }: LogFilter) => eventName !== undefined || mode !== undefined;

/** True when the filter may drop many of the rows that the index gives. */
const mayDropRows = (filter: LogFilter, branches: readonly Branch[]) =>
  filtersEvents(filter) ||
  branches.some(
    ({ connectionId, state }) =>
      (filter.states !== undefined && state === null) ||
      (filter.platform !== undefined && connectionId === null),
  );

const timesOf = ({ from, to }: LogFilter) => [
  from === undefined ? "" : idAt(from),
  to === undefined ? lastId : idAt(to),
];

const keyOf = ({ eventId, connectionId }: LogLine): LogKey => ({ eventId, connectionId });

/** Lines are in descending order of event, then of connection. */
const isBelow = (line: LogLine, { eventId, connectionId }: LogKey) =>
  line.eventId < eventId || (line.eventId === eventId && line.connectionId < connectionId);

function matches(line: LogLine, filter: LogFilter): boolean {
  const { connectionId, platform, states, eventName, mode, from, to } = filter;
  return (
    (from === undefined || line.eventId >= idAt(from)) &&
    (to === undefined || line.eventId < idAt(to)) &&
    (connectionId === undefined || line.connectionId === connectionId) &&
    (platform === undefined || line.platform === platform) &&
    (states === undefined || states.includes(line.state)) &&
    (mode === undefined || line.mode === mode) &&
    (eventName === undefined || line.event.trim().toLowerCase() === eventName.trim().toLowerCase())
  );
}

function lineOf(row: Row): LogLine {
  return {
    ...deliveryRow.read(row),
    event: String(row.name ?? ""),
    value: row.value as number | null,
    currency: String(row.currency ?? ""),
    orderId: row.order_id as string | null,
    mode: row.mode as Mode,
    receivedAt: Number(row.received_at),
    // The event of a delivery may have been purged.
    erased: !row.email_sha256,
  };
}

/** An index to read along: of a connection, and of a state that has an index. */
type Branch = { connectionId: string | null; state: DeliveryState | null };

/** The states of the partial index. Nearly all deliveries are `sent`, which has none. */
const ended = "state IN ('rejected', 'expired', 'skipped', 'parked')";

const eventColumns = ["name", "value", "currency", "order_id", "mode", "received_at", "email_sha256"];

const shown = [
  ...deliveryRow.columns.map((column) => `d.${column}`),
  ...eventColumns.map((column) => `e.${column}`),
].join(", ");

/** $2 to $5 are from, to, and the line after which the page begins. */
const within = (eventId: string, connectionId: string) =>
  `${eventId} >= $2 AND ${eventId} < $3 AND ${eventId} <= $4 AND (${eventId} < $4 OR ${connectionId} < $5)`;

/**
 * Selects the keys of a page first and joins the rest to them, because an index that covers all selected columns is
 * preferred over the table. Ids that must not choose the index are written as expressions, or the engine would scan all
 * deliveries in id order.
 */
function linesOf(keys: string): string {
  return `SELECT ${shown} FROM (${keys}) AS k
    CROSS JOIN deliveries d LEFT JOIN events e ON e.site_id = $1 AND e.id = k.event_id
    WHERE d.site_id = $1 AND d.event_id = k.event_id AND d.connection_id = k.connection_id
    ORDER BY k.event_id DESC, k.connection_id DESC`;
}

/** The index of queued deliveries is ordered by due time. */
const idIn = ({ state }: Branch) => (state === "queued" ? "(event_id || '')" : "event_id");

function conditionsOf({ connectionId, state }: Branch, params: Value[]): string {
  const where = ["site_id = $1"];
  if (connectionId !== null) where.push(`connection_id = $${params.push(connectionId)}`);
  if (state === "queued") where.push("state = 'queued'");
  else if (state !== null) where.push(`state = '${state}' AND ${ended}`);
  return where.join(" AND ");
}

function deliveriesFirst(branches: readonly Branch[], params: Value[]): string {
  const parts = branches.map((branch) => {
    const id = idIn(branch);
    return `SELECT * FROM (SELECT event_id, connection_id FROM deliveries
      WHERE ${conditionsOf(branch, params)} AND ${within(id, "connection_id")}
      ORDER BY ${id} DESC, connection_id DESC LIMIT $6) AS part`;
  });
  return linesOf(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) AS parts ORDER BY event_id DESC, connection_id DESC LIMIT $6`,
  );
}
