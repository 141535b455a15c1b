// The log: JSON lines on stdout. The lines of events and attempts hold ids, states and numbers, but no platform's answer,
// which may repeat what was sent, and no order id, which may name a person. `event show ID` has the rest.

import { pino, type Logger } from "pino";
import type { Result } from "../kernel/event.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";

export type Log = {
  /** For all other lines. Headers are redacted, because an error may carry them. */
  log: Logger;
  /** For the lines of events and attempts, whose fields are known: redaction would double their cost. */
  lines: Logger;
};

/** Writes in blocks: a line per event must not cost a system call per event. */
export function openLog(level: string): Log {
  const destination = pino.destination({ sync: false, minLength: 4096 });
  const timer = setInterval(() => destination.flush(), 500);
  timer.unref();
  return {
    log: pino({ level, base: null, redact: ["*.headers", "headers"] }, destination),
    lines: pino({ level, base: null }, destination),
  };
}

type Line = Record<string, unknown>;

/** Reduces the results in the line of an inbound request to one state per platform. */
export function toEventLine(line: Line): Line {
  if (line.results) line.results = toStates(line.results as Record<string, Result>);
  return line;
}

function toStates(results: Record<string, Result>): Record<string, string> {
  const states: Record<string, string> = {};
  for (const platform in results) {
    const result = results[platform] as Result;
    states[platform] = result.ok ? "sent" : result.status;
  }
  return states;
}

export function toAttemptLine(platform: string, { attempt, ...settled }: Settlement): Line | null {
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
