import { describe, expect, test } from "vitest";
import { bearer, get, person, post, runStandin, startTime, type Fields } from "../shared/testCalls.ts";
import { hubspot } from "./index.ts";

const { known } = hubspot;
const { handle: platform } = await runStandin("hubspot");

const occurrence = (changes: Fields = {}): Fields => ({
  eventName: known.event,
  occurredAt: new Date(startTime - 1_800_000).toISOString(),
  utk: "0123456789abcdef0123456789abcdef",
  uuid: "ord-1001",
  properties: { value: "49.90", currency: "USD", hs_utm_source: "newsletter" },
  ...changes,
});
const send = (inputs: unknown, token: string = known.accessToken) =>
  post(`${platform.origin}/events/2026-03/send/batch`, { inputs }, bearer(token));

describe("occurrences of a custom event", () => {
  test("the documented ones are accepted, without a body", async () => {
    const answer = await send([occurrence(), occurrence({ uuid: "2", utk: undefined, objectId: "608051" })]);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: known.event }, { id: "2" }]);
  });

  test.each<[string, Fields, string]>([
    ["no event", { eventName: undefined }, "eventName"],
    ["a label in place of the name", { eventName: "Conversion" }, "eventName"],
    ["a time in the future", { occurredAt: new Date(startTime + 120_000).toISOString() }, "occurredAt"],
    ["no contact", { utk: undefined }, "identifier"],
    ["a plain email", { email: "jane@example.com" }, "email"],
    ["a cookie of another form", { utk: "abc" }, "utk"],
    ["a contact id as a number", { objectId: 608_051 }, "objectId"],
    ["a property that the event does not have", { properties: { total: "1" } }, "properties.total"],
    ["a value as a number", { properties: { value: 49.9 } }, "properties.value"],
    ["a text of 257 characters", { properties: { hs_utm_term: "x".repeat(257) } }, "hs_utm_term"],
    ["a URL of 1,025 characters", { properties: { hs_page_url: "x".repeat(1025) } }, "hs_page_url"],
    ["an address in the property for its hash", { properties: { email_sha256: "jane@example.com" } }, "email_sha256"],
    ["51 properties", { properties: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`p${i}`, "1"])) }, "properties"],
    ["an unknown field", { name: "x" }, "name"],
  ])("%s fails the whole request", async (_, changes, field) => {
    const answer = await send([occurrence({ uuid: "good" }), occurrence(changes)]);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ category: "VALIDATION_ERROR", message: expect.stringContaining(field) });
    expect(platform.accepted).toEqual([]);
  });

  test("a contact is found by the custom matching ID", async () => {
    const own = occurrence({ utk: undefined, properties: { email_sha256: person.email } });
    expect((await send([own])).status).toBe(204);
  });

  test("an unknown event is 404, an empty list and more than 500 are 400", async () => {
    expect((await send([occurrence({ eventName: "pe1234567_gone" })])).status).toBe(404);
    expect((await send([])).status).toBe(400);
    expect((await send(Array.from({ length: 501 }, () => occurrence()))).status).toBe(400);
    expect((await send(Array.from({ length: 500 }, (_, i) => occurrence({ uuid: String(i) })))).status).toBe(204);
  });
});

test("a wrong token is 401, an app without the scope 403", async () => {
  const account = `${platform.origin}/account-info/v3/details`;
  for (const token of ["wrong", known.expiredToken, known.revokedToken]) {
    expect((await send([occurrence()], token)).status).toBe(401);
    expect((await get(account, bearer(token))).status).toBe(401);
  }
  expect((await send([occurrence()], known.unscopedToken)).status).toBe(403);
  expect((await get(account, bearer(known.unscopedToken))).body).toMatchObject({ portalId: 1_234_567 });
});
