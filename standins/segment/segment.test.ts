import { describe, expect, test } from "vitest";
import { type Fields, get, post, runStandin } from "../shared/testCalls.ts";
import { segment } from "./index.ts";

const { known } = segment;
const startTime = Date.parse("2026-11-14T09:30:01Z");
const { handle: tracker, advance } = await runStandin("segment", startTime);

const message = (changes: Fields = {}): Fields => ({
  type: "track",
  messageId: "dst_7f3a:evt-10042",
  userId: "u_42",
  anonymousId: "an_9",
  event: "Order Completed",
  timestamp: "2026-11-14T09:30:00.000Z",
  properties: { order_id: "ord-10042", total: 49.9, revenue: 49.9, currency: "EUR" },
  context: {
    campaign: { source: "google", medium: "cpc", name: "brand" },
    traits: { email: "a@example.com" },
    ip: "203.0.113.7",
    userAgent: "Mozilla/5.0",
    page: { url: "https://shop.example/thanks" },
  },
  integrations: { All: true },
  ...changes,
});
const basic = (key: string, suffix = ":") => ({
  authorization: `Basic ${Buffer.from(key + suffix).toString("base64")}`,
});
const send = (batch: unknown, headers: Record<string, string> = basic(known.writeKey), root: Fields = {}) =>
  post(`${tracker.origin}/v1/batch`, { batch, sentAt: "2026-11-14T09:30:01.000Z", ...root }, headers);
const success = { status: 200, body: { success: true } };

describe("Segment", () => {
  test("a batch and a single call are accepted", async () => {
    expect(await send([message()])).toMatchObject(success);
    const { type: _, ...single } = message({ messageId: "dst_7f3a:evt-2" });
    expect(await post(`${tracker.origin}/v1/track`, single, basic(known.writeKey))).toMatchObject(success);
    const inBody = { ...single, messageId: "m-3", writeKey: known.writeKey };
    expect(await post(`${tracker.origin}/v1/track`, inBody)).toMatchObject(success);
    expect(tracker.accepted.map(({ id, name }) => [id, name])).toEqual([
      ["dst_7f3a:evt-10042", "Order Completed"],
      ["dst_7f3a:evt-2", "Order Completed"],
      ["m-3", "Order Completed"],
    ]);
    expect(tracker.received.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted", "accepted"]);
    expect(JSON.stringify(tracker.received)).not.toContain(known.writeKey);
  });

  test.each<[string, Fields, string]>([
    ["no user", { userId: undefined, anonymousId: undefined }, "no_user_anon_id"],
    ["a track without its event", { event: undefined }, "batch[0].event is required"],
    ["no type", { type: undefined }, "batch[0].type is required"],
    ["a user id that is a number", { userId: 42 }, "batch[0].userId must be a string"],
    ["a long id", { messageId: "x".repeat(101) }, "batch[0].messageId must not be longer"],
    ["a time in seconds", { timestamp: 1_794_648_600 }, "batch[0].timestamp must be a string"],
  ])("%s is answered with success and lost", async (_, changes, why) => {
    expect(await send([message(changes)])).toMatchObject(success);
    expect(tracker.accepted).toEqual([]);
    expect(tracker.received[0]).toMatchObject({ verdict: "rejected" });
    expect(tracker.received[0]?.reasons.join()).toContain(why);
  });

  test.each<[string, Fields, Fields, string]>([
    ["a hash where an address is expected", { context: { traits: { email: "a".repeat(64) } } }, {}, "not be hashed"],
    ["routing inside the context", { context: { integrations: {} } }, {}, "belongs at the top"],
    ["a stale time of sending", {}, { sentAt: "2026-11-14T08:00:00.000Z" }, "would be moved"],
    ["an unknown field", { gclid: "x" }, {}, "is not a known field"],
  ])("%s is accepted, and the log warns", async (_, changes, root, why) => {
    expect(await send([message(changes)], undefined, root)).toMatchObject(success);
    expect(tracker.received[0]).toMatchObject({
      verdict: "partial",
      reasons: [expect.stringContaining(why)],
    });
  });

  test.each<[string, Record<string, string>]>([
    ["a wrong key", basic("guess")],
    ["a revoked key", basic(known.revokedWriteKey)],
    ["RudderStack's key", basic(known.rudderWriteKey)],
    ["a key without its colon", basic(known.writeKey, "")],
    ["a key with a password", basic(known.writeKey, ":x")],
    ["no key", {}],
  ])("%s is answered with success and lost", async (_, headers) => {
    expect(await send([message()], headers)).toMatchObject(success);
    expect(tracker.accepted).toEqual([]);
    expect(tracker.received[0]?.verdict).toBe("rejected");
  });

  test("too many events are answered with success and lost", async () => {
    const small = { type: "track", event: "e", userId: "u" };
    expect(await send(Array.from({ length: 2501 }, () => small))).toMatchObject(success);
    expect(tracker.accepted).toEqual([]);
  });

  test("a body that is too large or no JSON is rejected", async () => {
    const large = (bytes: number) => message({ properties: { text: "x".repeat(bytes) } });
    expect((await send([large(33_000)])).status).toBe(400);
    expect((await send(Array.from({ length: 30 }, () => large(20_000)))).status).toBe(400);
    expect((await post(`${tracker.origin}/v1/track`, large(33_000), basic(known.writeKey))).status).toBe(400);
    expect((await post(`${tracker.origin}/v1/track`, "{", basic(known.writeKey))).status).toBe(400);
  });

  test("a message id is recognised for a day", async () => {
    await send([message()]);
    await send([message()]);
    advance(25 * 3_600_000);
    await send([message()], undefined, { sentAt: undefined });
    advance(-25 * 3_600_000);
    expect(tracker.accepted).toMatchObject([{ count: 3, counted: 2 }]);
  });

  test("a write key can be probed", async () => {
    expect((await get(`${tracker.origin}/v1/projects/${known.writeKey}/settings`)).status).toBe(200);
    expect((await get(`${tracker.origin}/v1/projects/guess/settings`)).status).toBe(404);
    expect(tracker.received.map(({ path }) => path)).toEqual([
      "/v1/projects/configured/settings",
      "/v1/projects/configured/settings",
    ]);
  });
});

describe("RudderStack", () => {
  const rudder = (batch: unknown, key: string) => post(`${tracker.origin}${known.rudderPath}/v1/batch`, { batch }, basic(key));

  test("RudderStack accepts the same batch and answers in plain text", async () => {
    const { status, text } = await rudder([message()], known.rudderWriteKey);
    expect([status, text]).toEqual([200, "OK"]);
    expect(tracker.accepted).toHaveLength(1);
  });

  test("a wrong write key is rejected", async () => {
    expect((await rudder([message()], known.writeKey)).status).toBe(401);
  });

  test("a batch for RudderStack may be larger than Segment's, an event may not", async () => {
    const events = Array.from({ length: 30 }, () => message({ properties: { text: "x".repeat(20_000) } }));
    expect((await rudder(events, known.rudderWriteKey)).status).toBe(200);
    const event = message({ properties: { text: "x".repeat(33_000) } });
    expect((await rudder([event], known.rudderWriteKey)).status).toBe(400);
  });

  test("a throttled response of RudderStack does not give the wait", async () => {
    tracker.fault({ kind: "throttle", retryAfterSeconds: 4 });
    const { status, headers } = await rudder([message()], known.rudderWriteKey);
    expect([status, headers.get("retry-after")]).toEqual([429, null]);
  });
});
