// A directory made by hand and a sender that answers when the test says so; the platforms are the real ones.

import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Mode } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import type { PlatformRequest } from "../platforms/platform.ts";
import { sampleConversion } from "../platforms/shared/sample.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";
import type { Outcome } from "./deliver.ts";
import { parkedReason, type Job } from "./plan.ts";
import { openBreaker } from "./breaker.ts";
import { openLanes, type LanesOptions, type Lanes } from "./lanes.ts";
import { openQuota } from "./quota.ts";
import type { Sender, Sent } from "./send.ts";

const start = Date.UTC(2026, 10, 14, 12);
const attemptMs = 8000;
const leaseMs = 30_000;

type Call = { request: PlatformRequest; to: { platform: string; customerAddress: boolean }; ids: string[] };

const http = (status: number, body = "{}", headers: Record<string, string> = {}): Sent => ({
  ok: true,
  response: { status, headers, body },
});

const connectionTo = (platform: string, changes: Partial<Connection> = {}): Connection => ({
  siteId: "site1",
  id: `to-${platform}`,
  platform,
  account: platform,
  settings: platform === "webhook" ? { url: "https://hooks.example.com/path?token=s3cret" } : {},
  events: null,
  state: "active",
  stateReason: null,
  createdAt: 0,
  ...changes,
});

/** Event ids in the order in which a request carries them, for both platforms. */
function idsOf({ body }: PlatformRequest): string[] {
  const parsed = JSON.parse(body) as {
    platformEventId?: string;
    conversions?: { platformEventId: string }[];
  };
  return parsed.conversions?.map((one) => one.platformEventId) ?? [parsed.platformEventId ?? ""];
}

type Given = Partial<
  Pick<LanesOptions, "settle" | "markForReconnection" | "retry" | "tokens" | "breaker">
> & {
  /** Answers at once; without it every call waits for `answer`. */
  reply?: (call: Call) => Sent | Promise<Sent>;
};

function setUp(connections: Connection[], given: Given = {}) {
  const known = new Map(connections.map((one) => [`${one.siteId} ${one.id}`, one]));
  const directory: Directory = {
    refresh: () => Promise.resolve(),
    follow: () => () => {},
    sites: () => [],
    site: () => undefined,
    siteOfHost: () => undefined,
    host: () => undefined,
    key: () => undefined,
    connectionNow: async (siteId, id) => directory.connection(siteId, id),
    connection: (siteId, id) => known.get(`${siteId} ${id}`),
  };
  const clock = { now: start };
  const calls: Call[] = [];
  const open: { call: Call; answer: (sent: Sent) => void }[] = [];
  const settled: Settlement[] = [];
  const defects: { error: unknown; about: Record<string, unknown> }[] = [];
  const reconnections: { connection: Connection; reason: string }[] = [];
  let maxOpen = 0;
  let underWay = 0;

  const sender: Sender = {
    async send(request, to) {
      const call = { request, to, ids: idsOf(request) };
      calls.push(call);
      underWay += 1;
      maxOpen = Math.max(maxOpen, underWay);
      try {
        if (given.reply) return await given.reply(call);
        return await new Promise<Sent>((resolve) => open.push({ call, answer: resolve }));
      } finally {
        underWay -= 1;
      }
    },
    close: () => Promise.resolve(),
  };
  const lanes = openLanes({
    directory,
    sender,
    settle: async (settlement) => {
      await given.settle?.(settlement);
      settled.push(settlement);
    },
    markForReconnection: async (connection, reason) => {
      reconnections.push({ connection, reason });
      await given.markForReconnection?.(connection, reason);
    },
    tokens: given.tokens ?? {
      fresh: async (connection, rejected) =>
        rejected === undefined ? connection : { fault: "refused", error: "cannot be renewed" },
    },
    breaker: given.breaker ?? openBreaker(),
    quota: openQuota(),
    retry: given.retry ?? { scheduleMs: [10_000, 60_000], random: () => 0.5 },
    attemptMs,
    now: () => clock.now,
    onDefect: (error, about) => defects.push({ error, about }),
  });
  return {
    lanes,
    clock,
    calls,
    settled,
    defects,
    reconnections,
    maxOpen: () => maxOpen,
    change: (connection: Connection) => known.set(`${connection.siteId} ${connection.id}`, connection),
    remove: (connection: Connection) => known.delete(`${connection.siteId} ${connection.id}`),
    /** Answers the oldest call that waits. */
    async answer(sent: Sent = http(200)) {
      const next = open.shift();
      if (!next) throw new Error("no call is waiting");
      next.answer(sent);
      await turns();
    },
    waitingCalls: () => open.length,
  };
}

