// Lists the deliveries of a connection that the platform accepted, in the order in which they were accepted, with the answers
// that accepted them. The answers are there already, in outcomes and attempts, so accepting and settling an event costs
// nothing more for a platform that is asked about it later.

import type { Database } from "../engine/database.ts";
import { confirmationsCursor, readCursor } from "../cursors.ts";
import type { ConnectionKey } from "./delivery.ts";
import { readOutcomesOf, type Outcome } from "./outcomes.ts";
import { deliverySource, readPlanned, type PlannedEvent } from "./readDeliveries.ts";

export type AcceptedDelivery = {
  eventId: string;
  /** The name of the event. */
  name: string;
  acceptedAt: number;
  answer: string;
};

/** How far the accepted deliveries of a connection were read. */
export type ConfirmationHead = {
  /** The last event whose first attempt was read. It goes back where an event came late, or a clock ran ahead. */
  eventId: string;
  /** The last attempt that was read, of those that are no first ones. */
  attemptAt: number;
  attemptEventId: string;
};

/** `head` is where the next page begins; equal to the one that was given when there is nothing more. */
type AcceptedPage = { accepted: AcceptedDelivery[]; head: ConfirmationHead };

type PageOptions = {
  /** Reads events with smaller ids, and attempts that started earlier. */
  beforeId: string;
  before: number;
  /** An open first attempt of an event below this id is not waited for. */
  openFromId: string;
  /** The maximum number of events, and of attempts. */
  limit: number;
};

export const headText = ({ eventId, attemptAt, attemptEventId }: ConfirmationHead) => `${eventId} ${attemptAt} ${attemptEventId}`;

export function acceptedDeliveryStore(db: Database) {
  async function listFirst(
    { siteId, connectionId }: ConnectionKey,
    after: string,
    { beforeId, openFromId, limit }: PageOptions,
  ): Promise<{ accepted: AcceptedDelivery[]; eventId: string }> {
    const rows = await db.all(
      `SELECT id, received_at, ${deliverySource}, mode, name FROM events WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4`,
      [siteId, after, beforeId, limit],
    );
    const events = rows.map((row) => ({
      ...readPlanned(row),
      isLive: row.mode === "live",
      name: String(row.name),
    }));
    // Test events ran in the platform's own test mode, about which it says nothing later.
    const wanted = events.filter(
      ({ plan, isLive }) => isLive && plan.some((one) => one.connectionId === connectionId && one.by === "node"),
    );
    const { outcomes, damaged } = await readOutcomesOf(
      db,
      siteId,
      wanted.map(({ id }) => id),
    );
    const accepted: AcceptedDelivery[] = [];
    let eventId = after;
    for (const event of events) {
      if (wanted.includes(event)) {
        const outcome = outcomeOf(event, connectionId, outcomes.get(event.id) ?? []);
        // Its owner is about to settle it: the next page begins with it.
        if (!outcome && !damaged.has(event.id) && event.id >= openFromId) break;
        const sent = outcome?.sent;
        if (sent)
          accepted.push({
            eventId: event.id,
            name: event.name,
            acceptedAt: sent.startedAt + sent.durationMs,
            answer: sent.response ?? "",
          });
      }
      eventId = event.id;
    }
    return { accepted, eventId };
  }

  return {
    async readCursor({ siteId, connectionId }: ConnectionKey): Promise<ConfirmationHead | null> {
      const text = await readCursor(db, siteId, confirmationsCursor(connectionId));
      const [eventId = "", attemptAt, attemptEventId = ""] = text?.split(" ") ?? [];
      return text === null ? null : { eventId, attemptAt: Number(attemptAt), attemptEventId };
    },

    /** Lists what was accepted after `head`. The answer is empty where it was removed, or the platform gave none. */
    async listAccepted(of: ConnectionKey, head: ConfirmationHead, options: PageOptions): Promise<AcceptedPage> {
      const first = await listFirst(of, head.eventId, options);
      const rows = await db.all(
        `SELECT attempts.event_id, events.name, started_at, duration_ms, response FROM attempts
         JOIN events ON events.site_id = $1 AND events.id = attempts.event_id AND events.mode = 'live'
         WHERE attempts.site_id = $1 AND connection_id = $2 AND started_at >= $3 AND started_at < $4
           AND (started_at, attempts.event_id) > ($3, $5) AND request <> '(removed)' AND state = 'sent'
         ORDER BY started_at, attempts.event_id LIMIT $6`,
        [of.siteId, of.connectionId, head.attemptAt, options.before, head.attemptEventId, options.limit],
      );
      const later = rows.map((row) => ({
        eventId: String(row.event_id),
        name: String(row.name),
        acceptedAt: Number(row.started_at) + Number(row.duration_ms),
        answer: String(row.response ?? ""),
      }));
      const last = rows.at(-1);
      return {
        accepted: [...first.accepted, ...later],
        head: {
          eventId: first.eventId,
          attemptAt: last ? Number(last.started_at) : head.attemptAt,
          attemptEventId: last ? String(last.event_id) : head.attemptEventId,
        },
      };
    },
  };
}

const outcomeOf = ({ plan }: PlannedEvent, connectionId: string, outcomes: readonly Outcome[]) =>
  outcomes.find(({ position }) => plan[position]?.connectionId === connectionId);
