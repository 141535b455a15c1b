import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { bearer, browser, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { quora } from "./index.ts";

const { known } = quora;
const micros = (startTime - 1_800_000) * 1000;
const { handle: platform, advance } = await runStandin("quora");

const conversion = (changes: Fields = {}): Fields => ({
  event_name: "Purchase",
  timestamp: micros,
  click_id: "click-1|123|0",
  value: 49.9,
  event_id: "ord-1001",
  ...changes,
});
const item = (changes: Fields = {}): Fields => ({
  conversion: conversion(),
  user: { ip: "203.0.113.9", country: "DE" },
  device: { user_agent: browser, referer: "https://www.quora.com" },
  ...changes,
});
type Sending = { token?: string; account?: unknown };
const send = (data: unknown, { token = known.accessToken, account = Number(known.accountId) }: Sending = {}) =>
  post(`${platform.origin}/ads/v0/conversions`, { account_id: account, data }, bearer(token));

describe("the Conversion API", () => {
  test("the documented conversion is accepted, in a list and alone", async () => {
    const { status, body } = await send([item()]);
    expect([status, body]).toEqual([200, { events_received: 1, events_errored: 0, events: [] }]);
    const alone = {
      account_id: Number(known.accountId),
      ...item({ conversion: conversion({ event_id: "2" }) }),
    };
    expect((await post(`${platform.origin}/ads/v0/conversion`, alone, bearer(known.accessToken))).status).toBe(200);
    expect(platform.accepted.map(({ id, name }) => [id, name])).toEqual([
      ["ord-1001", "Purchase"],
      ["2", "Purchase"],
    ]);
  });

  test.each<[string, Fields, string]>([
    ["an unknown name", { conversion: conversion({ event_name: "purchase" }) }, "event_name"],
    ["a time in milliseconds", { conversion: conversion({ timestamp: micros / 1000 }) }, "timestamp"],
    ["a time in the future", { conversion: conversion({ timestamp: (startTime + 120_000) * 1000 }) }, "timestamp"],
    ["a time of 91 days ago", { conversion: conversion({ timestamp: (startTime - 91 * 86_400_000) * 1000 }) }, "timestamp"],
    ["a value above 32 bits of cents", { conversion: conversion({ value: 214_748.37 }) }, "value"],
    ["a value as text", { conversion: conversion({ value: "49.90" }) }, "value"],
    ["a currency", { conversion: conversion({ currency: "EUR" }) }, "currency"],
    ["a hashed click id", { conversion: conversion({ click_id: sha256("x") }) }, "click_id"],
    ["a plain email", { user: { email: "jane@example.com" } }, "user.email"],
    ["a hashed email", { user: { email: sha256("jane@example.com") } }, "user.email"],
    ["no user", { user: undefined }, "user"],
    ["referer with two r", { device: { referrer: "https://www.quora.com" } }, "device.referrer"],
  ])("%s is an error inside HTTP 200, and costs no other conversion", async (_, changes, field) => {
    const good = item({ conversion: conversion({ event_id: "good" }) });
    const answer = await send([good, item(changes)]);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        events_received: 2,
        events_errored: 1,
        events: [
          {
            index: 1,
            status: "ERROR",
            error_code: "INVALID_FIELD",
            error_message: expect.stringContaining(field),
          },
        ],
      },
    ]);
    expect(platform.accepted.map(({ id }) => id)).toEqual(["good"]);
    expect(platform.received[0]?.verdict).toBe("partial");
  });

  test("no conversion, more than a thousand, an account as text and no JSON are rejected", async () => {
    expect((await send([])).status).toBe(400);
    expect((await send(Array.from({ length: 1001 }, () => item()))).status).toBe(400);
    expect((await send([item()], { account: known.accountId })).status).toBe(400);
    const url = `${platform.origin}/ads/v0/conversions`;
    expect((await post(url, "{", bearer(known.accessToken))).status).toBe(400);
  });
});

test("more than a thousand conversions in a minute are rejected as a whole, until the next minute", async () => {
  const many = (count: number) => Array.from({ length: count }, () => item());
  expect((await send(many(999))).status).toBe(200);
  const answer = await send(many(2));
  expect([answer.status, Number(answer.headers.get("retry-after"))]).toEqual([429, expect.any(Number)]);
  expect((await send(many(1))).status).toBe(200);
  advance(60_000);
  expect((await send(many(2))).status).toBe(200);
});

test("a wrong token is 401, a token of another account 403", async () => {
  for (const token of ["wrong", known.expiredToken, known.revokedToken])
    expect((await send([item()], { token })).status).toBe(401);
  expect((await send([item()], { account: 99 })).status).toBe(403);
});
