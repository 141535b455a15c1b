// While the database is unreachable, every request fails with it. The log reports such faults once a second with their
// number, and without a stack trace for each.

import { Late } from "../kernel/deadline.ts";
import { isTransient as isTransientStoreError, sqlState } from "../store/engine/postgres/errors.ts";

export type FaultLine = { fault: string; code: string; times: number };

const everyMs = 1000;

export const isTransient = (error: unknown) => error instanceof Late || isTransientStoreError(error);

export function openTransientFaults(write: (line: FaultLine) => void) {
  let last: unknown = null;
  let times = 0;
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    if (times > 0)
      write({ fault: last instanceof Error ? last.message : String(last), code: sqlState(last), times });
    times = 0;
  }

  return {
    add(error: unknown): void {
      last = error;
      times += 1;
      if (timer) return;
      flush();
      timer = setInterval(() => {
        if (times === 0) this.stop();
        flush();
      }, everyMs).unref();
    },
    /** Writes the rest. */
    stop(): void {
      if (timer) clearInterval(timer);
      timer = null;
      flush();
    },
  };
}
