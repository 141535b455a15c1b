import { expect, test } from "vitest";
import { dayMs } from "../kernel/time.ts";
import type { Connection } from "../sites/directory.ts";
import type { Feed } from "../store/reconciliation/feeds.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import { checkAcceptedOrders, checkFeed } from "./reconciliation.ts";
import { english } from "../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 15, 12);
const connection = { id: "c1", platform: "meta", account: "123", state: "active" } as Connection;

const runOf = (sent: number, orders = 100, more: Partial<Run> = {}): Run =>
  ({
    state: "done",
    isReadable: true,
    event: "purchase",
    from: now - 9 * dayMs,
    to: now - 2 * dayMs,
    updatedAt: now,
    tally: {
      orders,
      received: orders,
      connections: {
        c1: {
          platform: "meta",
          attributed: 0,
          states: { sent: { "": sent }, skipped: { x: 2 }, rejected: { y: orders - sent - 2 } },
        },
      },
    },
    ...more,
  }) as unknown as Run;

const check = (...runs: Run[]) => checkAcceptedOrders(runs, [connection], "UTC", now);

test("a fall of the accepted share against the middle of earlier runs raises an alert that names both", () => {
  const [finding, second] = check(runOf(80), runOf(95), runOf(96), runOf(10));
  expect(second).toBeUndefined();
  expect(finding).toMatchObject({ kind: "accepted orders", subject: "c1" });
  expect(english(finding?.text ?? "")).toBe(
    "Meta (123) has 80 of the 98 deliverable orders from 2026-11-06 12:00 UTC to 2026-11-13 12:00 UTC, 82 %. Before, it was 97 %.",
  );
});

test.each([
  ["there is no earlier run", [runOf(10)]],
  ["it fell by less than five points", [runOf(91), runOf(95)]],
  ["it has long been low", [runOf(50), runOf(51), runOf(52)]],
  ["there were few orders", [runOf(5, 19), runOf(95)]],
  ["the last run is old", [runOf(50, 100, { updatedAt: now - 8 * dayMs }), runOf(95)]],
  ["the earlier runs are about another event", [runOf(50), runOf(95, 100, { event: "lead" })]],
  [
    "the last run was cancelled, and the one before it is as usual",
    [runOf(5, 100, { state: "cancelled" }), runOf(95), runOf(95)],
  ],
])("no alert is raised when %s", (_why, runs) => {
  expect(check(...runs)).toEqual([]);
});

test("a paused connection raises no alert about its orders", () => {
  const paused = { ...connection, state: "paused" } as Connection;
  expect(checkAcceptedOrders([runOf(50), runOf(95)], [paused], "UTC", now)).toEqual([]);
});

test("an order feed that has failed for a day raises an alert", () => {
  const feed = (failingSince: number | null) => ({ failingSince }) as Feed;
  expect(checkFeed(null, "UTC", now)).toEqual([]);
  expect(checkFeed(feed(null), "UTC", now)).toEqual([]);
  expect(checkFeed(feed(now - dayMs + 1), "UTC", now)).toEqual([]);
  expect(checkFeed(feed(now - dayMs), "UTC", now)).toMatchObject([{ kind: "order feed", subject: "" }]);
});
