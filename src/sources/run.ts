// Runs a kind over the body of an authentic request: every entry becomes conversions, refunds, things to remember, or is ignored
// with a reason. Pure: it neither reads the store nor the clock, and hashes nothing.

import { evaluate, holds, type Scope } from "./mapping/evaluate.ts";
import { isRecord, maxElements, ownValue, toNumber, toText } from "./mapping/functions.ts";
import { parseCondition, parseExpression, type Condition, type Expression } from "./mapping/parse.ts";
import { TooMuchWork, unitsOf, Work } from "./mapping/work.ts";
import { mappedFields, type IgnoreReason, type Kind, type MappedField, type Rule, type RuleFields } from "./kind.ts";
import type { Mode } from "../kernel/event.ts";

/** The fields of an event as the inbound endpoint takes them, in plain text. */
type MappedEvent = Partial<Record<MappedField, string | number>> & {
  /** In place of the email, in an event that waits for a look-up. */
  hashed_email?: string;
  items?: Record<string, unknown>[];
  clickIds?: Record<string, string>;
};

type About = {
  /** The sender's word for the kind of event. */
  type: string;
  /** Null where the sender gives none. */
  deliveryId: string | null;
};

export type Mapped = About & {
  is: "conversion" | "refund" | "learned";
  /** The second of the delivery, `2026-11-18T10:00:00`; empty where the sender gives no time that every repeat of it has. */
  deliveredAt: string;
  mode: Mode;
  fields: MappedEvent;
  customer: string | null;
  orderRef: string | null;
  /** The token of the link to the payment page; null where there is none. */
  link: { token: string; openedAt: number } | null;
  /** The look-up of the kind that completes it; null where there is none, or where it was made. */
  lookUp: string | null;
  /** The value is the sum of the order's refunds so far. */
  isSum?: true;
  /** It counts only with a stored order of its person. */
  needsOrder?: true;
};

type Ignored = About & { is: "ignored"; reason: IgnoreReason; detail: string | null };

export type Outcome = Mapped | Ignored;

type SourceRequest = { headers: Readonly<Record<string, string | string[] | undefined>>; body: unknown };

type CompiledFields = {
  fields: readonly (readonly [MappedField, Expression])[];
  customer: Expression | null;
  orderRef: Expression | null;
  link: { token: Expression; openedAt: Expression } | null;
  clickIds: readonly { name: string | null; place: Expression }[];
  items: { from: Expression; fields: readonly (readonly [string, Expression])[] } | null;
};

type CompiledRule = CompiledFields & { rule: Rule; when: Condition; each: Expression | null };

export type CompiledKind = {
  kind: Kind;
  entries: Expression | null;
  delivery: Expression | null;
  deliveryTime: Expression | null;
  type: Expression;
  test: Condition | null;
  rules: readonly CompiledRule[];
};

/** Throws a MappingFault for a text that cannot be parsed: of our own kinds none has one. */
export function compileKind(kind: Kind): CompiledKind {
  return {
    kind,
    entries: optional(kind.entries),
    delivery: optional(kind.delivery),
    deliveryTime: optional(kind.deliveryTime),
    type: parseExpression(kind.type ?? '""'),
    test: kind.test === undefined ? null : parseCondition(kind.test),
    rules: kind.rules.map((rule) => ({
      rule,
      when: parseCondition(rule.when),
      each: optional(rule.each),
      ...compileFields(rule.gives === "ignore" ? {} : rule.fields),
    })),
  };
}

const optional = (text: string | undefined) => (text === undefined ? null : parseExpression(text));

export function compileFields(fields: RuleFields): CompiledFields {
  const { customer, orderRef, link, clickIds = [], items } = fields;
  return {
    fields: mappedFields.flatMap((name) => {
      const text = fields[name];
      return text === undefined ? [] : [[name, parseExpression(text)] as const];
    }),
    customer: optional(customer),
    orderRef: optional(orderRef),
    link: link ? { token: parseExpression(link.token), openedAt: parseExpression(link.openedAt) } : null,
    clickIds: clickIds.map((one) =>
      typeof one === "string" ? { name: null, place: parseExpression(one) } : { name: one[0], place: parseExpression(one[1]) },
    ),
    items: items
      ? {
          from: parseExpression(items.from),
          fields: Object.entries(items).flatMap(([name, text]) =>
            name === "from" ? [] : [[name, parseExpression(text)] as const],
          ),
        }
      : null,
  };
}

/** Entries of one request that are looked at. */
const maxEntries = 500;
/** Elements of a list that become events of their own. */
const maxEach = 50;

