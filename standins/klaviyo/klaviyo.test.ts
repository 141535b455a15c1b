import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { get, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { klaviyo } from "./index.ts";

const { known } = klaviyo;
const { handle: platform } = await runStandin("klaviyo");

const profile = (attributes: Fields = { external_id: "c-1" }, more: Fields = {}): Fields => ({
  data: { type: "profile", ...more, attributes },
});
const metric = (name: unknown = "Placed Order"): Fields => ({ data: { type: "metric", attributes: { name } } });
const attributes = (changes: Fields = {}): Fields => ({
  properties: { OrderId: "1001", Items: [{ ProductID: "sku1", ProductName: "Mug", Quantity: 2, ItemPrice: 9.95 }] },
  time: new Date(startTime - 1_800_000).toISOString(),
  value: 49.9,
  value_currency: "USD",
  unique_id: "ord-1001",
  metric: metric(),
  profile: profile(),
  ...changes,
});
const headers = (key: string = known.apiKey) => ({ authorization: `Klaviyo-API-Key ${key}`, revision: "2026-07-15" });
const send = (changes: Fields = {}, given: Record<string, string> = headers()) =>
  post(`${platform.origin}/api/events`, { data: { type: "event", attributes: attributes(changes) } }, given);

describe("the endpoint for one event", () => {
  test("the documented event is accepted, without a body", async () => {
    const answer = await send();
    expect([answer.status, answer.text]).toEqual([202, ""]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "Placed Order", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["no metric", { metric: undefined }, "/metric"],
    ["a metric without its envelope", { metric: { name: "Placed Order" } }, "/metric"],
    ["a metric of 128 characters", { metric: metric("x".repeat(128)) }, "/name"],
    ["no properties", { properties: undefined }, "/properties"],
    [
      "too many properties",
      { properties: Object.fromEntries(Array.from({ length: 401 }, (_, i) => [`p${i}`, 1])) },
      "/properties",
    ],
    ["a property that is too large", { properties: { html: "x".repeat(100_001) } }, "/properties/html"],
    ["an item without its id", { properties: { Items: [{ Quantity: 1 }] } }, "ProductID"],
    ["an id that is a number", { properties: { Items: [{ ProductID: 5, Quantity: 1 }] } }, "ProductID"],
    ["a time in seconds", { time: 1_794_648_600 }, "/time"],
    ["a time before 1990", { time: "1989-12-31T00:00:00Z" }, "/time"],
    ["a value as text", { value: "49.90" }, "/value"],
    ["an unknown currency", { value_currency: "EURO" }, "/value_currency"],
    ["a flag as text", { backfill: "true" }, "/backfill"],
    ["no unique id", { unique_id: undefined }, "/unique_id"],
    ["no profile", { profile: undefined }, "/profile"],
    ["a profile without an identifier", { profile: profile({}) }, "/profile"],
    ["a plain email", { profile: profile({ email: "jane@example.com" }) }, "/email"],
    ["a hashed _kx", { profile: profile({ _kx: sha256("x") }) }, "/_kx"],
    ["an unknown field", { event: "Placed Order" }, "/event"],
  ])("%s is rejected, and the pointer names it", async (_, changes, field) => {
    const answer = await send(changes);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ errors: [{ code: "invalid", source: { pointer: expect.stringContaining(field) } }] });
    expect(platform.accepted).toEqual([]);
  });

  test("a profile by Klaviyo's own id, and by _kx, is accepted", async () => {
    expect((await send({ profile: profile({}, { id: "01HPROFILE" }) })).status).toBe(202);
    expect((await send({ unique_id: "2", profile: profile({ _kx: "abc.StAnD1" }), backfill: true })).status).toBe(202);
  });

  test("the same unique id counts once for a profile and metric", async () => {
    await send();
    await send();
    await send({ metric: metric("Refunded Order") });
    await send({ profile: profile({ external_id: "c-2" }) });
    expect(platform.accepted).toMatchObject([{ count: 2, counted: 1 }, { counted: 1 }, { counted: 1 }]);
  });

  test("a list, no JSON and a missing revision are rejected", async () => {
    expect((await post(`${platform.origin}/api/events`, [attributes()], headers())).status).toBe(400);
    expect((await post(`${platform.origin}/api/events`, "{", headers())).status).toBe(400);
    const { revision: _revision, ...without } = headers();
    expect((await send({}, without)).status).toBe(400);
  });
});

test("a wrong key is 401, also as a bearer token; a key without the scope is 403", async () => {
  for (const key of ["wrong", known.expiredKey, known.revokedKey]) {
    expect((await send({}, headers(key))).status).toBe(401);
    expect((await get(`${platform.origin}/api/accounts`, headers(key))).status).toBe(401);
  }
  expect((await send({}, { ...headers(), authorization: `Bearer ${known.apiKey}` })).status).toBe(401);
  expect((await send({}, headers(known.readOnlyKey))).status).toBe(403);
  const accounts = await get(`${platform.origin}/api/accounts`, headers(known.readOnlyKey));
  expect(accounts.body).toMatchObject({ data: [{ id: known.accountId }] });
});