/** Lets everything that is ready happen. */
const turns = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

let serial = 0;
function job(connection: Connection, changes: Partial<Job> & { mode?: Mode } = {}): Job {
  serial += 1;
  const { mode = "live", ...rest } = changes;
  const id = `event-${String(serial).padStart(4, "0")}`;
  return {
    siteId: connection.siteId,
    eventId: id,
    connectionId: connection.id,
    conversion: sampleConversion({ platformEventId: id, mode }),
    attemptsMade: 0,
    expiresAt: start + 7 * 86_400_000,
    owner: "node-a",
    leaseUntil: start + leaseMs,
    ...rest,
  };
}
const jobs = (count: number, connection: Connection, changes: Partial<Job> & { mode?: Mode } = {}) =>
  Array.from({ length: count }, () => job(connection, changes));
const ids = (some: readonly Job[]) => some.map((one) => one.eventId);
const sendAll = (lanes: Lanes, some: readonly Job[]) => some.map((one) => lanes.send(one));
const allOf = (lanes: Lanes, some: readonly Job[]) => Promise.all(sendAll(lanes, some));
const within = <T>(ms: number, work: Promise<T>) =>
  Promise.race([work, new Promise<"never">((resolve) => setTimeout(() => resolve("never"), ms).unref())]);

const sandbox = connectionTo("sandbox");
const webhook = connectionTo("webhook");
const sandboxLanes = platformOf("sandbox")?.lanes ?? 0;
const sandboxBatch = platformOf("sandbox")?.batch ?? 0;
const sent: Outcome = { state: "sent", reason: null };

/** Fills every lane of the sandbox, one conversion each. */
async function fill(relay: ReturnType<typeof setUp>): Promise<void> {
  for (const one of jobs(sandboxLanes, sandbox)) {
    void relay.lanes.send(one);
    await turns();
  }
  expect(relay.waitingCalls()).toBe(sandboxLanes);
}

// A rejection that nobody awaits ends the process in production: it fails the test that caused it.
const lost: unknown[] = [];
const note = (reason: unknown) => void lost.push(reason);
process.on("unhandledRejection", note);
afterAll(() => void process.off("unhandledRejection", note));
afterEach(async () => {
  await turns();
  expect(lost.splice(0)).toEqual([]);
});

describe("free lanes", () => {
  test("a conversion that finds a free lane goes at once", async () => {
    const relay = setUp([sandbox]);
    const first = job(sandbox);
    const outcome = relay.lanes.send(first);
    await Promise.resolve();
    expect(relay.calls.map((call) => call.ids)).toEqual([[first.eventId]]);
    await relay.answer();
    expect(await outcome).toEqual(sent);
  });

  test("those that are ready at the same moment go together", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const some = jobs(7, sandbox);
    expect(await allOf(relay.lanes, some)).toEqual(some.map(() => sent));
    expect(relay.calls.map((call) => call.ids)).toEqual([ids(some)]);
  });

  test("more than one request can carry take as many lanes as are free", async () => {
    const relay = setUp([sandbox]);
    const outcomes = sendAll(relay.lanes, jobs(sandboxBatch + 1, sandbox));
    await turns();
    expect(relay.calls.map((call) => call.ids.length)).toEqual([sandboxBatch, 1]);
    while (relay.waitingCalls()) await relay.answer();
    await Promise.all(outcomes);
  });

  test("a job that is withdrawn before it begins leaves nothing behind", async () => {
    const relay = setUp([sandbox]);
    const one = job(sandbox);
    const outcome = relay.lanes.send(one);
    expect(relay.lanes.withdraw(one)).toBe(true);
    expect((await outcome).state).toBe("queued");
    expect(await within(500, relay.lanes.idle())).toBeUndefined();
    expect(relay.calls).toEqual([]);
  });

  test("as many go side by side as there are lanes, each alone", async () => {
    const relay = setUp([sandbox]);
    const some = jobs(sandboxLanes, sandbox);
    const outcomes: Promise<Outcome>[] = [];
    for (const one of some) {
      outcomes.push(relay.lanes.send(one));
      await turns();
    }
    expect(relay.calls.map((call) => call.ids)).toEqual(some.map((one) => [one.eventId]));
    for (const _ of some) await relay.answer();
    expect(await Promise.all(outcomes)).toEqual(some.map(() => sent));
  });

  test("the platform and whether the customer chose the address reach the sender", async () => {
    const relay = setUp([sandbox, webhook], { reply: () => http(200) });
    await Promise.all([relay.lanes.send(job(sandbox)), relay.lanes.send(job(webhook))]);
    expect(relay.calls.map((call) => call.to)).toEqual([
      { platform: "sandbox", customerAddress: false },
      { platform: "webhook", customerAddress: true },
    ]);
  });

  test("a connection that hangs holds up no other, not even one to the same platform", async () => {
    const other = connectionTo("webhook", { id: "other" });
    const relay = setUp([webhook, other], {
      reply: (call) => (call.request.url.includes("other") ? http(200) : new Promise(() => {})),
    });
    relay.change({ ...other, settings: { url: "https://other.example.com/" } });
    void allOf(relay.lanes, jobs(100, webhook));
    expect(await within(500, relay.lanes.send(job(other)))).toEqual(sent);
  });

  test("connections with the same id on two sites have lanes of their own", async () => {
    const twin = { ...sandbox, siteId: "site2" };
    const relay = setUp([sandbox, twin]);
    await fill(relay);
    void relay.lanes.send(job(twin));
    await turns();
    expect(relay.waitingCalls()).toBe(sandboxLanes + 1);
  });
});

