// While the database is unreachable or its disk is full, every request fails for the same reason. The log gets one line for
// each kind of fault and interval, with their number: a stack trace for each request would fill the disk that is full.

import { Late } from "../kernel/deadline.ts";
import { errorCode } from "../kernel/errorCode.ts";
import { resultCode } from "../store/engine/sqlite/errors.ts";
import { isTransient as isTransientStoreError, sqlState } from "../store/engine/postgres/errors.ts";

export const isTransient = (error: unknown) => error instanceof Late || isTransientStoreError(error);

type About = Record<string, unknown>;

type RepeatedFaultOptions = {
  everyMs: number;
  /** Faults of one kind share lines. */
  kindOf: (error: unknown) => string;
  /** `error` and `about` are of the last of the `times` faults. `isFirst`: none of this kind came in the last interval. */
  write: (error: unknown, about: About, times: number, isFirst: boolean) => void;
};

/** Faults beyond so many kinds share one. */
const maxKinds = 100;

export function createRepeatedFaults({ everyMs, kindOf, write }: RepeatedFaultOptions) {
  const kinds = new Map<string, { error: unknown; about: About; times: number }>();
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    for (const [kind, fault] of kinds) {
      if (fault.times === 0) kinds.delete(kind);
      else write(fault.error, fault.about, fault.times, false);
      fault.times = 0;
    }
    if (kinds.size === 0) stopTimer();
  }

  function stopTimer(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    add(error: unknown, about: About = {}): void {
      const own = kindOf(error);
      const kind = kinds.has(own) || kinds.size < maxKinds ? own : "";
      const known = kinds.get(kind);
      if (known) {
        known.error = error;
        known.about = about;
        known.times += 1;
        return;
      }
      kinds.set(kind, { error, about, times: 0 });
      write(error, about, 1, true);
      timer ??= setInterval(flush, everyMs).unref();
    },
    /** Writes the rest. A fault after that is logged as the first of its kind. */
    stop(): void {
      flush();
      kinds.clear();
      stopTimer();
    },
  };
}

/**
 * The class, the codes and the place of an error: its message may name an event. All statements of a database fail at one place,
 * so its caller counts too.
 */
export function defectKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const place =
    error.stack
      ?.match(/^\s+at .*$/gm)
      ?.slice(0, 2)
      .join("") ?? error.message;
  return `${error.name} ${errorCode(error)} ${resultCode(error)} ${place}`;
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export const transientLine = (error: unknown, times: number) => ({
  fault: messageOf(error),
  code: sqlState(error),
  times,
});
