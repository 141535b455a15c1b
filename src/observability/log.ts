// The log: JSON lines on stdout.

import { pino, type Logger } from "pino";

export type Log = {
  /** For everything. What somebody threw may hold headers, which are left out. */
  log: Logger;
  /** For the lines of events and attempts, which we make ourselves: looking for headers would double their cost. */
  lines: Logger;
};

/** Written in blocks: a line per event must not cost a system call per event. */
export function openLog(level: string): Log {
  const destination = pino.destination({ sync: false, minLength: 4096 });
  const timer = setInterval(() => destination.flush(), 500);
  timer.unref();
  return {
    log: pino({ level, base: null, redact: ["*.headers", "headers"] }, destination),
    lines: pino({ level, base: null }, destination),
  };
}
