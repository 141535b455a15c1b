// Value rules: the value that a connection's platform receives in place of the event's own. The event keeps its value; totals,
// duplicates and reconciliation use that one. A rule is a setting of the connection, `value.EVENT`, or `value.*` for all other events:
//
//   20%                     a share of the value
//   15  or  15 EUR          a fixed value, also for events without one
//   net  or  net 20%        without tax and shipping, where the sender gives them
//   shoes 20%, others 5%    by the category of the items; what no item explains, such as shipping, is `others`
//   as sent                 no change, for an event that `value.*` would cover
//
// What is left after a refund keeps the same share: of an order of 100 that was sent as 20, a rest of 50 is sent as 10.

import { isCurrency } from "../kernel/currency.ts";
import type { Conversion, Item } from "../kernel/event.ts";
import type { ConnectionSettings } from "./platform.ts";
import { foldName, usualEventOf } from "./shared/eventNames.ts";
import { amountOf, leftOf } from "./shared/values.ts";

type ValueRule =
  | { by: "as sent" }
  | { by: "share"; percent: number; isNet: boolean }
  | { by: "fixed"; value: number; currency: string | null }
  | { by: "category"; shares: ReadonlyMap<string, number>; others: number };

const prefix = "value.";
const maxPercent = 1000;
const maxFixed = 1e9;
const maxCategories = 50;
/** The inbound fields that `net` takes off. */
export const costFields = ["tax", "shipping"] as const;

export const isValueSetting = (name: string) => name.startsWith(prefix);
/** `*` stays as it is. */
export const valueSetting = (event: string) => prefix + foldName(event);

const readPercent = (text: string): number | null => {
  const percent = /^(\d{1,4}(?:\.\d{1,4})?)\s*%$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > maxPercent ? null : Number(percent);
};

/** Returns null for a text that is no rule. */
function readRule(text: string): ValueRule | null {
  const trimmed = text.trim();
  if (/^as sent$/i.test(trimmed)) return { by: "as sent" };
  const [, net, share = ""] = /^(net\b)?\s*(.*)$/is.exec(trimmed) ?? [];
  const percent = net && share === "" ? 100 : readPercent(share);
  if (percent !== null) return { by: "share", percent, isNet: net !== undefined };
  const [, amount, currency] = /^(\d{1,10}(?:\.\d{1,4})?)(?:\s*([a-z]{3}))?$/i.exec(trimmed) ?? [];
  if (amount !== undefined) {
    const code = currency?.toUpperCase() ?? null;
    const isFine = Number(amount) <= maxFixed && (code === null || isCurrency(code));
    return isFine ? { by: "fixed", value: Number(amount), currency: code } : null;
  }
  return readCategories(trimmed);
}

function readCategories(text: string): ValueRule | null {
  const shares = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, name = "", share = ""] = /^\s*(.{1,100}?)\s+(\S+(?:\s*%)?)\s*$/s.exec(part) ?? [];
    const percent = readPercent(share);
    if (name === "" || percent === null || shares.has(fold(name)) || shares.size >= maxCategories) return null;
    shares.set(fold(name), percent);
  }
  const others = shares.get("others") ?? 100;
  shares.delete("others");
  return { by: "category", shares, others };
}

const fold = (name: string) => name.trim().toLowerCase();

/** Says what is wrong with a rule; null when it is fine. */
export const ruleFault = (text: string): string | null =>
  readRule(text) ? null : "must be like 20%, 15 EUR, net, net 20%, shoes 20%, others 5%, or as sent";

type Rules = ReadonlyMap<string, { text: string; rule: ValueRule }>;
const none: Rules = new Map();
/** Directories replace the settings when they change, so rules are read once per object. */
const rulesBySettings = new WeakMap<ConnectionSettings, Rules>();

function rulesOf(settings: ConnectionSettings): Rules {
  let rules = rulesBySettings.get(settings);
  if (!rules) {
    const read = Object.entries(settings).flatMap(([name, text]) => {
      const rule = isValueSetting(name) ? readRule(text) : null;
      return rule ? [[name, { text, rule }] as const] : [];
    });
    rules = read.length ? new Map(read) : none;
    rulesBySettings.set(settings, rules);
  }
  return rules;
}

/** The settings that may have the rule of an event, its own first. A refund follows the rule of what it takes back. */
export function settingsFor(event: string): string[] {
  const usual = usualEventOf(event);
  const names = [event, ...(usual === null ? [] : [usual]), ...(usual === "refund" ? ["purchase"] : []), "*"];
  return [...new Set(names.map(valueSetting))];
}

function findRule(event: string, settings: ConnectionSettings) {
  const rules = rulesOf(settings);
  if (rules.size === 0) return null;
  for (const setting of settingsFor(event)) {
    const found = rules.get(setting);
    if (found) return found;
  }
  return null;
}

/** The extra inbound fields that the rules need. */
export const costFieldsOf = (settings: ConnectionSettings): readonly string[] =>
  [...rulesOf(settings).values()].some(({ rule }) => rule.by === "share" && rule.isNet) ? costFields : [];

/** The value that the platform receives, and the rule that made it; null where the event's own is sent. */
export type RuledValue = { value: number; currency: string; rule: string };

export function ruledValue(conversion: Conversion, settings: ConnectionSettings): RuledValue | null {
  const found = findRule(conversion.name, settings);
  if (!found || found.rule.by === "as sent") return null;
  const { text, rule } = found;
  const left = leftOf(conversion);
  // Of an order that had no value, the list's is the whole one.
  const { value, items } = conversion.whole?.value
    ? conversion.whole
    : { value: conversion.value, items: left?.items ?? conversion.items };
  const currency = rule.by === "fixed" && rule.currency !== null ? rule.currency : conversion.currency;
  const whole =
    rule.by === "fixed" ? rule.value : value === null ? null : shareOf(rule, value, items ?? [], conversion.costs ?? 0);
  if (whole === null) return null;
  return { value: amountOf(whole * (left?.share ?? 1), currency), currency, rule: text };
}

function shareOf(
  rule: Exclude<ValueRule, { by: "as sent" } | { by: "fixed" }>,
  value: number,
  items: readonly Item[],
  costs: number,
): number {
  if (rule.by === "share") return ((rule.isNet ? Math.max(0, value - costs) : value) * rule.percent) / 100;
  const amounts = items.map(({ price = 0, quantity, category = "" }) => ({
    amount: price * quantity,
    percent: rule.shares.get(fold(category)) ?? rule.others,
  }));
  const explained = amounts.reduce((sum, { amount }) => sum + amount, 0);
  const rest = { amount: Math.max(0, value - explained), percent: rule.others };
  const weighted = [...amounts, rest].reduce((sum, { amount, percent }) => sum + amount * percent, 0);
  // Where a discount makes the order cheaper than its items, each bears its part.
  return explained > value ? (weighted / 100) * (value / explained) : weighted / 100;
}

/** Returns the conversion as the platform receives it: the same object where no rule applies. */
export function withRuledValue(conversion: Conversion, settings: ConnectionSettings): Conversion {
  const ruled = ruledValue(conversion, settings);
  if (!ruled) return conversion;
  // Without `whole` and `costs` the rule could be applied to its own result.
  const { whole: _whole, costs: _costs, ...rest } = conversion;
  const left = leftOf(conversion);
  return { ...rest, value: ruled.value, currency: ruled.currency, ...(left && { left }) };
}
