// Attempts with the real platforms and a sender whose answers each test sets.

import { describe, expect, test } from "vitest";
import type { PlatformRequest } from "../../platforms/platform.ts";
import { sampleConversion } from "../../platforms/shared/sample.ts";
import type { Connection, Directory } from "../../sites/directory.ts";
import type { Settlement } from "../../store/deliveries/delivery.ts";
import { leasedUntil, stateOf } from "../../../test/support/lanes.ts";
import type { Result } from "../../kernel/event.ts";
import type { Job } from "../job.ts";
import { createDeliverer, type QueuedJob } from "./deliver.ts";
import { createBreaker } from "./breaker.ts";
import { createLanes } from "./lanes.ts";
import { createQuota } from "./quota.ts";
import type { Answer } from "../send.ts";

const now = Date.UTC(2026, 10, 15, 12);
const token = "EXAMPLE-SECRET-TOKEN";
const google: Connection = {
  siteId: "s",
  id: "g",
  platform: "google_ads",
  account: "1234567890",
  settings: { customer_id: "1234567890", conversion_action: "77", access_token: token },
  events: null,
  state: "active",
  stateReason: null,
  createdAt: 0,
};

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  ok: true,
  response: { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) },
});
const accepted = answer(200, { requestId: "t-1" });
const violation = (index: number) =>
  answer(400, {
    error: {
      code: 400,
      status: "INVALID_ARGUMENT",
      message: `Bad ${token}`,
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field: `events.events[${index}].currency`, description: "bad currency" }],
        },
      ],
    },
  });

function setUp(reply: (request: PlatformRequest, call: number) => Answer, to = google) {
  const requests: PlatformRequest[] = [];
  const settled: Settlement[] = [];
  /** `set` is how far the wall clock went on while the monotonic one stood still. */
  const clock = { now, set: 0 };
  const options = {
    directory: {
      connection: () => to,
      connectionNow: async () => to,
    } as unknown as Directory,
    sender: {
      send: async (request: PlatformRequest) => {
        requests.push(request);
        return reply(request, requests.length);
      },
      close: async () => {},
    },
    settle: async (settlement: Settlement) => void settled.push(settlement),
    markForReconnection: async () => {},
    tokens: { fresh: async (connection: Connection) => connection },
    breaker: createBreaker(),
    retry: { scheduleMs: [10_000], random: () => 0.5 },
    attemptMs: 8000,
    now: () => clock.now + clock.set,
    elapsed: () => clock.now,
    onDefect: (error: unknown) => {
      throw error;
    },
  };
  return { options, requests, settled, clock };
}

const ordersIn = ({ body }: PlatformRequest) =>
  (JSON.parse(body) as { events: { transactionId: string }[] }).events.map((event) => event.transactionId);

function batchOf(count: number): { batch: QueuedJob[]; results: (Result | undefined)[] } {
  const results: (Result | undefined)[] = Array.from({ length: count }, () => undefined);
  const batch = results.map((_, i) => ({
    job: {
      siteId: "s",
      eventId: `e${i}`,
      connectionId: "g",
      conversion: sampleConversion({ platformEventId: `e${i}`, orderId: `A-${i}`, time: now - 1000 }),
      lookedAt: now,
      attemptsMade: 0,
      expiresAt: now + 86_400_000,
      ownership: leasedUntil(now + 60_000),
    },
    since: { at: now, elapsed: now },
    resolve: (result: Result) => void (results[i] ??= result),
  }));
  return { batch, results };
}

describe("a batch that is rejected for some of its events", () => {
  test("the other events of a rejected batch are sent again at once without them", async () => {
    const { options, requests, settled } = setUp((_request, call) => (call === 1 ? violation(1) : accepted));
    const { batch, results } = batchOf(4);
    await createDeliverer(options).deliver(batch);
    expect(requests.map(ordersIn)).toEqual([
      ["A-0", "A-1", "A-2", "A-3"],
      ["A-0", "A-2", "A-3"],
    ]);
    expect(results.map((one) => one && stateOf(one))).toEqual(["sent", "rejected", "sent", "sent"]);
    expect(settled).toHaveLength(4);
  });

  test("rejected events are removed from the batch one by one until the rest is accepted", async () => {
    const { options, requests } = setUp((request, call) => (call <= 3 ? violation(ordersIn(request).length - 1) : accepted));
    const { batch, results } = batchOf(5);
    await createDeliverer(options).deliver(batch);
    expect(requests.map((request) => ordersIn(request).length)).toEqual([5, 4, 3, 2]);
    expect(results.map((one) => one && stateOf(one))).toEqual(["sent", "sent", "rejected", "rejected", "rejected"]);
  });
});

