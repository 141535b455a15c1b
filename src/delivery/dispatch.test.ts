import { expect, onTestFinished, test, vi } from "vitest";
import { tickMs } from "../kernel/coarseTimers.ts";
import type { DeliveryState, Result } from "../kernel/event.ts";
import { sampleConversion } from "../platforms/shared/sample.ts";
import { leasedUntil } from "../../test/support/lanes.ts";
import { dispatch } from "./dispatch.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { Job } from "./job.ts";
import type { PlannedDelivery } from "./plan.ts";

const timeoutMs = 10_000;

/** A delivery that is sent, or one that has its state already. */
function planned(platform: string, connectionId: string, unsent?: [DeliveryState, string | null]): PlannedDelivery {
  const [state, reason] = unsent ?? ["queued", null];
  return { platform, connectionId, state, reason, expiresAt: unsent ? null : Infinity };
}

const dispatchAll = (all: PlannedDelivery[], lanes: Lanes, ms = timeoutMs) =>
  dispatch(
    {
      event: { siteId: "site", id: "event", receivedAt: 0 },
      conversion: sampleConversion({}),
      planned: all,
      ownership: leasedUntil(Infinity),
    },
    lanes,
    ms,
  );

const sent: Result = { ok: true };

/** Lanes whose jobs end when the test says so. */
function createFakeLanes() {
  const ends = new Map<string, (result: Result) => void>();
  const withdrawn: string[] = [];
  const lanes = {
    send: (job: Job) => new Promise<Result>((resolve) => void ends.set(job.connectionId, resolve)),
    withdraw: (job: Job) => withdrawn.push(job.connectionId) > 0,
  } as unknown as Lanes;
  return { lanes, withdrawn, end: (id: string, result: Result) => ends.get(id)?.(result) };
}

function useFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test("all jobs of an event wait with one timer", async () => {
  useFakeTimers();
  const { lanes, end } = createFakeLanes();
  const all = [planned("meta", "a"), planned("ga4", "b"), planned("x", "c")];
  const results = dispatchAll(all, lanes);
  expect(vi.getTimerCount()).toBe(1);
  for (const id of ["b", "a"]) end(id, sent);
  end("c", { ok: false, status: "rejected", error: "no" });
  expect(await results).toEqual({
    meta: { ok: true },
    ga4: { ok: true },
    x: { ok: false, status: "rejected", error: "no" },
  });
});

test("at the deadline only what has no result is withdrawn and reported as queued", async () => {
  useFakeTimers();
  const { lanes, withdrawn, end } = createFakeLanes();
  const all = [planned("meta", "a"), planned("ga4", "b"), planned("x", "c", ["skipped", "not selected"])];
  let results: unknown = null;
  void dispatchAll(all, lanes, 6000).then((found) => (results = found));
  end("a", sent);
  await vi.advanceTimersByTimeAsync(5999);
  expect(results).toBeNull();
  await vi.advanceTimersByTimeAsync(1 + tickMs);
  const expected = {
    meta: { ok: true },
    ga4: { ok: false, status: "queued", error: "no answer yet" },
    x: { ok: false, status: "skipped", error: "not selected" },
  };
  expect(results).toEqual(expected);
  expect(withdrawn).toEqual(["b"]);
  end("b", sent);
  await vi.advanceTimersByTimeAsync(100);
  expect(results).toEqual(expected);
});

test("the most urgent state of several connections is the result of their platform", async () => {
  const { lanes } = createFakeLanes();
  const all = [
    planned("meta", "a", ["parked", "paused"]),
    planned("meta", "b", ["rejected", "no"]),
    planned("meta", "c", ["skipped", "not selected"]),
  ];
  const results = await dispatchAll(all, lanes);
  expect(results).toEqual({ meta: { ok: false, status: "rejected", error: "connection b: no" } });
});

test("the error of a platform with several connections names each that has this state", async () => {
  const { lanes } = createFakeLanes();
  const all = [
    planned("meta", "a", ["rejected", "no"]),
    planned("x", "b", ["rejected", "never"]),
    planned("meta", "c", ["sent", null]),
    planned("meta", "d", ["rejected", null]),
  ];
  expect(await dispatchAll(all, lanes)).toEqual({
    meta: { ok: false, status: "rejected", error: "connection a: no; connection d: rejected" },
    x: { ok: false, status: "rejected", error: "never" },
  });
});

test("an event without connections has no results", async () => {
  expect(await dispatchAll([], createFakeLanes().lanes)).toEqual({});
});