export function runKind(
  compiled: CompiledKind,
  request: SourceRequest,
  settings: Readonly<Record<string, string>>,
  isClickId: (name: string) => string | undefined,
): Outcome[] {
  const { body } = request;
  const around = { headers: request.headers, settings, body };
  const work = new Work();
  const outcomes: Outcome[] = [];
  const leaveOut = (reason: IgnoreReason) => outcomes.push({ is: "ignored", reason, detail: null, type: "", deliveryId: null });
  try {
    const all = compiled.entries ? evaluate(compiled.entries, { entry: body, around, work }) : body;
    const entries = compiled.entries && Array.isArray(all) ? all : [all];
    const taken = new Set<string>();
    for (const [at, entry] of entries.slice(0, maxEntries).entries()) {
      const scope = { entry, around, work };
      outcomes.push(...runEntry(compiled, scope, deliveryIdOf(compiled, scope, at, taken), settings, isClickId));
    }
    if (entries.length > maxEntries) leaveOut("too many entries");
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    leaveOut("too much work");
  }
  return outcomes;
}

/**
 * Entries may share the id of their request: all but the first have their place added. Ignored entries count too, so that a repeat of
 * the request gives the same ids whatever the settings are by then. Ids of the entries' own stay: a repeat may have other entries.
 */
function deliveryIdOf({ delivery }: CompiledKind, scope: Scope, at: number, taken: Set<string>): string | null {
  const id = delivery && textOf(delivery, scope)?.slice(0, 512);
  if (!id) return null;
  if (taken.has(id)) return `${id} #${at}`;
  taken.add(id);
  return id;
}

/** Of a time such as `2026-11-18T10:00:00.000Z`, without its fraction. */
const secondLength = 19;

function runEntry(
  compiled: CompiledKind,
  scope: Scope,
  deliveryId: string | null,
  settings: Readonly<Record<string, string>>,
  isClickId: (name: string) => string | undefined,
): Outcome[] {
  const about: About = {
    // What is shown of it is shorter, and masked before it is cut: a part of an address would not be recognised.
    type: cut(textOf(compiled.type, scope) ?? "", 2000),
    deliveryId,
  };
  if (!isRecord(scope.entry)) return [{ ...about, is: "ignored", reason: "unreadable body", detail: null }];
  const deliveredAt = (compiled.deliveryTime && textOf(compiled.deliveryTime, scope)?.slice(0, secondLength)) ?? "";
  const isTest = compiled.test !== null ? holds(compiled.test, scope) || settings.mode === "test" : settings.mode === "test";
  const outcomes: Outcome[] = [];
  for (const rule of compiled.rules) {
    if (!holds(rule.when, scope)) continue;
    outcomes.push(...applyRule(rule, scope, about, { deliveredAt, mode: isTest ? "test" : "live" }, isClickId));
    if (!rule.rule.continues) break;
  }
  return outcomes.length > 0 ? outcomes : [{ ...about, is: "ignored", reason: "not used", detail: null }];
}

function applyRule(
  compiled: CompiledRule,
  scope: Scope,
  about: About,
  delivered: Pick<Mapped, "deliveredAt" | "mode">,
  isClickId: (name: string) => string | undefined,
): Outcome[] {
  const { rule } = compiled;
  if (rule.gives === "ignore") return [{ ...about, is: "ignored", reason: rule.reason, detail: rule.name }];
  const list = compiled.each ? evaluate(compiled.each, scope) : undefined;
  const scopes: Scope[] = compiled.each
    ? (Array.isArray(list) ? list : []).slice(0, maxEach).map((entry: unknown) => ({
        entry,
        around: { ...scope.around, entry: scope.entry },
        work: scope.work,
      }))
    : [scope];
  return scopes.map((own, i) => ({
    ...about,
    // One delivery may give several events.
    deliveryId: about.deliveryId === null ? null : scopes.length > 1 ? `${about.deliveryId} ${i}` : about.deliveryId,
    is: rule.gives === "learn" ? "learned" : rule.gives,
    ...delivered,
    ...readMapped(compiled, own, isClickId),
    lookUp: rule.lookUp ?? null,
    ...(rule.gives === "refund" && rule.sums && { isSum: true }),
    ...(rule.gives === "refund" && rule.needsOrder && { needsOrder: true }),
  }));
}

