// Reads the sync log: deliveries, newest first, with the fields of their events.
//
// Event ids are in the order of time, so the newest are the largest. States that only delivery rows have are read along
// their indexes, with a branch for each connection and state. Other pages are read from the events: along the index of an
// order or a person, those that a platform did not count, or all events of the site. The rest of the filter is checked on the
// lines. One call reads a bounded number of rows, so a page can be short and still have a next one.

import { threadShare } from "../../../kernel/concurrency.ts";
import { unselectedReason, type DeliveryState, type Mode, type Sha256 } from "../../../kernel/event.ts";
import { idAt, lastId, timeOfId } from "../../../kernel/ids.ts";
import { hourMs } from "../../../kernel/time.ts";
import { allByKeys, type Database, type Row, type Value } from "../../engine/database.ts";
import { deliveryRow, type Delivery } from "../delivery.ts";
import { skipScanSite } from "../dueConnections.ts";
import { emailColumn, eventListStore, isOfPerson } from "../../events/eventList.ts";
import { createReadSize, isOpen, deliverySource, readDeliveriesInSteps } from "../readDeliveries.ts";
import { findHourWithDeliveries } from "../../statistics/statistics.ts";
import type { ConfirmationRow } from "../../confirmations/confirmations.ts";
import { conditionsOf, idIn, isRowState, selectBranches, stateCondition, type Branch, type RowState } from "./branches.ts";
import { syncLogChangeStore, type LogKey } from "./changes.ts";
import { listNotCounted, matchesConfirmation, withConfirmations, type ConfirmationFilter } from "./confirmations.ts";

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
  confirmation?: ConfirmationFilter;
  /** Leaves out deliveries that were skipped because their event is not selected. */
  withoutUnselected?: boolean;
  /** Only these deliveries; without a connection, all of the event. */
  chosen?: readonly { eventId: string; connectionId?: string | undefined }[];
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
  /** Null where the platform has said nothing yet. */
  confirmation: ConfirmationRow | null;
};

type LogPage = { lines: LogLine[]; next: LogKey | null };

const maxBranches = 200;
const maxRowsRead = 20_000;
const maxSorted = 1000;
/** Along an index; it takes a fraction of a millisecond. */
const maxCounted = 2000;

