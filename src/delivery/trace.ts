// Reads the trace of one event for the dashboard and the command line: the event, its attribution and its deliveries.

import type { Directory } from "../sites/directory.ts";
import { toSummary, type StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";

type Context = { store: Pick<Store, "events" | "deliveries">; directory: Directory };

/** Finds an event by its id or by its platform event id. */
export async function findEventById(
  store: Pick<Store, "events">,
  siteId: string,
  id: string,
): Promise<StoredEvent | null> {
  const direct = await store.events.get(siteId, id);
  if (direct) return direct;
  const claimed = await store.events.findIdByClaim(siteId, id);
  return claimed ? store.events.get(siteId, claimed) : null;
}

export async function readTrace({ store, directory }: Context, event: StoredEvent) {
  const { id, siteId, orderId } = event;
  const deliveries = await store.deliveries.listByEvent(siteId, id);
  const attempts = await store.deliveries.listAttempts(siteId, id);
  const emails = orderId === null ? 1 : await store.events.countEmailsOfOrder(siteId, orderId);
  const key = directory.site(siteId)?.keys.find((one) => one.id === event.keyId);
  return {
    ...toSummary(event, event.attribution),
    site: siteId,
    time: event.time,
    key: { id: event.keyId, name: key?.name ?? null },
    emailSha256: event.person.emailSha256,
    contact: Object.keys(event.person),
    attribution: event.attribution,
    warnings:
      emails > 1
        ? [`order id ${orderId} was sent with ${emails} different emails: is it a placeholder?`]
        : [],
    deliveries: deliveries.map((delivery) => {
      const { connectionId, platform, state, reason, attempts: made, dueAt, updatedAt } = delivery;
      return {
        connectionId,
        platform,
        state,
        reason,
        attempts: made,
        nextTryAt: state === "queued" ? dueAt : null,
        updatedAt,
        log: attempts.filter((one) => one.connectionId === connectionId),
      };
    }),
  };
}

export type Trace = Awaited<ReturnType<typeof readTrace>>;
