// The state of the connection decides whether a job is sent.

import { describe, expect, test } from "vitest";
import {
  connectionTo,
  failOnUnhandledRejections,
  fillLanes,
  http,
  job,
  jobs,
  sandbox,
  sandboxLanes,
  sendAll,
  setUp,
  stateOf,
  webhook,
} from "../../../test/support/lanes.ts";
import { parkedReason } from "../plan.ts";
import { english } from "../../kernel/messages/message.ts";

failOnUnhandledRejections();

describe("the connection's state", () => {
  test("a rejected token parks the delivery and marks the connection for reconnection", async () => {
    const relay = setUp([sandbox], { reply: () => http(401) });
    expect(await relay.lanes.send(job(sandbox))).toEqual({
      ok: false,
      status: "parked",
      error: "needs reconnection: HTTP 401: not authorised",
    });
    expect(relay.reconnections).toEqual([{ connection: sandbox, reason: "HTTP 401: not authorised" }]);
    expect(relay.settled[0]).toMatchObject({ state: "parked", attempts: 1, attempt: { httpStatus: 401 } });
  });

  test("jobs that waited behind a rejected token are parked without another request", async () => {
    const relay = setUp([sandbox], {
      markForReconnection: async (connection, reason) => {
        relay.change({ ...connection, state: "needs reconnection", stateReason: reason });
      },
    });
    await fillLanes(relay);
    const late = sendAll(relay.lanes, jobs(5, sandbox));
    await relay.answer(http(403));
    expect(await Promise.all(late)).toEqual(
      late.map(() => ({ ok: false, status: "parked", error: "needs reconnection: HTTP 403: not authorised" })),
    );
    expect(relay.calls).toHaveLength(sandboxLanes);
    expect(relay.settled.filter((one) => one.attempt === null)).toHaveLength(5);
  });

  test("a reconnection mark that cannot be written is reported as a defect, and the delivery is parked", async () => {
    const relay = setUp([sandbox], {
      reply: () => http(401),
      markForReconnection: () => Promise.reject(new Error("store is gone")),
    });
    expect(await relay.lanes.send(job(sandbox))).toMatchObject({ status: "parked" });
    expect(relay.defects.map((one) => one.error)).toEqual([new Error("store is gone")]);
  });

  test("a job whose lease ends while its connection is read again is not sent", async () => {
    const relay = setUp([sandbox], {
      async connectionNow() {
        // The node is suspended meanwhile; another one takes the delivery and sends it.
        relay.clock.now += 3_600_000;
        return sandbox;
      },
    });
    relay.change({ ...sandbox, state: "paused" });
    expect(await relay.lanes.send(job(sandbox))).toEqual({ ok: false, status: "queued", error: "lease ran out" });
    expect(relay.calls).toEqual([]);
  });

  test("the deliveries of a removed connection are skipped", async () => {
    const relay = setUp([sandbox]);
    relay.remove(sandbox);
    expect(await relay.lanes.send(job(sandbox, { attemptsMade: 2 }))).toEqual({
      ok: false,
      status: "skipped",
      error: "disconnected",
    });
    expect(relay.calls).toEqual([]);
    expect(relay.settled).toMatchObject([{ state: "skipped", attempts: 2, attempt: null }]);
  });

  test("conversions that wait when their connection is removed are all skipped", async () => {
    const relay = setUp([sandbox]);
    await fillLanes(relay);
    const late = sendAll(relay.lanes, jobs(30, sandbox));
    relay.remove(sandbox);
    while (relay.openCalls()) await relay.answer();
    expect((await Promise.all(late)).map(stateOf)).toEqual(Array(30).fill("skipped"));
    expect(relay.calls).toHaveLength(sandboxLanes);
  });

  test("a paused connection parks its deliveries untried", async () => {
    const paused = { ...sandbox, state: "paused" as const };
    const relay = setUp([paused]);
    expect(await relay.lanes.send(job(sandbox))).toEqual({ ok: false, status: "parked", error: "paused" });
    expect(relay.calls).toEqual([]);
  });

  test("the deliveries of an unknown platform are skipped", async () => {
    const strange = connectionTo("from_the_future");
    const relay = setUp([strange]);
    expect(await relay.lanes.send(job(strange))).toMatchObject({ status: "skipped" });
    expect(relay.lanes.capacity(strange)).toBe(1);
  });

  test("new settings take effect with the next request", async () => {
    const relay = setUp([webhook], { reply: () => http(200) });
    await relay.lanes.send(job(webhook));
    relay.change({ ...webhook, settings: { url: "https://new.example.com/" } });
    await relay.lanes.send(job(webhook));
    expect(relay.calls.map((call) => new URL(call.request.url).host)).toEqual(["hooks.example.com", "new.example.com"]);
  });

  test.each([
    [{ state: "paused", stateReason: null }, "paused"],
    [{ state: "needs reconnection", stateReason: "HTTP 401" }, "needs reconnection: HTTP 401"],
    [{ state: "needs reconnection", stateReason: null }, "needs reconnection"],
  ] as const)("a connection with %j parks deliveries with the reason %s", (state, reason) => {
    expect(english(parkedReason({ ...sandbox, ...state }))).toBe(reason);
  });
});
