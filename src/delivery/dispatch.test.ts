import { expect, onTestFinished, test, vi } from "vitest";
import { tickMs } from "../kernel/coarseTimers.ts";
import { dispatch } from "./dispatch.ts";
import type { Outcome } from "./lanes/deliver.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { Job, PlannedDelivery } from "./plan.ts";

const deadline = 10_000;

/** A delivery that is sent, or one that has its state already. */
function planned(platform: string, connectionId: string, outcome?: Outcome): PlannedDelivery {
  const job = outcome ? null : ({ connectionId } as Job);
  const { state, reason }: Outcome = outcome ?? { state: "queued", reason: null };
  return { platform, connectionId, state, reason, job };
}

/** Lanes whose jobs end when the test says so. */
function createFakeLanes() {
  const ends = new Map<string, (outcome: Outcome) => void>();
  const withdrawn: string[] = [];
  const lanes = {
    send: (job: Job) => new Promise<Outcome>((resolve) => void ends.set(job.connectionId, resolve)),
    withdraw: (job: Job) => withdrawn.push(job.connectionId) > 0,
  } as unknown as Lanes;
  return { lanes, withdrawn, end: (id: string, outcome: Outcome) => ends.get(id)?.(outcome) };
}

function useFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test("all jobs of an event wait with one timer", async () => {
  useFakeTimers();
  const { lanes, end } = createFakeLanes();
  const all = [planned("meta", "a"), planned("ga4", "b"), planned("x", "c")];
  const results = dispatch(all, null, lanes, deadline, 0);
  expect(vi.getTimerCount()).toBe(1);
  for (const id of ["b", "a"]) end(id, { state: "sent", reason: null });
  end("c", { state: "rejected", reason: "no" });
  expect(await results).toEqual({
    meta: { ok: true },
    ga4: { ok: true },
    x: { ok: false, status: "rejected", error: "no" },
  });
});

test("at the deadline only what has no result is withdrawn and reported as queued", async () => {
  useFakeTimers();
  const { lanes, withdrawn, end } = createFakeLanes();
  const all = [planned("meta", "a"), planned("ga4", "b"), planned("x", "c", { state: "skipped", reason: "not selected" })];
  let results: unknown = null;
  void dispatch(all, null, lanes, deadline, 4000).then((found) => (results = found));
  end("a", { state: "sent", reason: null });
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
  end("b", { state: "sent", reason: null });
  await vi.advanceTimersByTimeAsync(100);
  expect(results).toEqual(expected);
});

test("the most urgent state of several connections is the result of their platform", async () => {
  const { lanes } = createFakeLanes();
  const all = [
    planned("meta", "a", { state: "parked", reason: "paused" }),
    planned("meta", "b", { state: "rejected", reason: "no" }),
    planned("meta", "c", { state: "skipped", reason: "not selected" }),
  ];
  const results = await dispatch(all, null, lanes, deadline, 0);
  expect(results).toEqual({ meta: { ok: false, status: "rejected", error: "connection b: no" } });
});

test("the error of a platform with several connections names each that has this state", async () => {
  const { lanes } = createFakeLanes();
  const all = [
    planned("meta", "a", { state: "rejected", reason: "no" }),
    planned("x", "b", { state: "rejected", reason: "never" }),
    planned("meta", "c", { state: "sent", reason: null }),
    planned("meta", "d", { state: "rejected", reason: null }),
  ];
  expect(await dispatch(all, null, lanes, deadline, 0)).toEqual({
    meta: { ok: false, status: "rejected", error: "connection a: no; connection d: rejected" },
    x: { ok: false, status: "rejected", error: "never" },
  });
});

test("an event without connections has no results", async () => {
  expect(await dispatch([], null, createFakeLanes().lanes, deadline, 0)).toEqual({});
});
