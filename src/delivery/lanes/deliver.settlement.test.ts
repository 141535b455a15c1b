// Each result is settled once, with what the sync log shows of it; defects are reported and cost no other delivery.

import { describe, expect, test } from "vitest";
import {
  connectionTo,
  failOnUnhandledRejections,
  fillLanes,
  http,
  job,
  jobs,
  sandbox,
  sendAll,
  sent,
  leasedUntil,
  setUp,
  stateOf,
  start,
  webhook,
  within,
} from "../../../test/support/lanes.ts";
import type { Settlement } from "../../store/deliveries/delivery.ts";
import type { OpenEvent } from "../ownership.ts";
import type { Job } from "../job.ts";

const unhandled = failOnUnhandledRejections();

describe("the settlement", () => {
  test("a success is settled with its state, its attempt and the log texts", async () => {
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

  test("a retry is due by the clock that all nodes share, whatever the node's own shows", async () => {
    const relay = setUp([webhook], {
      reply: () => http(503),
      clock: { fromLocal: (at) => at - 3_600_000 },
    });
    relay.clock.set = 3_600_000;
    await relay.lanes.send(job(webhook, { ownership: leasedUntil(start + 7_200_000) }));
    expect(relay.settled).toMatchObject([{ state: "queued", dueAt: start + 10_000, at: start }]);
  });

  test("an result is reported only after it is durable", async () => {
    const written = Promise.withResolvers<void>();
    const relay = setUp([sandbox], { reply: () => http(200), settle: () => written.promise });
    const result = relay.lanes.send(job(sandbox));
    expect(await within(30, result)).toBe("never");
    written.resolve();
    expect(await result).toEqual(sent);
  });

  test("a settlement that cannot be written is reported as a defect, and the lanes go on", async () => {
    let broken = true;
    const relay = setUp([sandbox], {
      reply: () => http(200),
      settle: () => (broken ? Promise.reject(new Error("disk full")) : Promise.resolve()),
    });
    const first = job(sandbox);
    expect(await relay.lanes.send(first)).toEqual(sent);
    expect(relay.defects).toEqual([{ error: new Error("disk full"), about: { event: first.eventId, connection: sandbox.id } }]);
    broken = false;
    expect(await relay.lanes.send(job(sandbox))).toEqual(sent);
    expect(relay.settled).toHaveLength(1);
    expect(await within(500, relay.lanes.idle())).not.toBe("never");
  });

  test("a rate-limited delivery is queued until Retry-After has passed", async () => {
    const relay = setUp([sandbox], { reply: () => http(429, "{}", { "retry-after": "3600" }) });
    expect(await relay.lanes.send(job(sandbox))).toEqual({ ok: false, status: "queued", error: "HTTP 429" });
    expect(relay.settled[0]).toMatchObject({ state: "queued", dueAt: start + 3_600_000, attempts: 1 });
  });

  test("after a network failure a delivery is queued by the retry schedule and counts the attempt", async () => {
    const relay = setUp([sandbox], {
      reply: () => ({ ok: false, code: "other", error: "connection reset" }),
    });
    expect(await relay.lanes.send(job(sandbox, { attemptsMade: 1 }))).toEqual({
      ok: false,
      status: "queued",
      error: "connection reset",
    });
    expect(relay.settled[0]).toMatchObject({
      dueAt: start + 60_000,
      attempts: 2,
      attempt: { number: 2, httpStatus: null, response: null, state: "queued" },
    });
  });

  test("a delivery whose retry would be past the age limit expires", async () => {
    const relay = setUp([sandbox], { reply: () => http(503) });
    const result = await relay.lanes.send(job(sandbox, { expiresAt: start + 5000 }));
    expect(result).toMatchObject({ status: "expired" });
    expect(relay.settled[0]).toMatchObject({ state: "expired", dueAt: 0 });
  });

  test("a delivery to an address that is not allowed is rejected and not retried", async () => {
    const relay = setUp([webhook], { reply: () => ({ ok: false, code: "blocked", error: "the address …" }) });
    expect(await relay.lanes.send(job(webhook))).toEqual({ ok: false, status: "rejected", error: "the address …" });
    expect(relay.settled[0]?.attempt).toMatchObject({ number: 1, httpStatus: null });
  });

  test("the log texts are bounded and contain only characters that PostgreSQL stores", async () => {
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

  test("a secret that the endpoint echoes in its answer is not stored", async () => {
    const settings = { ...webhook.settings, headers: '{"Authorization":"Bearer s3cret-header"}' };
    const relay = setUp([{ ...webhook, settings }], {
      reply: ({ request }) => http(200, JSON.stringify({ headers: request.headers })),
    });
    await relay.lanes.send(job(webhook));
    expect(JSON.stringify(relay.settled)).not.toContain("s3cret-header");
  });
});

describe("defects", () => {
  test("a request that cannot be built rejects the delivery and is reported as a defect", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const broken = job(sandbox);
    broken.conversion = { ...broken.conversion, time: Number.NaN };
    expect(await relay.lanes.send(broken)).toEqual({ ok: false, status: "rejected", error: "internal error of the relay" });
    expect(relay.defects).toMatchObject([{ about: { platform: "sandbox", connection: sandbox.id } }]);
    expect(relay.calls).toEqual([]);
    expect(relay.settled[0]).toMatchObject({
      state: "rejected",
      attempt: { httpStatus: null, response: null },
    });
  });

  test("a conversion for which no batch can be chosen is rejected, and those behind it are sent", async () => {
    const linkedin = connectionTo("linkedin");
    const relay = setUp([linkedin], { reply: () => http(200) });
    const broken = job(linkedin);
    broken.conversion = { ...broken.conversion, name: null as never };
    const results = await Promise.all(sendAll(relay.lanes, [broken, job(linkedin)]));
    expect(results[0]).toMatchObject({ status: "rejected", error: "internal error of the relay" });
    expect(results[1]).not.toMatchObject({ error: "internal error of the relay" });
    await relay.lanes.idle();
  });

  test("only the conversion of a batch that cannot be built is rejected", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const batch = jobs(6, sandbox);
    const broken = batch[4] as Job;
    broken.conversion = { ...broken.conversion, time: Number.NaN };
    const results = sendAll(relay.lanes, batch);
    while (relay.openCalls()) await relay.answer();
    expect((await Promise.all(results)).map(stateOf)).toEqual(batch.map((one) => (one === broken ? "rejected" : "sent")));
  });

  test("an answer that cannot be read rejects the delivery and is reported as a defect", async () => {
    const settings = { ...webhook.settings, success: "not a rule" };
    const relay = setUp([{ ...webhook, settings }], { reply: () => http(200) });
    expect(await relay.lanes.send(job(webhook))).toEqual({ ok: false, status: "rejected", error: "internal error of the relay" });
    expect(relay.defects).toHaveLength(1);
  });

  test("a sender that throws rejects the delivery and is reported as a defect", async () => {
    const relay = setUp([sandbox], { reply: () => Promise.reject(new Error("broken")) });
    expect(await relay.lanes.send(job(sandbox))).toMatchObject({ status: "rejected" });
    expect(relay.defects.map((one) => one.error)).toEqual([new Error("broken")]);
  });

  test("an invalid address rejects the delivery, and its lane stays usable", async () => {
    const relay = setUp([{ ...webhook, settings: {} }], {
      reply: ({ request }) => (URL.canParse(request.url) ? http(200) : Promise.reject(new Error("Invalid URL"))),
    });
    const result = await within(300, relay.lanes.send(job(webhook)));
    const idle = await within(300, relay.lanes.idle());
    expect({ result, idle, unhandled: unhandled.splice(0).length }).toEqual({
      result: { ok: false, status: "rejected", error: "internal error of the relay" },
      idle: undefined,
      unhandled: 0,
    });
  });

  test("the lanes go on after a defect", async () => {
    let broken = true;
    const relay = setUp([sandbox], {
      reply: () => (broken ? Promise.reject(new Error("broken")) : http(200)),
    });
    await Promise.all(sendAll(relay.lanes, jobs(20, sandbox)));
    broken = false;
    expect(await relay.lanes.send(job(sandbox))).toEqual(sent);
    expect(relay.lanes.capacity(sandbox)).toBeGreaterThan(0);
  });

  test("a first attempt that ends in an error of the store is queued: no lease of its own would run out", async () => {
    const relay = setUp([{ ...webhook, state: "paused" }], {
      connectionNow: () => Promise.reject(new Error("the store is down")),
    });
    const settled: Settlement[] = [];
    const openEvent: OpenEvent = {
      settle: async (settlement) => void settled.push(settlement),
      close: () => {},
      abandon: () => {},
      leaseLeftMs: () => Infinity,
    };
    const one = job(webhook, { ownership: { by: "node", owner: "node-a", at: start, event: openEvent } });
    expect(await relay.lanes.send(one)).toMatchObject({ status: "queued" });
    expect(settled).toMatchObject([{ eventId: one.eventId, state: "queued", dueAt: start + 10_000 }]);
    expect(relay.defects.map(({ error }) => error)).toEqual([new Error("the store is down")]);
  });
});
