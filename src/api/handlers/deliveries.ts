// Serves the sync log: list, CSV, replay and cancel.

import type { Answer, Body, Query } from "../../contract/contract.ts";
import { toConfirmation, toConfirmationFilter } from "../../delivery/confirmations/describe.ts";
import { cancel, checkFilter, replay, type Tally } from "../../delivery/replay.ts";
import { persistingReasons } from "../persistingReasons.ts";
import { findEventById } from "../../delivery/trace/trace.ts";
import type { Site } from "../../sites/directory.ts";
import type { DeliveryState } from "../../kernel/event.ts";
import { given } from "../../http/given.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { maskAddresses } from "../../kernel/maskAddresses.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal, type By } from "../../kernel/refusal.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { LogFilter, LogLine } from "../../store/deliveries/syncLog/syncLog.ts";
import type { LogKey } from "../../store/deliveries/syncLog/changes.ts";
import { notFound, type Handlers } from "../call.ts";
import { setFileName, checkTimes, listOf, readCursor, toCsv, type Column } from "../lists.ts";
import type { ApiContext } from "../context.ts";
import { readPersonHash, readSearch } from "./search.ts";
import { nextTryAt } from "../../store/deliveries/readDeliveries.ts";

type Names =
  | "GET /sites/:site/deliveries"
  | "GET /sites/:site/deliveries/count"
  | "GET /sites/:site/deliveries.csv"
  | "POST /sites/:site/deliveries/replay"
  | "POST /sites/:site/deliveries/cancel";

type ShownLine = Answer<"GET /sites/:site/deliveries">["items"][number];
type LogQuery = Query<"GET /sites/:site/deliveries.csv">;
type Chosen = Body<"POST /sites/:site/deliveries/replay">;

const columns: readonly Column<ShownLine>[] = [
  { title: "received", at: ({ event }) => event.receivedAt },
  { title: "event", cell: ({ event }) => event.name },
  { title: "value", cell: ({ event }) => event.value },
  { title: "currency", cell: ({ event }) => (event.value === null ? null : event.currency) },
  { title: "order id", cell: ({ event }) => event.orderId },
  { title: "mode", cell: ({ event }) => event.mode },
  { title: "platform", cell: (line) => line.platform },
  { title: "connection", cell: (line) => line.connection },
  { title: "state", cell: (line) => line.state },
  { title: "reason", cell: (line) => line.reason },
  { title: "attempts", cell: (line) => line.attempts },
  { title: "next try", at: (line) => line.nextTryAt },
  { title: "changed", at: (line) => line.updatedAt },
  { title: "confirmation", cell: ({ confirmation }) => confirmation?.state ?? null },
  { title: "confirmation reason", cell: ({ confirmation }) => confirmation?.reason ?? null },
  { title: "confirmation detail", cell: ({ confirmation }) => confirmation?.detail ?? null },
  { title: "id", cell: ({ event }) => event.id },
];

export function deliveryHandlers({ store, directory, now }: ApiContext): Handlers<Names> {
  async function readFilter(siteId: string, query: LogQuery): Promise<LogFilter> {
    const { connection, platform, state, event, mode, search, eventId, orderId, email, from, to } = query;
    const { confirmation, confirmationReason, unselected } = query;
    checkTimes(from, to);
    const filter: LogFilter = {
      ...(await readSearch(store, siteId, search)),
      ...given({
        connectionId: connection,
        platform,
        states: state === undefined ? state : readStates(state),
        eventName: event && maskAddresses(event),
        mode,
        eventId: eventId === undefined ? eventId : (await findEvent(siteId, eventId)).id,
        orderId: orderId && maskAddresses(orderId),
        emailSha256: email === undefined ? email : readPersonHash(email),
        from,
        to,
        withoutUnselected: unselected === "exclude" || undefined,
      }),
      ...toConfirmationFilter(confirmation, confirmationReason),
    };
    await checkFilter({ store, directory }, [siteId], filter);
    return filter;
  }

  async function findEvent(siteId: string, id: string): Promise<StoredEvent> {
    const event = await findEventById(store, siteId, id);
    if (!event) throw notFound("event");
    return event;
  }

  const readPage = async (siteId: string, filter: LogFilter, before: LogKey | null, limit: number) => {
    const { lines, next } = await store.syncLog.listPage(siteId, filter, { before, limit });
    const persists = persistingReasons(directory, siteId, now());
    return { rows: await threadShare.map(siteId, lines, (line) => toLine(line, persists(line))), next };
  };

  async function change(work: typeof replay, site: Site, chosen: Chosen, by: By): Promise<Tally> {
    const { deliveries, dryRun, ...query } = chosen;
    const filter = await readFilter(site.id, query);
    if (deliveries)
      filter.chosen = deliveries.map(({ event, connection }) => ({
        eventId: event,
        connectionId: connection,
      }));
    // The mode alone is no choice: nearly all events are live.
    if (Object.keys(filter).every((name) => name === "mode" || name === "withoutUnselected"))
      throw new Refusal(
        "filter",
        say("filter_needed"),
        "Select deliveries with --connection, --platform, --state, --event, --order, --from …",
      );
    return work({ store, directory }, site, filter, { ...by, dryRun });
  }

  return {
    async "GET /sites/:site/deliveries"({ site, query }) {
      const filter = await readFilter(site.id, query);
      const cursor = readCursor(query.cursor);
      const before = cursor && { eventId: cursor.id, connectionId: cursor.connectionId };
      const { rows, next } = await readPage(site.id, filter, before, query.limit);
      return { items: rows, next: next && `${next.eventId}/${next.connectionId}` };
    },
    async "GET /sites/:site/deliveries/count"({ site, query }) {
      return { count: await store.syncLog.count(site.id, await readFilter(site.id, query)) };
    },
    async "GET /sites/:site/deliveries.csv"({ site, query, reply }) {
      const filter = await readFilter(site.id, query);
      setFileName(reply, "deliveries", site.hosts[0], now());
      return toCsv<ShownLine, LogKey>(columns, listOf(site), (cursor, limit) => readPage(site.id, filter, cursor, limit));
    },
    "POST /sites/:site/deliveries/replay": ({ site, body, by }) => change(replay, site, body, by),
    "POST /sites/:site/deliveries/cancel": ({ site, body, by }) => change(cancel, site, body, by),
  };
}

/** The contract has checked the words. */
const readStates = (text: string) =>
  text.split(",").flatMap((state) => (state === "waiting" ? (["queued", "parked"] as const) : [state as DeliveryState]));

function toLine(line: LogLine, reasonPersists: boolean): ShownLine {
  const { eventId, connectionId, platform, state, reason, attempts, updatedAt } = line;
  const { event: name, value, currency, orderId, mode, receivedAt, erased } = line;
  return {
    event: { id: eventId, name, value, currency, orderId, mode, receivedAt, erased },
    connection: connectionId,
    platform,
    state,
    reason,
    reasonPersists,
    attempts,
    nextTryAt: nextTryAt(line),
    updatedAt,
    confirmation: toConfirmation(line, line.confirmation),
  };
}