describe("busy lanes", () => {
  test("those that come meanwhile wait together and leave as one batch, oldest first", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const late = jobs(7, sandbox);
    const outcomes = sendAll(relay.lanes, late);
    await turns();
    expect(relay.calls).toHaveLength(sandboxLanes);
    await relay.answer();
    expect(relay.calls.at(-1)?.ids).toEqual(ids(late));
    while (relay.waitingCalls()) await relay.answer();
    expect(await Promise.all(outcomes)).toEqual(late.map(() => sent));
    expect(relay.calls).toHaveLength(sandboxLanes + 1);
  });

  test("a batch is never larger than the platform takes", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const late = jobs(sandboxBatch * 2 + 5, sandbox);
    const outcomes = sendAll(relay.lanes, late);
    while (relay.waitingCalls()) await relay.answer();
    await Promise.all(outcomes);
    const sizes = relay.calls.slice(sandboxLanes).map((call) => call.ids.length);
    expect(sizes).toEqual([sandboxBatch, sandboxBatch, 5]);
    expect(relay.calls.slice(sandboxLanes).flatMap((call) => call.ids)).toEqual(ids(late));
  });

  test("a platform that takes one at a time gets one at a time", async () => {
    const relay = setUp([webhook], { reply: async () => (await turns(), http(200)) });
    const many = jobs(100, webhook);
    await Promise.all(sendAll(relay.lanes, many));
    expect(relay.calls.every((call) => call.ids.length === 1)).toBe(true);
    expect(relay.calls.flatMap((call) => call.ids).toSorted()).toEqual(ids(many));
  });

  test.each([
    ["sandbox", 600, 2, 40],
    ["webhook", 300, 50, 4],
  ])(
    "%s never has more requests under way than lanes, whatever arrives",
    async (platform, count, atOnce, slowest) => {
      const connection = connectionTo(platform);
      const relay = setUp([connection], {
        reply: async () => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * slowest));
          return http(Math.random() < 0.3 ? 503 : Math.random() < 0.1 ? 400 : 200);
        },
      });
      const outcomes: Promise<Outcome>[] = [];
      for (let left = count; left > 0; left -= atOnce) {
        outcomes.push(...sendAll(relay.lanes, jobs(atOnce, connection)));
        await turns();
      }
      await Promise.all(outcomes);
      await relay.lanes.idle();
      expect(relay.maxOpen()).toBe(platformOf(platform)?.lanes);
      expect(relay.settled).toHaveLength(count);
      expect(new Set(relay.settled.map((one) => one.eventId)).size).toBe(count);
    },
  );

  test("test and live events never share a request", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const mixed = Array.from({ length: 10 }, (_, i) => job(sandbox, { mode: i % 3 === 0 ? "test" : "live" }));
    const outcomes = sendAll(relay.lanes, mixed);
    while (relay.waitingCalls()) await relay.answer();
    expect(await Promise.all(outcomes)).toEqual(mixed.map(() => sent));
    const byMode = (mode: Mode) => ids(mixed.filter((one) => one.conversion.mode === mode));
    expect(relay.calls.slice(sandboxLanes).map((call) => call.ids)).toEqual([byMode("test"), byMode("live")]);
  });

  test("room shrinks with what waits and is under way, and comes back", async () => {
    const relay = setUp([sandbox]);
    const whole = sandboxLanes * sandboxBatch;
    expect(relay.lanes.capacity(sandbox)).toBe(whole);
    await fill(relay);
    const outcomes = sendAll(relay.lanes, jobs(10, sandbox));
    expect(relay.lanes.capacity(sandbox)).toBe(whole - sandboxLanes - 10);
    while (relay.waitingCalls()) await relay.answer();
    await Promise.all(outcomes);
    await relay.lanes.idle();
    expect(relay.lanes.capacity(sandbox)).toBe(whole);
    void allOf(relay.lanes, jobs(whole + 50, sandbox));
    expect(relay.lanes.capacity(sandbox)).toBe(0);
  });
});

