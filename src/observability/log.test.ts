import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import type { InboundLine } from "../inbound/event.ts";
import type { SourceLine } from "../inbound/sources/route.ts";
import type { DeliveryState } from "../kernel/event.ts";
import type { Settlement } from "../store/deliveries/delivery.ts";
import type { Attempt } from "../store/deliveries/delivery.ts";
import { renderAttempt, renderInbound, renderSource } from "./log.ts";

const time = 1_794_805_948_936;

/** Returns the bytes that pino writes for an object. */
function pinoBytes(line: Record<string, unknown>, level: "debug" | "info" | "warn" = "info"): Buffer {
  let text = "";
  const timestamp = () => `,"time":${time}`;
  pino({ base: null, timestamp, level }, { write: (part: string) => (text += part) })[level](line);
  return Buffer.from(text);
}

const weirdTexts = [
  "",
  "purchase",
  'a "quoted" name',
  "back\\slash",
  '\\"',
  "tab\tnew\nline\r",
  "\u0000\u0001\u001f",
  '"\u0007\\',
  "\u007f\u0080\u009f",
  "line\u2028paragraph\u2029",
  "half \ud800 of a pair",
  'other half \udc00 "quoted"',
  "half \udbff and \u0001",
  "☕ 😀 é ي 中",
  "</script><!--",
  "x".repeat(100),
  "x".repeat(101),
  `${"x".repeat(99)}\ud800`,
  `${"x".repeat(100)}\ud800`,
  `${"é".repeat(150)}"\\\n`,
];

describe("the line of an inbound request", () => {
  /** The line as pino gets it: the fields in their order, without those that are undefined. */
  function expectSameBytes(fields: Partial<InboundLine>, states?: Record<string, string>): void {
    const line: InboundLine = {
      site: undefined,
      key: undefined,
      event: undefined,
      name: undefined,
      mode: undefined,
      exit: undefined,
      reasons: undefined,
      results: undefined,
      status: undefined,
      reason: undefined,
      error: undefined,
      ms: 0,
      ...fields,
    };
    const forPino = { msg: "inbound", ...line, ...(states ? { results: states } : {}) };
    expect(Buffer.from(renderInbound(line, time))).toEqual(pinoBytes(forPino));
  }

  const authenticated = { site: "9wJf3K2p1Q", key: "a8sK29sLq0" };
  const event = {
    ...authenticated,
    event: "01KA5T3M9V0Z8Q4X7C2B6N1D5F",
    name: "purchase",
    mode: "live",
  } as const;

  test.each<[string, Partial<InboundLine>]>([
    ["refused before its key was known", { status: 426, reason: "https required", ms: 0 }],
    ["refused with its key", { ...authenticated, status: 415, reason: "content type", ms: 3 }],
    ["refused for its rate", { ...authenticated, status: 429, reason: "rate limit", ms: 1 }],
    ["of a duplicate", { ...event, exit: "duplicate", status: 200, ms: 12 }],
    ["of a filtered event", { ...event, exit: "filtered", reasons: ["blocked domain", "bot"], status: 200, ms: 7 }],
    ["of a test event", { ...event, mode: "test", exit: "duplicate", status: 200, ms: 7 }],
    ["of an unavailable store", { ...event, exit: "unavailable", status: 503, reason: "unavailable", ms: 9800 }],
    ["of a defect", { ...event, ms: 2 }],
    ["of a defect before the key", { ms: 2 }],
    ["with a clock that was set back", { ...event, exit: "duplicate", status: 200, ms: -3600 }],
    ["without reasons", { ...event, exit: "filtered", reasons: [], status: 200, ms: 7 }],
  ])("the line %s is written as pino writes it", (_title, fields) => expectSameBytes(fields));

  test("the line of a dispatched event has one state per platform, written as pino writes it", () => {
    const states: DeliveryState[] = ["queued", "skipped", "rejected", "parked", "expired"];
    const results: NonNullable<InboundLine["results"]> = {
      sandbox: { ok: true },
      ...Object.fromEntries(states.map((status) => [`to_${status}`, { ok: false, status, error: "no" }])),
    };
    const expected = {
      sandbox: "sent",
      ...Object.fromEntries(states.map((state) => [`to_${state}`, state])),
    };
    expectSameBytes({ ...event, exit: "dispatched", results, status: 200, ms: 151 }, expected);
    expectSameBytes({ ...event, exit: "dispatched", results: {}, status: 200, ms: 1 }, {});
  });

  test.each(weirdTexts)("the text %j is written as pino writes it", (text) => {
    expectSameBytes({ ...event, name: text, exit: "duplicate", status: 200, ms: 1 });
    expectSameBytes({ site: text, key: text, event: text, reason: text, reasons: [text], ms: 1 });
    expectSameBytes({ results: { [text]: { ok: true } }, ms: 1 }, { [text]: "sent" });
  });
});

