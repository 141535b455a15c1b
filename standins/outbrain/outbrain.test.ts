import { expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import { outbrain } from "./index.ts";
import { get, post, runStandin } from "../shared/testCalls.ts";

const { handle: platform } = await runStandin("outbrain");

const valid = {
  ob_click_id: outbrain.known.clickId,
  name: "purchase",
  orderId: "1001",
  orderValue: "49.90",
  currency: "EUR",
};
const send = (changes: Record<string, string | undefined> = {}, more = "") => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...valid, ...changes })) if (value !== undefined) query.set(name, value);
  return get(`${platform.origin}/unifiedPixel?${query.toString()}${more}`);
};

test("the documented call is accepted without a body", async () => {
  const { status, text } = await send();
  expect([status, text]).toEqual([204, ""]);
  expect(platform.accepted).toMatchObject([{ id: "1001", name: "purchase", counted: 1, event: valid }]);
});

test("a click id and a name are enough", async () => {
  expect((await send({ orderId: undefined, orderValue: undefined, currency: undefined })).status).toBe(204);
});

test.each([
  ["no click id", { ob_click_id: undefined }],
  ["a hashed click id", { ob_click_id: sha256("x") }],
  ["no name", { name: undefined }],
  ["a value with its currency", { orderValue: "49.90 EUR" }],
  ["an unknown currency", { currency: "DEM" }],
  ["an email", { email: "jane@example.com" }],
])("%s is rejected", async (_, changes) => {
  expect((await send(changes)).status).toBe(400);
  expect(platform.accepted).toEqual([]);
});

test("a parameter that is given twice is rejected, and a POST is no call", async () => {
  expect((await send({}, "&name=lead")).status).toBe(400);
  expect((await post(`${platform.origin}/unifiedPixel?ob_click_id=x&name=y`, {})).status).toBe(404);
});