describe("what changes before a call is not sent with it", () => {
  /** What becomes of `e3` may be different by the time of a second look. */
  const changes = async (jobs: readonly Job[]) => new Set(jobs.filter(({ eventId }) => eventId === "e3"));
  const changed = { status: "queued", error: "changed while it waited" };
  const withToken = { ...google, settings: { ...google.settings, refresh_token: "EXAMPLE-REFRESH" } };

  test("while a rejected batch is halved", async () => {
    const { options, requests, clock } = setUp(() => {
      clock.now += 2000;
      return answer(400, { error: { code: 400, status: "INVALID_ARGUMENT", message: "no" } });
    });
    const { batch, results } = batchOf(4);
    await createDeliverer({ ...options, recheck: changes }).deliver(batch);
    expect(requests.map(ordersIn)).toEqual([["A-0", "A-1", "A-2", "A-3"], ["A-0", "A-1"], ["A-0"], ["A-1"], ["A-2"]]);
    expect(results[3]).toMatchObject(changed);
  });

  test("while the platform rejects others of the batch", async () => {
    const { options, requests, clock } = setUp((_request, call) => {
      clock.now += 2000;
      return call === 1 ? violation(1) : accepted;
    });
    const { batch, results } = batchOf(4);
    await createDeliverer({ ...options, recheck: changes }).deliver(batch);
    expect(requests.map(ordersIn)).toEqual([
      ["A-0", "A-1", "A-2", "A-3"],
      ["A-0", "A-2"],
    ]);
    expect(results[3]).toMatchObject(changed);
  });

  test("while the token is renewed, before the call and after the platform has rejected it", async () => {
    for (const renewed of [1, 2]) {
      const reply = (_request: PlatformRequest, call: number) => (call < renewed ? answer(401, {}) : accepted);
      const { options, requests, clock } = setUp(reply, withToken);
      let renewals = 0;
      async function fresh(connection: Connection): Promise<Connection> {
        renewals += 1;
        if (renewals === renewed) clock.now += 9000;
        return { ...connection, settings: { ...connection.settings, access_token: `EXAMPLE-${renewals}` } };
      }
      const { batch, results } = batchOf(4);
      await createDeliverer({ ...options, tokens: { fresh }, recheck: changes }).deliver(batch);
      expect(requests.map((request) => ordersIn(request).length)).toEqual(renewed === 1 ? [3] : [4, 3]);
      expect(results.map((one) => one && stateOf(one))).toEqual(["sent", "sent", "sent", "queued"]);
      expect(results[3]).toMatchObject(changed);
    }
  });

  test("while the machine is suspended, so that its monotonic clock stands still", async () => {
    const { options, requests, clock } = setUp(() => accepted);
    const { batch } = batchOf(4);
    clock.set = 20_000;
    await createDeliverer({ ...options, recheck: changes }).deliver(batch);
    expect(requests.map(ordersIn)).toEqual([["A-0", "A-1", "A-2"]]);
  });

  test("while its event is accepted slowly", async () => {
    const { options, requests, clock } = setUp(() => accepted);
    const lanes = createLanes({ ...options, recheck: changes, quota: createQuota() });
    clock.now += 2000;
    await Promise.all(batchOf(4).batch.map(({ job }) => lanes.send(job)));
    await lanes.idle();
    expect(requests.flatMap(ordersIn)).not.toContain("A-3");
  });

  test("while another one is given back", async () => {
    const { options, requests, clock } = setUp(() => accepted);
    const { batch } = batchOf(4);
    let looks = 0;
    const recheck = async (jobs: readonly Job[]) => new Set(jobs.filter(({ eventId }) => eventId === `e${looks}`));
    async function settle(one: Settlement): Promise<void> {
      // The database is slow.
      if (one.attempt === null && looks++ < 2) clock.now += 5000;
    }
    clock.now += 2000;
    await createDeliverer({ ...options, settle, recheck }).deliver(batch);
    expect(requests.map(ordersIn)).toEqual([["A-3"]]);
  });
});

