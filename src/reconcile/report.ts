// Makes the numbers of a reconciliation from its tally. Each number names the filter that lists its rows.

import type { ConfirmationReason } from "../kernel/confirmation.ts";
import type { DeliveryState } from "../kernel/event.ts";
import { noReason, type funnelSteps, type RowConfirmation } from "../kernel/reconciliation.ts";
import { platformOf } from "../platforms/index.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { RowFilter } from "./rows.ts";
import {
  deliverableOf,
  isLeftOut,
  newConnectionTally,
  newTally,
  otherReasons,
  type ConnectionTally,
  type Tally,
} from "../store/reconciliation/tally.ts";

type Loss = { reason: string; count: number; rows: RowFilter };

/** A step of the funnel: what came through, and what was lost since the last step that narrows it. */
type FunnelStep = {
  step: (typeof funnelSteps)[number];
  count: number;
  losses: Loss[];
  /**
   * False for `attributed`: most platforms accept events without a click id of theirs, so the steps after it are counted from
   * the step before it.
   */
  narrows: boolean;
};

type ConnectionReport = {
  connectionId: string;
  platform: string;
  /** These add up to the orders that count. */
  accepted: number;
  skipped: number;
  waiting: number;
  failed: number;
  filtered: number;
  notReceived: number;
  /** The connection did not exist when the event arrived. */
  notConnected: number;
  /** accepted + waiting + failed + notReceived: what the platform should have. 0 where it was connected after the period, or does not take the event. */
  deliverable: number;
  /** What these orders are worth, by currency. */
  values: { currency: string; accepted: number; deliverable: number }[];
  /** Of the accepted, those that the platform counts; null where it cannot be asked. */
  confirmed: number | null;
  funnel: FunnelStep[];
};

type Report = {
  /** Orders that count: all of the window but those that are not due. */
  orders: number;
  received: number;
  classes: Tally["classes"];
  foundBy: Tally["foundBy"];
  /** By currency: the sum of the list, and of the events that were not filtered. */
  values: { currency: string; listed: number; received: number }[];
  /** The steps before any platform. */
  funnel: FunnelStep[];
  connections: ConnectionReport[];
};

const sumOf = (counts: Record<string, number> = {}) => Object.values(counts).reduce((sum, count) => sum + count, 0);

const countStates = ({ states }: ConnectionTally, ...names: DeliveryState[]) =>
  names.reduce((sum, name) => sum + sumOf(states[name]), 0);

type Known = { id: string; platform: string; createdAt: number };

/** `known` are the connections that the site has now: one without a delivery is listed, too. */
export function makeReport(run: Pick<Run, "tally" | "to">, known: readonly Known[]): Report {
  const tally: Tally = { ...newTally(), ...(run.tally as Partial<Tally>) };
  const all = new Map<string, ConnectionTally>(known.map(({ id, platform }) => [id, newConnectionTally(platform)]));
  for (const [id, connection] of Object.entries(tally.connections)) all.set(id, connection);
  // What was never received in days before it existed is no loss of a connection.
  const later = new Set(known.filter(({ createdAt }) => createdAt >= run.to).map(({ id }) => id));
  const { orders, received, classes, foundBy } = tally;
  return {
    orders,
    received,
    classes,
    foundBy,
    // The currency of the first order is not the main one.
    values: Object.entries(tally.values)
      .map(([currency, sums]) => ({ currency, ...sums }))
      .toSorted((one, other) => other.listed - one.listed),
    funnel: commonSteps(tally),
    connections: [...all].map(([connectionId, connection]) =>
      reportConnection(tally, connectionId, connection, later.has(connectionId)),
    ),
  };
}

