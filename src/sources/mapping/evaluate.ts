// Evaluates expressions and conditions. Paths reach own properties only. Their cost, and that of functions, is counted (work.ts).

import { functions, isPresent, isRecord, maxElements, ownValue, toNumber, toText } from "./functions.ts";
import type { Call, Condition, Expression, Primary, Step, Term, Test } from "./parse.ts";
import { unitsOf, type Work } from "./work.ts";

/** What a mapping can see: the entry, and by their names the things around it. `work` is shared by all scopes of a request. */
export type Scope = { entry: unknown; around: Readonly<Record<string, unknown>>; work: Work };

/** Returns the first value that is present; undefined where there is none. */
export function evaluate(expression: Expression, scope: Scope): unknown {
  for (const term of expression) {
    const value = evaluateTerm(term, scope);
    // Whoever reads a text looks at all of it: for its ends, and for signs that cannot be stored.
    scope.work.spend(unitsOf.term + (typeof value === "string" ? value.length >> 3 : 0));
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
  const { run }: { run(this: void, value: unknown, given: readonly unknown[], work: Work): unknown } = functions[name];
  // The table of `lookup` is counted when it is read.
  const counted = name === "lookup" ? nothing : values;
  scope.work.spend(counted.reduce<number>((sum, one) => sum + costOf(one), costOf(value)));
  return run(value, values, scope.work);
}

/** Texts are read once. */
function costOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  return unitsOf.term + (Array.isArray(value) ? Math.min(value.length, maxElements) * unitsOf.element : 0);
}

const takesWords: ReadonlySet<string> = new Set(["words", "sum", "where"]);

/** A single name is taken as it is written. */
function wordOf(primary: Primary, scope: Scope): unknown {
  if (primary.is === "literal") return primary.value;
  const [step, ...more] = primary.steps;
  return primary.root === null && step?.by === "name" && more.length === 0 ? step.name : evaluatePrimary(primary, scope);
}

function evaluatePrimary(primary: Primary, { entry, around, work }: Scope): unknown {
  if (primary.is === "literal") return primary.value;
  let value = primary.root === null ? entry : ownValue(around, primary.root);
  for (const step of primary.steps) {
    if (value === undefined || value === null) return undefined;
    value = follow(value, step, work);
  }
  return value;
}

function follow(value: unknown, step: Step, work: Work): unknown {
  switch (step.by) {
    case "name":
      return ownValue(value, step.name);
    case "index":
      return Array.isArray(value) ? value.at(step.index) : undefined;
    case "match":
      return Array.isArray(value) ? findMatch(value, step.key, step.text, work) : undefined;
  }
}

function findMatch(list: readonly unknown[], key: readonly string[], text: string, work: Work): unknown {
  const end = Math.min(list.length, maxElements);
  work.spend(end * unitsOf.element);
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
      return (left !== undefined && !isEmpty(left, scope.work)) === test.wanted;
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

function isEmpty(value: unknown, work: Work): boolean {
  if (!isRecord(value)) return Array.isArray(value) && value.length === 0;
  return work.fieldsOf(value).length === 0;
}

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
    const isChosen =
      choice.is === "literal" ? isEqual(left, choice.value) : isIn(left, evaluatePrimary(choice, scope), scope.work);
    if (isChosen) return true;
  }
  return false;
}

function isIn(left: unknown, list: unknown, work: Work): boolean {
  const text = toText(list) ?? "";
  const elements = Array.isArray(list) ? list.slice(0, maxElements) : [];
  work.spend(text.length * unitsOf.part + elements.length * unitsOf.element);
  return Array.isArray(list)
    ? elements.some((one) => isEqual(left, one))
    : text.split(",").some((one) => isEqual(left, one.trim()));
}
