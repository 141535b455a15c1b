// Faults that pass by themselves: while the database is away, every request meets one. The log says so once a second, with
// how many there were, and not where in the code each of them was met.

import { Late } from "../kernel/deadline.ts";
import { isTransient, sqlState } from "../store/engine/postgres/errors.ts";

export type FaultLine = { fault: string; code: string; times: number };

const everyMs = 1000;

export const passesByItself = (error: unknown) => error instanceof Late || isTransient(error);

export function openPassingFaults(say: (line: FaultLine) => void) {
  let last: unknown = null;
  let times = 0;
  let timer: NodeJS.Timeout | null = null;

  function sayAll(): void {
    if (times > 0)
      say({ fault: last instanceof Error ? last.message : String(last), code: sqlState(last), times });
    times = 0;
  }

  return {
    met(error: unknown): void {
      last = error;
      times += 1;
      if (timer) return;
      sayAll();
      timer = setInterval(() => {
        if (times === 0) this.stop();
        sayAll();
      }, everyMs).unref();
    },
    /** Says what is left. */
    stop(): void {
      if (timer) clearInterval(timer);
      timer = null;
      sayAll();
    },
  };
}