function reportConnection(tally: Tally, connectionId: string, connection: ConnectionTally, isLater: boolean): ConnectionReport {
  const accepted = countStates(connection, "sent");
  const skipped = countStates(connection, "skipped");
  const waiting = countStates(connection, "queued", "parked");
  const failed = countStates(connection, "rejected", "expired");
  const filtered = sumOf(tally.filtered);
  const notConnected = tally.received - filtered - accepted - skipped - waiting - failed;
  const at = { connection: connectionId };
  const confirmed = confirmedStep(connection, at);
  const missed = isLater || isLeftOut(connection) ? {} : tally.missed;
  return {
    connectionId,
    platform: connection.platform,
    accepted,
    skipped,
    waiting,
    failed,
    filtered,
    notReceived: tally.orders - tally.received,
    notConnected,
    deliverable: deliverableOf(isLater ? { orders: 0, received: 0 } : tally, connection),
    values: [...new Set([...Object.keys(connection.values), ...Object.keys(missed)])]
      .map((currency) => {
        const { accepted: worth = 0, due = 0 } = connection.values[currency] ?? {};
        return { currency, accepted: worth, deliverable: Math.round((due + (missed[currency] ?? 0)) * 10_000) / 10_000 };
      })
      .filter(({ deliverable }) => deliverable !== 0)
      .toSorted((one, other) => other.deliverable - one.deliverable),
    confirmed: confirmed?.count ?? null,
    funnel: [
      ...commonSteps(tally),
      {
        step: "attributed",
        count: connection.attributed,
        losses: loss("no click id of the platform", tally.received - filtered - connection.attributed, {
          ...at,
          attributed: false,
        }),
        narrows: false,
      },
      {
        step: "due",
        count: accepted + waiting + failed,
        losses: [
          ...loss("not connected at the time", notConnected, { ...at, state: "none" }),
          ...lossesOf(connection, at, "skipped"),
        ],
        narrows: true,
      },
      {
        step: "accepted",
        count: accepted,
        losses: lossesOf(connection, at, "queued", "parked", "rejected", "expired"),
        narrows: true,
      },
      ...(confirmed ? [confirmed] : []),
    ],
  };
}

/** null where the platform cannot be asked: it says nothing then, and a zero would look like a loss. */
function confirmedStep({ platform, confirmations }: ConnectionTally, at: RowFilter): FunnelStep | null {
  const answered = Object.keys(confirmations).some((state) => state !== "none");
  if (!answered && platformOf(platform)?.confirmations?.coversAll !== true) return null;
  const { confirmed, ...others } = confirmations;
  const losses = Object.entries(others).flatMap(([state, reasons]) =>
    Object.entries(reasons).map(([reason, count]) => ({
      reason: unconfirmedText(state as RowConfirmation, reason as ConfirmationReason | ""),
      count,
      rows: {
        ...at,
        confirmation: state as RowConfirmation,
        confirmationReason: reason === "" ? noReason : (reason as ConfirmationReason),
      },
    })),
  );
  return { step: "confirmed", count: sumOf(confirmed), losses: largestFirst(losses), narrows: true };
}

function unconfirmedText(state: RowConfirmation, reason: ConfirmationReason | ""): string {
  if (state === "none") return "the platform cannot be asked about it";
  if (state === "not counted") return reason === "" ? state : `${state}: ${reason}`;
  return reason === "" ? "not answered yet" : `unknown: ${reason}`;
}

const largestFirst = (losses: readonly Loss[]) => losses.toSorted((one, other) => other.count - one.count);

/** The losses of some states by reason, the largest first. */
function lossesOf({ states }: ConnectionTally, at: RowFilter, ...names: DeliveryState[]): Loss[] {
  const losses = names.flatMap((state) =>
    Object.entries(states[state] ?? {}).map(([reason, count]) => ({
      reason: reason === "" ? state : reason === otherReasons ? `${state}: ${reason}` : reason,
      count,
      rows: { ...at, state, reason: reason === "" ? noReason : reason },
    })),
  );
  return largestFirst(losses);
}

const loss = (reason: string, count: number, rows: RowFilter): Loss[] => (count > 0 ? [{ reason, count, rows }] : []);

/** The steps that all connections share: they are before any platform. */
function commonSteps(tally: Tally): FunnelStep[] {
  const filtered = largestFirst(
    Object.entries(tally.filtered).flatMap(([reason, count]) => loss(reason, count, { filtered: reason })),
  );
  return [
    { step: "orders", count: tally.orders, losses: [], narrows: true },
    {
      step: "received",
      count: tally.received,
      losses: loss("never received", tally.orders - tally.received, { class: "missing_here" }),
      narrows: true,
    },
    { step: "not filtered", count: tally.received - sumOf(tally.filtered), losses: filtered, narrows: true },
  ];
}
