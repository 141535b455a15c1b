// Lists the rows behind a number of a reconciliation. The numbers come from the tally; the same filter that a number has finds
// its rows, and a test compares the two for every number.

import { english } from "../kernel/messages/message.ts";
import type { ConfirmationReason } from "../kernel/confirmation.ts";
import type { DeliveryState } from "../kernel/event.ts";
import { yieldToEventLoop } from "../kernel/deadline.ts";
import { noReason, type RowClass, type RowConfirmation, type RowState } from "../kernel/reconciliation.ts";
import type { Run, RunRow } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { isCounted, otherReasons, type Tally } from "../store/reconciliation/tally.ts";

/** Without a class, the filters below it are about orders that count, and were received and not filtered. */
export type RowFilter = {
  class?: RowClass | undefined;
  /** The code of the reason for which events were filtered. */
  filtered?: string | undefined;
  connection?: string | undefined;
  /** At that connection: the state of the delivery, or `none` where there is none. */
  state?: RowState | undefined;
  /** The reason of that state; `noReason` for those without one. */
  reason?: string | undefined;
  /** At that connection: with or without a click id of the platform. */
  attributed?: boolean | undefined;
  /** At that connection, of an accepted order: what the platform said later, and why. */
  confirmation?: RowConfirmation | undefined;
  confirmationReason?: ConfirmationReason | typeof noReason | undefined;
};

const groups: Readonly<Partial<Record<RowState, readonly DeliveryState[]>>> = {
  waiting: ["queued", "parked"],
  failed: ["rejected", "expired"],
};

/** The tally says which reasons were counted as "other reasons". */
function rowMatcher(filter: RowFilter, tally: Tally): (row: RunRow) => boolean {
  const { filtered, connection, state, reason, attributed, confirmation, confirmationReason } = filter;
  const states = state === undefined ? null : (groups[state] ?? [state]);
  const isReason = (of: DeliveryState, text: string | null) => {
    if (reason === undefined) return true;
    const counted = tally.connections[connection ?? ""]?.states[of] ?? {};
    const name = Object.hasOwn(counted, text ?? "") ? (text ?? "") : otherReasons;
    return (name === "" ? noReason : english(name)) === reason;
  };
  return (row) => {
    if (filter.class !== undefined ? row.class !== filter.class : !matchesCounted(row, filter)) return false;
    if (filtered !== undefined && row.filtered !== filtered) return false;
    if (connection === undefined) return true;
    if (row.eventId === null || row.filtered !== null) return false;
    const outcome = row.outcomes.find(({ connectionId }) => connectionId === connection);
    if (attributed !== undefined && (outcome?.attributed ?? false) !== attributed) return false;
    if (confirmation !== undefined) {
      if (outcome?.state !== "sent" || (outcome.confirmation?.state ?? "none") !== confirmation) return false;
      const why = outcome.confirmation?.reason ?? noReason;
      if (confirmationReason !== undefined && why !== confirmationReason) return false;
    }
    if (states === null) return attributed !== undefined || outcome !== undefined;
    if (!outcome) return state === "none";
    return states.some((one) => one === outcome.state) && isReason(outcome.state, outcome.reason);
  };
}

/** All rows without any filter; with one, only those that count. */
const matchesCounted = (row: RunRow, { filtered, connection }: RowFilter) =>
  (filtered === undefined && connection === undefined) || isCounted(row);

/** A page reads at most this many rows, of which few may match. */
const maxRead = 10_000;
const chunkSize = 500;

/** `next` is the cursor of the next page; null at the end. A page may be empty and not the last. */
export async function listRows(
  store: Pick<Store, "reconciliations">,
  run: Run,
  filter: RowFilter,
  { after, limit }: { after: string; limit: number },
): Promise<{ rows: RunRow[]; next: string | null }> {
  const matches = rowMatcher(filter, run.tally as Tally);
  const rows: RunRow[] = [];
  let cursor = after;
  for (let read = 0; read < maxRead; read += chunkSize) {
    const chunk = await store.reconciliations.listRows(run, filter.class ?? null, cursor, chunkSize);
    for (const row of chunk) {
      cursor = row.id;
      if (matches(row)) rows.push(row);
      if (rows.length === limit) return { rows, next: cursor };
    }
    if (chunk.length < chunkSize) return { rows, next: null };
    // The embedded store runs on the thread that accepts events.
    await yieldToEventLoop();
  }
  return { rows, next: cursor };
}
