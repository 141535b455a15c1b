// The sync log as people read it: deliveries, newest first, with what they carried.
//
// Event ids are in the order of time, so the newest are the largest. A page is read along an index wherever the filter
// allows it: by order id and email from the events; by connection, platform and what went wrong from the deliveries, a
// branch for each connection and state. What is left of the filter is checked on the rows that come, and a call looks
// at a bounded number of them: a page can be short and still have a next one.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
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
  /** Received at or after, and before. */
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

export type LogPage = { lines: LogLine[]; next: LogKey | null };

const maxBranches = 200;
const maxLooked = 20_000;
const maxSorted = 1000;

export function syncLogStore(db: Database) {
  const lists = eventListStore(db);

  /** Every connection that ever had a delivery, in as many steps as there are, however many deliveries each has. */
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

  /** Along which indexes to read: nothing is all of the site, newest first. */
  async function branchesOf(siteId: string, filter: LogFilter): Promise<Branch[]> {
    const branches = await wantedBranches(siteId, filter);
    const walked = new Set<string>();
    for (const { connectionId, state } of branches)
      if (state === "queued" && connectionId !== null && (await waitMany(siteId, connectionId)))
        walked.add(connectionId);
    if (walked.size === 0) return branches;
    // Read once, without a state: its other states are checked on the rows that come.
    const others = branches.filter((one) => one.connectionId === null || !walked.has(one.connectionId));
    return [...others, ...[...walked].map((connectionId) => ({ connectionId, state: null }))];
  }

  /**
   * Those that wait have an index by due time, and are put in order for a page. Of a backlog that is not done: they are
   * so many that they are soon met along the connection.
   */
  async function waitMany(siteId: string, connectionId: string): Promise<boolean> {
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

  /** Up to about `most` lines below a line, and after which one to go on; null at the end. */
  async function look(
    siteId: string,
    filter: LogFilter,
    branches: readonly Branch[],
    below: LogKey,
    most: number,
  ): Promise<{ found: LogLine[]; next: LogKey | null }> {
    if (isOfFewEvents(filter)) return lookFromEvents(siteId, filter, below, Math.min(most, 200));
    if (branches.length === 0) return { found: [], next: null };
    const params: Value[] = [siteId, ...timesOf(filter), below.eventId, below.connectionId, most];
    const found = (await db.all(deliveriesFirst(branches, params), params)).map(lineOf);
    const last = found.at(-1);
    return { found, next: found.length < most || !last ? null : keyOf(last) };
  }

  /** The deliveries of a few events: those of an order or a person, the newest first. */
  async function lookFromEvents(
    siteId: string,
    filter: LogFilter,
    below: LogKey,
    most: number,
  ): Promise<{ found: LogLine[]; next: LogKey | null }> {
    const { eventId, orderId, emailSha256, from, to } = filter;
    const asked = {
      ...(orderId === undefined ? {} : { orderId }),
      ...(emailSha256 === undefined ? {} : { emailSha256 }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    };
    // The event in which the page above ended may have deliveries left.
    const end = below.eventId === lastId ? lastId : `${below.eventId}${lastId}`;
    const ids = eventId === undefined ? await lists.listIds(siteId, asked, end, most) : [eventId];
    const found: LogLine[] = [];
    for (const some of chunks(ids)) {
      const text = linesOf(
        `SELECT event_id, connection_id FROM deliveries WHERE site_id = $1 AND event_id IN (${list(some.length, 1)})`,
      );
      found.push(...(await db.all(text, [siteId, ...some])).map(lineOf));
    }
    const last = ids.at(-1);
    const isEnd = eventId !== undefined || ids.length < most || !last;
    return {
      found: found.filter((line) => isBelow(line, below)),
      next: isEnd ? null : { eventId: last, connectionId: "" },
    };
  }

  /** Newest first. `next` is where to go on; null at the end. */
  async function listPage(
    siteId: string,
    filter: LogFilter,
    at: { before: LogKey | null; limit: number },
  ): Promise<LogPage> {
    const branches = isOfFewEvents(filter) ? [] : await branchesOf(siteId, filter);
    const lines: LogLine[] = [];
    let below = at.before ?? { eventId: lastId, connectionId: "" };
    // Where the rest of the filter may leave little, more is looked at in one go.
    const some = isWalked(filter, branches) ? 500 : at.limit + 1;
    for (let looked = 0; looked < maxLooked; looked += some) {
      const { found, next } = await look(siteId, filter, branches, below, some);
      lines.push(...found.filter((line) => matches(line, filter)));
      if (lines.length > at.limit) {
        const shownLines = lines.slice(0, at.limit);
        return { lines: shownLines, next: keyOf(shownLines.at(-1) as LogLine) };
      }
      if (next === null) return { lines, next: null };
      below = next;
      // The embedded store works on the thread that takes events in.
      await yieldToEventLoop();
    }
    return { lines, next: below };
  }

  return {
    ...syncLogChangeStore(db, connections),
    listPage,

    /** How many there are. Along an index where the filter allows it, else page by page. */
    async count(siteId: string, filter: LogFilter): Promise<number> {
      let counted = 0;
      const branches = await branchesOf(siteId, filter);
      const isOnIndex =
        branches.every(({ connectionId }) => connectionId !== null) || filter.platform === undefined;
      if (isOfFewEvents(filter) || isOfSomeEvents(filter) || !isOnIndex) {
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
const isOfFewEvents = ({ eventId, orderId, emailSha256 }: LogFilter) =>
  eventId !== undefined || orderId !== undefined || emailSha256 !== undefined;

/** Name and mode stand in the event alone: they are checked on the rows that come. */
const isOfSomeEvents = ({ eventName, mode }: LogFilter) => eventName !== undefined || mode !== undefined;

/** True when of the rows that come along the index perhaps few are asked for. */
const isWalked = (filter: LogFilter, branches: readonly Branch[]) =>
  isOfSomeEvents(filter) ||
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

/** Lines go down by event, and within an event by connection. */
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
    // An event that is gone has no person any more either.
    erased: !row.email_sha256,
  };
}

/** Along which index to read: of a connection, and of a state that has one. */
type Branch = { connectionId: string | null; state: DeliveryState | null };

/** States that have an index; `sent` is what nearly all of them are. */
const ended = "state IN ('rejected', 'expired', 'skipped', 'parked')";

const eventColumns = ["name", "value", "currency", "order_id", "mode", "received_at", "email_sha256"];

const shown = [
  ...deliveryRow.columns.map((column) => `d.${column}`),
  ...eventColumns.map((column) => `e.${column}`),
].join(", ");

/** $2 to $5: from, to, and the line after which the page begins. */
const within = (eventId: string, connectionId: string) =>
  `${eventId} >= $2 AND ${eventId} < $3 AND ${eventId} <= $4 AND (${eventId} < $4 OR ${connectionId} < $5)`;

/**
 * First the keys of a page, then what belongs to them: an index holds the keys, and only an index that holds all that
 * is asked for is preferred over the table. Ids that must not decide the way are spelled differently for the engine, or
 * it would walk all that ever was for the sake of the order.
 */
function linesOf(keys: string): string {
  return `SELECT ${shown} FROM (${keys}) AS k
    CROSS JOIN deliveries d LEFT JOIN events e ON e.site_id = $1 AND e.id = k.event_id
    WHERE d.site_id = $1 AND d.event_id = k.event_id AND d.connection_id = k.connection_id
    ORDER BY k.event_id DESC, k.connection_id DESC`;
}

/** The index of those that wait is ordered by when they are due. */
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