describe("the settlement", () => {
  test("a success is written whole: state, attempt and what the log shows", async () => {
    const relay = setUp([webhook], {
      reply: () => {
        relay.clock.now += 120;
        return http(200, '{"fine":true}');
      },
    });
    const one = job(webhook, { attemptsMade: 2 });
    expect(await relay.lanes.send(one)).toEqual(sent);
    expect(relay.settled).toEqual([
      {
        siteId: "site1",
        eventId: one.eventId,
        connectionId: "to-webhook",
        owner: "node-a",
        state: "sent",
        reason: null,
        dueAt: 0,
        attempts: 3,
        at: start + 120,
        attempt: {
          number: 3,
          startedAt: start,
          durationMs: 120,
          state: "sent",
          reason: null,
          httpStatus: 200,
          batch: 1,
          request: `POST https://hooks.example.com/…\n\n${relay.calls[0]?.request.body}`,
          response: '{"fine":true}',
        },
      },
    ]);
  });

  test("the outcome is given only after it is durable", async () => {
    const written = Promise.withResolvers<void>();
    const relay = setUp([sandbox], { reply: () => http(200), settle: () => written.promise });
    const outcome = relay.lanes.send(job(sandbox));
    expect(await within(30, outcome)).toBe("never");
    written.resolve();
    expect(await outcome).toEqual(sent);
  });

  test("a settlement that cannot be written is a defect, and the lanes go on", async () => {
    let broken = true;
    const relay = setUp([sandbox], {
      reply: () => http(200),
      settle: () => (broken ? Promise.reject(new Error("disk full")) : Promise.resolve()),
    });
    const first = job(sandbox);
    expect(await relay.lanes.send(first)).toEqual(sent);
    expect(relay.defects).toEqual([
      { error: new Error("disk full"), about: { event: first.eventId, connection: sandbox.id } },
    ]);
    broken = false;
    expect(await relay.lanes.send(job(sandbox))).toEqual(sent);
    expect(relay.settled).toHaveLength(1);
    expect(await within(500, relay.lanes.idle())).not.toBe("never");
  });

  test("later is queued until its due time, honouring Retry-After", async () => {
    const relay = setUp([sandbox], { reply: () => http(429, "{}", { "retry-after": "3600" }) });
    expect(await relay.lanes.send(job(sandbox))).toEqual({ state: "queued", reason: "HTTP 429" });
    expect(relay.settled[0]).toMatchObject({ state: "queued", dueAt: start + 3_600_000, attempts: 1 });
  });

  test("a network failure is queued by the schedule, with the number of attempts", async () => {
    const relay = setUp([sandbox], {
      reply: () => ({ ok: false, blocked: false, error: "connection reset" }),
    });
    expect(await relay.lanes.send(job(sandbox, { attemptsMade: 1 }))).toEqual({
      state: "queued",
      reason: "connection reset",
    });
    expect(relay.settled[0]).toMatchObject({
      dueAt: start + 60_000,
      attempts: 2,
      attempt: { number: 2, httpStatus: null, response: null, state: "queued" },
    });
  });

  test("a retry past the age limit ends as expired", async () => {
    const relay = setUp([sandbox], { reply: () => http(503) });
    const outcome = await relay.lanes.send(job(sandbox, { expiresAt: start + 5000 }));
    expect(outcome.state).toBe("expired");
    expect(relay.settled[0]).toMatchObject({ state: "expired", dueAt: 0 });
  });

  test("an address that is not allowed is rejected: trying again would not help", async () => {
    const relay = setUp([webhook], { reply: () => ({ ok: false, blocked: true, error: "the address …" }) });
    expect(await relay.lanes.send(job(webhook))).toEqual({ state: "rejected", reason: "the address …" });
    expect(relay.settled[0]?.attempt).toMatchObject({ number: 1, httpStatus: null });
  });

  test("the log is bounded, and holds nothing that a database refuses", async () => {
    const body = `\0\ud800${"x".repeat(100_000)}`;
    const relay = setUp([webhook], { reply: () => http(200, body) });
    const long = job(webhook);
    long.conversion = { ...long.conversion, name: "n".repeat(10_000) };
    await relay.lanes.send(long);
    const { request = "", response } = relay.settled[0]?.attempt ?? {};
    expect(request.length).toBeLessThanOrEqual(4096);
    expect(response?.length).toBeLessThanOrEqual(2048);
    expect(response).not.toContain("\0");
    expect(response?.isWellFormed()).toBe(true);
  });

  test("the log shows neither the secret part of an address nor any header", async () => {
    const settings = {
      url: "https://hooks.example.com/s3cret-path?token=s3cret-query",
      headers: '{"Authorization":"Bearer s3cret-header"}',
    };
    const relay = setUp([{ ...webhook, settings }], { reply: () => http(500) });
    await relay.lanes.send(job(webhook));
    expect(relay.calls[0]?.request.headers.authorization).toBe("Bearer s3cret-header");
    expect(JSON.stringify(relay.settled)).not.toContain("s3cret");
  });

  test("a secret that the endpoint echoes in its answer is not kept", async () => {
    const settings = { ...webhook.settings, headers: '{"Authorization":"Bearer s3cret-header"}' };
    const relay = setUp([{ ...webhook, settings }], {
      reply: ({ request }) => http(200, JSON.stringify({ headers: request.headers })),
    });
    await relay.lanes.send(job(webhook));
    expect(JSON.stringify(relay.settled)).not.toContain("s3cret-header");
  });
});

