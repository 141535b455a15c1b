import { describe, expect, test } from "vitest";
import { browser, type Fields, person, post, runStandin, startTime, throttledCall } from "../shared/testCalls.ts";
import { sha256 } from "../shared/contactChecks.ts";
import { x } from "./index.ts";

const { known } = x;
const { handle: platform } = await runStandin("x");

const conversion = (changes: Fields = {}): Fields => ({
  conversion_time: "2026-11-14T09:30:00.000Z",
  event_id: known.purchaseEventId,
  conversion_id: "ord-1001",
  identifiers: [{ twclid: "23opevjt88psuo13lu8d020qkn" }, { hashed_email: person.email, ip_address: "203.0.113.9" }],
  value: "49.90",
  price_currency: "EUR",
  number_items: 1,
  ...changes,
});
const path = `/12/measurement/conversions/${known.pixelId}`;
const byToken = (token: string = known.pixelToken) => ({ "x-pixel-token": token });
const send = (conversions: unknown, headers: Record<string, string> = byToken(), at = path) =>
  post(platform.origin + at, { conversions }, headers);
type Fault = { code: string; message: string; parameter?: string };
const errorsOf = ({ body }: { body: unknown }) => (body as { errors: Fault[] }).errors;

describe("web conversions", () => {
  test("the documented conversion is accepted with the pixel's token, which no log shows", async () => {
    const { status, body } = await send([conversion()]);
    expect([status, body]).toMatchObject([200, { data: { conversions_processed: 1, debug_id: expect.any(String) } }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", counted: 1 }]);
    expect(JSON.stringify(platform.received)).not.toContain(known.pixelToken);
  });

  test.each<[string, Fields, string, string]>([
    ["a time in seconds", { conversion_time: startTime / 1000 }, "INVALID_PARAMETER", "conversion_time"],
    ["a time without milliseconds", { conversion_time: "2026-11-14T09:30:00Z" }, "INVALID_PARAMETER", "conversion_time"],
    ["a time of tomorrow", { conversion_time: "2026-11-15T09:30:00.000Z" }, "INVALID_PARAMETER", "conversion_time"],
    ["no event", { event_id: undefined }, "MISSING_PARAMETER", "event_id"],
    ["an unknown event", { event_id: "tw-o8z6j-zzzzz" }, "INVALID_PARAMETER", "event_id"],
    ["an event of another pixel", { event_id: "tw-other-o87ne" }, "INVALID_PARAMETER", "event_id"],
    ["an event that is no single event tag", { event_id: known.universalEventId }, "INVALID_PARAMETER", "event_id"],
    ["no identifiers", { identifiers: undefined }, "MISSING_PARAMETER", "identifiers"],
    ["an address alone", { identifiers: [{ ip_address: "203.0.113.9" }] }, "MISSING_PARAMETER", "identifiers"],
    [
      "address and browser apart",
      { identifiers: [{ ip_address: "203.0.113.9" }, { user_agent: browser }] },
      "MISSING_PARAMETER",
      "identifiers",
    ],
    [
      "an IPv6 address",
      { identifiers: [{ ip_address: "2001:db8::1", user_agent: browser }] },
      "INVALID_PARAMETER",
      "identifiers[0].ip_address",
    ],
    [
      "a plain email",
      { identifiers: [{ hashed_email: "john_smith@gmail.com" }] },
      "INVALID_PARAMETER",
      "identifiers[0].hashed_email",
    ],
    [
      "a hash in upper case",
      { identifiers: [{ hashed_email: person.email.toUpperCase() }] },
      "INVALID_PARAMETER",
      "identifiers[0].hashed_email",
    ],
    [
      "a phone hashed without its +",
      { identifiers: [{ hashed_phone_number: sha256("11234567890") }] },
      "INVALID_PARAMETER",
      "identifiers[0].hashed_phone_number",
    ],
    ["a hashed click id", { identifiers: [{ twclid: sha256("x") }] }, "INVALID_PARAMETER", "identifiers[0].twclid"],
    ["a value as a number", { value: 49.9 }, "INVALID_PARAMETER", "value"],
    ["a value without decimals", { value: "50" }, "INVALID_PARAMETER", "value"],
    ["a value without a currency", { price_currency: undefined }, "MISSING_PARAMETER", "price_currency"],
    ["no items at all", { number_items: 0 }, "INVALID_PARAMETER", "number_items"],
    ["an unknown field", { event_name: "purchase" }, "INVALID_PARAMETER", "event_name"],
  ])("%s rejects the request", async (_, changes, code, parameter) => {
    const answer = await send([conversion({ conversion_id: "good" }), conversion(changes)]);
    expect(answer.status).toBe(400);
    expect(errorsOf(answer)).toMatchObject([{ code, parameter: `conversions[1].${parameter}` }]);
    expect(platform.accepted).toEqual([]);
  });

  test("every fault of every conversion is listed, with X's own messages where they are known", async () => {
    const thin = conversion({ identifiers: [{ user_agent: browser }] });
    const answer = await send([thin, conversion({ value: "1", event_id: "none" })]);
    expect(errorsOf(answer).map(({ code, parameter }) => [code, parameter])).toEqual([
      ["MISSING_PARAMETER", "conversions[0].identifiers"],
      ["INVALID_PARAMETER", "conversions[1].event_id"],
      ["INVALID_PARAMETER", "conversions[1].value"],
    ]);
    expect(errorsOf(answer)[0]?.message).toBe("At least one user identifier must be provided");
  });

  test("IP address with user agent, the short event id and the documented phone are accepted", async () => {
    const phone = "1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231";
    const pair = conversion({
      identifiers: [{ ip_address: "203.0.113.9", user_agent: browser }],
      event_id: "o87ne",
    });
    const contents = [{ content_id: "sku-1", content_price: "49.90", num_items: 1 }];
    const called = conversion({ identifiers: [{ hashed_phone_number: phone }], contents });
    expect((await send([pair, called])).status).toBe(200);
  });

  test("no conversion and more than 500 are rejected", async () => {
    expect((await send([])).status).toBe(400);
    expect((await send(Array.from({ length: 501 }, () => conversion()))).status).toBe(400);
    expect((await post(platform.origin + path, "{", byToken())).status).toBe(400);
  });

  test("event and conversion id count once, in either form of the event's id", async () => {
    await send([conversion()]);
    await send([conversion({ event_id: "o87ne" }), conversion({ event_id: known.leadEventId })]);
    expect(platform.accepted.map(({ name, counted, count }) => [name, count, counted])).toEqual([
      ["o87ne", 2, 1],
      [known.leadEventId, 1, 1],
    ]);
  });

  test("another pixel is not found", async () => {
    const answer = await send([conversion()], byToken(), "/12/measurement/conversions/other");
    expect([answer.status, errorsOf(answer)[0]?.code]).toEqual([404, "WEB_EVENT_TAG_NOT_FOUND"]);
    expect((await send([conversion()], byToken(), "/11/measurement/conversions/o8z6j")).status).toBe(404);
  });

  test("after 60 000 conversions in 15 minutes, however many requests, an account is throttled", () => {
    const answer = throttledCall(
      x,
      path,
      byToken(),
      { conversions: [conversion(), conversion()] },
      (_, limit, seconds, amount) => limit === 60_000 && seconds === 900 && amount === 2,
    );
    expect(answer).toMatchObject({
      status: 429,
      body: { errors: [{ code: "TOO_MANY_REQUESTS" }] },
      headers: { "x-account-rate-limit-reset": String(startTime / 1000 + 7) },
    });
  });
});

describe("tokens and faults in X's format", () => {
  test("a wrong and a revoked pixel token are rejected", async () => {
    for (const token of ["wrong", known.revokedPixelToken, known.accessToken])
      expect((await send([conversion()], byToken(token))).status).toBe(401);
  });
});