export function syncLogStore(db: Database) {
  const lists = eventListStore(db);

  /** Chooses the indexes to read along; null where the events have to be read. */
  async function branchesOf(siteId: string, filter: LogFilter): Promise<Branch[] | null> {
    const states = filter.states?.filter(isRowState) ?? [];
    if (namesFewEvents(filter) || filter.confirmation) return null;
    if (states.length === 0 || states.length !== filter.states?.length) return null;
    const branches: Branch[] = [];
    for (const state of states) {
      const { connectionId: wanted } = filter;
      const known = wanted === undefined ? await connectionsWith(siteId, state, filter.platform) : [wanted];
      for (const connectionId of known) {
        if (state === "queued" && (await hasLargeBacklog(siteId, connectionId))) return null;
        branches.push({ connectionId, state });
      }
    }
    return branches.length <= maxBranches ? branches : null;
  }

  /** Lists the connections that have deliveries in a state. */
  async function connectionsWith(siteId: string, state: RowState, platform?: string): Promise<string[]> {
    const isState = stateCondition(state);
    const platformOf = `(SELECT platform FROM deliveries WHERE site_id = $1 AND ${isState} AND connection_id = known.id
      ORDER BY ${state === "queued" ? "due_at" : "event_id"} LIMIT 1)`;
    const rows = await skipScanSite(db, siteId, { table: "deliveries", condition: isState }, platformOf);
    return rows.flatMap((row) => (platform === undefined || row.found === platform ? [String(row.id)] : []));
  }

  /**
   * Queued deliveries have an index by due time and must be sorted for a page. A large backlog is not sorted: its rows are
   * soon found along the events.
   */
  async function hasLargeBacklog(siteId: string, connectionId: string): Promise<boolean> {
    const rows = await db.all(
      `SELECT due_at FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'queued'
       ORDER BY due_at LIMIT 1 OFFSET ${maxSorted}`,
      [siteId, connectionId],
    );
    return rows.length > 0;
  }

  type Part = { found: LogLine[]; next: LogKey | null };

  /** Reads up to `max` lines of delivery rows below a line. `next` is the line to go on after, null at the end. */
  async function readBranches(
    siteId: string,
    filter: LogFilter,
    { branches, open }: { branches: readonly Branch[]; open: readonly LogLine[] },
    below: LogKey,
    max: number,
  ): Promise<Part> {
    const params: Value[] = [siteId, ...timesOf(filter), below.eventId, below.connectionId, max];
    const rows = branches.length ? await db.all(selectBranches(branches, params), params) : [];
    const found = [...(await withEvents(siteId, rows.map(deliveryRow.read))), ...open]
      .filter((line) => isBelow(line, below))
      .toSorted((one, other) => (isBelow(one, keyOf(other)) ? 1 : -1))
      .slice(0, max);
    const last = found.at(-1);
    return { found, next: found.length < max || !last ? null : keyOf(last) };
  }

  /** Reads first attempts that are not settled and match: they are queued, have no row, and are the newest of their nodes. */
  async function readOpen(siteId: string, filter: LogFilter): Promise<LogLine[]> {
    if (!filter.states?.includes("queued")) return [];
    const [mark] = await db.all(`SELECT MIN(low_water) AS id FROM nodes WHERE site_id = ''`);
    if (mark?.id == null) return [];
    const rows = await db.all(
      `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id >= $2 ORDER BY id DESC LIMIT ${maxSorted}`,
      [siteId, String(mark.id)],
    );
    const deliveries = await readDeliveriesInSteps(db, siteId, rows);
    const open = await threadShare.map(siteId, rows, (row) =>
      (deliveries.get(String(row.id)) ?? []).flatMap((one) => (isOpen(one) ? [toLine(one, row)] : [])),
    );
    return open.flat().filter((line) => matches(line, filter));
  }

  /** Adds the fields of the events. The event of a delivery may have been purged. */
  async function withEvents(siteId: string, deliveries: readonly Delivery[]): Promise<LogLine[]> {
    const rows = await readEventRows(siteId, [...new Set(deliveries.map(({ eventId }) => eventId))]);
    const events = new Map(rows.map((row) => [String(row.id), row]));
    return deliveries.map((delivery) => toLine(delivery, events.get(delivery.eventId)));
  }

  /** Reads the deliveries of up to `max` events below a line. */
  async function readEvents(siteId: string, filter: LogFilter, below: LogKey, max: number): Promise<Part> {
    const rows = await selectEvents(siteId, filter, below, max);
    const ofPerson = rows.filter((row) => isOfPerson(row, filter));
    const deliveries = await readDeliveriesInSteps(db, siteId, ofPerson);
    const found = await threadShare.map(siteId, ofPerson, (row) =>
      (deliveries.get(String(row.id)) ?? [])
        .toSorted((one, other) => (one.connectionId < other.connectionId ? 1 : -1))
        .map((delivery) => toLine(delivery, row))
        .filter((line) => isBelow(line, below)),
    );
    const last = rows.at(-1);
    const isEnd = namedEvents(filter) !== null || rows.length < max || !last;
    return {
      found: found.flat(),
      next: isEnd ? null : { eventId: String(last.id), connectionId: "" },
    };
  }

  /** Reads up to `max` deliveries below a line that their platforms did not count. */
  async function readNotCounted(
    siteId: string,
    filter: LogFilter & { confirmation: ConfirmationFilter },
    below: LogKey,
    max: number,
  ): Promise<Part> {
    const keys = await listNotCounted(db, siteId, filter.confirmation, timesOf(filter), below, max);
    const rows = await readEventRows(siteId, [...new Set(keys.map(({ eventId }) => eventId))]);
    const deliveries = await readDeliveriesInSteps(db, siteId, rows);
    const events = new Map(rows.map((row) => [String(row.id), row]));
    const found = keys.flatMap(({ eventId, connectionId }) =>
      (deliveries.get(eventId) ?? []).flatMap((one) =>
        one.connectionId === connectionId ? [toLine(one, events.get(eventId))] : [],
      ),
    );
    return { found, next: keys.length < max ? null : (keys.at(-1) ?? null) };
  }

  const readEventRows = (siteId: string, ids: readonly string[]): Promise<Row[]> =>
    allByKeys(db, `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id IN ({KEYS})`, [siteId], ids);

  /** Selects events newest first. The one at which the previous page ended may have deliveries left. */
  async function selectEvents(siteId: string, filter: LogFilter, below: LogKey, max: number): Promise<Row[]> {
    const end = below.connectionId === "" ? below.eventId : `${below.eventId}0`;
    if (!namesFewEvents(filter)) {
      const [from = "", to = lastId] = timesOf(filter);
      const sql = `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4`;
      return db.all(sql, [siteId, from, end < to ? end : to, max]);
    }
    const ids = namedEvents(filter) ?? (await lists.listIds(siteId, filter, end, max));
    const found = await readEventRows(siteId, ids);
    return found.toSorted((one, other) => (String(one.id) < String(other.id) ? 1 : -1));
  }

  /** Goes on below hours that have no line of the filter according to the statistics. */
  async function skipHours(siteId: string, filter: LogFilter, below: LogKey): Promise<LogKey> {
    const { connectionId, states } = filter;
    const [connection] =
      connectionId === undefined
        ? []
        : await db.all(`SELECT platform FROM connections WHERE site_id = $1 AND id = $2`, [siteId, connectionId]);
    const platform = filter.platform ?? (connection && String(connection.platform));
    if (!platform && !states) return below;
    const first = Math.floor(timeOfId(below.eventId) / hourMs);
    for (let hour = first; ;) {
      await threadShare.rest(siteId);
      const found = await findHourWithDeliveries(db, siteId, { ...(platform && { platform }), ...(states && { states }) }, hour);
      if (found === hour) return hour < first ? { eventId: idAt((hour + 1) * hourMs), connectionId: "" } : below;
      hour = found;
    }
  }

  /** Newest first. `next` is the line to go on after, null at the end. */
  async function listPage(siteId: string, filter: LogFilter, at: { before: LogKey | null; limit: number }): Promise<LogPage> {
    const branches = await branchesOf(siteId, filter);
    const { confirmation } = filter;
    const isIndexed = branches !== null || isNotCounted(filter);
    const toShown = async (shown: LogLine[]) => (confirmation ? shown : withConfirmations(db, siteId, shown));
    const open = branches ? await readOpen(siteId, filter) : [];
    const lines: LogLine[] = [];
    let below = at.before ?? { eventId: lastId, connectionId: "" };
    const size = createReadSize(db);
    // A filter that no index serves may drop most rows, so more are read at once.
    let some = Math.min(size.events(), mayDropLines(filter, branches) ? maxRowsRead : at.limit + 1);
    for (let rowsRead = 0; rowsRead < maxRowsRead; rowsRead += some) {
      await threadShare.rest(siteId);
      if (rowsRead > 0) some = size.events();
      const { found, next } = branches
        ? await readBranches(siteId, filter, { branches, open }, below, some)
        : isNotCounted(filter)
          ? await readNotCounted(siteId, filter, below, some)
          : await readEvents(siteId, filter, below, some);
      size.adapt(some, found.length);
      const fits = await threadShare.map(siteId, found, (line) => matches(line, filter));
      const matching = found.filter((_line, i) => fits[i]);
      const read = confirmation ? await withConfirmations(db, siteId, matching) : matching;
      lines.push(...read.filter((line) => matchesConfirmation(line, confirmation)));
      if (lines.length > at.limit) {
        const shown = lines.slice(0, at.limit);
        return { lines: await toShown(shown), next: keyOf(shown.at(-1) as LogLine) };
      }
      if (next === null) return { lines: await toShown(lines), next: null };
      below = isIndexed || namesFewEvents(filter) ? next : await skipHours(siteId, filter, next);
    }
    return { lines: await toShown(lines), next: below };
  }

  /** Counts along the index of a branch, some rows at a time. */
  async function countBranch(siteId: string, branch: Branch, [from = "", to = ""]: readonly string[]): Promise<number> {
    const id = idIn(branch);
    for (let counted = 0, begin = from; ;) {
      await threadShare.rest(siteId);
      const params: Value[] = [siteId, begin, to];
      const [row] = await db.all(
        `SELECT COUNT(*) AS n, MAX(event_id) AS last_id FROM (SELECT event_id FROM deliveries
           WHERE site_id = $1 AND ${conditionsOf(branch, params)} AND ${id} >= $2 AND ${id} < $3
           ORDER BY ${id} LIMIT ${maxCounted}) AS counted`,
        params,
      );
      counted += Number(row?.n);
      if (Number(row?.n) < maxCounted) return counted;
      begin = `${row?.last_id}0`;
    }
  }

  return {
    ...syncLogChangeStore(db),
    listPage,

    /** Counts along the indexes of delivery rows where the filter allows it, else page by page. */
    async count(siteId: string, filter: LogFilter): Promise<number> {
      let counted = 0;
      const branches = filtersEvents(filter) ? null : await branchesOf(siteId, filter);
      if (branches) {
        for (const branch of branches) counted += await countBranch(siteId, branch, timesOf(filter));
        return counted + (await readOpen(siteId, filter)).length;
      }
      for (let before: LogKey | null | undefined; before !== null;) {
        const page: LogPage = await listPage(siteId, filter, { before: before ?? null, limit: 1000 });
        counted += page.lines.length;
        before = page.next;
      }
      return counted;
    },
  };
}