/** Sends `count` conversions as one batch to a platform that refuses any request with a bad one in it. */
async function refusing(count: number, isBad: (index: number) => boolean) {
  const batch = jobs(count, sandbox);
  const bad = new Set(ids(batch.filter((_, i) => isBad(i))));
  const relay = setUp([sandbox], {
    reply: (call) => http(call.ids.some((id) => bad.has(id)) ? 400 : 200),
  });
  const found = await allOf(relay.lanes, batch);
  await relay.lanes.idle();
  return { relay, batch, bad, found, calls: relay.calls };
}

describe("a batch that is refused whole", () => {
  test.each([2, 3, 7, 50, 100])("of %d, the bad one is found and the others are sent", async (count) => {
    for (const at of new Set([0, Math.floor(count / 2), count - 1])) {
      const { relay, batch, found, calls } = await refusing(count, (i) => i === at);
      expect(calls[0]?.ids).toEqual(ids(batch));
      expect(found.map((outcome) => outcome.state)).toEqual(
        batch.map((_, i) => (i === at ? "rejected" : "sent")),
      );
      expect(found[at]?.reason).toBe("HTTP 400");
      // Halving: two requests for each level, not one for each conversion.
      expect(calls.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(count)));
      expect(relay.settled.filter((one) => ids(batch).includes(one.eventId))).toHaveLength(count);
    }
  });

  test("several bad ones are all found", async () => {
    const { batch, bad, found } = await refusing(40, (i) => i % 9 === 4);
    expect(found.map((outcome) => outcome.state === "rejected")).toEqual(
      batch.map((one) => bad.has(one.eventId)),
    );
  });

  test("when every one is bad, every one is rejected and none is lost", async () => {
    const { found, calls } = await refusing(8, () => true);
    expect(found.map((outcome) => outcome.state)).toEqual(Array(8).fill("rejected"));
    expect(calls).toHaveLength(15);
  });

  test("nothing is sent again that was accepted", async () => {
    const { batch, bad, calls } = await refusing(33, (i) => i === 20);
    const accepted = calls.filter((call) => !call.ids.some((id) => bad.has(id))).flatMap((call) => call.ids);
    expect(accepted.toSorted()).toEqual(ids(batch).filter((id) => !bad.has(id)));
  });

  test("halving is one attempt for each conversion in the log, with the size of its own request", async () => {
    const { relay, batch, calls } = await refusing(4, (i) => i === 3);
    expect(calls.map((call) => call.ids.length)).toEqual([4, 2, 2, 1, 1]);
    const attempts = batch.map(
      (one) => relay.settled.find((settlement) => settlement.eventId === one.eventId)?.attempt,
    );
    expect(attempts.map((attempt) => [attempt?.number, attempt?.batch])).toEqual([
      [1, 2],
      [1, 2],
      [1, 1],
      [1, 1],
    ]);
  });

  test("halving stops when the lease has run out: another node may be sending the rest by then", async () => {
    const relay = setUp([sandbox], {
      reply: () => {
        relay.clock.now += 5000;
        return http(400);
      },
    });
    await allOf(relay.lanes, jobs(16, sandbox));
    expect(relay.calls.length).toBeGreaterThan(1);
    const latest = start + leaseMs - attemptMs;
    expect(relay.settled.filter((one) => one.attempt && one.attempt.startedAt > latest)).toEqual([]);
  });

  test("a passing fault of the whole batch is not halved: all of it is tried again later", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const outcomes = sendAll(relay.lanes, jobs(10, sandbox));
    await relay.answer();
    while (relay.waitingCalls()) await relay.answer(http(503));
    expect((await Promise.all(outcomes)).map((one) => one.state)).toEqual(Array(10).fill("queued"));
    expect(relay.calls).toHaveLength(sandboxLanes + 1);
  });
});