describe("the line of a source's request", () => {
  const accepted = {
    site: "9wJf3K2p1Q",
    source: "a8sK29sLq0",
    kind: "stripe",
    status: 200,
    reason: undefined,
    outcomes: [],
    ms: 4,
  };
  test.each<[string, SourceLine]>([
    ["that was accepted", { ...accepted, outcomes: ["accepted", "ignored: not used"] }],
    ["of an unknown address", { ...accepted, site: undefined, source: undefined, kind: undefined, outcomes: [] }],
    ["that was refused", { ...accepted, status: 401, reason: "signature", outcomes: ["wrong signature"] }],
    ...weirdTexts.map((text): [string, SourceLine] => [
      `with the text ${JSON.stringify(text)}`,
      { ...accepted, kind: text, reason: text, outcomes: [text] },
    ]),
  ])("the line %s is written as pino writes it", (_title, line) => {
    expect(Buffer.from(renderSource(line, time))).toEqual(pinoBytes({ msg: "source request", ...line }));
  });
});

describe("the line of an attempt", () => {
  const attempt: Attempt = {
    number: 1,
    startedAt: time,
    durationMs: 151,
    httpStatus: 200,
    request: "secret",
    response: "secret",
    batch: 12,
  } as Attempt;
  const settlement: Settlement = {
    siteId: "9wJf3K2p1Q",
    eventId: "01KA5T3M9V0Z8Q4X7C2B6N1D5F",
    connectionId: "a8sK29sLq0",
    owner: "owner",
    state: "sent",
    reason: "secret",
    dueAt: 0,
    attempts: 1,
    at: time,
    attempt,
  };

  function expectSameBytes(platform: string, settled: Settlement, made: Attempt): void {
    const forPino = {
      msg: "attempt",
      site: settled.siteId,
      event: settled.eventId,
      connection: settled.connectionId,
      platform,
      number: made.number,
      state: settled.state,
      status: made.httpStatus,
      batch: made.batch,
      ms: made.durationMs,
      ...(settled.state === "queued" ? { next: new Date(settled.dueAt).toISOString() } : {}),
    };
    const level = ["rejected", "parked", "expired"].includes(settled.state) ? "warn" : "debug";
    expect(Buffer.from(renderAttempt(platform, settled, made, time))).toEqual(pinoBytes(forPino, level));
  }

  test.each<DeliveryState>(["sent", "queued", "skipped", "rejected", "parked", "expired"])(
    "the line of an attempt that ended as %s is written as pino writes it",
    (state) => {
      for (const httpStatus of [200, 503, null])
        for (const durationMs of [0, 12, 8000.25])
          expectSameBytes("meta", { ...settlement, state, dueAt: time }, { ...attempt, httpStatus, durationMs });
    },
  );

  test.each(weirdTexts)("the text %j in an attempt is written as pino writes it", (text) => {
    const ids = { siteId: text, eventId: text, connectionId: text };
    expectSameBytes(text, { ...settlement, ...ids }, attempt);
  });
});

const logModule = new URL("./log.ts", import.meta.url).href;

