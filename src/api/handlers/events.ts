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
import { given } from "../../http/given.ts";
import { maskAddresses } from "../../kernel/maskAddresses.ts";
import type { EventFilter } from "../../store/events/eventList.ts";
import { campaignOf, sourceOf } from "../../statistics/source.ts";
import type { LogFilter } from "../../store/deliveries/syncLog/syncLog.ts";
import type { EventSummary, StoredEvent } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";
import { notFound, type Handlers } from "../call.ts";
import { setFileName, checkTimes, readCursor, timeCell, toCsv, type Column } from "../lists.ts";
import type { ApiContext } from "../context.ts";
import { readPersonHash, readSearch } from "./search.ts";

type Names =
  | "GET /sites/:site/events"
  | "GET /sites/:site/events.csv"
  | "GET /sites/:site/events/:event"
  | "POST /sites/:site/events/:event/release";

export type ShownEvent = z.output<typeof eventSummary>;
type Page = { rows: ShownEvent[]; next: string | null };

const columns: readonly Column<ShownEvent>[] = [
  { title: "received (UTC)", cell: (event) => timeCell(event.receivedAt) },
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
  {
    title: "deliveries",
    cell: (event) => event.deliveries.map(({ platform, state }) => `${platform} ${state}`).join("; "),
  },
  { title: "id", cell: (event) => event.id },
  { title: "platform event id", cell: (event) => event.platformEventId },
];

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
    return async (before: string | null, limit: number): Promise<Page> => {
      const { events, next } = byDelivery
        ? await listEventsByDelivery(store, siteId, filter, { ...byDelivery, ...found }, { before, limit })
        : await store.events.listPage(siteId, filter, { before, limit });
      return { rows: await withDeliveries(context, siteId, events), next };
    };
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
      return toCsv(columns, read);
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
    attribution: {
      consent,
      withheld,
      identity,
      clickIds,
      browserIds,
      utm,
      page: browser?.page || null,
      referrer: browser?.referrer || null,
    },
    deliveries: deliveries.map(({ connectionId, log, ...delivery }) => ({
      ...delivery,
      connection: connectionId,
      reasonPersists: persists({ ...delivery, connectionId, event, mode }),
      log: log.map(({ connectionId: _of, ...attempt }) => attempt),
    })),
  };
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
  return events.map((event) => ({
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
