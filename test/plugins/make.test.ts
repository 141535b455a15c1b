// Sends what the HTTP module of the Make blueprint would send, to a real relay.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/documents/documents.ts";
import { call, newInstallation } from "../support/relay.ts";

type Module = {
  id: number;
  module: string;
  parameters: Record<string, unknown>;
  mapper: { url: string; method: string; data: string; headers: { name: string; value: string }[] } & Record<string, unknown>;
  onerror?: Module[];
};
const { flow } = JSON.parse(readFileSync(join(root, "plugins/make/blueprint.json"), "utf8")) as {
  flow: Module[];
};
const http = flow[1] as Module;

test("the body of the Make blueprint is the one that the guide explains", () => {
  expect(http.mapper.data).toBe(readFileSync(join(root, "docs/examples/make-body.txt"), "utf8").trim());
});

test("the Make blueprint treats errors as errors, repeats them, and follows no redirect", () => {
  expect(http.parameters.handleErrors).toBe(true);
  expect(http.mapper.followRedirect).toBe(false);
  expect(http.onerror?.map(({ module, mapper }) => [module, mapper.retry])).toEqual([["builtin:Break", true]]);
});

test("a real relay accepts the request of the Make blueprint", async () => {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example.com");
  await home.run("connection", "add", "shop.example.com", "sandbox");
  const relay = await home.start();
  const values: Record<string, string> = {
    email: "ada@example.com",
    currency: "EUR",
    order: "M-1",
    total: "49.90",
  };
  const body = http.mapper.data
    .replaceAll(/\{\{parseNumber\(1\.(\w+); "\."\)\}\}/g, (_, name: string) => String(Number(values[name])))
    .replaceAll(/\{\{1\.(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
  const headers = Object.fromEntries(http.mapper.headers.map(({ name, value }) => [name, value.replace("cc_…", key)]));
  const answer = await call(relay.url, {
    path: new URL(http.mapper.url).pathname,
    method: http.mapper.method.toUpperCase(),
    headers: { ...headers, "Content-Type": String(http.mapper.contentType) },
    body,
  });
  expect(JSON.parse(answer.text)).toEqual({
    ok: true,
    event: "purchase",
    results: { sandbox: { ok: true } },
  });
});
