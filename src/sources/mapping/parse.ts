// Parses the mapping language: expressions, which read one value from a request, and conditions.
//
//   expression = term { "|" term }                    the first term that has a value
//   term       = ( path | literal ) { function }      functions from left to right: `amount cents(currency)`
//   path       = root { ".name" | ["odd name"] | [0] | [-1] | [key=text] }
//   condition  = test { "and" test }
//   test       = expression ( "=" | "!=" | "<" | ">" | "<=" | ">=" ) term
//              | expression "in" ( "(" literal { "," literal } ")" | path )
//              | expression [ "not" ] "exists"
//
// `@` is the whole entry, and names that begin with `$` are what is around it: `$headers`, `$settings`, `$body`, `$entry`.
// Nothing is nested, so neither parsing nor evaluation calls itself, and the limits below bound both.

import { functions, type FunctionName } from "./functions.ts";

export const limits = { length: 2000, terms: 64, steps: 32, functions: 8, arguments: 3, tests: 32, choices: 200 } as const;

export type Step =
  | { by: "name"; name: string }
  | { by: "index"; index: number }
  | { by: "match"; key: readonly string[]; text: string };

export type Primary =
  | { is: "literal"; value: string | number | boolean }
  | { is: "path"; root: string | null; steps: readonly Step[] };

export type Call = { name: FunctionName; given: readonly Primary[] };
export type Term = { primary: Primary; calls: readonly Call[] };
export type Expression = readonly Term[];

const comparisons = ["=", "!=", "<=", ">=", "<", ">"] as const;
type Comparison = (typeof comparisons)[number];

export type Test =
  | { is: "compare"; left: Expression; by: Comparison; right: Term }
  | { is: "in"; left: Expression; choices: readonly Primary[] }
  | { is: "exists"; left: Expression; wanted: boolean };
export type Condition = readonly Test[];

/** The names that may follow a `$`. */
const roots = ["headers", "settings", "body", "entry"] as const;

/** Says in one sentence what is wrong with a text, and where. */
export class MappingFault extends Error {}

type Token = { kind: "name" | "text" | "number" | "sign"; text: string; at: number };

const signs = ["!=", "<=", ">=", "=", "<", ">", "|", ".", ",", "[", "]", "(", ")", "@"] as const;
const nameStart = /[\p{L}_$]/u;
const namePart = /[\p{L}\p{N}_$-]/u;
const digit = /[0-9]/;

