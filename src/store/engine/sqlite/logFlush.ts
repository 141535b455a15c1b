// Flushes SQLite's log to the disk, so that commits survive a power cut. The flush runs asynchronously: inside a commit it
// would block the whole process.

import { close, fdatasync, open } from "node:fs";
import { promisify } from "node:util";

const [createFileSource, closeFile] = [promisify(open), promisify(close)];

export type Flush = (fd: number) => Promise<void>;

const flushToDisk: Flush = promisify(fdatasync);

export class FlushFailed extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Data could not be written to the disk (${reason}). Writes are refused until a restart.`, {
      cause,
    });
  }
}

type LogFlush = {
  /** Resolves when all that was committed before the call is on the disk. */
  flushed(): Promise<void>;
  /** Throws when a flush has failed: later writes would be lost with the missing part, even if later flushes succeed. */
  throwIfFailed(): void;
  /** Counts as a failed flush. */
  fail(error: Error): void;
  close(): Promise<void>;
};

export function createLogFlush(file: string, flush = flushToDisk): LogFlush {
  let opened: Promise<number> | undefined;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let failure: FlushFailed | null = null;

  function throwIfFailed(): void {
    if (failure) throw failure;
  }

  async function flushOnce(): Promise<void> {
    try {
      throwIfFailed();
      // Before the first commit there is no log; afterwards SQLite keeps this file as long as the database is open.
      await flush(await (opened ??= createFileSource(file, "r+")));
    } catch (error) {
      throw (failure ??= new FlushFailed(error));
    } finally {
      running = null;
    }
  }

  const start = () => (running = flushOnce());

  function startNext(): Promise<void> {
    next = null;
    return start();
  }

  return {
    // A flush in progress may have missed what was written since it started.
    flushed: () => (running ? (next ??= running.then(startNext, startNext)) : start()),
    throwIfFailed,
    fail: (error) => void (failure ??= new FlushFailed(error)),
    async close() {
      await Promise.allSettled([running, next]);
      const closing = opened?.then(closeFile);
      opened = undefined;
      // The writers have already received the error.
      await closing?.catch(() => {});
    },
  };
}
