// Evaluates expressions and conditions. Paths reach own properties only, and their cost is bounded by their length and by the
// elements of the lists that they search.

import { functions, isPresent, isRecord, maxElements, ownValue, toNumber, toText } from "./functions.ts";
import type { Call, Condition, Expression, Primary, Step, Term, Test } from "./parse.ts";

/** What a mapping can see: the entry, and by their names the things around it. */
export type Scope = { entry: unknown; around: Readonly<Record<string, unknown>> };

/** Returns the first value that is present; undefined where there is none. */
export function evaluate(expression: Expression, scope: Scope): unknown {
  for (const term of expression) {
    const value = evaluateTerm(term, scope);
    if (isPresent(value)) return value;
  }
  return undefined;
}

function evaluateTerm({ primary, calls }: Term, scope: Scope): unknown {
  let value = evaluatePrimary(primary, scope);
  for (const call of calls) {
    if (value === undefined || value === null) return undefined;
    value = runCall(call, value, scope);
  }
  return value;
}

const nothing: readonly unknown[] = [];

function runCall({ name, given }: Call, value: unknown, scope: Scope): unknown {
  // `words(first)` and `sum(amount)` name a word or a field, not a value of the request.
  const read = takesWords.has(name) ? wordOf : evaluatePrimary;
  const values = given.length === 0 ? nothing : given.map((one) => read(one, scope));
  const { run }: { run(this: void, value: unknown, given: readonly unknown[]): unknown } = functions[name];
  return run(value, values);
}

const takesWords: ReadonlySet<string> = new Set(["words", "sum", "where"]);

/** A single name is taken as it is written. */
function wordOf(primary: Primary, scope: Scope): unknown {
  if (primary.is === "literal") return primary.value;
  const [step, ...more] = primary.steps;
  return primary.root === null && step?.by === "name" && more.length === 0 ? step.name : evaluatePrimary(primary, scope);
}

function evaluatePrimary(primary: Primary, { entry, around }: Scope): unknown {
  if (primary.is === "literal") return primary.value;
  let value = primary.root === null ? entry : ownValue(around, primary.root);
  for (const step of primary.steps) {
    if (value === undefined || value === null) return undefined;
    value = follow(value, step);
  }
  return value;
}

function follow(value: unknown, step: Step): unknown {
  switch (step.by) {
    case "name":
      return ownValue(value, step.name);
    case "index":
      return Array.isArray(value) ? value.at(step.index) : undefined;
    case "match":
      return Array.isArray(value) ? findMatch(value, step.key, step.text) : undefined;
  }
}

function findMatch(list: readonly unknown[], key: readonly string[], text: string): unknown {
  const end = Math.min(list.length, maxElements);
  for (let at = 0; at < end; at++) {
    let value: unknown = list[at];
    for (const name of key) value = ownValue(value, name);
    if (toText(value) === text) return list[at];
  }
  return undefined;
}

/** True where all tests hold. Runs for every rule before the one that holds: a loop makes no function each time. */
export function holds(condition: Condition, scope: Scope): boolean {
  for (const test of condition) if (!passes(test, scope)) return false;
  return true;
}

function passes(test: Test, scope: Scope): boolean {
  const left = evaluate(test.left, scope);
  switch (test.is) {
    case "exists":
      return (left !== undefined && !isEmpty(left)) === test.wanted;
    case "in":
      return left !== undefined && isAmong(left, test.choices, scope);
    case "compare": {
      const right = evaluateTerm(test.right, scope);
      if (test.by === "=") return isEqual(left, right);
      if (test.by === "!=") return !isEqual(left, right);
      return isOrdered(toNumber(left), test.by, toNumber(right));
    }
  }
}

const isEmpty = (value: unknown) =>
  Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;

/** `49.90` and 49.9 are equal, and so are `true` and true. */
function isEqual(left: unknown, right: unknown): boolean {
  const one = toText(left);
  const other = toText(right);
  if (one === undefined || other === undefined) return one === other && !isPresent(left) && !isPresent(right);
  if (one === other) return true;
  // Ids of more than 15 digits stay texts, or two of them could be equal after rounding.
  if (one.length > 15 || other.length > 15) return false;
  const number = toNumber(left);
  return number !== undefined && number === toNumber(right);
}

function isOrdered(left: number | undefined, by: "<" | ">" | "<=" | ">=", right: number | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  if (by === "<") return left < right;
  if (by === ">") return left > right;
  return by === "<=" ? left <= right : left >= right;
}

/** A choice that is a list, or a text with commas, such as a setting, stands for its elements. */
function isAmong(left: unknown, choices: readonly Primary[], scope: Scope): boolean {
  for (const choice of choices) {
    const isChosen = choice.is === "literal" ? isEqual(left, choice.value) : isIn(left, evaluatePrimary(choice, scope));
    if (isChosen) return true;
  }
  return false;
}

const isIn = (left: unknown, list: unknown) =>
  Array.isArray(list)
    ? list.slice(0, maxElements).some((one) => isEqual(left, one))
    : (toText(list) ?? "").split(",").some((one) => isEqual(left, one.trim()));
