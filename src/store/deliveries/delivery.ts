// One delivery as it stands in the store.

import type { DeliveryState } from "../../kernel/event.ts";
import type { Row } from "../engine/database.ts";

export type DeliveryKey = { siteId: string; eventId: string; connectionId: string };

export type Delivery = DeliveryKey & {
  platform: string;
  state: DeliveryState;
  reason: string | null;
  attempts: number;
  dueAt: number;
  owner: string;
  updatedAt: number;
};

/** A connection that has deliveries waiting. */
export type ConnectionKey = { siteId: string; connectionId: string };

export function deliveryOf(row: Row): Delivery {
  return {
    siteId: String(row.site_id),
    eventId: String(row.event_id),
    connectionId: String(row.connection_id),
    platform: String(row.platform),
    state: row.state as DeliveryState,
    reason: row.reason as string | null,
    attempts: Number(row.attempts),
    dueAt: Number(row.due_at),
    owner: String(row.owner),
    updatedAt: Number(row.updated_at),
  };
}
