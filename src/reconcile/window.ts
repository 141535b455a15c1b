// The window of a reconciliation: whole days in the time zone of the site. The last days are left out by default, because
// late senders and late platforms would look like losses.

import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { defaultReconciledDays, defaultSettleHours, maxReconciledDays } from "../kernel/reconciliation.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import { readTime, ValueFault } from "../tables/values.ts";

type Window = { from: number; to: number };

const formats = new Map<string, Intl.DateTimeFormat>();

/** The day of a moment, like 2026-11-15. */
export function dayOf(at: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (!format) {
    // Sweden writes dates like ISO 8601.
    format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
    formats.set(timeZone, format);
  }
  return format.format(at);
}

/** The first moment of a day like 2026-11-15. */
export const startOfDay = (day: string, timeZone: string): number => startOf("day", day, timeZone);

function startOf(field: string, day: string, timeZone: string): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(day);
  const at = isDay ? readTime(field, day, { decimal: null, dates: null, timeZone }) : null;
  if (at === null || at instanceof ValueFault) throw new Refusal(field, say("day_invalid", { field }));
  return at;
}

/** The day after, also when a day has 23 or 25 hours. */
const nextDay = (day: string) => new Date(Date.parse(`${day}T12:00:00Z`) + dayMs).toISOString().slice(0, 10);

/**
 * `from` and `to` are days, both included. Without `to` the window ends with the last day that is over for 48 hours; without
 * `from` it has 30 days.
 */
export function readWindow(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  timeZone: string,
  now: number,
): Window {
  const settled = dayOf(now - defaultSettleHours * hourMs, timeZone);
  const end =
    to === undefined ? startOf("to", settled, timeZone) : (startOf("to", to, timeZone), startOf("to", nextDay(to), timeZone));
  const begin =
    from === undefined
      ? startOf("from", dayOf(end - defaultReconciledDays * dayMs + hourMs, timeZone), timeZone)
      : startOf("from", from, timeZone);
  if (begin >= end) throw new Refusal("from", say("from_after_to"));
  if (end - begin > (maxReconciledDays + 1) * dayMs)
    throw new Refusal("from", say("window_too_long", { max: maxReconciledDays }));
  return { from: begin, to: end };
}