function tokenize(text: string): Token[] {
  if (text.length > limits.length) throw new MappingFault(`is longer than ${limits.length} characters`);
  const tokens: Token[] = [];
  let at = 0;
  const takeWhile = (form: RegExp) => {
    const from = at;
    while (at < text.length && form.test(text.charAt(at))) at += 1;
    return text.slice(from, at);
  };
  while (at < text.length) {
    const from = at;
    const char = text.charAt(at);
    if (/\s/.test(char)) at += 1;
    else if (char === '"' || char === "'") {
      const end = text.indexOf(char, at + 1);
      if (end < 0) throw new MappingFault(`has a quotation mark without its end at character ${at + 1}`);
      tokens.push({ kind: "text", text: text.slice(at + 1, end), at: from });
      at = end + 1;
    } else if (digit.test(char) || (char === "-" && digit.test(text.charAt(at + 1)))) {
      at += 1;
      takeWhile(digit);
      // `0.5` is a number, and `items[0].id` has a step after its bracket.
      if (text.charAt(at) === "." && digit.test(text.charAt(at + 1))) {
        at += 1;
        takeWhile(digit);
      }
      tokens.push({ kind: "number", text: text.slice(from, at), at: from });
    } else if (nameStart.test(char)) tokens.push({ kind: "name", text: takeWhile(namePart), at: from });
    else {
      const sign = signs.find((one) => text.startsWith(one, from));
      if (!sign) throw new MappingFault(`has a character that is not part of the language at ${at + 1}: ${char}`);
      tokens.push({ kind: "sign", text: sign, at: from });
      at += sign.length;
    }
  }
  return tokens;
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #terms = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  #next(offset = 0): Token | undefined {
    return this.#tokens[this.#at + offset];
  }

  isSign(sign: string, offset = 0): boolean {
    const token = this.#next(offset);
    return token?.kind === "sign" && token.text === sign;
  }

  isWord(word: string, offset = 0): boolean {
    const token = this.#next(offset);
    return token?.kind === "name" && token.text === word;
  }

  takeSign(sign: string): boolean {
    if (!this.isSign(sign)) return false;
    this.#at += 1;
    return true;
  }

  takeWord(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.#at += 1;
    return true;
  }

  take(): Token {
    const token = this.#next();
    if (!token) throw new MappingFault("ends too early");
    this.#at += 1;
    return token;
  }

  fail(): never {
    const token = this.#next();
    throw new MappingFault(token ? `cannot be read at character ${token.at + 1}: ${token.text}` : "ends too early");
  }

  expect(sign: string): void {
    if (!this.takeSign(sign)) this.fail();
  }

  expression(): Expression {
    const terms = [this.term()];
    while (this.takeSign("|")) terms.push(this.term());
    return terms;
  }

  term(): Term {
    this.#terms += 1;
    if (this.#terms > limits.terms) throw new MappingFault(`has more than ${limits.terms} parts`);
    const primary = this.primary();
    const calls: Call[] = [];
    while (this.#isFunction()) calls.push(this.#call());
    if (calls.length > limits.functions) throw new MappingFault(`has more than ${limits.functions} functions in a row`);
    return { primary, calls };
  }

  /** `and`, `in`, `exists` and `not` are words of conditions: no function has such a name. */
  #isFunction(): boolean {
    const token = this.#next();
    return token?.kind === "name" && Object.hasOwn(functions, token.text);
  }

  #call(): Call {
    const name = this.take().text as FunctionName;
    const given: Primary[] = [];
    if (this.takeSign("(")) {
      if (!this.isSign(")")) {
        do given.push(this.primary());
        while (this.takeSign(","));
      }
      this.expect(")");
    }
    const { min, max } = functions[name];
    if (given.length < min || given.length > max)
      throw new MappingFault(`gives ${name} ${given.length} values; it takes ${min === max ? min : `${min} to ${max}`}`);
    return { name, given };
  }

  primary(): Primary {
    if (this.isSign("@") || this.isSign("[")) return this.#path(null);
    const token = this.take();
    if (token.kind === "text") return { is: "literal", value: token.text };
    if (token.kind === "number") return { is: "literal", value: Number(token.text) };
    if (token.kind !== "name") {
      this.#at -= 1;
      return this.fail();
    }
    if (token.text === "true" || token.text === "false") return { is: "literal", value: token.text === "true" };
    return this.#path(token.text);
  }

  #path(first: string | null): Primary {
    const steps: Step[] = [];
    let root: string | null = null;
    if (first === null) this.takeSign("@");
    else if (first.startsWith("$")) {
      root = first.slice(1);
      if (!(roots as readonly string[]).includes(root))
        throw new MappingFault(`names ${first}, which is none of ${roots.map((one) => `$${one}`).join(", ")}`);
    } else steps.push({ by: "name", name: first });
    for (;;) {
      if (this.takeSign(".")) steps.push({ by: "name", name: this.#name() });
      else if (this.takeSign("[")) steps.push(this.#bracket());
      else break;
      if (steps.length > limits.steps) throw new MappingFault(`has a path of more than ${limits.steps} steps`);
    }
    return { is: "path", root, steps };
  }

  #name(): string {
    const token = this.take();
    if (token.kind === "name" || token.kind === "number") return token.text;
    this.#at -= 1;
    return this.fail();
  }

  #bracket(): Step {
    const token = this.take();
    if (token.kind === "number" && this.isSign("]")) {
      this.expect("]");
      const index = Number(token.text);
      if (!Number.isInteger(index) || Math.abs(index) > 10_000) throw new MappingFault(`has no element ${token.text}`);
      return { by: "index", index };
    }
    if (token.kind === "text" && this.takeSign("]")) return { by: "name", name: token.text };
    if (token.kind === "sign") this.fail();
    const key = [token.text];
    while (this.takeSign(".")) key.push(this.#name());
    if (key.length > 4) throw new MappingFault("compares a key of more than four steps");
    this.expect("=");
    const value = this.take();
    if (value.kind === "sign") this.fail();
    this.expect("]");
    return { by: "match", key, text: value.text };
  }

  test(): Test {
    const left = this.expression();
    if (this.takeWord("exists")) return { is: "exists", left, wanted: true };
    if (this.isWord("not") && this.isWord("exists", 1)) {
      this.take();
      this.take();
      return { is: "exists", left, wanted: false };
    }
    if (this.takeWord("in")) return { is: "in", left, choices: this.#choices() };
    const by = comparisons.find((sign) => this.takeSign(sign));
    return by ? { is: "compare", left, by, right: this.term() } : this.fail();
  }

  #choices(): Primary[] {
    if (!this.takeSign("(")) return [this.primary()];
    const choices: Primary[] = [];
    do choices.push(this.primary());
    while (this.takeSign(","));
    this.expect(")");
    if (choices.length > limits.choices) throw new MappingFault(`lists more than ${limits.choices} values`);
    return choices;
  }
}

export function parseExpression(text: string): Expression {
  const reader = new Reader(text);
  const expression = reader.expression();
  if (!reader.isAtEnd) reader.fail();
  return expression;
}

export function parseCondition(text: string): Condition {
  const reader = new Reader(text);
  const tests = [reader.test()];
  while (reader.takeWord("and")) tests.push(reader.test());
  if (tests.length > limits.tests) throw new MappingFault(`has more than ${limits.tests} conditions`);
  if (!reader.isAtEnd) reader.fail();
  return tests;
}

/** Says what is wrong with a text that a person wrote; null where it can be parsed. */
export function mappingFault(text: string, form: "expression" | "condition"): string | null {
  try {
    if (form === "expression") parseExpression(text);
    else parseCondition(text);
    return null;
  } catch (fault) {
    if (fault instanceof MappingFault) return fault.message;
    throw fault;
  }
}
