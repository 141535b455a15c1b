// Describes the rows of deliveries and of their attempts.

import type { DeliveryState, Event } from "../../kernel/event.ts";
import { asNumber, asNumberOrNull, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { rowStatement } from "../engine/database.ts";

export type DeliveryKey = { siteId: string; eventId: string; connectionId: string };

export type Delivery = DeliveryKey & {
  platform: string;
  state: DeliveryState;
  reason: string | null;
  /** The number of attempts so far. */
  attempts: number;
  dueAt: number;
  owner: string;
  updatedAt: number;
};

export type NewDelivery = Pick<Delivery, "connectionId" | "platform" | "state" | "reason">;

/** The event of a new delivery and the node that attempts it at once; owner "" leaves it to any node from `leaseUntil` on. */
export type Origin = {
  event: Pick<Event, "siteId" | "id">;
  owner: string;
  leaseUntil: number;
  /** Now, by the clock of `leaseUntil`: a lease that seems to begin after its end would be taken for one to correct. */
  at: number;
};

export type Attempt = {
  number: number;
  startedAt: number;
  durationMs: number;
  state: DeliveryState;
  reason: string | null;
  httpStatus: number | null;
  /** How many conversions the call carried. */
  batch: number;
  /** Redacted and bounded. */
  request: string;
  response: string | null;
};

/** One connection of a site, which has a queue of its own. */
export type ConnectionKey = { siteId: string; connectionId: string };

export const deliveryRow = describeRow<Delivery, Delivery>({
  siteId: asText,
  eventId: asText,
  connectionId: asText,
  platform: asText,
  state: asOneOf<DeliveryState>(),
  reason: asTextOrNull,
  attempts: asNumber,
  dueAt: asNumber,
  owner: asText,
  updatedAt: asNumber,
});

/** A delivery that was not attempted yet. */
export function newDelivery(
  { connectionId, platform, state, reason }: NewDelivery,
  { event, owner, leaseUntil, at }: Origin,
): Delivery {
  const isQueued = state === "queued";
  return {
    siteId: event.siteId,
    eventId: event.id,
    connectionId,
    platform,
    state,
    reason,
    attempts: 0,
    dueAt: isQueued || owner === "" ? leaseUntil : 0,
    owner: isQueued ? owner : "",
    updatedAt: at,
  };
}

export const insertDeliveries = rowStatement({
  text: `INSERT INTO deliveries (${deliveryRow.inserted.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: deliveryRow.inserted.length,
});

export const attemptRow = describeRow<DeliveryKey & Attempt, DeliveryKey & Attempt>({
  siteId: asText,
  eventId: asText,
  connectionId: asText,
  number: asNumber,
  startedAt: asNumber,
  durationMs: asNumber,
  state: asOneOf<DeliveryState>(),
  reason: asTextOrNull,
  httpStatus: asNumberOrNull,
  batch: asNumber,
  request: asText,
  response: asTextOrNull,
});

export const insertAttempts = rowStatement({
  text: `INSERT INTO attempts (${attemptRow.inserted.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: attemptRow.inserted.length,
});
