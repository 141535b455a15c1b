// Stores events whose first attempt a platform accepted, as delivery does.

import { shortId } from "../../src/kernel/ids.ts";
import type { Connection } from "../../src/sites/directory.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import type { Store } from "../../src/store/store.ts";
import { byNode, newAttempt, newEvent, settlementOf } from "./events.ts";

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
  const item = newEvent(
    siteId,
    { receivedAt: at, orderId: shortId(), ...fields },
    { deliveries: [planned], ownership: byNode() },
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
