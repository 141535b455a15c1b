import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { bearer, browser, person, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { openaiAds } from "./index.ts";

const { known } = openaiAds;
const ms = startTime - 1_800_000;
const { handle: platform } = await runStandin("openai_ads");

const user = (changes: Fields = {}): Fields => ({
  emails_sha256: [person.email],
  phone_numbers_sha256: [person.digitsPhone],
  ip_address: "203.0.113.9",
  user_agent: browser,
  obref: "ob-1",
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  id: "ord-1001",
  type: "order_created",
  timestamp_ms: ms,
  action_source: "web",
  source_url: "https://shop.example/thanks",
  oppref: "opaque%2Fvalue",
  opt_out: false,
  user: user(),
  data: { type: "contents", amount: 4990, currency: "EUR" },
  ...changes,
});
type Sending = { more?: Fields; key?: string; pixel?: string };
const send = (events: unknown, { more = {}, key = known.apiKey, pixel = known.pixelId }: Sending = {}) =>
  post(`${platform.origin}/v1/events?pid=${pixel}`, { events, ...more }, bearer(key));

describe("the Conversions API", () => {
  test("the documented event is accepted", async () => {
    const { status, body } = await send([event()], { more: { validate_only: false } });
    expect([status, body]).toEqual([200, { accepted_events: 1 }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "order_created", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["no id", { id: undefined }, "id"],
    ["a time in seconds", { timestamp_ms: ms / 1000 }, "timestamp_ms"],
    ["an event of eight days ago", { timestamp_ms: ms - 8 * 86_400_000 }, "timestamp_ms"],
    ["an event eleven minutes ahead", { timestamp_ms: startTime + 660_000 }, "timestamp_ms"],
    ["an unknown type", { type: "purchase" }, "type"],
    ["data of another type", { data: { type: "customer_action" } }, "data.type"],
    ["no data", { data: undefined }, "data"],
    ["a custom event without its name", { type: "custom", data: { type: "custom" } }, "custom_event_name"],
    [
      "a custom event with a standard name",
      { type: "custom", custom_event_name: "Order_Created", data: { type: "custom" } },
      "custom_event_name",
    ],
    [
      "a custom name that ends in a dash",
      { type: "custom", custom_event_name: "deal-", data: { type: "custom" } },
      "custom_event_name",
    ],
    ["a web event without a page", { source_url: undefined }, "source_url"],
    ["a relative page", { source_url: "/thanks" }, "source_url"],
    ["an app event from the web", { type: "app_opened", data: { type: "customer_action" } }, "action_source"],
    ["an unknown source", { action_source: "website" }, "action_source"],
    ["a decimal amount", { data: { type: "contents", amount: 49.9, currency: "EUR" } }, "data.amount"],
    ["an amount without a currency", { data: { type: "contents", amount: 4990 } }, "data.currency"],
    ["a currency without an amount", { data: { type: "contents", currency: "EUR" } }, "data.amount"],
    ["an unknown currency", { data: { type: "contents", amount: 1, currency: "DEM" } }, "data.currency"],
    ["content without its type", { data: { type: "contents", contents: [{ id: "sku" }] } }, "content_type"],
    ["a plain email", { user: user({ emails_sha256: ["jane@example.com"] }) }, "user.emails_sha256"],
    ["the older form of an email", { user: user({ email_sha256: person.email }) }, "user.email_sha256"],
    ["a phone hashed with its +", { user: user({ phone_numbers_sha256: [person.plusPhone] }) }, "phone_numbers"],
    ["four emails", { user: user({ emails_sha256: Array.from({ length: 4 }, (_, i) => sha256(`${i}`)) }) }, "user.emails_sha256"],
    ["a country in lower case", { user: user({ countries: ["de"] }) }, "user.countries"],
    ["a hashed click id", { oppref: sha256("x") }, "oppref"],
    ["the name of the pixel's parameter", { event_id: "ord-1001" }, "event_id"],
  ])("%s rejects the whole request without naming the event", async (_, changes, field) => {
    const answer = await send([event({ id: "good" }), event(changes)]);
    expect(answer.status).toBeOneOf([400, 422]);
    const { message } = (answer.body as { error: { message: string } }).error;
    expect(message).toContain(field);
    expect(message).not.toMatch(/\[1\]\./);
    expect(platform.accepted).toEqual([]);
    expect(platform.received[0]?.reasons.join()).toContain("events[1]");
  });

  test("events with the same id and type count once", async () => {
    for (let sent = 0; sent < 2; sent++) await send([event(), event({ type: "page_viewed", data: { type: "contents" } })]);
    expect(platform.accepted.map(({ name, count, counted }) => [name, count, counted])).toEqual([
      ["order_created", 2, 1],
      ["page_viewed", 2, 1],
    ]);
  });

  test("validate_only records nothing, and still rejects", async () => {
    const more = { validate_only: true };
    expect((await send([event()], { more })).status).toBe(200);
    expect(platform.received[0]?.verdict).toBe("tested");
    expect((await send([event({ id: undefined })], { more })).status).toBe(400);
    expect(platform.accepted).toEqual([]);
  });
});

test("a wrong key is 401, a pixel of another account 403, and an unknown one 404", async () => {
  const statuses = [];
  for (const key of ["wrong", known.expiredKey, known.revokedKey]) statuses.push((await send([event()], { key })).status);
  for (const pixel of [known.foreignPixelId, "none"]) statuses.push((await send([event()], { pixel })).status);
  expect(statuses).toEqual([401, 401, 401, 403, 404]);
});
