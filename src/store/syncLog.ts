// The sync log as people read it: deliveries, newest first, with what they carried.
//
// Event ids are in the order of time, so the newest are the largest. A page is read along an index wherever the filter
// allows it: by order id and email from the events; by connection, platform and what went wrong from the deliveries, a
// branch for each connection and state. What is left of the filter is checked on the rows that come, and a call looks
// at a bounded number of them: a page can be short and still have a next one.

import type { DeliveryState, Mode } from "../event.ts";
import type { Database, Row, Value } from "./database.ts";
import { deliveryOf, type Delivery } from "./deliveries.ts";
import { changeLog, type LogKey } from "./syncLogChanges.ts";

export type LogFilter = {
  connectionId?: string;
  platform?: string;
  states?: readonly DeliveryState[];
  eventName?: string;
  eventId?: string;
  orderId?: string;
  emailHash?: string;
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

/** The largest id that can be, and the one below which nothing lies that came at `ms` or later. */
const lastId = "g";
const idAt = (ms: number) =>
  `${ms
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-0000-0000-000000000000`;

/** States that have an index; `sent` is what nearly all of them are. */
const ended = "state IN ('rejected', 'expired', 'skipped', 'parked')";
const mostBranches = 200;
const mostLooked = 20_000;

export function syncLogStore(db: Database) {
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
    const { connectionId, platform, states } = filter;
    const byState: (DeliveryState | null)[] = states && !states.includes("sent") ? [...states] : [null];
    if (connectionId !== undefined) return byState.map((state) => ({ connectionId, state }));
    if (platform === undefined && byState[0] === null) return [{ connectionId: null, state: null }];
    const known = (await connections(siteId)).filter(
      (one) => platform === undefined || one.platform === platform,
    );
    const branches = known.flatMap(({ id }) => byState.map((state) => ({ connectionId: id, state })));
    return branches.length <= mostBranches ? branches : [{ connectionId: null, state: null }];
  }

  async function look(
    siteId: string,
    filter: LogFilter,
    branches: readonly Branch[],
    below: LogKey,
    most: number,
  ): Promise<LogLine[]> {
    if (!isOfFewEvents(filter) && branches.length === 0) return [];
    const params: Value[] = [siteId, ...timesOf(filter), below.eventId, below.connectionId, most];
    const text = isOfFewEvents(filter) ? eventsFirst(filter, params) : deliveriesFirst(branches, params);
    return (await db.all(text, params)).map(lineOf);
  }

  /** Newest first. `next` is where to go on; null at the end. */
  async function page(
    siteId: string,
    filter: LogFilter,
    at: { before: LogKey | null; limit: number },
  ): Promise<LogPage> {
    const branches = await branchesOf(siteId, filter);
    const lines: LogLine[] = [];
    let below = at.before ?? { eventId: lastId, connectionId: "" };
    // Where the rest of the filter may leave little, more is looked at in one go.
    const some = isWalked(filter, branches) ? 500 : at.limit + 1;
    for (let looked = 0; looked < mostLooked; looked += some) {
      const found = await look(siteId, filter, branches, below, some);
      lines.push(...found.filter((line) => matches(line, filter)));
      const last = found.at(-1);
      const isEnd = found.length < some || !last;
      if (lines.length > at.limit || (isEnd && lines.length === at.limit)) {
        const shownLines = lines.slice(0, at.limit);
        const next = lines.length > at.limit ? keyOf(shownLines.at(-1) as LogLine) : null;
        return { lines: shownLines, next };
      }
      if (isEnd) return { lines, next: null };
      below = keyOf(last);
    }
    return { lines, next: below };
  }

  return {
    ...changeLog(db, connections),
    page,

    /** How many there are. Along an index where the filter allows it, else page by page. */
    async count(siteId: string, filter: LogFilter): Promise<number> {
      let counted = 0;
      const branches = await branchesOf(siteId, filter);
      const isOnIndex =
        branches.every(({ connectionId }) => connectionId !== null) || filter.platform === undefined;
      if (isOfFewEvents(filter) || filter.eventName !== undefined || !isOnIndex) {
        for (let before: LogKey | null | undefined; before !== null;) {
          const { lines, next }: LogPage = await page(siteId, filter, {
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
const isOfFewEvents = ({ eventId, orderId, emailHash }: LogFilter) =>
  eventId !== undefined || orderId !== undefined || emailHash !== undefined;

/** True when of the rows that come along the index perhaps few are asked for. */
const isWalked = ({ eventName, states, platform }: LogFilter, branches: readonly Branch[]) =>
  eventName !== undefined ||
  branches.some(
    ({ connectionId, state }) =>
      (states !== undefined && state === null) || (platform !== undefined && connectionId === null),
  );

const timesOf = ({ from, to }: LogFilter) => [
  from === undefined ? "" : idAt(from),
  to === undefined ? lastId : idAt(to),
];

type Branch = { connectionId: string | null; state: DeliveryState | null };

const keyOf = ({ eventId, connectionId }: LogLine): LogKey => ({ eventId, connectionId });

const deliveryColumns = [
  "site_id", "event_id", "connection_id", "platform", "state", "reason", "attempts", "due_at", "owner", "updated_at",
]; // prettier-ignore
const eventColumns = ["name", "value", "currency", "order_id", "mode", "received_at", "email_hash"];

const shown = [
  ...deliveryColumns.map((column) => `d.${column}`),
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
function textFor(keys: string): string {
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
  return textFor(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) AS parts ORDER BY event_id DESC, connection_id DESC LIMIT $6`,
  );
}

function eventsFirst({ eventId, orderId, emailHash }: LogFilter, params: Value[]): string {
  const where: string[] = [];
  if (eventId !== undefined) where.push(`e.id = $${params.push(eventId)}`);
  if (orderId !== undefined) where.push(`e.order_id = $${params.push(orderId)}`);
  if (emailHash !== undefined) where.push(`e.email_hash = $${params.push(emailHash)}`);
  const id = "(e.id || '')";
  return textFor(
    `SELECT d.event_id, d.connection_id FROM events e CROSS JOIN deliveries d
     WHERE e.site_id = $1 AND ${where.join(" AND ")} AND d.site_id = $1 AND d.event_id = e.id
       AND ${within(id, "d.connection_id")}
     ORDER BY ${id} DESC, d.connection_id DESC LIMIT $6`,
  );
}

function matches(line: LogLine, { connectionId, platform, states, eventName }: LogFilter): boolean {
  return (
    (connectionId === undefined || line.connectionId === connectionId) &&
    (platform === undefined || line.platform === platform) &&
    (states === undefined || states.includes(line.state)) &&
    (eventName === undefined || line.event.trim().toLowerCase() === eventName.trim().toLowerCase())
  );
}

function lineOf(row: Row): LogLine {
  return {
    ...deliveryOf(row),
    event: String(row.name ?? ""),
    value: row.value as number | null,
    currency: String(row.currency ?? ""),
    orderId: row.order_id as string | null,
    mode: row.mode as Mode,
    receivedAt: Number(row.received_at),
    // An event that is gone has no person any more either.
    erased: !row.email_hash,
  };
}
