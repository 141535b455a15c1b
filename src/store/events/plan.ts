// The plan of an event: for each connection, what was decided when the event was accepted. It is part of the event's row,
// and outcomes name its entries by their position.

import { tryRead } from "../damagedRows.ts";
import type { NewDelivery } from "../deliveries/delivery.ts";

/**
 * `owner`: the event's owner attempts it at once, and it has a delivery row only if it did not end as sent. `row`: it has a
 * delivery row from the start. `skipped`: it is not sent, and has no row unless it is replayed.
 */
export type PlanEntry = {
  connectionId: string;
  platform: string;
  by: "owner" | "row" | "skipped";
  /** Of a skipped delivery. */
  reason: string | null;
};

/** Without an owner, what is to be sent gets a delivery row, which any node may claim. */
export function toPlan(deliveries: readonly NewDelivery[], hasOwner: boolean): PlanEntry[] {
  return deliveries.map(({ connectionId, platform, state, reason }) => {
    if (state === "skipped") return { connectionId, platform, by: "skipped", reason };
    return { connectionId, platform, by: hasOwner && state === "queued" ? "owner" : "row", reason: null };
  });
}

type Packed = [connectionId: string, platform: string, by?: "row" | "skipped", reason?: string | null];

export function packPlan(plan: readonly PlanEntry[]): string {
  if (plan.length === 0) return "[]";
  return JSON.stringify(
    plan.map(({ connectionId, platform, by, reason }): Packed => {
      if (by === "owner") return [connectionId, platform];
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
    by: by ?? "owner",
    reason: reason ?? null,
  }));
}
