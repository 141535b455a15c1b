import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { bearer, person, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { spotify } from "./index.ts";

const { known } = spotify;
const { handle: platform } = await runStandin("spotify");
const at = (ms: number) => new Date(startTime + ms).toISOString();

const user = (changes: Fields = {}): Fields => ({
  ip_address: "203.0.113.9",
  device_id: "rawdeviceid123xyz",
  hashed_emails: [person.email],
  hashed_phone_number: person.plusPhone,
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event_name: "PURCHASE",
  event_id: "ord-1001",
  event_time: at(-1_800_000),
  user_data: user(),
  event_details: { currency: "EUR", amount: 49.9, content_name: "Mug" },
  event_source_url: "https://shop.example/thanks",
  action_source: "WEB",
  opt_out_targeting: false,
  ...changes,
});
const send = (
  events: unknown,
  { token = known.accessToken, connection = known.connectionId }: { token?: string; connection?: string } = {},
) =>
  post(
    `${platform.origin}/capi-direct/events/`,
    { conversion_events: { capi_connection_id: connection, events } },
    bearer(token),
  );

describe("the Conversions API", () => {
  test("the documented event is accepted", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toEqual([200, { message: "SUCCESS" }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "PURCHASE", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["an older name", { event_name: "Purchase" }, "event_name"],
    ["no event id", { event_id: undefined }, "event_id"],
    ["a time in seconds", { event_time: startTime / 1000 }, "event_time"],
    ["a time in the future", { event_time: at(1000) }, "event_time"],
    ["no user data", { user_data: undefined }, "user_data"],
    ["no identifier", { user_data: {} }, "user_data"],
    ["a plain email", { user_data: user({ hashed_emails: ["jane@example.com"] }) }, "hashed_emails"],
    ["one email as text", { user_data: user({ hashed_emails: person.email }) }, "hashed_emails"],
    ["a user agent", { user_data: user({ user_agent: "Mozilla" }) }, "user_agent"],
    ["a hashed device", { user_data: user({ device_id: sha256("x") }) }, "device_id"],
    ["a purchase without its amount", { event_details: { currency: "EUR" } }, "event_details.amount"],
    ["a purchase without its currency", { event_details: { amount: 1 } }, "event_details.currency"],
    ["an amount as text", { event_details: { amount: "1", currency: "EUR" } }, "event_details.amount"],
    ["a free category", { event_name: "LEAD", event_details: { content_category: "Mugs" } }, "content_category"],
    ["a page without its scheme", { event_source_url: "shop.example" }, "event_source_url"],
    ["an unknown source", { action_source: "website" }, "action_source"],
  ])("%s rejects the request", async (_, changes, field) => {
    const answer = await send([event({ event_id: "good" }), event(changes)]);
    expect([answer.status, answer.body]).toMatchObject([400, { message: expect.stringContaining(field) }]);
    expect(platform.accepted).toEqual([]);
  });

  test("a lead without details and a phone without its + are accepted", async () => {
    const lead = event({ event_name: "LEAD", event_details: undefined });
    expect((await send([lead])).status).toBe(200);
    const digits = user({ hashed_phone_number: person.digitsPhone });
    expect((await send([event({ user_data: digits })])).status).toBe(200);
  });

  test("no event, and a body without its envelope, are rejected", async () => {
    expect((await send([])).status).toBe(400);
    const bare = { capi_connection_id: known.connectionId, events: [event()] };
    const url = `${platform.origin}/capi-direct/events/`;
    expect((await post(url, bare, bearer(known.accessToken))).status).toBe(400);
  });
});

test("a wrong token is 401, a connection of another business 403", async () => {
  for (const token of ["wrong", known.expiredToken, known.revokedToken])
    expect((await send([event()], { token })).status).toBe(401);
  expect((await send([event()], { connection: known.foreignConnectionId })).status).toBe(403);
});
