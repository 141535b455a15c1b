// The SQL of sync log pages that are read along the indexes of delivery rows, with a branch for each connection and state.

import type { DeliveryState } from "../../../kernel/event.ts";
import type { Value } from "../../engine/database.ts";
import { qualified } from "../../describeRow.ts";
import { deliveryRow } from "../delivery.ts";

/** An index to read along: of a connection, and of a state that only delivery rows have. */
export type Branch = { connectionId: string; state: RowState };
export type RowState = (typeof rowStates)[number];

/** Every delivery in one of these states has a row. Others may be found in outcomes and plans only. */
const rowStates = ["queued", "parked", "rejected", "expired"] as const;
export const isRowState = (state: DeliveryState): state is RowState => (rowStates as readonly string[]).includes(state);

/** The index of queued deliveries is ordered by due time. */
export const idIn = ({ state }: Branch) => (state === "queued" ? "(event_id || '')" : "event_id");

export const stateCondition = (state: RowState) =>
  state === "queued" ? "state = 'queued'" : `state = '${state}' AND state IN ('rejected', 'expired', 'skipped', 'parked')`;

export const conditionsOf = ({ connectionId, state }: Branch, params: Value[]) =>
  `connection_id = $${params.push(connectionId)} AND ${stateCondition(state)}`;

/**
 * Selects the keys of a page first and joins the rest to them, because an index that covers all selected columns is
 * preferred over the table. $2 to $5 are from, to, and the line after which the page begins.
 */
export function selectBranches(branches: readonly Branch[], params: Value[]): string {
  const parts = branches.map((branch) => {
    const id = idIn(branch);
    return `SELECT * FROM (SELECT event_id, connection_id FROM deliveries
      WHERE site_id = $1 AND ${conditionsOf(branch, params)} AND ${id} >= $2 AND ${id} < $3 AND ${id} <= $4
        AND (${id} < $4 OR connection_id < $5)
      ORDER BY ${id} DESC, connection_id DESC LIMIT $6) AS part`;
  });
  const keys = `SELECT * FROM (${parts.join(" UNION ALL ")}) AS parts ORDER BY event_id DESC, connection_id DESC LIMIT $6`;
  return `SELECT ${qualified("d", deliveryRow)} FROM (${keys}) AS k CROSS JOIN deliveries d
    WHERE d.site_id = $1 AND d.event_id = k.event_id AND d.connection_id = k.connection_id
    ORDER BY k.event_id DESC, k.connection_id DESC`;
}
