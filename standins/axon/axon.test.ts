import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { bearer, browser, person, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { axon } from "./index.ts";

const { known } = axon;
const ms = startTime - 1_800_000;
const { handle: platform, advance } = await runStandin("axon");

const user = (changes: Fields = {}): Fields => ({
  esi: "web",
  client_ip_address: "203.0.113.9",
  client_user_agent: browser,
  aleid: "click-1",
  axwrt: "visitor-1",
  email: person.email,
  ...changes,
});
const mug = { item_id: "sku1", item_name: "Mug", price: 24.95, quantity: 2 };
const data = (changes: Fields = {}): Fields => ({
  currency: "USD",
  value: 49.9,
  transaction_id: "1001",
  items: [mug],
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  name: "purchase",
  event_time: ms,
  event_source_url: "https://shop.example/thanks?x=1",
  dedupe_id: "ord-1001",
  user_data: user(),
  data: data(),
  ...changes,
});
const send = (events: unknown, { key = known.apiKey, pixel = known.eventKey }: { key?: string; pixel?: string } = {}) =>
  post(`${platform.origin}/v1/event?pixel_id=${pixel}`, { events }, { authorization: key });

describe("a shop's events", () => {
  test("the documented event is accepted", async () => {
    expect((await send([event()])).status).toBe(200);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "purchase", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["an unknown name", { name: "Purchase" }, "name"],
    ["a time in seconds", { event_time: ms / 1000 }, "event_time"],
    ["a time in the future", { event_time: startTime + 120_000 }, "event_time"],
    ["no page", { event_source_url: undefined }, "event_source_url"],
    ["no dedupe id", { dedupe_id: undefined }, "dedupe_id"],
    ["no address", { user_data: user({ client_ip_address: undefined }) }, "client_ip_address"],
    ["no browser", { user_data: user({ client_user_agent: undefined }) }, "client_user_agent"],
    ["no environment", { user_data: user({ esi: undefined }) }, "user_data.esi"],
    [
      "no identifier",
      { user_data: user({ aleid: undefined, axwrt: undefined, email: undefined }) },
      "user_data has no identifier",
    ],
    ["a plain email", { user_data: user({ email: "jane@example.com" }) }, "user_data.email"],
    ["a phone hashed with its +", { user_data: user({ phone: person.plusPhone }) }, "user_data.phone"],
    ["a hashed click id", { user_data: user({ aleid: sha256("x") }) }, "user_data.aleid"],
    ["a short user id", { user_data: user({ user_id: "12345" }) }, "user_data.user_id"],
    ["a long US code", { user_data: user({ zip: "94035-1234" }) }, "user_data.zip"],
    ["no data", { data: undefined }, "data"],
    ["a purchase without data", { data: null }, "data"],
    ["a purchase without its value", { data: data({ value: undefined }) }, "data.value"],
    ["a purchase without items", { data: data({ items: undefined }) }, "data.items"],
    ["a purchase without its id", { data: data({ transaction_id: undefined }) }, "data.transaction_id"],
    ["a value that is not the sum", { data: data({ value: 50 }) }, "data.value"],
    ["a value as text", { data: data({ value: "49.90" }) }, "data.value"],
    ["half an item", { data: data({ items: [{ ...mug, quantity: 0.5 }] }) }, "quantity"],
  ])("%s drops the whole request, with the reason in headers", async (_, changes, field) => {
    const answer = await send([event({ dedupe_id: "good" }), event(changes)]);
    expect([answer.status, answer.text]).toEqual([400, ""]);
    expect(answer.headers.get("x-al-error-code")).toBe("INVALID_EVENT");
    expect(answer.headers.get("x-al-error-message")).toContain(field);
    expect(platform.accepted).toEqual([]);
  });

  test("a page view has no data, and a lead may have none of its fields", async () => {
    const view = event({ name: "page_view", data: null });
    expect((await send([view, event({ name: "generate_lead", dedupe_id: "lead", data: {} })])).status).toBe(200);
  });

  test("no event, a bare list and more than a hundred are rejected", async () => {
    expect((await send([])).status).toBe(400);
    expect((await send(Array.from({ length: 101 }, () => event()))).status).toBe(400);
    const bare = await post(`${platform.origin}/v1/event?pixel_id=${known.eventKey}`, [event()], {
      authorization: known.apiKey,
    });
    expect(bare.status).toBe(400);
  });

  test("the same dedupe id counts once within five minutes", async () => {
    await send([event()]);
    advance(299_000);
    await send([event()]);
    expect(platform.accepted).toMatchObject([{ count: 2, counted: 1 }]);
    advance(2000);
    await send([event()]);
    expect(platform.accepted).toMatchObject([{ count: 3, counted: 2 }]);
  });
});

describe("sites for lead generation", () => {
  const lead = (changes: Fields = {}): Fields =>
    event({ name: "generate_lead", data: { currency: "USD", value: 25 }, ...changes });
  const restricted = (changes: Fields = {}): Fields =>
    lead({ event_source_url: "https://shop.example", user_data: user({ email: undefined }), ...changes });

  test("a lead with its value is accepted; other events and fields are not", async () => {
    const pixel = known.leadsKey;
    expect((await send([lead()], { pixel })).status).toBe(200);
    for (const bad of [event(), lead({ data: {} }), lead({ data: data() })])
      expect((await send([bad], { pixel })).status).toBe(400);
  });

  test("a restricted site gets neither contact data nor pages", async () => {
    const pixel = known.restrictedKey;
    expect((await send([restricted()], { pixel })).status).toBe(200);
    for (const bad of [restricted({ user_data: user() }), restricted({ event_source_url: "https://shop.example/thanks" })])
      expect((await send([bad], { pixel })).status).toBe(400);
  });
});

test("a wrong key, a key with Bearer, and an unknown pixel are 401", async () => {
  const statuses = [];
  for (const key of ["wrong", known.expiredKey, known.revokedKey, bearer(known.apiKey).authorization])
    statuses.push((await send([event()], { key })).status);
  statuses.push((await send([event()], { pixel: "none" })).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401]);
});