/** Reads what a rule or a look-up says of an event. */
export function readMapped(
  compiled: CompiledFields,
  scope: Scope,
  isClickId: (name: string) => string | undefined,
): Pick<Mapped, "fields" | "customer" | "orderRef" | "link"> {
  const fields: MappedEvent = {};
  for (const [name, expression] of compiled.fields) {
    const value = evaluate(expression, scope);
    // An address without its NUL could be another person's: inbound's checks refuse it.
    const readText = name === "email" ? toText(value)?.trim() : storableText(value);
    const read = name === "value" && typeof value === "number" ? value : readText;
    if (read !== undefined && read !== "") fields[name] = read;
  }
  const clickIds = readClickIds(compiled.clickIds, scope, isClickId);
  if (Object.keys(clickIds).length > 0) fields.clickIds = clickIds;
  const items = compiled.items && readItems(compiled.items, scope);
  if (items && items.length > 0) fields.items = items;
  return {
    fields,
    customer: compiled.customer ? (textOf(compiled.customer, scope)?.slice(0, 256) ?? null) : null,
    orderRef: compiled.orderRef ? (textOf(compiled.orderRef, scope)?.slice(0, 256) ?? null) : null,
    link: readLink(compiled.link, scope),
  };
}

function readLink(link: CompiledFields["link"], scope: Scope): Mapped["link"] {
  const token = link && textOf(link.token, scope);
  const openedAt = token ? Date.parse(textOf(link.openedAt, scope) ?? "") : Number.NaN;
  return token && !Number.isNaN(openedAt) ? { token, openedAt } : null;
}

function textOf(expression: Expression, scope: Scope): string | undefined {
  const text = storableText(evaluate(expression, scope));
  return text === "" ? undefined : text;
}

/** Reads a text without what databases refuse: NUL, and halves of surrogate pairs. Nearly every text is returned as it is. */
function storableText(value: unknown): string | undefined {
  const text = toText(value)?.trim();
  if (text === undefined || (!text.includes("\0") && text.isWellFormed())) return text;
  return text.replaceAll("\0", "").toWellFormed().trim();
}

const cut = (text: string, length: number) => (text.length > length ? text.slice(0, length) : text);

/** An object may have click ids among its fields, a list among its pairs, an address in its query. The first of each name wins. */
function readClickIds(
  places: CompiledFields["clickIds"],
  scope: Scope,
  isClickId: (name: string) => string | undefined,
): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (name: string, value: unknown) => {
    // Form tools number their fields: `q7_gclid`.
    const known = isClickId(name.replace(/^q\d{1,4}_/, ""));
    const text = storableText(value);
    if (known !== undefined && text && text.length <= maxClickIdLength) found[known] ??= text;
  };
  for (const { name: own, place } of places) {
    const value = evaluate(place, scope);
    if (own !== null) add(own, value);
    else if (typeof value === "string") for (const [name, one] of queryOf(value)) add(name, one);
    else if (Array.isArray(value)) {
      scope.work.spend(Math.min(value.length, maxElements) * unitsOf.element);
      for (const pair of value.slice(0, maxElements))
        for (const key of ["name", "key", "label"]) add(toText(ownValue(pair, key)) ?? "", ownValue(pair, "value"));
    } else if (isRecord(value)) {
      const names = scope.work.fieldsOf(value).slice(0, maxElements);
      scope.work.spend(names.length * unitsOf.element);
      for (const name of names) add(name, value[name]);
    }
  }
  return found;
}

const maxClickIdLength = 2048;

function queryOf(address: string): Iterable<[string, string]> {
  const at = address.indexOf("?");
  if (at < 0 || address.length > 8192) return [];
  return new URLSearchParams(address.slice(at + 1).split("#", 1)[0]);
}

/** Lines that inbound would refuse are left out: an item must not cost the conversion. */
function readItems(items: NonNullable<CompiledFields["items"]>, scope: Scope): Record<string, unknown>[] {
  const list = evaluate(items.from, scope);
  return (Array.isArray(list) ? list : []).slice(0, 100).flatMap((entry: unknown) => {
    const item: Record<string, unknown> = {};
    for (const [name, expression] of items.fields) {
      const value = evaluate(expression, { ...scope, entry, around: { ...scope.around, entry: scope.entry } });
      const read = name === "price" || name === "quantity" ? toNumber(value) : storableText(value);
      if (read !== undefined && read !== "") item[name] = typeof read === "string" ? read.slice(0, 128).toWellFormed() : read;
    }
    if (typeof item.price === "number" && !(item.price >= 0)) delete item.price;
    if (!(Number.isInteger(item.quantity) && (item.quantity as number) > 0)) delete item.quantity;
    return item.id === undefined ? [] : [item];
  });
}
