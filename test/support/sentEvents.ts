// Stores events whose first attempt a platform accepted, as delivery does.

import { shortId } from "../../src/kernel/ids.ts";
import type { Connection } from "../../src/sites/directory.ts";
import { newDelivery } from "../../src/store/deliveries/delivery.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import type { Store } from "../../src/store/store.ts";
import { newAttempt, newEvent } from "./events.ts";

/** Stores an event of `at`, with the response that accepted it. Each has an order id of its own. */
export async function storeSent(
  store: Store,
  connection: Pick<Connection, "siteId" | "id" | "platform">,
  response: string,
  at: number,
  fields: Partial<NewEvent["event"]> = {},
): Promise<NewEvent> {
  const { siteId, id: connectionId, platform } = connection;
  const planned = { connectionId, platform, state: "queued", reason: null } as const;
  const item = newEvent(siteId, { receivedAt: at, orderId: shortId(), ...fields }, { deliveries: [planned], leaseUntil: null });
  await store.events.accept(item);
  const delivery = newDelivery(planned, { event: item.event, owner: "node-a", leaseUntil: at, at });
  const attempt = newAttempt("sent", { startedAt: at, response });
  await store.deliveries.settleFirst({
    siteId,
    eventId: item.event.id,
    number: 0,
    results: [{ position: 0, delivery: { ...delivery, state: "sent" }, attempt, settings: "abcdef" }],
  });
  return item;
}