describe("a lease that ends while the token is renewed", () => {
  const withToken = { ...google, settings: { ...google.settings, refresh_token: "EXAMPLE-REFRESH" } };
  /** The lease of the first of three jobs ends before the others'. */
  function begin(renewalMs: number) {
    const { options, requests, settled, clock } = setUp(() => accepted, withToken);
    const { batch, results } = batchOf(3);
    for (const one of batch.slice(0, 1)) one.job.ownership = leasedUntil(now + 12_000);
    async function fresh(connection: Connection): Promise<Connection> {
      clock.now += renewalMs;
      return connection;
    }
    return { options: { ...options, tokens: { fresh } }, requests, settled, clock, batch, results };
  }

  test("nothing is written of its job, whose row this node may have claimed anew, and the others are sent", async () => {
    const { options, requests, settled, batch, results } = begin(9000);
    await createDeliverer(options).deliver(batch);
    expect(requests.map(ordersIn)).toEqual([["A-1", "A-2"]]);
    expect(settled.map(({ eventId }) => eventId)).toEqual(["e1", "e2"]);
    expect(results[0]).toMatchObject({ status: "queued", error: "lease ran out" });
  });

  test("if nothing is left to be sent, the next batch still probes a platform that was down", async () => {
    const { options, requests, settled, clock, batch } = begin(60_000);
    options.breaker.recordRetryAfter("s g", clock.now, 10);
    clock.now += 10_001;
    await createDeliverer(options).deliver(batch);
    expect([requests, settled]).toEqual([[], []]);
    const later = batchOf(1);
    for (const one of later.batch) one.job.ownership = leasedUntil(clock.now + 180_000);
    await createDeliverer(options).deliver(later.batch);
    expect(later.results[0]).toEqual({ ok: true });
  });
});

test("a job that gives up after its lease has ended leaves the row to whoever has it by then", async () => {
  const { options, settled, clock } = setUp(() => accepted);
  const deliverer = createDeliverer(options);
  const decision = { state: "queued", reason: "waiting for capacity", dueAt: now } as const;
  const [lasting, ended] = [batchOf(1), batchOf(1)];
  await deliverer.settleUntried(lasting.batch, decision);
  expect(settled).toHaveLength(1);
  clock.now += 60_000;
  await deliverer.settleUntried(ended.batch, decision);
  expect(settled).toHaveLength(1);
  expect(ended.results[0]).toMatchObject({ status: "queued", error: "waiting for capacity" });
});

test("a platform's error text never contains the token", async () => {
  const words = { error: { code: 401, status: "UNAUTHENTICATED", message: `Bad token ${token} here` } };
  const { options, settled } = setUp(() => answer(401, words));
  const { batch, results } = batchOf(1);
  await createDeliverer(options).deliver(batch);
  expect(results[0]).toMatchObject({ status: "parked", error: expect.stringContaining("Bad token") });
  expect(JSON.stringify([results, settled])).not.toContain(token);
});

