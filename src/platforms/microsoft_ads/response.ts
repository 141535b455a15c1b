// What Microsoft says of a request. The two APIs answer in shapes that have nothing in common, so the shape alone tells
// which one spoke.

import type { Reading } from "../../kernel/event.ts";
import type { PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  later,
  listAt,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

/** `goalSetting` is where the connection says which offline goal an event counts for. */
export function readMicrosoftAnswer(
  response: PlatformResponse,
  count: number,
  goalSetting: string,
): Reading[] {
  const body = bodyOf(response);
  const faults = [...listAt(body, "Errors"), ...listAt(body, "OperationErrors")];
  const rows = [...listAt(body, "PartialErrors"), ...listAt(body, "BatchErrors")];
  // The list of rows that failed is there also when none did.
  const isOffline = faults.length > 0 || rows.length > 0 || at(body, "PartialErrors") !== undefined;
  return isOffline
    ? readOffline(response, faults[0], rows, count, goalSetting)
    : readConversionsApi(response, body, count);
}

const all = (count: number, reading: Reading): Reading[] => Array.from({ length: count }, () => reading);

/** A fault of the whole request, or a list of the rows that failed: the others were taken. */
function readOffline(
  response: PlatformResponse,
  fault: unknown,
  rows: readonly unknown[],
  count: number,
  goalSetting: string,
): Reading[] {
  if (fault !== undefined) return all(count, readCode(response, fault, goalSetting));
  const readings = all(count, readStatus(response));
  for (const row of rows) {
    const index = at(row, "Index");
    if (typeof index === "number" && index in readings)
      readings[index] = readCode(response, row, goalSetting);
  }
  return readings;
}

const tokenFaults = new Set(["105", "106", "109"]);
/** Seconds to wait; 0 where the usual time will do. */
const passingFaults = new Map([
  // Some fault inside.
  ["0", 0],
  // Too many calls in the last minute.
  ["117", 60],
  ["5612", 0],
  // In the future: the relay lets clocks be five minutes ahead, and the time must stay the same on every attempt.
  ["5614", 300],
  // The goal is not two hours old.
  ["5615", 7200],
]);

/** The goal has no name, is not known, or is not open to offline conversions: the event is good and waits for the setting. */
const goalFaults = new Set(["5605", "5606", "5613"]);

function readCode(response: PlatformResponse, fault: unknown, goalSetting: string): Reading {
  const code = textAt(fault, "Code");
  const error = shorten(
    [code, textAt(fault, "ErrorCode"), textAt(fault, "Message")].filter(Boolean).join(" "),
  );
  if (tokenFaults.has(code)) return { outcome: "unauthorized", error };
  if (goalFaults.has(code)) return later(`${error}; waits until ${goalSetting} is corrected`, 3600);
  const wait = passingFaults.get(code);
  if (wait !== undefined) return later(error, wait || undefined);
  const reading = readStatus(response, error);
  return reading.outcome === "accepted" ? { outcome: "rejected", error } : reading;
}

/** Invalid events are left out and the rest is taken; only the first ten errors and warnings are listed. */
function readConversionsApi(response: PlatformResponse, body: unknown, count: number): Reading[] {
  const guilty = new Map<number, string>();
  for (const detail of listAt(body, "error", "details")) {
    const index = at(detail, "index");
    if (typeof index !== "number" || index < 0 || index >= count || at(detail, "isWarning") === true)
      continue;
    if (!guilty.has(index)) guilty.set(index, textAt(detail, "errorMessage") || textAt(detail, "errorCode"));
  }
  const reading = readStatus(response, textAt(body, "error", "message"));
  if (reading.outcome !== "accepted" && reading.outcome !== "rejected") return all(count, reading);

  const received = at(body, "eventsReceived");
  if (reading.outcome === "accepted" && typeof received !== "number") return all(count, unreadable(response));
  const refusal = (words: string): Reading => ({ outcome: "rejected", error: shorten(words) });
  // More were left out than are named. Refused whole they are sent again in halves until each is known; the event id
  // keeps those that were taken from counting twice.
  const unnamed = typeof received === "number" && received < count - guilty.size;
  const rest = unnamed
    ? refusal(`Microsoft took ${received} of ${count} events and did not name the others`)
    : reading;
  return all(count, rest).map((innocent, i) => {
    const words = guilty.get(i);
    return words === undefined ? innocent : refusal(`HTTP ${response.status}: ${words}`);
  });
}
