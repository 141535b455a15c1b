// Runs the test sections of the Tag Manager templates with a double of the sandbox, and the server template against a real relay.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/documents/documents.ts";
import { call, newInstallation } from "../support/relay.ts";
import { listForeignSyntax, readTemplate, Sandbox } from "./gtmSandbox.ts";

const folder = join(root, "plugins/gtm");
const templateIn = (name: string) => readTemplate(readFileSync(join(folder, name), "utf8"));

describe.each(readdirSync(folder).filter((name) => name.endsWith(".tpl")))("the template %s", (name) => {
  const template = templateIn(name);

  test.each(template.tests.scenarios)("$name", ({ code }) => {
    new Sandbox(template).runScenario(code);
  });

  test("the template asks for the permissions that it needs, and for no others", () => {
    const needed: Record<string, string> = {
      callInWindow: "access_globals",
      injectScript: "inject_script",
      getAllEventData: "read_event_data",
      logToConsole: "logging",
      sendHttpRequest: "send_http",
    };
    const required = [...template.code.matchAll(/require\('(\w+)'\)/g)].flatMap(([, used = ""]) => needed[used] ?? []);
    const asked = template.permissions.map(({ instance }) => instance.key.publicId);
    expect(asked.toSorted()).toEqual(required.toSorted());
  });

  test("the address of the relay must be https without a path or a user", () => {
    const url = template.parameters.find((one) => one.name === "url");
    const pattern = url?.valueValidators?.find(({ type }) => type === "REGEX")?.args?.[0] ?? "";
    const accepts = (text: string) => new RegExp(pattern).test(text);
    expect(accepts("https://cc.shop.example.com")).toBe(true);
    for (const wrong of ["http://shop.example.com", "https://shop.example.com/x", "https://a:b@shop.example.com"])
      expect(accepts(wrong), wrong).toBe(false);
  });
});

test("the sandbox's double refuses what the sandbox does not know", () => {
  const template = templateIn("server.tpl");
  expect(listForeignSyntax("const a = new Date();")).toEqual(["NewExpression"]);
  expect(listForeignSyntax("const a = /x/;")).toEqual(["Literal"]);
  expect(listForeignSyntax("const { a } = data; return this;")).toEqual([
    "ObjectPattern",
    "shorthand Property",
    "ThisExpression",
  ]);
  const run = (code: string) => () => new Sandbox({ ...template, code }).runCode({});
  expect(run("return JSON.parse('1');")).toThrow("JSON is not defined");
  expect(run("require('injectScript');")).toThrow("injectScript is not part of this container");
  expect(run("require('sendHttpRequest')('https://example.com/other');")).toThrow("does not allow");
});

test("a real relay accepts what the server template posts, and a repeat is not counted twice", async () => {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example.com");
  await home.run("connection", "add", "shop.example.com", "sandbox");
  const relay = await home.start();
  const answers: unknown[] = [];

  async function fire(more: object): Promise<Sandbox> {
    const sandbox = new Sandbox(templateIn("server.tpl"));
    const sent: Promise<unknown>[] = [];
    sandbox.mock("getAllEventData", () => ({
      event_name: "purchase",
      transaction_id: "G-1",
      value: "49.90",
      currency: "EUR",
      user_data: { sha256_email_address: "a".repeat(64), address: [{ first_name: "Ada" }] },
      items: [{ item_id: 7, item_name: "Mug", price: 24.95, quantity: 2 }],
      ...more,
    }));
    sandbox.mock("sendHttpRequest", (_url, options, body) => {
      const { method, headers } = options as { method: string; headers: Record<string, string> };
      const request = { path: "/__cc/inbound", method, headers, body: String(body) };
      const answered = call(relay.url, request).then(({ status, text, headers: received }) => {
        answers.push(JSON.parse(text));
        return { statusCode: status, headers: received, body: text };
      });
      sent.push(answered);
      return answered;
    });
    sandbox.runCode({ url: "https://shop.example.com", key, needsConsent: true });
    await Promise.all(sent);
    // The template's own steps follow the answer.
    await new Promise(setImmediate);
    return sandbox;
  }

  expect((await fire({})).calls("gtmOnSuccess")).toHaveLength(1);
  await fire({});
  const refused = await fire({ user_data: { email_address: "no address" } });
  expect(refused.calls("gtmOnFailure")).toHaveLength(1);
  expect(answers).toEqual([
    { ok: true, event: "purchase", results: { sandbox: { ok: true } } },
    { ok: true, deduped: true },
    { ok: false, error: expect.stringContaining("email") },
  ]);
});
