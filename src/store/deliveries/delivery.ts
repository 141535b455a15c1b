// Describes the rows of deliveries and of their attempts.

import type { DeliveryState, Event } from "../../kernel/event.ts";
import { describeRow, readText } from "../describeRow.ts";
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
  event: Pick<Event, "siteId" | "id" | "receivedAt">;
  owner: string;
  leaseUntil: number;
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
  siteId: { column: "site_id", write: ({ siteId }) => siteId, read: String },
  eventId: { column: "event_id", write: ({ eventId }) => eventId, read: String },
  connectionId: { column: "connection_id", write: ({ connectionId }) => connectionId, read: String },
  platform: { column: "platform", write: ({ platform }) => platform, read: String },
  state: { column: "state", write: ({ state }) => state, read: (value) => value as DeliveryState },
  reason: { column: "reason", write: ({ reason }) => reason, read: readText },
  attempts: { column: "attempts", write: ({ attempts }) => attempts, read: Number },
  dueAt: { column: "due_at", write: ({ dueAt }) => dueAt, read: Number },
  owner: { column: "owner", write: ({ owner }) => owner, read: String },
  updatedAt: { column: "updated_at", write: ({ updatedAt }) => updatedAt, read: Number },
});

/** A delivery that was not attempted yet. */
export function newDelivery(
  { connectionId, platform, state, reason }: NewDelivery,
  { event, owner, leaseUntil }: Origin,
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
    updatedAt: event.receivedAt,
  };
}

export const deliveryColumns = deliveryRow.columns.join(", ");

export const insertDeliveries = rowStatement({
  text: `INSERT INTO deliveries (${deliveryRow.inserted.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: deliveryRow.inserted.length,
});

export const attemptRow = describeRow<DeliveryKey & Attempt, DeliveryKey, Attempt>({
  siteId: { column: "site_id", write: ({ siteId }) => siteId, read: String },
  eventId: { column: "event_id", write: ({ eventId }) => eventId, read: String },
  connectionId: { column: "connection_id", write: ({ connectionId }) => connectionId, read: String },
  number: { column: "number", write: (_key, { number }) => number, read: Number },
  startedAt: { column: "started_at", write: (_key, { startedAt }) => startedAt, read: Number },
  durationMs: { column: "duration_ms", write: (_key, { durationMs }) => durationMs, read: Number },
  state: { column: "state", write: (_key, { state }) => state, read: (value) => value as DeliveryState },
  reason: { column: "reason", write: (_key, { reason }) => reason, read: readText },
  httpStatus: {
    column: "http_status",
    write: (_key, { httpStatus }) => httpStatus,
    read: (value) => value as number | null,
  },
  batch: { column: "batch", write: (_key, { batch }) => batch, read: Number },
  request: { column: "request", write: (_key, { request }) => request, read: String },
  response: { column: "response", write: (_key, { response }) => response, read: readText },
});

export const insertAttempts = rowStatement({
  text: `INSERT INTO attempts (${attemptRow.inserted.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: attemptRow.inserted.length,
});
