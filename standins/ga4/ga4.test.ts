import { describe, expect, test } from "vitest";
import { ga4 } from "./index.ts";
import { type Fields, post, runStandin } from "../shared/testCalls.ts";

const { known } = ga4;
const { handle: analytics } = await runStandin("ga4");

const emailSha256 = "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a";

const params = (changes: Fields = {}): Fields => ({
  transaction_id: "ord-10042",
  currency: "EUR",
  value: 49.9,
  items: [{ item_id: "sku1", item_name: "Plan", price: 49.9, quantity: 1 }],
  session_id: "1794640000",
  engagement_time_msec: 1,
  ...changes,
});
const hit = (changes: Fields = {}): Fields => ({
  client_id: "1699999999.1234567890",
  user_id: "u_42",
  timestamp_micros: 1_794_648_600_000_000,
  consent: { ad_user_data: "GRANTED", ad_personalization: "DENIED" },
  user_data: { sha256_email_address: [emailSha256] },
  events: [{ name: "purchase", params: params() }],
  ...changes,
});
const purchase = (changes: Fields) => ({ events: [{ name: "purchase", params: params(changes) }] });

const query = (changes: Record<string, string> = {}) =>
  new URLSearchParams({
    measurement_id: known.measurementId,
    api_secret: known.apiSecret,
    ...changes,
  }).toString();
const collect = (body: unknown, changes?: Record<string, string>) =>
  post(`${analytics.origin}/mp/collect?${query(changes)}`, body);
const debug = (body: unknown) => post(`${analytics.origin}/debug/mp/collect?measurement_id=any`, body);
const messagesOf = (body: unknown) => (body as { validationMessages: Fields[] }).validationMessages;

const mistakes: [string, Fields, string, string][] = [
  ["no client id", { client_id: undefined }, "client_id", "VALUE_REQUIRED"],
  ["milliseconds", { timestamp_micros: 1_794_648_600_000 }, "timestamp_micros", "VALUE_INVALID"],
  ["micros as text", { timestamp_micros: "1794648600000000" }, "timestamp_micros", "VALUE_INVALID"],
  [
    "a time four days ago",
    { timestamp_micros: 1_794_648_600_000_000 - 4 * 86_400_000_000 },
    "timestamp_micros",
    "VALUE_OUT_OF_BOUNDS",
  ],
  ["unknown consent", { consent: { ad_user_data: "granted" } }, "consent.ad_user_data", "VALUE_INVALID"],
  [
    "an email in plain text",
    { user_data: { sha256_email_address: ["ada@example.com"] } },
    "user_data.sha256_email_address[0]",
    "VALUE_INVALID",
  ],
  ["an unknown field", { gclid: "x" }, "gclid", "VALUE_INVALID"],
  ["no events", { events: [] }, "events", "VALUE_REQUIRED"],
  ["twenty-six events", { events: Array.from({ length: 26 }, () => ({ name: "lead" })) }, "events", "EXCEEDED_MAX_ENTITIES"],
  ["a reserved name", { events: [{ name: "session_start" }] }, "events[0].name", "NAME_RESERVED"],
  ["a reserved prefix", { events: [{ name: "ga_lead" }] }, "events[0].name", "NAME_RESERVED"],
  ["a name with a space", { events: [{ name: "sign up" }] }, "events[0].name", "NAME_INVALID"],
  ["a parameter that is null", purchase({ coupon: null }), "events[0].params.coupon", "VALUE_INVALID"],
  ["a parameter that is an object", purchase({ utm: {} }), "events[0].params.utm", "VALUE_INVALID"],
  ["a long parameter", purchase({ coupon: "x".repeat(101) }), "events[0].params.coupon", "VALUE_OUT_OF_BOUNDS"],
  ["a value as text", purchase({ value: "49.90" }), "events[0].params.value", "VALUE_INVALID"],
  ["a value without currency", purchase({ currency: undefined }), "events[0].params.currency", "VALUE_REQUIRED"],
  ["a purchase without its id", purchase({ transaction_id: undefined }), "events[0].params.transaction_id", "VALUE_REQUIRED"],
  ["an item without a name", purchase({ items: [{ price: 1 }] }), "events[0].params.items[0]", "VALUE_REQUIRED"],
  [
    "too many parameters",
    purchase(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`p${index}`, 1]))),
    "events[0].params",
    "EXCEEDED_MAX_ENTITIES",
  ],
];

describe("the collector", () => {
  test("the documented hit is accepted silently", async () => {
    const { status, text } = await collect(hit());
    expect([status, text]).toEqual([204, ""]);
    expect(analytics.accepted).toMatchObject([{ id: "ord-10042", name: "purchase", count: 1 }]);
    expect(analytics.received[0]).toMatchObject({ verdict: "accepted" });
    expect(analytics.received[0]?.path).toContain("api_secret=configured");
  });

  test.each(mistakes)("%s is lost silently", async (_, changes, field) => {
    const { status, text } = await collect(hit(changes));
    expect([status, text]).toEqual([204, ""]);
    expect(analytics.accepted).toEqual([]);
    expect(analytics.received[0]).toMatchObject({
      verdict: "rejected",
      reasons: [expect.stringContaining(field)],
    });
  });

  test.each([
    ["a wrong secret", { api_secret: "guess" }],
    ["a deleted secret", { api_secret: known.revokedSecret }],
    ["another stream", { measurement_id: "G-OTHER" }],
  ])("%s is lost silently too", async (_, changes) => {
    expect((await collect(hit(), changes)).status).toBe(204);
    expect(analytics.received[0]?.verdict).toBe("rejected");
  });

  test("a body of 130 kB and text that is no JSON are lost", async () => {
    expect((await collect(hit({ user_id: "x".repeat(130_000) }))).status).toBe(204);
    expect((await collect("{")).status).toBe(204);
    expect(analytics.accepted).toEqual([]);
  });

  test("nothing is deduplicated", async () => {
    await collect(hit());
    await collect(hit());
    expect(analytics.accepted).toMatchObject([{ count: 2, counted: 2 }]);
  });

  test("throttling and server errors show in the HTTP status, a revoked secret does not", async () => {
    analytics.fault([{ kind: "throttle" }, { kind: "server_error", status: 503 }, { kind: "revoked_token" }]);
    const statuses = [await collect(hit()), await collect(hit()), await collect(hit())].map(({ status }) => status);
    expect(statuses).toEqual([429, 503, 204]);
    expect(analytics.accepted).toEqual([]);
  });
});

describe("the validation server", () => {
  test("a valid hit has no messages, whatever secret and stream, and is not recorded", async () => {
    const { status, body } = await debug(hit({ validation_behavior: "ENFORCE_RECOMMENDATIONS" }));
    expect([status, body]).toEqual([200, { validationMessages: [] }]);
    expect(analytics.accepted).toEqual([]);
    expect(analytics.received[0]?.verdict).toBe("tested");
  });

  test.each(mistakes)("%s is explained", async (_, changes, fieldPath, validationCode) => {
    const { status, body } = await debug(hit(changes));
    expect(status).toBe(200);
    expect(messagesOf(body)).toContainEqual({ fieldPath, description: expect.any(String), validationCode });
  });
});