describe("withdrawing", () => {
  test("a job that waits is given back, due at once and untried", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const waiting = job(sandbox, { attemptsMade: 3 });
    const outcome = relay.lanes.send(waiting);
    relay.clock.now += 500;
    expect(relay.lanes.withdraw(waiting)).toBe(true);
    expect((await outcome).state).toBe("queued");
    expect(relay.settled).toMatchObject([
      { eventId: waiting.eventId, state: "queued", dueAt: start + 500, attempts: 3, attempt: null },
    ]);
    while (relay.waitingCalls()) await relay.answer();
    expect(relay.calls.flatMap((call) => call.ids)).not.toContain(waiting.eventId);
  });

  test("a job can be withdrawn once, and its neighbours stay", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const [a, b, c] = jobs(3, sandbox) as [Job, Job, Job];
    void allOf(relay.lanes, [a, b, c]);
    expect(relay.lanes.withdraw(b)).toBe(true);
    expect(relay.lanes.withdraw(b)).toBe(false);
    await relay.answer();
    expect(relay.calls.at(-1)?.ids).toEqual(ids([a, c]));
  });

  test("a job that is under way is not given back, and its outcome still comes", async () => {
    const relay = setUp([sandbox]);
    const one = job(sandbox);
    const outcome = relay.lanes.send(one);
    await turns();
    expect(relay.lanes.withdraw(one)).toBe(false);
    await relay.answer();
    expect(await outcome).toEqual(sent);
    expect(relay.settled).toHaveLength(1);
  });

  test("withdrawing what is done or was never there changes nothing, and the relay can still stop", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const one = job(sandbox);
    await relay.lanes.send(one);
    await relay.lanes.idle();
    expect(relay.lanes.withdraw(one)).toBe(false);
    expect(relay.lanes.withdraw(job(webhook))).toBe(false);
    expect(await within(200, relay.lanes.idle())).not.toBe("never");
  });
});

describe("leases", () => {
  test("a job whose lease has run out is not sent and not settled: another node has it", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const outcome = await relay.lanes.send(job(sandbox, { leaseUntil: start - 1 }));
    expect(outcome).toEqual({ state: "queued", reason: "lease ran out" });
    expect(relay.calls).toEqual([]);
    expect(relay.settled).toEqual([]);
  });

  test("a lease that could end during the attempt counts as run out", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    expect((await relay.lanes.send(job(sandbox, { leaseUntil: start + attemptMs }))).state).toBe("queued");
    expect(relay.calls).toEqual([]);
    expect(await relay.lanes.send(job(sandbox, { leaseUntil: start + attemptMs + 1 }))).toEqual(sent);
  });

  test("of a batch only those leave whose lease still holds", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const old = jobs(2, sandbox, { leaseUntil: start + 12_000 });
    const fresh = jobs(2, sandbox, { leaseUntil: start + 60_000 });
    const outcomes = sendAll(relay.lanes, [old[0], fresh[0], old[1], fresh[1]] as Job[]);
    relay.clock.now += 5000;
    await relay.answer();
    expect(relay.calls.at(-1)?.ids).toEqual(ids(fresh));
    while (relay.waitingCalls()) await relay.answer();
    expect((await Promise.all(outcomes)).map((one) => one.state)).toEqual([
      "queued",
      "sent",
      "queued",
      "sent",
    ]);
  });
});

