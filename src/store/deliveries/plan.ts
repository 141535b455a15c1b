// The plan of an event: for each connection, what was decided when the event was accepted. It is part of the event's row,
// and outcomes name its entries by their position. Only this folder reads it: others ask for deliveries.

import { tryRead } from "../damagedRows.ts";
import type { Value } from "../engine/database.ts";
import { deliveryRow, newDelivery, type EventKey, type NewDelivery } from "./delivery.ts";
import { anyNode, type StoredOwnership } from "./ownership.ts";

/**
 * `node`: the node that owns the event attempts it at once, and it has a delivery row only if it did not end as sent. `row`: it has a
 * delivery row from the start. `skipped`: it is not sent, and has no row unless it is replayed.
 */
export type PlanEntry = {
  connectionId: string;
  platform: string;
  by: "node" | "row" | "skipped";
  /** Of a skipped delivery. */
  reason: string | null;
};

/** True for a delivery that has a row from the start. A parked one has it even where the node owns the event. */
const hasRow = ({ state }: NewDelivery, { by }: StoredOwnership) => state !== "skipped" && (by === "row" || state !== "queued");

export function toPlan(deliveries: readonly NewDelivery[], ownership: StoredOwnership): PlanEntry[] {
  return deliveries.map((delivery) => {
    const { connectionId, platform, state, reason } = delivery;
    if (state === "skipped") return { connectionId, platform, by: "skipped", reason };
    return { connectionId, platform, by: hasRow(delivery, ownership) ? "row" : "node", reason: null };
  });
}

/** The rows that the deliveries of a new event have from the start. */
export const deliveryRows = (event: EventKey, deliveries: readonly NewDelivery[], ownership: StoredOwnership): Value[][] =>
  deliveries.flatMap((one) => (hasRow(one, ownership) ? [deliveryRow.values(newDelivery(event, one, ownership))] : []));

type Planned = { deliveries: readonly NewDelivery[]; ownership: StoredOwnership };

/** What the row of an event says about its deliveries: the columns of `deliverySource`. */
export const deliverySourceOf = {
  plan: ({ deliveries, ownership }: Planned) => packPlan(toPlan(deliveries, ownership)),
  owner: ({ ownership }: Planned) => (ownership.by === "node" ? ownership.owner : anyNode),
};

type Packed = [connectionId: string, platform: string, by?: "row" | "skipped", reason?: string | null];

export function packPlan(plan: readonly PlanEntry[]): string {
  if (plan.length === 0) return "[]";
  return JSON.stringify(
    plan.map(({ connectionId, platform, by, reason }): Packed => {
      if (by === "node") return [connectionId, platform];
      return by === "row" ? [connectionId, platform, by] : [connectionId, platform, by, reason];
    }),
  );
}

/** Reads the plan of an event whose row may be damaged as one without deliveries, so that it holds up no other event. */
export const readPlanIfWhole = (text: string): PlanEntry[] => tryRead(() => readPlan(text)) ?? [];

export function readPlan(text: string): PlanEntry[] {
  const packed: Packed[] = JSON.parse(text);
  return packed.map(([connectionId, platform, by, reason]) => ({
    connectionId,
    platform,
    by: by ?? "node",
    reason: reason ?? null,
  }));
}
