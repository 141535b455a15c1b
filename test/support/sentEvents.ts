// Stores events whose first attempt a platform accepted, as delivery does.

import { orderEventIdOf, shortId } from "../../src/kernel/ids.ts";
import type { Connection } from "../../src/sites/directory.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import type { Store } from "../../src/store/store.ts";
import { byNode, newAttempt, newEvent, settlementOf } from "./events.ts";

/** Stores an event of `at`, with the response that accepted it. Each has an order id of its own, and its order's event id. */
export async function storeSent(
  store: Store,
  connection: Pick<Connection, "siteId" | "id" | "platform">,
  response: string,
  at: number,
  fields: Partial<NewEvent["event"]> = {},
  ownership = byNode(),
): Promise<NewEvent> {
  const { siteId, id: connectionId, platform } = connection;
  const planned = { connectionId, platform, state: "queued", reason: null } as const;
  const { name = "purchase", orderId = shortId() } = fields;
  const item = newEvent(
    siteId,
    { receivedAt: at, ...fields, name, orderId },
    {
      deliveries: [planned],
      ownership,
      orderEventId: orderEventIdOf({ siteId, name, orderId, orderEventId: null }),
    },
  );
  await store.events.accept(item);
  const attempt = newAttempt("sent", { startedAt: at, response });
  const settlement = settlementOf(item, "sent", { connectionId, at, attempt });
  await store.deliveries.settleFirst({
    siteId,
    eventId: item.event.id,
    number: 0,
    settlements: [{ ...settlement, position: 0, platform, settings: "abcdef" }],
  });
  return item;
}
