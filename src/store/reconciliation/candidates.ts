// Finds the events that orders may belong to: live ones, with what became of their deliveries. Each search uses an index that
// the inbound path has anyway, and reads a bounded number of rows.

import type { DeliveryState, FilterReason, Sha256 } from "../../kernel/event.ts";
import { idAt } from "../../kernel/ids.ts";
import { orderKey } from "../../kernel/reconciliation.ts";
import { readConfirmations, type ConfirmationRow } from "../confirmations/confirmations.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { deliverySource, readDeliveries } from "../deliveries/readDeliveries.ts";
import { allByKeys, allForEach, keyedRead, type Database, type Row } from "../engine/database.ts";
import { emailColumn } from "../events/eventList.ts";
import { emailRef, readCounted, summaryColumns } from "../events/eventRow.ts";

export type CandidateDelivery = {
  connectionId: string;
  platform: string;
  state: DeliveryState;
  reason: string | null;
  /** What the platform said later; null where it was not asked, or has not answered. */
  confirmation: ConfirmationRow | null;
};

/** An event as its row has it, without its deliveries. */
export type CandidateHead = {
  id: string;
  name: string;
  time: number;
  value: number | null;
  currency: string;
  orderId: string | null;
  /** Empty for an accepted or released event. */
  filterReasons: FilterReason[];
  /** null where the person was erased. */
  emailSha256: Sha256 | null;
  /** The names of its click ids, and of the platforms' own cookies. */
  clickIds: string[];
  cookies: string[];
};

export type Candidate = CandidateHead & { deliveries: CandidateDelivery[] };

/** A search for events of a person that were received from `from` on and before `to`. */
type PersonSearch = { emailSha256: Sha256; from: number; to: number };

const candidateColumns = `${summaryColumns}, ${emailColumn}, ${deliverySource}, time`;

/** An order id that belongs to more events than this is a placeholder. */
const maxPerOrder = 20;
const maxPerPerson = 200;

const eventsOfOrder = keyedRead({
  text: `SELECT ${candidateColumns} FROM events WHERE site_id = $1 AND order_key = {0} ORDER BY id LIMIT ${maxPerOrder}`,
  first: 1,
  types: ["text"],
});

/** Only ids, which the index has: for other columns SQLite, which has no statistics, reads all events of the days instead. */
const idsOfPerson = keyedRead({
  text: `SELECT id FROM events WHERE site_id = $1 AND email_ref = {0} AND id >= {1} AND id < {2}
    ORDER BY id LIMIT ${maxPerPerson}`,
  first: 1,
  types: ["bigint", "text", "text"],
});

const sortById = (rows: readonly Row[]) => rows.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1));

const isLive = ({ mode }: Row) => mode === "live";

function readHead(row: Row): CandidateHead {
  const { id, event, value, currency, orderId, status, filterReasons, clickIds, cookies } = readCounted(row);
  const email = String(row.email_sha256 ?? "");
  return {
    id,
    name: event,
    time: Number(row.time),
    value,
    currency,
    orderId,
    filterReasons: status === "filtered" ? filterReasons : [],
    emailSha256: email === "" ? null : (email as Sha256),
    clickIds,
    cookies,
  };
}

export function candidateStore(db: Database) {
  async function toCandidates(siteId: string, rows: readonly Row[]): Promise<Candidate[]> {
    const live = rows.filter(isLive);
    const deliveries = await readDeliveries(db, siteId, live);
    const sent = [...deliveries].filter(([, some]) => some.some(({ state }) => state === "sent"));
    const confirmations = Map.groupBy(
      await readConfirmations(
        db,
        siteId,
        sent.map(([id]) => id),
      ),
      ({ eventId }) => eventId,
    );
    return live.map((row) => {
      const id = String(row.id);
      const answers = confirmations.get(id) ?? [];
      const toDelivery = ({ connectionId, platform, state, reason }: Delivery): CandidateDelivery => ({
        connectionId,
        platform,
        state,
        reason,
        confirmation: answers.find((one) => one.connectionId === connectionId) ?? null,
      });
      return { ...readHead(row), deliveries: (deliveries.get(id) ?? []).map(toDelivery) };
    });
  }

  async function readOrders(siteId: string, orderIds: readonly string[]): Promise<Row[]> {
    const keys = [...new Set(orderIds.map(orderKey))].map((key) => [key]);
    return sortById(await allForEach(db, eventsOfOrder, [siteId], keys));
  }

  return {
    /** Finds events by order ids in any spelling, the oldest first. */
    byOrderIds: async (siteId: string, orderIds: readonly string[]): Promise<Candidate[]> =>
      toCandidates(siteId, await readOrders(siteId, orderIds)),

    /** As `byOrderIds`, without what became of them. */
    headsByOrderIds: async (siteId: string, orderIds: readonly string[]): Promise<CandidateHead[]> =>
      (await readOrders(siteId, orderIds)).filter(isLive).map(readHead),

    /** Finds events of people, the oldest first. Reads the deliveries only of those that fit. */
    async byPeople(
      siteId: string,
      searches: readonly PersonSearch[],
      isFitting: (event: CandidateHead) => boolean,
    ): Promise<Candidate[]> {
      const keys = searches.map(({ emailSha256, from, to }) => [emailRef(emailSha256), idAt(from), idAt(to)]);
      const ids = new Set((await allForEach(db, idsOfPerson, [siteId], keys)).map(({ id }) => String(id)));
      const sql = `SELECT ${candidateColumns} FROM events WHERE site_id = $1 AND id IN ({KEYS})`;
      const rows = await allByKeys(db, sql, [siteId], [...ids]);
      const found = rows.filter((row) => isLive(row) && isFitting(readHead(row)));
      return toCandidates(siteId, sortById(found));
    },

    /**
     * Reads the next `limit` events after the id `after` and below `below`, and returns those that no order of the run has.
     * `last` is the last id that was read; null at the end.
     */
    async listFree(
      { siteId, id: runId }: { siteId: string; id: string },
      after: string,
      below: string,
      limit: number,
    ): Promise<{ events: Candidate[]; last: string | null }> {
      const [end] = await db.all(
        `SELECT id FROM events WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT 1 OFFSET $4`,
        [siteId, after, below, limit - 1],
      );
      const last = end ? String(end.id) : null;
      // One upper bound: with two, SQLite reads on to the wrong one. The comparison with NULL keeps PostgreSQL from reading all
      // rows of the run at once, as it might for NOT EXISTS.
      const rows = await db.all(
        `SELECT ${candidateColumns} FROM events WHERE site_id = $1 AND id > $2 AND id ${last === null ? "<" : "<="} $3
           AND (SELECT 1 FROM reconciliation_rows WHERE site_id = $1 AND run_id = $4 AND event_id = events.id LIMIT 1) IS NULL
         ORDER BY id`,
        [siteId, after, last ?? below, runId],
      );
      return { events: await toCandidates(siteId, rows), last };
    },
  };
}
