// A double of Tag Manager's sandbox, after its documentation: the syntax of ECMAScript 5.1 with const, let and arrow functions, no
// globals but `require` and `data`, functions by `require` only, and each of them only with its permission.

import { isDeepStrictEqual } from "node:util";
import { createContext, runInContext } from "node:vm";
import { expect } from "vitest";
import { parseAst } from "vite";
import { parse } from "yaml";

type Call = (...args: unknown[]) => unknown;
type Parameter = {
  key: string;
  value: {
    string?: string;
    listItem?: { string?: string; mapKey?: { string: string }[]; mapValue?: Value[] }[];
  };
};
type Value = { string?: string; boolean?: boolean };
type Permission = { instance: { key: { publicId: string }; param: Parameter[] } };

type Template = {
  info: { containerContexts: string[] };
  parameters: { name: string; valueValidators?: { type: string; args?: string[] }[] }[];
  code: string;
  permissions: Permission[];
  tests: { scenarios: { name: string; code: string }[]; setup: string };
};

export function readTemplate(text: string): Template {
  const parts = text.split(/^___(\w+)___$/m).slice(1);
  const sections = new Map<string, string>();
  for (let i = 0; i < parts.length; i += 2) sections.set(parts[i] ?? "", (parts[i + 1] ?? "").trim());
  const section = (...names: string[]) => names.map((name) => sections.get(name)).find(Boolean) ?? "";
  return {
    info: JSON.parse(section("INFO")) as Template["info"],
    parameters: JSON.parse(section("TEMPLATE_PARAMETERS")) as Template["parameters"],
    code: section("SANDBOXED_JS_FOR_WEB_TEMPLATE", "SANDBOXED_JS_FOR_SERVER"),
    permissions: JSON.parse(section("WEB_PERMISSIONS", "SERVER_PERMISSIONS")) as Permission[],
    tests: parse(section("TESTS")) as Template["tests"],
  };
}

const allowedSyntax = new Set(
  `Program VariableDeclaration VariableDeclarator FunctionDeclaration FunctionExpression ArrowFunctionExpression BlockStatement
  ExpressionStatement IfStatement ForStatement ForInStatement WhileStatement ReturnStatement BreakStatement ContinueStatement
  SwitchStatement SwitchCase EmptyStatement Identifier Literal ObjectExpression ArrayExpression Property MemberExpression CallExpression
  UnaryExpression UpdateExpression BinaryExpression LogicalExpression AssignmentExpression ConditionalExpression SequenceExpression`.split(
    /\s+/,
  ),
);

/** Lists the syntax that the sandbox does not know, such as `new`, `this`, a regular expression or a template string. */
export function listForeignSyntax(code: string): string[] {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node !== "object" || node === null) return;
    const { type, ...rest } = node as Record<string, unknown>;
    const isShorthand = type === "Property" && (rest["shorthand"] === true || rest["method"] === true);
    if (typeof type === "string" && (!allowedSyntax.has(type) || "regex" in rest || isShorthand))
      found.add(isShorthand ? "shorthand Property" : type);
    Object.values(rest).forEach(walk);
  };
  walk(parseAst(`(function (data) {${code}\n})`));
  return [...found];
}

/** The functions that the templates may require; each with its permission, where it needs one. */
const functions: Record<string, { permission?: string; only?: "WEB" | "SERVER" }> = {
  callInWindow: { permission: "access_globals", only: "WEB" },
  injectScript: { permission: "inject_script", only: "WEB" },
  getAllEventData: { permission: "read_event_data", only: "SERVER" },
  sendHttpRequest: { permission: "send_http", only: "SERVER" },
  logToConsole: { permission: "logging" },
  JSON: {},
  makeNumber: {},
  makeString: {},
};

/** As in the sandbox, text that is not JSON gives undefined. */
const sandboxJson = {
  stringify: (value: unknown) => JSON.stringify(value),
  parse: (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  },
};

export class Sandbox {
  readonly #template: Template;
  readonly #mocks = new Map<string, Call>();
  readonly #calls = new Map<string, unknown[][]>();

  constructor(template: Template) {
    this.#template = template;
  }

  mock = (name: string, call: Call): void => void this.#mocks.set(name, call);

  calls = (name: string): unknown[][] => this.#calls.get(name) ?? [];

  /** Runs the template's code, as the tag does when it fires. */
  runCode = (settings: object): void => {
    const gtm = { gtmOnSuccess: this.#record("gtmOnSuccess"), gtmOnFailure: this.#record("gtmOnFailure") };
    this.#run(this.#template.code, { data: { ...settings, ...gtm } });
  };

  /** Runs a scenario of the template's test section. */
  runScenario(code: string): void {
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) as unknown;
    this.#run(`${this.#template.tests.setup}\n${code}`, {
      mock: this.mock,
      runCode: this.runCode,
      assertThat: (actual: unknown) => ({
        isEqualTo: (expected: unknown) => expect(plain(actual)).toEqual(plain(expected)),
      }),
      assertApi: (name: string) => ({
        wasCalled: () => expect(this.calls(name), name).not.toEqual([]),
        wasNotCalled: () => expect(this.calls(name), name).toEqual([]),
        wasCalledWith: (...args: unknown[]) =>
          expect(
            this.calls(name).some((one) => isDeepStrictEqual(one, args)),
            name,
          ).toBe(true),
      }),
    });
  }

  #run(code: string, globals: object): void {
    expect(listForeignSyntax(code)).toEqual([]);
    const context = createContext({});
    runInContext("((all) => Object.getOwnPropertyNames(all).forEach((name) => delete all[name]))(globalThis)", context);
    Object.assign(context, { require: this.#require, ...globals });
    runInContext(`(() => {${code}\n})()`, context);
  }

  #require = (name: string): unknown => {
    const { permission, only } = functions[name] ?? {};
    if (!functions[name]) throw new Error(`the double has no function ${name}`);
    if (only && !this.#template.info.containerContexts.includes(only)) throw new Error(`${name} is not part of this container`);
    if (name === "JSON") return sandboxJson;
    if (name === "makeNumber") return Number;
    if (name === "makeString") return String;
    const record = this.#record(name);
    return (...args: unknown[]) => {
      if (permission) this.#check(permission, args);
      return record(...args);
    };
  };

  #record =
    (name: string): Call =>
    (...args) => {
      this.#calls.set(name, [...this.calls(name), args]);
      return this.#mocks.get(name)?.(...args);
    };

  #check(id: string, [subject]: unknown[]): void {
    const permission = this.#template.permissions.find(({ instance }) => instance.key.publicId === id);
    if (!permission) throw new Error(`the template has no permission ${id}`);
    const list = (key: string) => permission.instance.param.find((one) => one.key === key)?.value.listItem ?? [];
    const refused = () => new Error(`the permission ${id} does not allow ${String(subject)}`);
    if (id === "inject_script" || id === "send_http") {
      const patterns = list("urls").map(({ string = "" }) => string);
      if (!patterns.some((pattern) => matches(pattern, String(subject)))) throw refused();
    }
    if (id === "access_globals") {
      const named = list("keys").map(({ mapKey = [], mapValue = [] }) =>
        Object.fromEntries(mapKey.map(({ string }, i) => [string, mapValue[i]?.string ?? mapValue[i]?.boolean])),
      );
      if (!named.some((one) => one["key"] === subject && one["execute"] === true)) throw refused();
    }
  }
}

/** A star in the host stands for any host, at the end of the path for any path. */
function matches(pattern: string, url: string): boolean {
  const quoted = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${quoted.replace("//*", "//[^/]+").replace(/\*$/, ".*")}$`).test(url);
}
