// A second account of what is committed, kept from the changes of rows alone. The rules compare the product's doings with it.

import type { DeliveryState } from "../../../src/kernel/event.ts";
import { orderEventId } from "../../../src/kernel/ids.ts";
import { readOutcomes, type Outcome } from "../../../src/store/deliveries/outcomes.ts";
import { readPlan, type PlanEntry } from "../../../src/store/deliveries/plan.ts";
import { unpackAttribution } from "../../../src/store/people/personCodec.ts";
import type { Change, Row, Table, Value } from "../database/tables.ts";

export type LedgerEvent = {
  siteId: string;
  id: string;
  platformEventId: string;
  mode: string;
  status: string;
  name: string;
  orderId: string | null;
  /** Empty when the person was erased. */
  emailSha256: string;
  /** The identifiers of the person were withheld. */
  isWithheld: boolean;
  value: number | null;
  receivedAt: number;
  plan: PlanEntry[];
  /** The node that attempts its deliveries first. */
  owner: string;
  /** The commit that accepted it. */
  commit: number;
};

type LedgerDelivery = {
  state: DeliveryState;
  reason: string | null;
  attempts: number;
  owner: string;
  /** Where it has an owner, the end of its lease. */
  dueAt: number;
};

const eventKey = (siteId: string, eventId: string) => `${siteId} ${eventId}`;
export const deliveryKey = (siteId: string, eventId: string, connectionId: string) => `${siteId} ${eventId} ${connectionId}`;

/** States in which a delivery has ended. */
export const finalStates: readonly DeliveryState[] = ["sent", "skipped", "rejected", "expired"];

export class Ledger {
  readonly events = new Map<string, LedgerEvent>();
  /** By site and platform event id, then by event id. Filtered events are not sent; one may have left its id to another event. */
  readonly #sentAs = new Map<string, Map<string, LedgerEvent>>();
  readonly deliveries = new Map<string, LedgerDelivery>();
  /** By event, then by number of the row. */
  readonly outcomes = new Map<string, Map<number, Outcome[]>>();
  /** The requests of attempts, by event and then by the attempt's key. */
  readonly #requests = new Map<string, Map<string, string>>();
  /** Sums over the rows of all writers, by site. */
  readonly totals = new Map<string, { conversions: number; removed: number }>();
  /** Live events by site: accepted ones, and those that were removed as bots'. */
  readonly counted = new Map<string, { conversions: number; removed: number }>();
  /** Where the last closed period of each site ended, with the sums at that moment. */
  readonly heads = new Map<string, { number: number; conversions: number; removed: number }>();
  readonly queuedPushes = new Set<string>();
  /** When the lease of each node ends, by owner. */
  readonly leases = new Map<string, number>();

  apply(changes: readonly Change[], commit: number): void {
    for (const { table, before, after } of changes) {
      const work = appliers[table.name];
      if (!work) continue;
      const old = before && rowOf(table, before);
      const next = after && rowOf(table, after);
      // A change of an event that does not accept it leaves the commit that did.
      const isKept = table.name === "events" && old?.status === next?.status;
      const known = isKept ? this.events.get(eventKey(String(old?.site_id), String(old?.id))) : undefined;
      if (old) work(this, old, -1, commit);
      if (next) work(this, next, 1, known?.commit ?? commit);
    }
  }

  /** The events that are sent under an id. Within a transaction there may be two. */
  sentAs(siteId: string, platformEventId: string): Map<string, LedgerEvent> {
    const key = `${siteId} ${platformEventId}`;
    const found = this.#sentAs.get(key) ?? new Map<string, LedgerEvent>();
    this.#sentAs.set(key, found);
    return found;
  }

  /** What became of a delivery; null while its first attempt is open. */
  stateOf({ siteId, id, plan }: LedgerEvent, connectionId: string): LedgerDelivery["state"] | null {
    const row = this.deliveries.get(deliveryKey(siteId, id, connectionId));
    if (row) return row.state;
    const position = plan.findIndex((entry) => entry.connectionId === connectionId);
    if (plan[position]?.by === "skipped") return "skipped";
    return this.outcomesOf(siteId, id).some((one) => one.position === position && one.sent) ? "sent" : null;
  }

  /** When the lease ends under which a delivery is attempted; 0 where no node has one. */
  leaseEndOf({ siteId, id, owner }: LedgerEvent, connectionId: string): number {
    const row = this.deliveries.get(deliveryKey(siteId, id, connectionId));
    if (!row) return this.leases.get(owner) ?? 0;
    return row.owner === "" ? 0 : row.dueAt;
  }

  reasonOf({ siteId, id, plan }: LedgerEvent, connectionId: string): string | null {
    const row = this.deliveries.get(deliveryKey(siteId, id, connectionId));
    return row ? row.reason : (plan.find((entry) => entry.connectionId === connectionId)?.reason ?? null);
  }

