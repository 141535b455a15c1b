// The part of the sync log that concerns confirmations. Most deliveries are confirmed or unknown, so those are found along the
// events; what was not counted has an index.

import type { ConfirmationReason, ConfirmationState } from "../../../kernel/confirmation.ts";
import type { Mode } from "../../../kernel/event.ts";
import { readConfirmations, type ConfirmationRow } from "../../confirmations/confirmations.ts";
import type { Query, Value } from "../../engine/database.ts";
import type { Delivery } from "../delivery.ts";
import type { LogKey } from "./changes.ts";

export type ConfirmationFilter = {
  state: ConfirmationState;
  reason?: ConfirmationReason;
  /** The platforms that are asked for every conversion. A live delivery that was sent to one of them and has no confirmation is unknown. */
  platforms: readonly string[];
};

type Line = Delivery & { mode: Mode; confirmation: ConfirmationRow | null };

/** Reads the confirmations of lines. */
export async function withConfirmations<One extends Line>(db: Query, siteId: string, lines: readonly One[]): Promise<One[]> {
  const ids = [...new Set(lines.map(({ eventId }) => eventId))];
  const rows = ids.length ? await readConfirmations(db, siteId, ids) : [];
  const known = new Map(rows.map((row) => [`${row.eventId} ${row.connectionId}`, row]));
  return lines.map((line) => ({
    ...line,
    confirmation: known.get(`${line.eventId} ${line.connectionId}`) ?? null,
  }));
}

export function matchesConfirmation(
  { state, platform, mode, confirmation }: Line,
  filter: ConfirmationFilter | undefined,
): boolean {
  if (!filter) return true;
  if (!confirmation)
    return (
      filter.state === "unknown" &&
      filter.reason === undefined &&
      state === "sent" &&
      mode === "live" &&
      filter.platforms.includes(platform)
    );
  return confirmation.state === filter.state && (filter.reason === undefined || confirmation.reason === filter.reason);
}

/** Lists up to `max` deliveries below a line that were not counted, newest first. */
export async function listNotCounted(
  db: Query,
  siteId: string,
  { reason }: ConfirmationFilter,
  [from = "", to = ""]: readonly string[],
  below: LogKey,
  max: number,
): Promise<LogKey[]> {
  const params: Value[] = [siteId, from, to, below.eventId, below.connectionId, max];
  const rows = await db.all(
    `SELECT event_id, connection_id FROM confirmations
     WHERE site_id = $1 AND state = 'not counted' AND event_id >= $2 AND event_id < $3 AND event_id <= $4
       AND (event_id < $4 OR connection_id < $5)${reason === undefined ? "" : ` AND reason = $${params.push(reason)}`}
     ORDER BY event_id DESC, connection_id DESC LIMIT $6`,
    params,
  );
  return rows.map((row) => ({ eventId: String(row.event_id), connectionId: String(row.connection_id) }));
}
