// Lists events by what became of their deliveries. The sync log has the indexes for that.

import type { EventFilter } from "../store/events/eventList.ts";
import type { EventSummary } from "../store/events/eventRow.ts";
import type { LogFilter } from "../store/deliveries/syncLog/syncLog.ts";
import type { Store } from "../store/store.ts";

type Page = { events: EventSummary[]; next: string | null };

/** One call reads a bounded number of deliveries, so a page can be short and still have a next one. */
const maxReads = 20;
const linesPerRead = 500;

/** Lists events with at least one delivery of the log filter, newest first. `before` is the `next` of the previous page. */
export async function listEventsByDelivery(
  store: Pick<Store, "syncLog" | "events">,
  siteId: string,
  filter: EventFilter,
  deliveries: LogFilter,
  { before, limit }: { before: string | null; limit: number },
): Promise<Page> {
  const { name, mode, orderId, emailSha256, from, to } = filter;
  const log: LogFilter = {
    ...deliveries,
    ...(name === undefined ? {} : { eventName: name }),
    ...(mode === undefined ? {} : { mode }),
    ...(orderId === undefined ? {} : { orderId }),
    ...(emailSha256 === undefined ? {} : { emailSha256 }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const events: EventSummary[] = [];
  let at = before === null ? null : { eventId: before, connectionId: "" };
  for (let reads = 0; reads < maxReads; reads++) {
    const page = await store.syncLog.listPage(siteId, log, { before: at, limit: linesPerRead });
    // The deliveries of an event may be on two pages.
    const ids = [...new Set(page.lines.map(({ eventId }) => eventId))].filter((id) => id !== events.at(-1)?.id);
    events.push(...(await store.events.listByIds(siteId, ids, filter)));
    if (events.length > limit) {
      const shown = events.slice(0, limit);
      return { events: shown, next: shown.at(-1)?.id ?? null };
    }
    if (page.next === null) return { events, next: null };
    at = page.next;
  }
  return { events, next: at?.eventId ?? null };
}
