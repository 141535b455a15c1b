// Serves events: list, CSV, trace, and release ("not a bot").

import type { z } from "zod";
import type { Answer, Query } from "../../contract/contract.ts";
import type { eventSummary } from "../../contract/events.ts";
import { toConfirmationFilter } from "../../delivery/confirmations/describe.ts";
import { listEventsByDelivery } from "../../delivery/eventsByDelivery.ts";
import { checkFilter } from "../../delivery/replay.ts";
import { releaseEvent } from "../../delivery/release.ts";
import { persistingReasons } from "../persistingReasons.ts";
import { findEventById, readTrace, type Trace } from "../../delivery/trace/trace.ts";
import { describeFilterReason } from "../../kernel/event.ts";
import { explainReason } from "../../traffic/verdict.ts";
import { given } from "../../http/given.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { lastId } from "../../kernel/ids.ts";
import { maskAddresses } from "../../kernel/maskAddresses.ts";
import type { EventFilter } from "../../store/events/eventList.ts";
import { campaignOf, nameSource, sourceOf } from "../../statistics/source.ts";
import type { LogFilter } from "../../store/deliveries/syncLog/syncLog.ts";
import type { EventSummary, StoredEvent } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";
import { notFound, type Handlers } from "../call.ts";
import { setFileName, checkTimes, listOf, readCursor, toCsv, type Column } from "../lists.ts";
import type { ApiContext } from "../context.ts";
import { readPersonHash, readSearch } from "./search.ts";

type Names =
  | "GET /sites/:site/events"
  | "GET /sites/:site/events.csv"
  | "GET /sites/:site/events/:event"
  | "POST /sites/:site/events/:event/release";

export type ShownEvent = z.output<typeof eventSummary>;
type Page = { rows: ShownEvent[]; next: string | null };

/** An event has a row for each of its deliveries, and one row if it has none. */
type CsvRow = ShownEvent & { delivery: ShownEvent["deliveries"][number] | null; number: number };

const rowsOf = (event: ShownEvent): CsvRow[] =>
  event.deliveries.length
    ? event.deliveries.map((delivery, at) => ({ ...event, delivery, number: at + 1 }))
    : [{ ...event, delivery: null, number: 1 }];

/** Rows that a file gets at a time. An event has one for each of its deliveries. */
const csvRows = 50;

const columns: readonly Column<CsvRow>[] = [
  { title: "received", at: (event) => event.receivedAt },
  { title: "event", cell: (event) => event.event },
  { title: "value", cell: (event) => event.value },
  { title: "currency", cell: (event) => (event.value === null ? null : event.currency) },
  { title: "order id", cell: (event) => event.orderId },
  { title: "mode", cell: (event) => event.mode },
  { title: "status", cell: (event) => event.status },
  { title: "filtered because", cell: (event) => event.filterReasons.map(describeFilterReason).join("; ") },
  { title: "identity record", cell: (event) => event.identity },
  { title: "withheld", cell: (event) => event.withheld },
  { title: "click ids", cell: (event) => event.clickIds.join(" ") },
  { title: "row of the event", cell: ({ number }) => number },
  { title: "platform", cell: ({ delivery }) => delivery?.platform ?? null },
  { title: "connection", cell: ({ delivery }) => delivery?.connection ?? null },
  { title: "state", cell: ({ delivery }) => delivery?.state ?? null },
  { title: "reason", cell: ({ delivery }) => delivery?.reason ?? null },
  { title: "id", cell: (event) => event.id },
  { title: "platform event id", cell: (event) => event.platformEventId },
];

/** A part of an order id finds the orders that begin with it. */
const minPrefix = 2;
const maxOrders = 20;

