// Describes the rows of deliveries and of their attempts.

import type { DeliveryState } from "../../kernel/event.ts";
import { asNumber, asNumberOrNull, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { rowStatement } from "../engine/database.ts";
import { anyNode, type StoredOwnership } from "./ownership.ts";

export type EventKey = { siteId: string; id: string };

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

/** The reasons of deliveries that were queued again, by people or because the platform did not count the conversion. */
export const replayedReason = "replayed";
export const notCountedReason = "not counted yet";

export type NewDelivery = Pick<Delivery, "connectionId" | "platform" | "state" | "reason">;

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

/** What is written when an attempt has ended, or was given up before it began. */
export type Settlement = DeliveryKey & {
  owner: string;
  state: DeliveryState;
  reason: string | null;
  /** When a queued delivery is attempted again. */
  dueAt: number;
  /** Attempts made so far. */
  attempts: number;
  at: number;
  /** null when the delivery is released without an attempt. */
  attempt: Attempt | null;
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
  { siteId, id }: EventKey,
  { connectionId, platform, state, reason }: NewDelivery,
  ownership: StoredOwnership,
): Delivery {
  const lease = ownership.by === "row" && state === "queued" ? ownership : null;
  return {
    siteId,
    eventId: id,
    connectionId,
    platform,
    state,
    reason,
    attempts: 0,
    dueAt: lease?.dueAt ?? 0,
    owner: lease?.owner ?? anyNode,
    updatedAt: ownership.at,
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
