// Events as lists and the feed show them, with how their deliveries stand.

import type { z } from "zod";
import type { eventSummary } from "../../contract/events.ts";
import type { EventSummary } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";

export type ShownEvent = z.output<typeof eventSummary>;

export async function withDeliveries(
  store: Pick<Store, "events">,
  siteId: string,
  events: readonly EventSummary[],
): Promise<ShownEvent[]> {
  const deliveries = await store.events.listDeliveries(
    siteId,
    events.map(({ id }) => id),
  );
  return events.map((event) => ({
    ...event,
    deliveries: (deliveries.get(event.id) ?? []).map(({ connectionId, platform, state, reason }) => ({
      connection: connectionId,
      platform,
      state,
      reason,
    })),
  }));
}
