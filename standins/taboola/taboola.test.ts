import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { get, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { taboola } from "./index.ts";

const { known } = taboola;
const { handle: platform } = await runStandin("taboola");

const action = (changes: Fields = {}): Fields => ({
  "click-id": "GiDxLZcEVjwEqkGfKQMQndUYMIeZXFHmZ0DrHIJhGS6kKiDzkGUos9GzkpqG",
  timestamp: startTime - 1_800_000,
  name: "make_purchase",
  revenue: 49.9,
  currency: "EUR",
  orderid: "1001",
  quantity: 1,
  ...changes,
});
const send = (actions: unknown, account: string = known.accountId) =>
  post(`${platform.origin}/${account}/log/3/bulk-s2s-action`, { actions });

describe("the bulk endpoint", () => {
  test("the documented action is accepted without a body", async () => {
    const { status, text } = await send([action()]);
    expect([status, text]).toEqual([204, ""]);
    expect(platform.accepted).toMatchObject([{ id: "1001", name: "make_purchase", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["no click id", { "click-id": undefined }, "click-id"],
    ["a hashed click id", { "click-id": sha256("x") }, "click-id"],
    ["no time", { timestamp: undefined }, "timestamp"],
    ["a time in seconds", { timestamp: startTime / 1000 }, "timestamp"],
    ["no name", { name: undefined }, "name"],
    ["a revenue as text", { revenue: "49.90" }, "revenue"],
    ["a currency that is not supported", { currency: "CHF" }, "currency"],
    ["half an item", { quantity: 0.5 }, "quantity"],
    ["an email", { email: "x" }, "email"],
  ])("%s is dropped silently, and costs no other action", async (_, changes, field) => {
    expect((await send([action({ orderid: "good" }), action(changes)])).status).toBe(204);
    expect(platform.accepted.map(({ id }) => id)).toEqual(["good"]);
    expect(platform.received[0]?.reasons.join()).toContain(`actions[1].${field}`);
  });

  test("an unknown account is not reported, and counts nothing", async () => {
    expect((await send([action()], "999")).status).toBe(204);
    expect(platform.accepted).toEqual([]);
  });
});

test("the postback URL checks its parameters, and its spelling", async () => {
  const call = (query: string, path = "s2s-action") => get(`${platform.origin}/actions-handler/log/3/${path}?${query}`);
  expect((await call("click-id=abc&name=lead&revenue=1.5&currency=EUR&orderid=7")).status).toBe(204);
  for (const query of ["name=lead", "click-id=abc", "clickid=abc&name=lead"]) expect((await call(query)).status).toBe(400);
  expect((await call("click-id=abc&name=lead", "s2s-acton")).status).toBe(400);
});
