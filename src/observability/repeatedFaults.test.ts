import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readConfig } from "../installation/config.ts";
import { Late } from "../kernel/deadline.ts";
import { PostgresError } from "../store/engine/postgres/errors.ts";
import { createObservability } from "./observability.ts";
import { isTransient } from "./repeatedFaults.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Line = { level: number; msg?: string; err?: { message: string; stack: string } } & Record<string, unknown>;

/** Opens the hooks of a relay. Returns the lines of its log. */
function open() {
  const lines: Line[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const written = { log, writeInbound: () => {}, writeSource: () => {}, writeAttempt: () => {} };
  const observability = createObservability(readConfig({ CLEANCAST_DATA: "/tmp/none" }), written, Date.now);
  return {
    ...observability,
    lines,
    sumOfTimes: () => lines.reduce((sum, { times }) => sum + Number(times ?? 1), 0),
  };
}

describe("faults of the database that pass", () => {
  test("any number makes one log line a second, with their number", async () => {
    const { lines, onDefect, stop, sumOfTimes } = open();
    for (let ms = 0; ms < 2500; ms += 5) {
      onDefect(new PostgresError("08001", "no server can be written to"));
      await vi.advanceTimersByTimeAsync(5);
    }
    stop();
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatchObject({ fault: "no server can be written to", code: "08001", times: 1 });
    expect(sumOfTimes()).toBe(500);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("the first one after a second without any is logged at once", async () => {
    const { lines, onDefect } = open();
    onDefect(new Late("the store did not answer in time"));
    await vi.advanceTimersByTimeAsync(5000);
    onDefect(new Late("the store did not answer in time"));
    expect(lines).toHaveLength(2);
  });

  test("only timeouts and lost connections count as such", () => {
    expect(isTransient(new Late("too slow"))).toBe(true);
    expect(isTransient(new PostgresError("57P01", "terminating connection"))).toBe(true);
    expect(isTransient(new PostgresError("28P01", "password authentication failed"))).toBe(false);
    expect(isTransient(new TypeError("undefined is not a function"))).toBe(false);
  });
});

/** The error of SQLite on a full disk. */
const fullDisk = () => Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });

describe("other defects", () => {
  test("a full disk under load makes one log line a minute, and only the first has a stack trace", async () => {
    const { lines, onDefect, stop, sumOfTimes } = open();
    for (let n = 0; n < 2600; n += 1) {
      onDefect(fullDisk(), { event: `e${n}`, site: "s" });
      await vi.advanceTimersByTimeAsync(50);
    }
    stop();
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatchObject({ err: { message: "database or disk is full" }, event: "e0", site: "s" });
    expect(lines[0]?.err?.stack).toContain("at fullDisk");
    expect(lines[1]).toMatchObject({
      level: 50,
      msg: "repeated",
      fault: "database or disk is full",
      code: "ERR_SQLITE_ERROR",
      site: "s",
    });
    expect(JSON.stringify(lines.slice(1))).not.toContain(" at ");
    expect(sumOfTimes()).toBe(2600);
  });

  test("defects at different places have their own lines, whatever their messages", async () => {
    const { lines, onDefect, stop } = open();
    const first = (n: number) => new TypeError(`event ${n} is damaged`);
    const second = (n: number) => new TypeError(`event ${n} is damaged`);
    for (let n = 0; n < 50; n += 1) {
      onDefect(first(n));
      onDefect(second(n));
    }
    expect(lines.map(({ err }) => err?.message)).toEqual(["event 0 is damaged", "event 0 is damaged"]);
    stop();
    expect(lines.slice(2)).toMatchObject([
      { fault: "event 49 is damaged", times: 49 },
      { fault: "event 49 is damaged", times: 49 },
    ]);
  });

  test("errors of the database with different codes have their own lines, although they are thrown at one place", () => {
    const { lines, onDefect } = open();
    for (const errcode of [13, 19, 13, 19]) onDefect(Object.assign(fullDisk(), { errcode }));
    expect(lines).toHaveLength(2);
  });

  test("a defect that comes again after a quiet minute is logged whole again", async () => {
    const { lines, onDefect } = open();
    onDefect(fullDisk());
    await vi.advanceTimersByTimeAsync(60_000);
    onDefect(fullDisk());
    expect(lines.filter(({ err }) => err)).toHaveLength(2);
  });

  test("the number of kinds is limited, and no defect is left out of the log", async () => {
    const { lines, onDefect, stop, sumOfTimes } = open();
    for (let n = 0; n < 1000; n += 1) onDefect(Object.assign(fullDisk(), { code: `E${n}` }));
    stop();
    expect(lines.length).toBeLessThan(110);
    expect(sumOfTimes()).toBe(1000);
  });
});
