// The texts of the sync log's questions.

import type { DeliveryState } from "../../kernel/event.ts";
import type { Value } from "../engine/database.ts";

/** Along which index to read: of a connection, and of a state that has one. */
export type Branch = { connectionId: string | null; state: DeliveryState | null };

/** States that have an index; `sent` is what nearly all of them are. */
const ended = "state IN ('rejected', 'expired', 'skipped', 'parked')";

const deliveryColumns = [
  "site_id", "event_id", "connection_id", "platform", "state", "reason", "attempts", "due_at", "owner", "updated_at",
]; // prettier-ignore
const eventColumns = ["name", "value", "currency", "order_id", "mode", "received_at", "email_sha256"];

const shown = [
  ...deliveryColumns.map((column) => `d.${column}`),
  ...eventColumns.map((column) => `e.${column}`),
].join(", ");

/** $2 to $5: from, to, and the line after which the page begins. */
const within = (eventId: string, connectionId: string) =>
  `${eventId} >= $2 AND ${eventId} < $3 AND ${eventId} <= $4 AND (${eventId} < $4 OR ${connectionId} < $5)`;

/**
 * First the keys of a page, then what belongs to them: an index holds the keys, and only an index that holds all that
 * is asked for is preferred over the table. Ids that must not decide the way are spelled differently for the engine, or
 * it would walk all that ever was for the sake of the order.
 */
export function linesOf(keys: string): string {
  return `SELECT ${shown} FROM (${keys}) AS k
    CROSS JOIN deliveries d LEFT JOIN events e ON e.site_id = $1 AND e.id = k.event_id
    WHERE d.site_id = $1 AND d.event_id = k.event_id AND d.connection_id = k.connection_id
    ORDER BY k.event_id DESC, k.connection_id DESC`;
}

/** The index of those that wait is ordered by when they are due. */
export const idIn = ({ state }: Branch) => (state === "queued" ? "(event_id || '')" : "event_id");

export function conditionsOf({ connectionId, state }: Branch, params: Value[]): string {
  const where = ["site_id = $1"];
  if (connectionId !== null) where.push(`connection_id = $${params.push(connectionId)}`);
  if (state === "queued") where.push("state = 'queued'");
  else if (state !== null) where.push(`state = '${state}' AND ${ended}`);
  return where.join(" AND ");
}

export function deliveriesFirst(branches: readonly Branch[], params: Value[]): string {
  const parts = branches.map((branch) => {
    const id = idIn(branch);
    return `SELECT * FROM (SELECT event_id, connection_id FROM deliveries
      WHERE ${conditionsOf(branch, params)} AND ${within(id, "connection_id")}
      ORDER BY ${id} DESC, connection_id DESC LIMIT $6) AS part`;
  });
  return linesOf(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) AS parts ORDER BY event_id DESC, connection_id DESC LIMIT $6`,
  );
}
