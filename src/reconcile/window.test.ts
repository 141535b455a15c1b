import { expect, test } from "vitest";
import { dayMs, hourMs } from "../kernel/time.ts";
import { dayOf, readWindow } from "./window.ts";

const now = Date.UTC(2026, 10, 15, 12);
const iso = (at: number) => new Date(at).toISOString();

test("without days the window has 30 whole days, and ends with the last day that has been over for 48 hours", () => {
  const { from, to } = readWindow({}, "UTC", now);
  expect([iso(from), iso(to)]).toEqual(["2026-10-14T00:00:00.000Z", "2026-11-13T00:00:00.000Z"]);
  const midnight = readWindow({}, "UTC", Date.UTC(2026, 10, 15));
  expect(iso(midnight.to)).toBe("2026-11-13T00:00:00.000Z");
  expect(iso(readWindow({}, "UTC", Date.UTC(2026, 10, 15) - 1).to)).toBe("2026-11-12T00:00:00.000Z");
});

test("days are those of the site's time zone, also when clocks change", () => {
  const { from, to } = readWindow({ from: "2026-10-25", to: "2026-10-25" }, "Europe/Berlin", now);
  expect([iso(from), iso(to)]).toEqual(["2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"]);
  expect(to - from).toBe(25 * hourMs);
  const short = readWindow({ from: "2026-03-29", to: "2026-03-29" }, "Europe/Berlin", now);
  expect(short.to - short.from).toBe(23 * hourMs);
  // In Beirut the clocks change at midnight: the day begins at one o'clock.
  const beirut = readWindow({ from: "2026-03-29", to: "2026-03-29" }, "Asia/Beirut", now);
  expect(beirut.to - beirut.from).toBe(23 * hourMs);
  expect(dayOf(beirut.from, "Asia/Beirut")).toBe("2026-03-29");
});

test("a window may be as recent as it is asked for, and 400 days long at most", () => {
  expect(readWindow({ from: "2026-11-15", to: "2026-11-15" }, "UTC", now).to).toBe(Date.UTC(2026, 10, 16));
  const { from, to } = readWindow({ from: "2025-10-12", to: "2026-11-15" }, "UTC", now);
  expect(to - from).toBe(400 * dayMs);
  expect(() => readWindow({ from: "2025-01-01" }, "UTC", now)).toThrow("must not be longer than 400 days");
});

test.each([
  [{ from: "yesterday" }, "from must be a day like 2026-11-15."],
  [{ to: "2026-02-30" }, "to must be a day like 2026-11-15."],
  [{ from: "2026-11-15", to: "2026-11-14" }, "from must not be after to."],
])("%j is refused", (days, message) => {
  expect(() => readWindow(days, "UTC", now)).toThrow(message);
});