export function eventHandlers(context: ApiContext): Handlers<Names> {
  const { store, directory, now } = context;
  /** Returns a reader of pages; the search text is resolved once. */
  async function createPages(siteId: string, query: Query<"GET /sites/:site/events.csv">) {
    const { orderId, email, status, mode, event, clickId, from, to, search, platform, state, confirmation } = query;
    checkTimes(from, to);
    const found = await readSearch(store, siteId, search);
    const accept = acceptorOf(query);
    const checked: EventFilter = given({
      orderId: orderId && maskAddresses(orderId),
      emailSha256: email === undefined ? email : readPersonHash(email),
      status,
      mode,
      name: event && maskAddresses(event),
      clickId,
      from,
      to,
      accept: accept ?? undefined,
    });
    const byDelivery: LogFilter | null =
      platform === undefined && state === undefined && confirmation === undefined
        ? null
        : { ...given({ platform, states: state && [state] }), ...toConfirmationFilter(confirmation, undefined) };
    if (byDelivery) await checkFilter({ store, directory }, [siteId], byDelivery);
    if (found && "eventId" in found && !byDelivery) return () => readOne(siteId, found.eventId, checked);
    const filter: EventFilter = { ...(found && "eventId" in found ? {} : found), ...checked };
    const orders = found && "orderId" in found && !byDelivery ? await findOrders(siteId, found.orderId) : null;
    return async (before: string | null, limit: number): Promise<Page> => {
      const { events, next } = byDelivery
        ? await listEventsByDelivery(store, siteId, filter, { ...byDelivery, ...found }, { before, limit })
        : orders
          ? await listOfOrders(siteId, filter, orders, { before, limit })
          : await store.events.listPage(siteId, filter, { before, limit });
      return { rows: await withDeliveries(context, siteId, events), next };
    };
  }

  /** Returns the orders that begin with the text if none has it as its whole id; null if one has, or for a text that is too short. */
  async function findOrders(siteId: string, text: string): Promise<string[] | null> {
    if (text.length < minPrefix) return null;
    const [exact] = await store.events.listIds(siteId, { orderId: text }, lastId, 1);
    return exact === undefined ? store.events.listOrderKeys(siteId, text, maxOrders) : null;
  }

  /** Reads the page of each order along its index, and merges them. */
  async function listOfOrders(
    siteId: string,
    filter: EventFilter,
    orders: string[],
    at: { before: string | null; limit: number },
  ) {
    const pages = await Promise.all(orders.map((orderId) => store.events.listPage(siteId, { ...filter, orderId }, at)));
    // Below this id, one of them has events that were not read yet.
    const floor = pages.reduce((highest, { next }) => (next !== null && next > highest ? next : highest), "");
    const all = pages.flatMap(({ events }) => events).filter(({ id }) => id >= floor);
    const events = all.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, at.limit);
    return { events, next: all.length > events.length ? (events.at(-1)?.id ?? null) : floor || null };
  }

  async function readOne(siteId: string, id: string, filter: EventFilter): Promise<Page> {
    const [event] = await store.events.listByIds(siteId, [id], filter);
    const isMatch =
      event &&
      (filter.from === undefined || event.receivedAt >= filter.from) &&
      (filter.to === undefined || event.receivedAt < filter.to);
    return { rows: isMatch ? await withDeliveries(context, siteId, [event]) : [], next: null };
  }

  async function find(siteId: string, id: string): Promise<StoredEvent> {
    const event = await findEventById(store, siteId, id);
    if (!event) throw notFound("event");
    return event;
  }

  return {
    async "GET /sites/:site/events"({ site, query }) {
      const read = await createPages(site.id, query);
      const { rows, next } = await read(readCursor(query.cursor)?.id ?? null, query.limit);
      return { items: rows, next };
    },
    async "GET /sites/:site/events.csv"({ site, query, reply }) {
      const read = await createPages(site.id, query);
      setFileName(reply, "events", site.hosts[0], now());
      const some = Math.ceil(csvRows / Math.max(1, site.connections.length));
      return toCsv(columns, listOf(site), async (cursor: string | null, limit) => {
        const { rows, next } = await read(cursor, Math.min(limit, some));
        return { rows: rows.flatMap(rowsOf), next };
      });
    },
    async "GET /sites/:site/events/:event"({ site, params }) {
      const event = await find(site.id, params.event);
      return toTrace(context, await readTrace(context, event));
    },
    async "POST /sites/:site/events/:event/release"({ site, params, by }) {
      const event = await find(site.id, params.event);
      return { deliveries: await releaseEvent({ store, directory }, site, event, by) };
    },
  };
}

