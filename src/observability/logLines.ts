// What the log says of an event and of an attempt: ids, states and numbers. No platform's words, which may repeat what
// was sent there, and no order id, which may name a person; `event show ID` has the rest.

import type { Result } from "../kernel/event.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";

type Line = Record<string, unknown>;

/** The line of an inbound request, each platform with its state alone. */
export function eventLine(line: Line): Line {
  if (line.results) line.results = statesOf(line.results as Record<string, Result>);
  return line;
}

function statesOf(results: Record<string, Result>): Record<string, string> {
  const states: Record<string, string> = {};
  for (const platform in results) {
    const result = results[platform] as Result;
    states[platform] = result.ok ? "sent" : result.status;
  }
  return states;
}

export function attemptLine(platform: string, { attempt, ...settled }: Settlement): Line | null {
  if (!attempt) return null;
  return {
    msg: "attempt",
    site: settled.siteId,
    event: settled.eventId,
    connection: settled.connectionId,
    platform,
    number: attempt.number,
    state: settled.state,
    status: attempt.httpStatus,
    batch: attempt.batch,
    ms: attempt.durationMs,
    ...(settled.state === "queued" ? { next: new Date(settled.dueAt).toISOString() } : {}),
  };
}
