// Times of the day (UTC) at which backups are due. A time that passed while no relay ran is made up for at the next start.

import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import type { BackupRecord } from "../../store/maintenance/backupRecord.ts";

/** Milliseconds after midnight, in order. */
export type Schedule = readonly number[];

/** Reads times like 03:00,15:30. Returns null for any other text. */
export function readSchedule(text: string): Schedule | null {
  const times = text.split(",").map((one) => {
    const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(one.trim()) ?? [];
    return hours === undefined ? Number.NaN : Number(hours) * hourMs + Number(minutes) * minuteMs;
  });
  return times.some(Number.isNaN) ? null : [...new Set(times)].toSorted((a, b) => a - b);
}

/** The last scheduled time that is not after `now`. */
export function lastDue(schedule: Schedule, now: number): number {
  const midnight = Math.floor(now / dayMs) * dayMs;
  const passed = schedule.map((time) => midnight + time).findLast((at) => at <= now);
  return passed ?? midnight - dayMs + (schedule.at(-1) ?? 0);
}

/** The first scheduled time after `then`. */
function nextDue(schedule: Schedule, then: number): number {
  const midnight = Math.floor(then / dayMs) * dayMs;
  const next = schedule.map((time) => midnight + time).find((at) => at > then);
  return next ?? midnight + dayMs + (schedule[0] ?? 0);
}

/** How long the next backup has been due; 0 where none is. A backup from the future was made by a clock that ran ahead. */
export function overdueMs(schedule: Schedule, { last }: BackupRecord, now: number): number {
  const madeAt = last && last.at <= now + hourMs ? last.at : null;
  const due = lastDue(schedule, now);
  if (madeAt !== null && madeAt >= due) return 0;
  return now - (madeAt === null ? due : nextDue(schedule, madeAt));
}
