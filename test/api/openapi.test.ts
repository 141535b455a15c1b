// The OpenAPI document and the reference page are complete and consistent.

import { Validator } from "@seriousme/openapi-schema-validator";
import Fastify from "fastify";
import { describe, expect, test } from "vitest";
import { createAdmission } from "../../src/api/admission.ts";
import type { ApiContext } from "../../src/api/context.ts";
import { mountDashboard } from "../../src/api/mountDashboard.ts";
import { openapiDocument } from "../../src/api/reference/openapi.ts";
import { referencePage } from "../../src/api/reference/reference.ts";
import { inboundEvent } from "../../src/contract/inbound.ts";
import { FieldFault } from "../../src/inbound/fieldFault.ts";
import { readFields } from "../../src/inbound/fields.ts";
import { contract } from "../../src/contract/contract.ts";
import { createLoad } from "../../src/inbound/load.ts";

const document = openapiDocument("1.2.3", "https://relay.example.com");
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, ...operation })),
);

describe("the OpenAPI document", () => {
  test("the OpenAPI document is valid OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test("the OpenAPI document lists exactly the inbound endpoint and the routes of the contract", () => {
    const routes = Object.keys(contract).map((name) => {
      const [method = "", path = ""] = name.split(" ");
      return `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
    });
    const inbound = ["post /__cc/inbound", "post /__cc/inbound/batch"];
    expect(operations.map(({ name }) => name).toSorted()).toEqual([...inbound, ...routes].toSorted());
  });

  test("operation ids are unique and every reference resolves", () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(100);
    for (const [, path = ""] of references) {
      const found = path
        .split("/")
        .reduce<unknown>((here, key) => (here as Record<string, unknown> | undefined)?.[key], document);
      expect(found, path).toBeTypeOf("object");
    }
  });

  test("operations name their role, security and parameters", () => {
    const of = (name: string) => operations.find((one) => one.name === name);
    expect(of("get /sites/{site}/keys")).toMatchObject({
      "x-role": "viewer",
      security: [{ apiKey: ["read"] }, { apiKey: ["keys"] }, { session: [] }],
      parameters: [{ name: "site", in: "path", required: true }],
    });
    expect(of("post /sites/{site}/people/erase")).toMatchObject({
      description: "Requires the role admin. An API key needs the scope `people`.",
      security: [{ apiKey: ["people"] }, { session: [] }],
    });
    expect(of("patch /sites/{site}/settings")?.security).toEqual([{ apiKey: ["write"] }, { session: [] }]);
    expect(of("post /api-keys")).toMatchObject({
      description: expect.stringContaining("API keys cannot call it"),
      security: [{ session: [] }],
    });
    expect(of("post /session")).toMatchObject({ "x-role": "public", security: [] });
    const { parameters = [] } = of("get /sites/{site}/audit") ?? {};
    expect(parameters.find(({ name }) => name === "limit")).toMatchObject({
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    });
  });
});

describe("the inbound endpoint in the OpenAPI document", () => {
  const now = Date.UTC(2026, 10, 16);
  const accepts = (fields: Record<string, unknown>) =>
    !(
      readFields(
        { fields, exact: () => undefined },
        { id: "site", settings: { country: null, conversionsWithoutEmail: false } },
        now,
      ) instanceof FieldFault
    );
  const full = {
    email: "ada@example.com",
    hashed_email: "b".repeat(64),
    event: "purchase",
    value: 1,
    currency: "EUR",
    orderId: "order 1",
    refundId: "refund 1",
    clickIds: { gclid: "Cj0" },
    clickTime: now / 1000,
    phone: "+14255551234",
    firstName: "Ada",
    lastName: "Lovelace",
    eventTime: now / 1000,
    leadId: "123456789012345",
    items: [{ id: 4711, name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 }],
  };

  test("the schema of an event has the fields that the endpoint reads", () => {
    const read = new Set<string>();
    const watch = (fields: Record<string, unknown>) =>
      new Proxy(fields, {
        get: (target, name) => {
          read.add(String(name));
          return Reflect.get(target, name) as unknown;
        },
      });
    expect(accepts(watch(full))).toBe(true);
    expect(accepts(watch({ ...full, email: undefined }))).toBe(true);
    expect([...read].toSorted()).toEqual(Object.keys(inboundEvent.shape).toSorted());
    expect(inboundEvent.safeParse(full).success).toBe(true);
  });

  test.each([
    { event: undefined },
    { event: "x".repeat(101) },
    { event: "x".repeat(100) },
    { value: -1 },
    { value: 1_000_000_000_000 },
    { value: 1_000_000_000_001 },
    { value: "1" },
    { orderId: 4711 },
    { orderId: "x".repeat(256) },
    { orderId: "x".repeat(257) },
    { phone: 14255551234 },
    { firstName: 1 },
    { lastName: "x".repeat(513) },
    { eventTime: true },
    { items: [] },
    { items: [{ id: "SKU-1" }] },
    { items: [{ name: "Mug" }] },
    { items: [{ id: "x".repeat(129) }] },
    { items: [{ id: "a", price: -1 }] },
    { items: [{ id: "a", quantity: 0 }] },
    { items: [{ id: "a", quantity: 1.5 }] },
    { items: Array.from({ length: 101 }, () => ({ id: "a" })) },
    { items: "SKU-1" },
  ])("the schema and the endpoint agree about %j", (changes) => {
    const event = { ...full, ...changes };
    expect(inboundEvent.safeParse(event).success).toBe(accepts(event));
  });
});

describe("descriptions of fields", () => {
  const emailOf = (name: string) => {
    const { requestBody } = operations.find((one) => one.name === name) ?? {};
    return requestBody?.content["application/json"]?.schema.properties?.["email"];
  };

  test("the email of a person is described as hashed, that of a member is not", () => {
    expect(emailOf("post /sites/{site}/people/find")?.description).toContain("hashed");
    for (const name of ["post /setup", "post /session", "post /password-resets", "post /members/invitations"]) {
      expect(emailOf(name)?.type).toBe("string");
      expect(emailOf(name)?.description ?? "").not.toContain("hash");
    }
  });
});

describe("the reference page", () => {
  const page = referencePage(document, "aGVsbG8=");

  test("the reference page shows every route, and its links resolve", () => {
    for (const { operationId, summary } of operations) {
      expect(page).toContain(`<article id="${operationId}">`);
      expect(page).toContain(summary.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`));
    }
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
    expect(page).toContain("https://relay.example.com/api/v1/sites/SITE/keys");
    expect(page).toContain("https://relay.example.com/__cc/inbound/batch");
    expect(page).toContain("X-CC-Api-Key: cc_live_…");
  });

  test("the reference page loads nothing from other origins and runs no script", () => {
    const icon = '<link rel="icon" href="/dashboard/icon.svg">';
    expect(page).toContain(icon);
    expect(page.replace(icon, "")).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|\sstyle=|javascript:|url\(|@import/i);
    expect(page.match(/<style/g)).toEqual(["<style"]);
    expect(page).toContain('<style nonce="aGVsbG8=">');
    expect([...page.matchAll(/(?:src|href)="([^#"][^"]*)"/g)].map(([, to]) => to)).toEqual([
      "/dashboard/icon.svg",
      "/api/openapi.json",
    ]);
  });

  test("the reference page escapes hostile text", () => {
    const hostile = structuredClone(document);
    hostile.info.title = `<script>alert("1")</script>`;
    expect(referencePage(hostile, "n")).not.toContain("<script");
  });
});

test("the document and its page are made once, however often strangers ask for them", async () => {
  let made = 0;
  const context = () => {
    made += 1;
    return { version: "1.2.3", publicUrl: "https://relay.example.com" } as ApiContext;
  };
  const app = Fastify();
  const admission = createAdmission({ members: createLoad(1), strangers: createLoad(1) });
  const mounted = mountDashboard(app, { isDashboardHost: () => true, context, admission, onDefect: () => {} });
  for (let n = 0; n < 3; n += 1) {
    const found = await app.inject("/api/openapi.json");
    expect([found.statusCode, found.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(found.json().info.version).toBe("1.2.3");
    const { body, headers } = await app.inject("/api/reference");
    const [, nonce = ""] = /<style nonce="([^"]+)">/.exec(body) ?? [];
    expect(headers["content-security-policy"]).toContain(`'nonce-${nonce}'`);
  }
  expect(made).toBe(2);
  mounted.close();
  await app.close();
});