/** Order id, email and event id name a few events; their deliveries are found from them. */
const namesFewEvents = (filter: LogFilter) =>
  namedEvents(filter) !== null || filter.orderId !== undefined || filter.emailSha256 !== undefined;

/** The ids of events that the filter names; they are read at once. */
const namedEvents = ({ eventId, chosen }: LogFilter): string[] | null =>
  eventId !== undefined ? [eventId] : chosen ? [...new Set(chosen.map((one) => one.eventId))] : null;

/** Deliveries have neither the name nor the mode of their event, so these are checked on the lines. */
const filtersEvents = ({ eventName, mode }: LogFilter) => eventName !== undefined || mode !== undefined;

const isNotCounted = (filter: LogFilter): filter is LogFilter & { confirmation: ConfirmationFilter } =>
  filter.confirmation?.state === "not counted" && !namesFewEvents(filter);

/** True when the filter may drop many of the lines that are read. Most events are live. */
const mayDropLines = (filter: LogFilter, branches: readonly Branch[] | null) =>
  filter.eventName !== undefined ||
  filter.mode === "test" ||
  filter.confirmation !== undefined ||
  (branches === null && (filter.states ?? filter.platform) !== undefined);

const timesOf = ({ from, to }: LogFilter) => [from === undefined ? "" : idAt(from), to === undefined ? lastId : idAt(to)];

