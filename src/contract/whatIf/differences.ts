// The difference that changed settings would have made to stored events. It is read a part at a time, and parts are added up.

import { currencyDigits } from "../../kernel/currency.ts";

/** The settings of a site that change what becomes of an event; others say how it is received and kept. */
export const whatIfSettings = [
  "consent_mode",
  "bot_threshold",
  "evidence",
  "allow_user_agents",
  "deny_user_agents",
  "allow_networks",
  "deny_networks",
  "allow_countries",
  "deny_countries",
  "block_domains",
  "block_disposable",
  "block_persons",
  "allow_persons",
] as const;

export const maxWhatIfDays = 90;
export const defaultWhatIfDays = 7;
export const maxWhatIfExamples = 10;

/** A number of conversions, and the sum of their values by currency. */
export type Money = { events: number; values: Record<string, number> };
/** With the saved settings, and with the changed ones. */
type Both<Value> = { before: Value; after: Value };

type ConnectionDifference = Both<Money> & {
  platform: string;
  /** Requests that are sent either way, with another content. */
  changed: number;
  skipped: Record<string, Both<number>>;
  /** Where requests differ, by the path of the field. */
  fields: Record<string, { added: number; removed: number; changed: number }>;
};

export type Differences = {
  events: number;
  erased: number;
  /** What is kept of their people does not tell: they count as they were stored. */
  unknown: number;
  filtered: Both<Money>;
  /** Those of the filtered that change, by the reason for which they are or were filtered. */
  nowFiltered: Record<string, Money>;
  nowPassed: Record<string, Money>;
  withheld: Both<number>;
  connections: Record<string, ConnectionDifference>;
};

export const noMoney = (): Money => ({ events: 0, values: {} });

export const noDifferences = (): Differences => ({
  events: 0,
  erased: 0,
  unknown: 0,
  filtered: { before: noMoney(), after: noMoney() },
  nowFiltered: {},
  nowPassed: {},
  withheld: { before: 0, after: 0 },
  connections: {},
});

/** Sums of floating-point numbers are kept free of noise. */
export function addMoney(sum: Money, { events, values }: Money): void {
  sum.events += events;
  for (const [currency, value] of Object.entries(values)) {
    const unit = 10 ** currencyDigits(currency);
    sum.values[currency] = Math.round(((sum.values[currency] ?? 0) + value) * unit) / unit;
  }
}

function addMoneyByName(sum: Record<string, Money>, part: Record<string, Money>): void {
  for (const [name, money] of Object.entries(part)) addMoney((sum[name] ??= noMoney()), money);
}

export function addDifferences(sum: Differences, part: Differences): void {
  for (const name of ["events", "erased", "unknown"] as const) sum[name] += part[name];
  for (const side of ["before", "after"] as const) {
    addMoney(sum.filtered[side], part.filtered[side]);
    sum.withheld[side] += part.withheld[side];
  }
  addMoneyByName(sum.nowFiltered, part.nowFiltered);
  addMoneyByName(sum.nowPassed, part.nowPassed);
  for (const [id, connection] of Object.entries(part.connections))
    addConnection((sum.connections[id] ??= noConnection(connection.platform)), connection);
}

export const noConnection = (platform: string): ConnectionDifference => ({
  platform,
  before: noMoney(),
  after: noMoney(),
  changed: 0,
  skipped: {},
  fields: {},
});

function addConnection(sum: ConnectionDifference, part: ConnectionDifference): void {
  addMoney(sum.before, part.before);
  addMoney(sum.after, part.after);
  sum.changed += part.changed;
  for (const [reason, { before, after }] of Object.entries(part.skipped)) {
    const of = (sum.skipped[reason] ??= { before: 0, after: 0 });
    of.before += before;
    of.after += after;
  }
  for (const [path, { added, removed, changed }] of Object.entries(part.fields)) {
    const of = (sum.fields[path] ??= { added: 0, removed: 0, changed: 0 });
    of.added += added;
    of.removed += removed;
    of.changed += changed;
  }
}