describe("the connection's state", () => {
  test("unauthorised parks the delivery and asks for reconnection", async () => {
    const relay = setUp([sandbox], { reply: () => http(401) });
    expect(await relay.lanes.send(job(sandbox))).toEqual({
      state: "parked",
      reason: "needs reconnection: HTTP 401: not authorised",
    });
    expect(relay.reconnections).toEqual([{ connection: sandbox, reason: "HTTP 401: not authorised" }]);
    expect(relay.settled[0]).toMatchObject({ state: "parked", attempts: 1, attempt: { httpStatus: 401 } });
  });

  test("those that waited behind an unauthorised one are parked without another request", async () => {
    const relay = setUp([sandbox], {
      markForReconnection: async (connection, reason) => {
        relay.change({ ...connection, state: "needs reconnection", stateReason: reason });
      },
    });
    await fill(relay);
    const late = sendAll(relay.lanes, jobs(5, sandbox));
    await relay.answer(http(403));
    expect(await Promise.all(late)).toEqual(
      late.map(() => ({ state: "parked", reason: "needs reconnection: HTTP 403: not authorised" })),
    );
    expect(relay.calls).toHaveLength(sandboxLanes);
    expect(relay.settled.filter((one) => one.attempt === null)).toHaveLength(5);
  });

  test("a reconnection note that cannot be written is a defect and not a lost delivery", async () => {
    const relay = setUp([sandbox], {
      reply: () => http(401),
      markForReconnection: () => Promise.reject(new Error("store is gone")),
    });
    expect((await relay.lanes.send(job(sandbox))).state).toBe("parked");
    expect(relay.defects.map((one) => one.error)).toEqual([new Error("store is gone")]);
  });

  test("a connection that is gone skips what is left for it", async () => {
    const relay = setUp([sandbox]);
    relay.remove(sandbox);
    expect(await relay.lanes.send(job(sandbox, { attemptsMade: 2 }))).toEqual({
      state: "skipped",
      reason: "disconnected",
    });
    expect(relay.calls).toEqual([]);
    expect(relay.settled).toMatchObject([{ state: "skipped", attempts: 2, attempt: null }]);
  });

  test("a connection that goes while conversions wait skips them, many or few", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const late = sendAll(relay.lanes, jobs(30, sandbox));
    relay.remove(sandbox);
    while (relay.waitingCalls()) await relay.answer();
    expect((await Promise.all(late)).map((one) => one.state)).toEqual(Array(30).fill("skipped"));
    expect(relay.calls).toHaveLength(sandboxLanes);
  });

  test("a paused connection parks what comes for it, untried", async () => {
    const paused = { ...sandbox, state: "paused" as const };
    const relay = setUp([paused]);
    expect(await relay.lanes.send(job(sandbox))).toEqual({ state: "parked", reason: "paused" });
    expect(relay.calls).toEqual([]);
  });

  test("a platform that this version does not know is treated as gone", async () => {
    const strange = connectionTo("from_the_future");
    const relay = setUp([strange]);
    expect((await relay.lanes.send(job(strange))).state).toBe("skipped");
    expect(relay.lanes.capacity(strange)).toBe(1);
  });

  test("new settings serve from the next request on", async () => {
    const relay = setUp([webhook], { reply: () => http(200) });
    await relay.lanes.send(job(webhook));
    relay.change({ ...webhook, settings: { url: "https://new.example.com/" } });
    await relay.lanes.send(job(webhook));
    expect(relay.calls.map((call) => new URL(call.request.url).host)).toEqual([
      "hooks.example.com",
      "new.example.com",
    ]);
  });

  test.each([
    [{ state: "paused", stateReason: null }, "paused"],
    [{ state: "needs reconnection", stateReason: "HTTP 401" }, "needs reconnection: HTTP 401"],
    [{ state: "needs reconnection", stateReason: null }, "needs reconnection"],
  ] as const)("%j reads as %s", (state, words) => {
    expect(parkedReason({ ...sandbox, ...state })).toBe(words);
  });
});