const keyOf = ({ eventId, connectionId }: LogLine): LogKey => ({ eventId, connectionId });

/** Lines are in descending order of event, then of connection. */
const isBelow = (line: LogLine, { eventId, connectionId }: LogKey) =>
  line.eventId < eventId || (line.eventId === eventId && line.connectionId < connectionId);

function matches(line: LogLine, filter: LogFilter): boolean {
  const { connectionId, platform, states, eventName, mode, from, to, withoutUnselected, chosen } = filter;
  return (
    (from === undefined || line.eventId >= idAt(from)) &&
    (to === undefined || line.eventId < idAt(to)) &&
    (connectionId === undefined || line.connectionId === connectionId) &&
    (platform === undefined || line.platform === platform) &&
    (states === undefined || states.includes(line.state)) &&
    (mode === undefined || line.mode === mode) &&
    (!withoutUnselected || line.state !== "skipped" || line.reason !== unselectedReason) &&
    (chosen === undefined || chosen.some((one) => isOf(line, one))) &&
    (eventName === undefined || line.event.trim().toLowerCase() === eventName.trim().toLowerCase())
  );
}

const isOf = (line: LogLine, { eventId, connectionId }: { eventId: string; connectionId?: string | undefined }) =>
  line.eventId === eventId && (connectionId === undefined || line.connectionId === connectionId);

const eventColumns = `id, received_at, ${deliverySource}, name, value, currency, order_id, mode, email_ref, ${emailColumn}`;

function toLine(delivery: Delivery, event: Row | undefined): LogLine {
  return {
    ...delivery,
    event: String(event?.name ?? ""),
    value: (event?.value ?? null) as number | null,
    currency: String(event?.currency ?? ""),
    orderId: (event?.order_id ?? null) as string | null,
    mode: event?.mode as Mode,
    receivedAt: Number(event?.received_at),
    erased: event?.email_ref == null,
    confirmation: null,
  };
}
