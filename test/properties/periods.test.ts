// Promises of periods, steps and schedules: they follow each other without gap and overlap, and everything that was counted
// is in exactly one of them.

import * as fc from "fast-check";
import { afterAll, expect } from "vitest";
import { decide, nextAttemptAt } from "../../src/delivery/decide.ts";
import type { FilterReason } from "../../src/kernel/event.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { lastPeriodEnd, createCloser, periodToClose } from "../../src/outbound/periods.ts";
import { stepsOf } from "../../src/statistics/steps.ts";
import type { Period } from "../../src/store/outbound/periods.ts";
import { duration } from "../../src/sites/settingForms.ts";
import { auditLine, newEvent, newSite } from "../support/events.ts";
import { createNodes } from "../support/nodes.ts";
import { property } from "./property.ts";

const at = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2035, 0, 1) });
const length = fc.constantFrom(1000, 60_000, 15 * 60_000, hourMs, dayMs);

property("the last end of a period is the last multiple of its length", [at, length], (now, pushMs) => {
  const end = lastPeriodEnd(now, pushMs);
  expect(end % pushMs === 0 && end <= now && now < end + pushMs).toBe(true);
});

property(
  "periods follow each other without gap and overlap while the clock goes on",
  [at, length, fc.array(fc.integer({ min: 0, max: 3 * dayMs }), { minLength: 1, maxLength: 30 })],
  (start, pushMs, waits) => {
    let now = start;
    let head = { siteId: "s", number: 0, endsAt: start };
    for (const wait of waits) {
      now += wait;
      const due = periodToClose(head, now, pushMs);
      // Nothing is due exactly while the present period lasts.
      expect(due === null).toBe(lastPeriodEnd(now, pushMs) <= head.endsAt);
      if (!due) continue;
      expect(due).toEqual({ startsAt: head.endsAt, endsAt: lastPeriodEnd(now, pushMs), isAhead: false });
      head = { siteId: "s", number: head.number + 1, endsAt: due.endsAt };
      expect(periodToClose(head, now, pushMs)).toBeNull();
    }
  },
);

property(
  "a clock that was set back by more than a period starts a new one in the present",
  [at, length, fc.integer({ min: 1, max: 400 * dayMs })],
  (now, pushMs, ahead) => {
    const head = { siteId: "s", number: 3, endsAt: now + ahead };
    const due = periodToClose(head, now, pushMs);
    expect(due !== null).toBe(ahead > pushMs);
    if (due)
      expect(due).toEqual({
        startsAt: lastPeriodEnd(now, pushMs) - pushMs,
        endsAt: lastPeriodEnd(now, pushMs),
        isAhead: true,
      });
  },
);

const { store, close } = await createNodes("sqlite");
afterAll(close);
const bot: FilterReason = { code: "only bot visits", detail: "user agent" };