describe("a platform that is down", () => {
  test("a platform that is down is called five times, then by one probe at a time, and other jobs wait untried", async () => {
    const { options, requests, settled, clock } = setUp(() => answer(503, {}));
    const attempts = createDeliverer(options);
    for (let i = 0; i < 8; i++) await attempts.deliver(batchOf(1).batch);
    expect(requests).toHaveLength(5);
    expect(settled.slice(5).map(({ attempt, state, dueAt }) => [attempt, state, dueAt])).toEqual(
      Array.from({ length: 3 }, () => [null, "queued", now + 5000]),
    );
    clock.now += 5001;
    await Promise.all([attempts.deliver(batchOf(1).batch), attempts.deliver(batchOf(1).batch)]);
    expect(requests).toHaveLength(6);
  });

  const meta = { ...google, platform: "meta", settings: { pixel_id: "1234567890123456", access_token: token } };
  const tiktok = { ...google, platform: "tiktok", settings: { pixel_code: "C4EXAMPLE", access_token: token } };
  const microsoft = { ...google, platform: "microsoft_ads", settings: { tag_id: "56000001", api_token: token } };
  const reddit = { ...google, platform: "reddit", settings: { pixel_id: "t2_example", access_token: token } };

  test.each<[string, Connection, Answer]>([
    ["Meta's application limit", meta, answer(400, { error: { code: 4, message: "limit" } })],
    ["Meta's user limit", meta, answer(403, { error: { code: 17, message: "limit" } })],
    ["Meta's limit of a business", meta, answer(400, { error: { code: 80_003, message: "limit" } })],
    ["an error that Meta calls transient", meta, answer(400, { error: { code: 999, is_transient: true } })],
    ["TikTok's limit", tiktok, answer(200, { code: 40_100, message: "Too many requests" })],
    ["an error at TikTok", tiktok, answer(200, { code: 50_002, message: "Internal" })],
    ["Reddit's limit in an answer with HTTP 200", reddit, answer(200, { error: { code: 429, message: "limit" } })],
  ])("the body of an answer can say that the platform is busy: %s", async (_what, connection, busy) => {
    const { options, requests, settled } = setUp(() => busy, connection);
    const attempts = createDeliverer(options);
    for (let i = 0; i < 8; i++) await attempts.deliver(batchOf(1).batch);
    expect(requests).toHaveLength(5);
    expect(settled.map(({ state }) => state)).toEqual(Array(8).fill("queued"));
    expect(settled.filter(({ attempt }) => attempt === null)).toHaveLength(3);
  });

  test("the wait that an answer's body asks for is kept", async () => {
    const slow = answer(400, { Errors: [{ Code: 117, ErrorCode: "CallRateExceeded", Message: "Slow down." }] });
    const { options, requests, settled } = setUp(() => slow, microsoft);
    const attempts = createDeliverer(options);
    for (let i = 0; i < 3; i++) await attempts.deliver(batchOf(1).batch);
    expect(requests).toHaveLength(1);
    expect(settled.map(({ dueAt }) => dueAt)).toEqual(Array(3).fill(now + 60_000));
  });

  test.each<[string, Connection, Answer]>([
    ["a conversion action that is not there", google, answer(404, {})],
    ["fewer events received than sent", meta, answer(200, { events_received: 0 })],
  ])("what concerns the events alone stops no others: %s", async (_what, connection, reply) => {
    const { options, requests } = setUp(() => reply, connection);
    const attempts = createDeliverer(options);
    for (let i = 0; i < 8; i++) await attempts.deliver(batchOf(1).batch);
    expect(requests).toHaveLength(8);
  });

  test.each<[string, Answer]>([
    ["429 without Retry-After", answer(429, {})],
    ["408", answer(408, {})],
    ["an answer that cannot be read", answer(200, "<html>")],
    ["no answer", { ok: false, code: "other", error: "connection refused" }],
  ])("a platform recovers after a probe that got %s", async (_what, odd) => {
    let reply = answer(429, {}, { "retry-after": "10" });
    const { options, requests, clock } = setUp(() => reply);
    const attempts = createDeliverer(options);
    await attempts.deliver(batchOf(1).batch);
    clock.now += 10_001;
    reply = odd;
    await attempts.deliver(batchOf(1).batch);
    expect(requests).toHaveLength(2);
    reply = accepted;
    clock.now += 30_000;
    const { batch, results } = batchOf(1);
    for (const one of batch) one.job.ownership = leasedUntil(clock.now + 60_000);
    await attempts.deliver(batch);
    expect(results[0]).toEqual({ ok: true });
  });

  test("a platform with Retry-After is not called again before that", async () => {
    const { options, requests, settled } = setUp(() => answer(429, {}, { "retry-after": "30" }));
    const attempts = createDeliverer(options);
    for (let i = 0; i < 3; i++) await attempts.deliver(batchOf(1).batch);
    expect(requests).toHaveLength(1);
    expect(settled.map(({ dueAt }) => dueAt)).toEqual([now + 30_000, now + 30_000, now + 30_000]);
  });
});

test("events beyond the quota wait together and leave as one batch", async () => {
  const { options, requests } = setUp(() => accepted);
  let left = 2;
  const quota = { take: () => (left-- > 0 ? 0 : left > -4 ? 5 : 0) };
  const lanes = createLanes({ ...options, quota });
  const { batch } = batchOf(12);
  const results = await Promise.all(batch.map(({ job }) => lanes.send(job)));
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(requests.length).toBeLessThan(6);
  expect(Math.max(...requests.map((request) => ordersIn(request).length))).toBeGreaterThan(5);
  await lanes.close();
});

test("a stop does not wait for quota: waiting jobs are returned, due at once", async () => {
  const { options, settled } = setUp(() => accepted);
  const lanes = createLanes({ ...options, quota: { ...createQuota(), take: () => 600_000 } });
  const { batch } = batchOf(3);
  const sending = batch.map(({ job }) => lanes.send(job));
  await lanes.close();
  expect(await Promise.all(sending)).toEqual(
    Array.from({ length: 3 }, () => ({ ok: false, status: "queued", error: "waiting for capacity" })),
  );
  expect(settled.map(({ state, dueAt, attempt }) => [state, dueAt, attempt])).toEqual(
    Array.from({ length: 3 }, () => ["queued", now, null]),
  );
});