  requestsOf(siteId: string, eventId: string): Map<string, string> {
    const key = eventKey(siteId, eventId);
    const found = this.#requests.get(key) ?? new Map<string, string>();
    this.#requests.set(key, found);
    return found;
  }

  outcomesOf(siteId: string, eventId: string): Outcome[] {
    return [...(this.outcomes.get(eventKey(siteId, eventId))?.values() ?? [])].flat();
  }
}

function rowOf({ columns }: Table, values: readonly Value[]): Row {
  const row: Row = {};
  columns.forEach((column, i) => (row[column] = values[i] ?? null));
  return row;
}

/** `sign` is 1 for a row that is there now, and -1 for one that is not any more. */
type Applier = (ledger: Ledger, row: Row, sign: 1 | -1, commit: number) => void;

const appliers: Readonly<Record<string, Applier>> = {
  events(ledger, row, sign, commit) {
    const event = toEvent(row, commit);
    const key = eventKey(event.siteId, event.id);
    count(ledger.counted, event.siteId, sign * conversionsIn(row), sign * removalsIn(row));
    const sentAs = ledger.sentAs(event.siteId, event.platformEventId);
    sentAs.delete(event.id);
    if (sign < 0) return void ledger.events.delete(key);
    ledger.events.set(key, event);
    if (event.status !== "filtered") sentAs.set(event.id, event);
  },
  deliveries(ledger, row, sign) {
    const key = deliveryKey(String(row.site_id), String(row.event_id), String(row.connection_id));
    if (sign < 0) return void ledger.deliveries.delete(key);
    ledger.deliveries.set(key, {
      state: row.state as DeliveryState,
      reason: row.reason as string | null,
      attempts: Number(row.attempts),
      owner: String(row.owner),
      dueAt: Number(row.due_at),
    });
  },
  outcomes(ledger, row, sign) {
    const key = eventKey(String(row.site_id), String(row.event_id));
    const rows = ledger.outcomes.get(key) ?? new Map<number, Outcome[]>();
    ledger.outcomes.set(key, rows);
    if (sign < 0) rows.delete(Number(row.number));
    else rows.set(Number(row.number), readOutcomes(String(row.results)));
  },
  attempts(ledger, row, sign) {
    const requests = ledger.requestsOf(String(row.site_id), String(row.event_id));
    const key = `${row.event_id} ${row.connection_id} ${row.number}`;
    if (sign < 0) requests.delete(key);
    else requests.set(key, String(row.request));
  },
  period_heads(ledger, row, sign) {
    if (sign < 0) return void ledger.heads.delete(String(row.site_id));
    const [number, conversions, removed] = [row.number, row.conversions, row.removed].map(Number);
    ledger.heads.set(String(row.site_id), {
      number: number ?? 0,
      conversions: conversions ?? 0,
      removed: removed ?? 0,
    });
  },
  pushes(ledger, row, sign) {
    const key = `${row.site_id} ${row.webhook_id} ${row.number}`;
    if (sign > 0 && row.state === "queued") ledger.queuedPushes.add(key);
    else ledger.queuedPushes.delete(key);
  },
  nodes(ledger, row, sign) {
    if (sign < 0) ledger.leases.delete(String(row.owner));
    else ledger.leases.set(String(row.owner), Number(row.until));
  },
  totals(ledger, row, sign) {
    count(ledger.totals, String(row.site_id), sign * Number(row.conversions), sign * Number(row.removed_events));
  },
};

function toEvent(row: Row, commit: number): LedgerEvent {
  const siteId = String(row.site_id);
  const usesOrder = Number(row.uses_order_event_id) === 1;
  return {
    siteId,
    id: String(row.id),
    platformEventId: usesOrder ? orderEventId(siteId, String(row.name), String(row.order_id)) : String(row.id),
    mode: String(row.mode),
    status: String(row.status),
    name: String(row.name),
    orderId: row.order_id as string | null,
    emailSha256: String(row.person).slice(0, 64),
    isWithheld: unpackAttribution(String(row.attribution)).withheld !== null,
    value: row.value as number | null,
    receivedAt: Number(row.received_at),
    plan: readPlan(String(row.plan)),
    owner: String(row.owner),
    commit,
  };
}

const conversionsIn = (row: Row) => (row.mode === "live" && row.status === "accepted" ? 1 : 0);
/** That an event was removed stays counted when it is released. */
const removalsIn = (row: Row) => (row.mode === "live" && String(row.reasons).includes("only bot visits") ? 1 : 0);

function count(
  sums: Map<string, { conversions: number; removed: number }>,
  siteId: string,
  conversions: number,
  removed: number,
): void {
  const sum = sums.get(siteId) ?? { conversions: 0, removed: 0 };
  sums.set(siteId, sum);
  sum.conversions += conversions;
  sum.removed += removed;
}
