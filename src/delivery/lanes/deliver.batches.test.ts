// A batch that a platform rejects whole, and batches whose leases run out.

import { describe, expect, test } from "vitest";
import {
  allOf,
  attemptMs,
  failOnUnhandledRejections,
  fillLanes,
  http,
  ids,
  job,
  jobs,
  leaseMs,
  sandbox,
  sandboxLanes,
  sendAll,
  sent,
  leasedUntil,
  setUp,
  stateOf,
  start,
} from "../../../test/support/lanes.ts";
import { tickMs } from "../../kernel/coarseTimers.ts";
import type { Job } from "../job.ts";

failOnUnhandledRejections();

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

describe("a batch that is rejected whole", () => {
  test.each([2, 3, 7, 50, 100])("of a batch of %d, the rejected conversion is found and the others are sent", async (count) => {
    for (const at of new Set([0, Math.floor(count / 2), count - 1])) {
      const { relay, batch, found, calls } = await refusing(count, (i) => i === at);
      expect(calls[0]?.ids).toEqual(ids(batch));
      expect(found.map(stateOf)).toEqual(batch.map((_, i) => (i === at ? "rejected" : "sent")));
      expect(found[at]).toMatchObject({ error: "HTTP 400" });
      // Halving: two requests for each level, not one for each conversion.
      expect(calls.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(count)));
      expect(relay.settled.filter((one) => ids(batch).includes(one.eventId))).toHaveLength(count);
    }
  });

  test("several rejected conversions of a batch are all found", async () => {
    const { batch, bad, found } = await refusing(40, (i) => i % 9 === 4);
    expect(found.map((result) => stateOf(result) === "rejected")).toEqual(batch.map((one) => bad.has(one.eventId)));
  });

  test("when the platform rejects every conversion, each is settled as rejected", async () => {
    const { found, calls } = await refusing(8, () => true);
    expect(found.map(stateOf)).toEqual(Array(8).fill("rejected"));
    expect(calls).toHaveLength(15);
  });

  test("halving a rejected batch sends no accepted conversion again", async () => {
    const { batch, bad, calls } = await refusing(33, (i) => i === 20);
    const accepted = calls.filter((call) => !call.ids.some((id) => bad.has(id))).flatMap((call) => call.ids);
    expect(accepted.toSorted()).toEqual(ids(batch).filter((id) => !bad.has(id)));
  });

  test("halving logs one attempt for each conversion, with the size of its last request", async () => {
    const { relay, batch, calls } = await refusing(4, (i) => i === 3);
    expect(calls.map((call) => call.ids.length)).toEqual([4, 2, 2, 1, 1]);
    const attempts = batch.map((one) => relay.settled.find((settlement) => settlement.eventId === one.eventId)?.attempt);
    expect(attempts.map((attempt) => [attempt?.number, attempt?.batch])).toEqual([
      [1, 2],
      [1, 2],
      [1, 1],
      [1, 1],
    ]);
  });

  test("halving stops when the lease runs out: another node may be sending the rest by then", async () => {
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

  test("a batch that fails for a transient reason is not halved but retried later", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const results = sendAll(relay.lanes, jobs(10, sandbox));
    await relay.answer();
    while (relay.openCalls()) await relay.answer(http(503));
    expect((await Promise.all(results)).map(stateOf)).toEqual(Array(10).fill("queued"));
    expect(relay.calls).toHaveLength(sandboxLanes + 1);
  });
});

describe("leases", () => {
  test("a job whose lease has run out is not sent and not settled: another node has it", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const result = await relay.lanes.send(job(sandbox, { ownership: leasedUntil(start - 1) }));
    expect(result).toEqual({ ok: false, status: "queued", error: "lease ran out" });
    expect(relay.calls).toEqual([]);
    expect(relay.settled).toEqual([]);
  });

  test("a lease that could end during the attempt counts as run out", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const latestEnd = start + attemptMs + tickMs;
    expect(await relay.lanes.send(job(sandbox, { ownership: leasedUntil(latestEnd) }))).toMatchObject({ status: "queued" });
    expect(relay.calls).toEqual([]);
    expect(await relay.lanes.send(job(sandbox, { ownership: leasedUntil(latestEnd + 1) }))).toEqual(sent);
  });

  test("a wall clock that was set back does not prolong a lease that has ended on the monotonic clock", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    const lease = { ownership: leasedUntil(start + leaseMs, leaseMs) };
    relay.clock.set = -3_600_000;
    expect(await relay.lanes.send(job(sandbox, lease))).toEqual(sent);
    relay.clock.now += leaseMs - attemptMs;
    expect(await relay.lanes.send(job(sandbox, lease))).toMatchObject({ error: "lease ran out" });
  });

  test("a lease that has ended on the wall clock counts as ended: the monotonic clock stops in a suspended machine", async () => {
    const relay = setUp([sandbox], { reply: () => http(200) });
    relay.clock.set = leaseMs;
    const result = await relay.lanes.send(job(sandbox, { ownership: leasedUntil(start + leaseMs, leaseMs) }));
    expect(result).toMatchObject({ error: "lease ran out" });
  });

  test("only the jobs of a batch whose lease still holds are sent", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const old = jobs(2, sandbox, { ownership: leasedUntil(start + 12_000) });
    const fresh = jobs(2, sandbox, { ownership: leasedUntil(start + 60_000) });
    const results = sendAll(relay.lanes, [old[0], fresh[0], old[1], fresh[1]] as Job[]);
    relay.clock.now += 5000;
    await relay.answer();
    expect(relay.calls.at(-1)?.ids).toEqual(ids(fresh));
    while (relay.openCalls()) await relay.answer();
    expect((await Promise.all(results)).map(stateOf)).toEqual(["queued", "sent", "queued", "sent"]);
  });
});