/** What happens at a site: events that count, and time that passes. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant("conversion" as const), isLive: fc.boolean() }),
  fc.record({ kind: fc.constant("removal" as const) }),
  fc.record({ kind: fc.constant("time" as const), ms: fc.integer({ min: -3 * hourMs, max: 3 * hourMs }) }),
);

property(
  "every conversion and every removal is in exactly one period, whatever the clock does",
  [fc.array(happening, { maxLength: 25 })],
  async (happenings) => {
    const pushMs = 15 * 60_000;
    const siteId = await newSite(store);
    let now = Date.UTC(2026, 10, 15);
    let passed = 0;
    const closed: Period[] = [];
    const periods = {
      ...store.periods,
      listHeads: async (before: number, after: number) =>
        (await store.periods.listHeads(before, after)).filter((head) => head.siteId === siteId),
      close: async (closing: Parameters<typeof store.periods.close>[0]) => {
        const period = await store.periods.close(closing);
        if (period) closed.push(period);
        return period;
      },
    };
    const closeDue = createCloser({
      store: { engine: store.engine, periods },
      pushMs,
      now: () => now,
      elapsed: () => passed,
      random: () => 0,
    });
    const address = {
      url: "https://receiver.example/hook",
      secrets: { current: "whsec_b25l", previous: null },
    };
    await store.webhooks.add(auditLine(siteId, "test", now), { siteId, id: siteId, sendEmpty: true }, address);
    const counted = { conversions: 0, removed: 0 };
    for (const one of happenings) {
      if (one.kind === "time") {
        now += one.ms;
        passed += Math.abs(one.ms);
      } else {
        const isConversion = one.kind === "conversion";
        const mode = isConversion && !one.isLive ? "test" : "live";
        await store.events.accept(
          newEvent(siteId, { receivedAt: now, mode }, { filterReasons: isConversion ? [] : [bot], deliveries: [] }),
        );
        if (mode === "live") counted[isConversion ? "conversions" : "removed"] += 1;
      }
      await closeDue();
    }
    const open = await store.periods.readOpen(siteId);
    const sum = (name: "conversions" | "removed") => closed.reduce((total, period) => total + period[name], open?.[name] ?? 0);
    expect({ conversions: sum("conversions"), removed: sum("removed") }).toEqual(counted);
    expect(closed.map(({ number }) => number)).toEqual(closed.map((_period, i) => i + 1));
    for (const { startsAt, endsAt, conversions, removed } of closed)
      expect(startsAt < endsAt && conversions >= 0 && removed >= 0).toBe(true);
  },
  { runs: 60 },
);

const zone = fc.constantFrom(
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Asia/Kathmandu",
);

property(
  "the steps of a chart are the hours in order, each once, and a day is one day in its zone",
  [fc.integer({ min: 263_000, max: 560_000 }), fc.integer({ min: 0, max: 24 * 40 }), zone],
  (fromHour, hours, timeZone) => {
    const toHour = fromHour + hours;
    const listed = (step: "hour" | "day") =>
      stepsOf(fromHour, toHour, step, timeZone).flatMap((one) =>
        Array.from({ length: one.toHour - one.fromHour }, (_, i) => one.fromHour + i),
      );
    const all = Array.from({ length: hours }, (_, i) => fromHour + i);
    expect(listed("hour")).toEqual(all);
    expect(listed("day")).toEqual(all);
    const format = new Intl.DateTimeFormat("en-CA", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    });
    const days = stepsOf(fromHour, toHour, "day", timeZone).map(
      (one) => new Set(Array.from({ length: one.toHour - one.fromHour }, (_, i) => format.format((one.fromHour + i) * hourMs))),
    );
    for (const day of days) expect(day.size).toBe(1);
    const names = days.flatMap((day) => [...day]);
    expect(names).toEqual([...new Set(names)].toSorted());
  },
  { runs: 60 },
);

const schedule = fc
  .array(fc.integer({ min: 1, max: dayMs }), { minLength: 1, maxLength: 8 })
  .map((waits) => waits.toSorted((a, b) => a - b));

property(
  "a retry comes after the schedule's wait, within a fifth, or after the wait that was asked for",
  [
    schedule,
    fc.integer({ min: 1, max: 20 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.integer({ min: 0, max: 1_000_000_000 }),
    at,
  ],
  (scheduleMs, failures, random, askedSeconds, now) => {
    const wait = nextAttemptAt({ failures, askedSeconds, maxAskedMs: dayMs }, { scheduleMs, random: () => random }, now) - now;
    const planned = scheduleMs[Math.min(failures, scheduleMs.length) - 1] ?? 0;
    const asked = Math.min(askedSeconds * 1000, dayMs);
    expect(wait).toBeGreaterThanOrEqual(Math.floor(Math.max(planned * 0.8, asked)));
    expect(wait).toBeLessThanOrEqual(Math.ceil(Math.max(planned * 1.2, asked)));
  },
);

property(
  "a failed delivery is retried before its age limit, or has expired",
  [schedule, fc.integer({ min: 1, max: 20 }), fc.integer({ min: -dayMs, max: 10 * dayMs }), fc.integer({ min: 0, max: 1e6 }), at],
  (scheduleMs, attemptsMade, left, retryAfter, now) => {
    const delivery = { attemptsMade, expiresAt: now + left };
    const { state, reason, dueAt } = decide(
      { kind: "retry", error: "HTTP 503", retryAfterSeconds: retryAfter },
      delivery,
      { scheduleMs, random: () => 0.5 },
      now,
    );
    expect(reason).toContain("HTTP 503");
    if (state === "queued") expect(dueAt > now && dueAt < delivery.expiresAt).toBe(true);
    else expect([state, dueAt]).toEqual(["expired", 0]);
  },
);

property("a duration is written as it is read", [fc.integer({ min: 1, max: 400 * 86_400 })], (seconds) => {
  const form = duration(400);
  expect(form.read(form.write(seconds * 1000))).toBe(seconds * 1000);
});