describe("defects", () => {
  test("a request that cannot be built is a rejected delivery and a reported defect", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const broken = job(sandbox);
    broken.conversion = { ...broken.conversion, time: Number.NaN };
    expect(await relay.lanes.send(broken)).toEqual({
      state: "rejected",
      reason: "internal error of the relay",
    });
    expect(relay.defects).toMatchObject([{ about: { platform: "sandbox", connection: sandbox.id } }]);
    expect(relay.calls).toEqual([]);
    expect(relay.settled[0]).toMatchObject({
      state: "rejected",
      attempt: { httpStatus: null, response: null },
    });
  });

  test("of a batch, only the conversion that cannot be built is rejected", async () => {
    const relay = setUp([sandbox]);
    await fill(relay);
    const batch = jobs(6, sandbox);
    const broken = batch[4] as Job;
    broken.conversion = { ...broken.conversion, time: Number.NaN };
    const outcomes = sendAll(relay.lanes, batch);
    while (relay.waitingCalls()) await relay.answer();
    expect((await Promise.all(outcomes)).map((one) => one.state)).toEqual(
      batch.map((one) => (one === broken ? "rejected" : "sent")),
    );
  });

  test("an answer that cannot be read is a rejected delivery and a reported defect", async () => {
    const settings = { ...webhook.settings, success: "not a rule" };
    const relay = setUp([{ ...webhook, settings }], { reply: () => http(200) });
    expect(await relay.lanes.send(job(webhook))).toEqual({
      state: "rejected",
      reason: "internal error of the relay",
    });
    expect(relay.defects).toHaveLength(1);
  });

  test("a sender that throws is a rejected delivery and a reported defect", async () => {
    const relay = setUp([sandbox], { reply: () => Promise.reject(new Error("broken")) });
    expect((await relay.lanes.send(job(sandbox))).state).toBe("rejected");
    expect(relay.defects.map((one) => one.error)).toEqual([new Error("broken")]);
  });

  test("an address that is none is a rejected delivery, and its lane stays usable", async () => {
    const relay = setUp([{ ...webhook, settings: {} }], {
      reply: ({ request }) =>
        URL.canParse(request.url) ? http(200) : Promise.reject(new Error("Invalid URL")),
    });
    const outcome = await within(300, relay.lanes.send(job(webhook)));
    const idle = await within(300, relay.lanes.idle());
    expect({ outcome, idle, lost: lost.splice(0).length }).toEqual({
      outcome: { state: "rejected", reason: "internal error of the relay" },
      idle: undefined,
      lost: 0,
    });
  });

  test("after a defect the lanes go on", async () => {
    let broken = true;
    const relay = setUp([sandbox], {
      reply: () => (broken ? Promise.reject(new Error("broken")) : http(200)),
    });
    await Promise.all(sendAll(relay.lanes, jobs(20, sandbox)));
    broken = false;
    expect(await relay.lanes.send(job(sandbox))).toEqual(sent);
    expect(relay.lanes.capacity(sandbox)).toBeGreaterThan(0);
  });
});

describe("idle", () => {
  test("resolves at once when nothing was ever sent", async () => {
    expect(await within(200, setUp([sandbox]).lanes.idle())).not.toBe("never");
  });

  test("waits for what is under way and for what waits, of every connection", async () => {
    const relay = setUp([sandbox, webhook]);
    await fill(relay);
    void allOf(relay.lanes, [...jobs(3, sandbox), job(webhook)]);
    let idle = false;
    const all = Promise.all([relay.lanes.idle(), relay.lanes.idle()]).then(() => (idle = true));
    while (relay.waitingCalls()) {
      expect(idle).toBe(false);
      await relay.answer();
    }
    await all;
    expect(relay.settled).toHaveLength(sandboxLanes + 4);
  });

  test("waits for the settlement too", async () => {
    const written = Promise.withResolvers<void>();
    const relay = setUp([sandbox], { reply: () => http(200), settle: () => written.promise });
    void relay.lanes.send(job(sandbox));
    await turns();
    const idle = relay.lanes.idle();
    expect(await within(30, idle)).toBe("never");
    written.resolve();
    expect(await within(200, idle)).not.toBe("never");
  });

  test("waits for the settlement of a withdrawn job: the store is closed after it", async () => {
    const writes: (() => void)[] = [];
    const relay = setUp([sandbox], {
      settle: ({ attempt }) =>
        attempt ? Promise.resolve() : new Promise((resolve) => writes.push(() => resolve())),
    });
    await fill(relay);
    const waiting = job(sandbox);
    void relay.lanes.send(waiting);
    relay.lanes.withdraw(waiting);
    while (relay.waitingCalls()) await relay.answer();
    const idle = relay.lanes.idle();
    expect(await within(30, idle)).toBe("never");
    for (const write of writes) write();
    expect(await within(200, idle)).not.toBe("never");
  });

  test("can be asked again after new work", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    for (let i = 0; i < 3; i++) {
      void relay.lanes.send(job(sandbox));
      expect(await within(200, relay.lanes.idle())).not.toBe("never");
      expect(relay.settled).toHaveLength(i + 1);
    }
  });
});
