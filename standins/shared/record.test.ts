import { expect, test } from "vitest";
import { createRecord } from "./record.ts";

const input = (id: string, windowSeconds: number | null = 48 * 3600) => ({
  id,
  windowSeconds,
  event: { id },
});

test("the ledger keeps every event's count, and only the newest bodies", () => {
  const record = createRecord();
  for (let sent = 0; sent < 9000; sent++) record.addAccepted([input(`e-${sent}`)], 1000);
  expect(record.accepted).toHaveLength(9000);
  const withBody = record.accepted.filter(({ event }) => event !== undefined);
  expect(withBody.length).toBeLessThanOrEqual(4000);
  expect(withBody.at(-1)?.id).toBe("e-8999");
});

test("the ledger is bounded and drops the oldest entries", () => {
  const record = createRecord();
  const batch = (from: number) => Array.from({ length: 2000 }, (_, index) => input(`e-${from + index}`));
  for (let from = 0; from < 206_000; from += 2000) record.addAccepted(batch(from), 1000);
  expect(record.accepted).toHaveLength(200_000);
  expect(record.accepted[0]?.id).toBe("e-6000");
});

test("the log is bounded by the size of its bodies too", () => {
  const record = createRecord();
  const call = {
    method: "POST",
    path: "/",
    query: new URLSearchParams(),
    headers: {},
    params: {},
    text: "x",
    bytes: 10 * 1024 * 1024,
  };
  for (let sent = 0; sent < 9; sent++) record.logCall(call, "events", sent, 200, "accepted", []);
  expect(record.received.map(({ at }) => at)).toEqual([6, 7, 8]);
});

test("a repeat counts again only after the window, measured from the one that counted", () => {
  const record = createRecord();
  const hour = 3_600_000;
  for (const at of [0, 40 * hour, 47 * hour, 49 * hour, 90 * hour]) record.addAccepted([input("e")], at);
  expect(record.accepted).toMatchObject([{ id: "e", count: 5, counted: 2, firstAt: 0, lastAt: 90 * hour }]);
});

test("without a window every repeat counts, and without an id nothing is a repeat", () => {
  const record = createRecord();
  record.addAccepted([input("e", null), input("e", null)], 0);
  record.addAccepted(
    [
      { id: null, windowSeconds: 60, event: 1 },
      { id: null, windowSeconds: 60, event: 2 },
    ],
    0,
  );
  expect(record.accepted.map(({ id, counted }) => [id, counted])).toEqual([
    ["e", 2],
    [null, 1],
    [null, 1],
  ]);
});
