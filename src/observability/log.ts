// The log: JSON lines on stdout. The lines of events and attempts hold ids, states and numbers, but no platform's answer,
// which may repeat what was sent, and no order id, which may name a person. `event show ID` has the rest.
//
// An event has one line at the level info: that of its request, with the state of each delivery. Attempts are lines at the
// level debug, unless a delivery ends with one that needs a person: that is a warning. These lines are written from templates,
// byte for byte as pino would write them: pino allocates 5 KB for a line of 250 bytes.

import { pino, type Logger } from "pino";
import type { InboundLine } from "../inbound/event.ts";
import type { SourceLine } from "../inbound/sources/route.ts";
import { errorCode } from "../kernel/errorCode.ts";
import type { Result } from "../kernel/event.ts";
import { toJson } from "../kernel/messages/message.ts";
import type { Settlement } from "../store/deliveries/delivery.ts";
import type { Attempt } from "../store/deliveries/delivery.ts";

export type Log = {
  /** For all other lines. Headers are redacted, because an error may carry them. */
  log: Logger;
  writeInbound: (line: InboundLine) => void;
  writeSource: (line: SourceLine) => void;
  /** Writes nothing for a delivery that was given back without an attempt. */
  writeAttempt: (platform: string, settlement: Settlement) => void;
};

/** `onClosed` is called once when the reader of the log has ended, such as `head`; later lines are dropped. */
export function createLog(level: string, onClosed: () => void = () => {}): Log {
  const stream = createBlocks(onClosed);
  const log = pino({ level, base: null, redact: ["*.headers", "headers"] }, stream);
  const isWritten = (value: number) => value >= log.levelVal;
  return {
    log,
    writeInbound(line) {
      if (isWritten(infoLevel)) stream.write(renderInbound(line, Date.now()));
    },
    writeSource(line) {
      if (isWritten(infoLevel)) stream.write(renderSource(line, Date.now()));
    },
    writeAttempt(platform, settlement) {
      const { attempt, state } = settlement;
      if (attempt && isWritten(levelOf(state))) stream.write(renderAttempt(platform, settlement, attempt, Date.now()));
    },
  };
}

const [debugLevel, infoLevel, warnLevel] = [20, 30, 40];

/** A delivery that ended without success is a warning; one that was sent, or waits for its next attempt, is not. */
const levelOf = (state: Settlement["state"]) =>
  state === "rejected" || state === "parked" || state === "expired" ? warnLevel : debugLevel;

/** As much as Docker reads at once. */
const blockLength = 16 * 1024;
/** Below this length the destination starts no write by itself: at the end of the process it would come too late. */
const minLength = 64 * 1024;
/** A line waits twice as long at most: a flush during a write does not write what came after the write began. */
const flushMs = 250;

/** Gathers all lines in blocks: a line per event must not cost a system call per event. */
function createBlocks(onClosed: () => void) {
  const destination = pino.destination({ sync: false, minLength, maxWrite: minLength + 1 });
  let block = "";
  let isFlushed = true;
  let isClosed = false;
  const waiting: ((error?: Error) => void)[] = [];
  const endWaiting = (error?: Error) => waiting.splice(0).forEach((done) => done(error));
  destination.on("error", (error: Error) => {
    if (errorCode(error) !== "EPIPE") throw error;
    if (isClosed) return;
    isClosed = true;
    // The destination itself does not call back any more.
    endWaiting();
    onClosed();
  });

  function flush(done?: (error?: Error) => void): void {
    if (isClosed) return done?.();
    if (done) waiting.push(done);
    destination.write(block);
    block = "";
    destination.flush(done && (() => destination.flush(endWaiting)));
  }

  function flushSync(): void {
    if (isClosed) return;
    destination.flushSync();
    destination.write(block);
    block = "";
    destination.flushSync();
  }

  const flushPeriodically = () => {
    if (isFlushed) return;
    isFlushed = block === "";
    flush();
  };
  setInterval(flushPeriodically, flushMs).unref();
  process.on("exit", flushSync);

  function write(line: string): void {
    if (isClosed) return;
    // A field, or the text of an error, may be a message.
    block += line.includes("\\u0001") ? `${toJson(JSON.parse(line))}\n` : line;
    isFlushed = false;
    if (block.length >= blockLength) flush();
  }

  // pino calls `flush` for log.flush(), and `flushSync` after a line with the level "fatal".
  return { write, flush, flushSync };
}

export function renderInbound(line: InboundLine, time: number): string {
  return (
    `{"level":${infoLevel},"time":${time},"msg":"inbound"${field("site", line.site)}${field("key", line.key)}` +
    `${field("event", line.event)}${field("name", line.name)}${field("mode", line.mode)}${field("exit", line.exit)}` +
    (line.reasons === undefined ? "" : `,"reasons":${JSON.stringify(line.reasons)}`) +
    (line.results === undefined ? "" : `,"results":${JSON.stringify(toStates(line.results))}`) +
    (line.status === undefined ? "" : `,"status":${line.status}`) +
    `${field("reason", line.reason)},"ms":${line.ms}}\n`
  );
}

export function renderSource(line: SourceLine, time: number): string {
  return (
    `{"level":${infoLevel},"time":${time},"msg":"source request"${field("site", line.site)}${field("source", line.source)}` +
    `${field("kind", line.kind)},"status":${line.status}${field("reason", line.reason)}` +
    `,"outcomes":${JSON.stringify(line.outcomes)},"ms":${line.ms}}\n`
  );
}

/** Reduces results to one state per platform. */
function toStates(results: Readonly<Record<string, Result>>): Record<string, string> {
  const states: Record<string, string> = {};
  for (const platform in results) {
    const result = results[platform] as Result;
    states[platform] = result.ok ? "sent" : result.status;
  }
  return states;
}

export function renderAttempt(
  platform: string,
  { siteId, eventId, connectionId, state, dueAt }: Settlement,
  { number, httpStatus, batch, durationMs }: Attempt,
  time: number,
): string {
  const next = state === "queued" ? `,"next":"${new Date(dueAt).toISOString()}"` : "";
  return (
    `{"level":${levelOf(state)},"time":${time},"msg":"attempt"${field("site", siteId)}${field("event", eventId)}` +
    `${field("connection", connectionId)}${field("platform", platform)},"number":${number}${field("state", state)}` +
    `,"status":${httpStatus},"batch":${batch},"ms":${durationMs}${next}}\n`
  );
}

function field(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${quote(value)}`;
}

// oxlint-disable-next-line no-control-regex -- these are characters to find
const control = /[\u0000-\u001f]/;
// oxlint-disable-next-line no-control-regex -- as above
const special = /[\u0000-\u001f"\\\ud800-\udfff]/;

function quote(text: string): string {
  return special.test(text) ? quoteSpecial(text) : `"${text}"`;
}

/** Differs from JSON.stringify, as pino does, in one half of a surrogate pair: it is not escaped in a short text. */
function quoteSpecial(text: string): string {
  if (text.length > 100 || control.test(text)) return JSON.stringify(text);
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
