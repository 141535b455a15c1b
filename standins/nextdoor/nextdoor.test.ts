import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { bearer, browser, get, person, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { nextdoor } from "./index.ts";

const { known } = nextdoor;
const seconds = startTime / 1000 - 1800;
const { handle: platform } = await runStandin("nextdoor");

const customer = (changes: Fields = {}): Fields => ({
  email: person.email,
  click_id: "nd-click-1",
  client_ip_address: "203.0.113.9",
  client_user_agent: browser,
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event_name: "purchase",
  event_id: "ord-1001",
  event_time_epoch: seconds,
  action_source: "website",
  action_source_url: "https://shop.example/thanks",
  data_source_id: known.dataSourceId,
  restricted_data_usage: 1,
  customer: customer(),
  custom: { order_value: "USD49.90", order_id: "1001" },
  ...changes,
});
const send = (body: unknown, token: string = known.accessToken) =>
  post(`${platform.origin}/v2/api/conversions/track`, body, bearer(token));

describe("the Conversion API", () => {
  test("the documented event is accepted", async () => {
    expect((await send(event())).status).toBe(200);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "purchase", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["an unknown name", { event_name: "Purchase" }, "event_name"],
    ["no event id", { event_id: undefined }, "event_id"],
    ["a time in milliseconds", { event_time_epoch: seconds * 1000 }, "event_time_epoch"],
    ["a time in the future", { event_time_epoch: startTime / 1000 + 120 }, "event_time_epoch"],
    ["the deprecated time", { event_time: "2026-11-14T09:30:00Z" }, "event_time"],
    ["the deprecated pixel id", { pixel_id: "x" }, "pixel_id"],
    ["the former delivery optimisation", { delivery_optimization: true }, "delivery_optimization"],
    ["a restricted usage that is not 1", { restricted_data_usage: 0 }, "restricted_data_usage"],
    ["a state that is none", { restricted_data_usage_state: 6 }, "restricted_data_usage_state"],
    ["no pixel", { data_source_id: undefined }, "data_source_id"],
    ["an unknown pixel", { data_source_id: "none" }, "data_source_id"],
    ["a website's event without its page", { action_source_url: undefined }, "action_source_url"],
    ["a page without its scheme", { action_source_url: "shop.example" }, "action_source_url"],
    ["no customer", { customer: undefined }, "customer"],
    ["a customer without fields", { customer: {} }, "customer"],
    ["a plain email", { customer: customer({ email: "jane@example.com" }) }, "customer.email"],
    ["a phone without its +", { customer: customer({ phone_number: person.digitsPhone }) }, "phone_number"],
    ["a hashed browser", { customer: customer({ client_user_agent: sha256(browser) }) }, "client_user_agent"],
    ["a hashed click id", { customer: customer({ click_id: sha256("x") }) }, "click_id"],
    ["a country's name", { customer: customer({ country: sha256("germany") }) }, "customer.country"],
    ["a purchase without its value", { custom: { order_id: "1" } }, "custom.order_value"],
    ["a value as a number", { custom: { order_value: 49.9 } }, "custom.order_value"],
    ["a value with a space", { custom: { order_value: "USD 49.90" } }, "custom.order_value"],
    ["a value without its currency", { custom: { order_value: "49.90" } }, "custom.order_value"],
    [
      "a shop's sale without its order id",
      { action_source: "physical_store", custom: { order_value: "USD1" } },
      "custom.order_id",
    ],
    ["a flag as a boolean", { test_event: true }, "test_event"],
  ])("%s is rejected", async (_, changes, field) => {
    const answer = await send(event(changes));
    expect([answer.status, answer.body]).toEqual([400, { message: expect.stringContaining(field) }]);
    expect(platform.accepted).toEqual([]);
  });

  test("a lead without a value, and the hashed fields of a person, are accepted", async () => {
    const hashes = {
      first_name: sha256("jane"),
      city: sha256("austin"),
      state: sha256("tx"),
      country: sha256("us"),
    };
    const lead = { event_name: "lead", custom: undefined, customer: customer(hashes) };
    expect((await send(event(lead))).status).toBe(200);
  });

  test("events with the same id and name count once, and test events not at all", async () => {
    await send(event());
    await send(event());
    await send(event({ test_event: "true", event_id: "test" }));
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", count: 2, counted: 1 }]);
    expect(platform.received.at(-1)?.verdict).toBe("tested");
  });

  test("a list of events and no JSON are rejected", async () => {
    expect((await send([event()])).status).toBe(400);
    expect((await send("{")).status).toBe(400);
  });
});

test("a wrong token is 401, a pixel of another account 403", async () => {
  for (const token of ["wrong", known.expiredToken, known.revokedToken]) {
    expect((await send(event(), token)).status).toBe(401);
    expect((await get(`${platform.origin}/v2/api/me`, bearer(token))).status).toBe(401);
  }
  expect((await send(event({ data_source_id: known.foreignSourceId }))).status).toBe(403);
  expect((await get(`${platform.origin}/v2/api/me`, bearer(known.accessToken))).status).toBe(200);
});