/** Checks the source, the campaign and the value, of which lists have no index. Null if the query has none of them. */
function acceptorOf(query: Query<"GET /sites/:site/events.csv">): EventFilter["accept"] | null {
  const { source, campaign, minValue, maxValue, currency } = query;
  if ([source, campaign, minValue, maxValue, currency].every((one) => one === undefined)) return null;
  const hasValueFilter = minValue !== undefined || maxValue !== undefined || currency !== undefined;
  return (event) =>
    (source === undefined || fold(sourceOf(event)) === fold(source)) &&
    (campaign === undefined || fold(campaignOf(event)) === fold(campaign)) &&
    (!hasValueFilter || event.value !== null) &&
    (minValue === undefined || (event.value ?? 0) >= minValue) &&
    (maxValue === undefined || (event.value ?? 0) <= maxValue) &&
    (currency === undefined || event.currency === currency.toUpperCase());
}

const fold = (text: string) => text.trim().toLowerCase();

/** Shows hashes and what explains the trace; never the IP address or user agent. */
function toTrace(
  { directory, now }: Pick<ApiContext, "directory" | "now">,
  { site, attribution, deliveries, ...trace }: Trace,
): Answer<"GET /sites/:site/events/:event"> {
  const persists = persistingReasons(directory, site, now());
  const { event, mode } = trace;
  const { consent, withheld, identity, clickIds, browserIds, utm, browser } = attribution;
  return {
    ...trace,
    filterSignals: trace.filterReasons.flatMap(({ detail }) => explainReason(detail ?? "") ?? []),
    attribution: {
      consent,
      withheld,
      identity,
      clickIds,
      browserIds,
      utm,
      page: browser?.page || null,
      referrer: browser?.referrer || null,
      path: toPath(attribution),
    },
    deliveries: deliveries.map(({ connectionId, log, ...delivery }) => ({
      ...delivery,
      connection: connectionId,
      reasonPersists: persists({ ...delivery, connectionId, event, mode }),
      log: log.map(({ connectionId: _of, ...attempt }) => attempt),
    })),
  };
}

/** One visit is not kept as a path: its click or campaign says the same. */
function toPath({ path, utm, clickIds }: Trace["attribution"]) {
  const [newest] = Object.entries(clickIds).toSorted(([, one], [, other]) => other.seenAt - one.seenAt);
  const only = newest && { at: newest[1].seenAt, clickId: newest[0], utmSource: utm.utm_source, utmCampaign: utm.utm_campaign };
  return (path ?? (only ? [only] : [])).map((visit) => {
    const isNamed = Boolean(visit.utmSource || visit.utmCampaign || visit.clickId);
    return {
      at: visit.at,
      source: isNamed ? nameSource(visit) : null,
      campaign: visit.utmCampaign ?? null,
      clickId: visit.clickId ?? null,
      hasForm: "hasForm" in visit,
    };
  });
}

export type FeedContext = { store: Pick<Store, "deliveries" | "events"> } & Pick<ApiContext, "directory" | "now">;

/** Adds the state of each delivery, as lists and the feed show it. */
export async function withDeliveries(
  { store, directory, now }: FeedContext,
  siteId: string,
  events: readonly EventSummary[],
): Promise<ShownEvent[]> {
  const persists = persistingReasons(directory, siteId, now());
  const deliveries = await store.deliveries.listByEvents(
    siteId,
    events.map(({ id }) => id),
  );
  return threadShare.map(siteId, events, (event) => ({
    ...event,
    deliveries: (deliveries.get(event.id) ?? []).map((delivery) => ({
      connection: delivery.connectionId,
      platform: delivery.platform,
      state: delivery.state,
      reason: delivery.reason,
      reasonPersists: persists({ ...delivery, event: event.event, mode: event.mode }),
    })),
  }));
}