/** Runs a program that has a log, and returns the lines that it wrote. `onStart` may delay reading. */
async function linesOf(program: string, level = "info", onStart?: () => Promise<void>) {
  const prepare = `
    import { createLog } from ${JSON.stringify(logModule)};
    import { setTimeout as sleep } from "node:timers/promises";
    const { log, writeInbound } = createLog(${JSON.stringify(level)});
    const write = (n) => writeInbound({ name: "n" + n, ms: n });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", prepare + program]);
  const closed = once(child, "close");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  let text = "";
  await onStart?.();
  child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
  const [code] = (await closed) as [number];
  const lines = text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { ms?: number; msg?: string; level: number });
  return { code, lines, errors };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("blocks of lines", () => {
  test("lines of both kinds keep their order, and a normal stop writes all of them", async () => {
    const { lines, code } = await linesOf(`
      for (let n = 0; n < 5000; n += 1) {
        if (n % 7 === 0) log.warn({ ms: n }, "other"); else write(n);
        if (n % 500 === 0) await sleep(1);
      }
      await new Promise((resolve) => log.flush(resolve));
      process.exit(0);
    `);
    expect(code).toBe(0);
    expect(lines.map(({ ms }) => ms)).toEqual(numbers(5000));
    expect(lines.every(({ ms = 0, level }) => level === (ms % 7 === 0 ? 40 : 30))).toBe(true);
  });

  test.each([
    ["exits", "process.exit(3);", 3],
    ["fails", "throw new Error('defect');", 1],
    ["fails later", "setTimeout(() => { throw new Error('defect'); }, 5);", 1],
    ["rejects", "Promise.reject(new Error('defect'));", 1],
  ])("a process that %s writes the lines of its last moment", async (_title, end, expected) => {
    const { lines, code } = await linesOf(`for (let n = 0; n < 20; n += 1) write(n);\n${end}`);
    expect(code).toBe(expected);
    expect(lines.map(({ ms }) => ms)).toEqual(numbers(20));
  });

  test("a fatal line is written at once, after all lines before it", async () => {
    const { lines } = await linesOf(`
      for (let n = 0; n < 20; n += 1) write(n);
      log.fatal({ ms: 20 }, "fatal");
      process.kill(process.pid, "SIGKILL");
      await sleep(60_000);
    `);
    expect(lines.map(({ ms }) => ms)).toEqual(numbers(21));
  });

  test("lines are written after half a second, also when no others follow", async () => {
    const { lines } = await linesOf(`
      write(0);
      await sleep(1500);
      process.kill(process.pid, "SIGKILL");
      await sleep(60_000);
    `);
    expect(lines.map(({ ms }) => ms)).toEqual([0]);
  });

  test("a reader that is slow at first gets every line", async () => {
    const program = `
      for (let n = 0; n < 20_000; n += 1) {
        write(n);
        if (n % 100 === 0) await sleep(0);
      }
      await new Promise((resolve) => log.flush(resolve));
      process.exit(0);
    `;
    const { lines } = await linesOf(program, "info", () => sleep(1500));
    expect(lines.map(({ ms }) => ms)).toEqual(numbers(20_000));
  });

  test("a closed stdout does not end the process", async () => {
    const child = spawn(process.execPath, [
      "--input-type=module",
      "-e",
      `import { createLog } from ${JSON.stringify(logModule)};
       import { setTimeout as sleep } from "node:timers/promises";
       const { log, writeInbound } = createLog("info");
       for (let n = 0; n < 20; n += 1) { for (let m = 0; m < 100; m += 1) writeInbound({ ms: n }); await sleep(20); }
       await new Promise((resolve) => log.flush(resolve));
       process.exit(7);`,
    ]);
    child.stdout.destroy();
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(7);
  });

  test.each([
    ["debug", [30, 40]],
    ["info", [30, 40]],
    ["warn", [40]],
    ["silent", []],
  ])("the level %s decides which lines are written", async (level, expected) => {
    const { lines } = await linesOf(`write(1); log.warn("other"); process.exit(0);`, level);
    expect(lines.map((line) => line.level)).toEqual(expected);
  });
});
