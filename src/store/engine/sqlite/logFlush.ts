// Makes what SQLite committed survive a power cut: its log is flushed to the disk beside the work, and not inside of every
// commit, where nothing else in the process could go on meanwhile.

import { close, fdatasync, open } from "node:fs";
import { promisify } from "node:util";

const [openFile, closeFile] = [promisify(open), promisify(close)];

export type Flush = (fd: number) => Promise<void>;

const toDisk: Flush = promisify(fdatasync);

export class NotOnDisk extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The disk did not take what was written (${reason}). Nothing more is written before a restart.`, {
      cause,
    });
  }
}

export type LogSync = {
  /** Resolves when all that was committed before the call is on the disk. */
  synced(): Promise<void>;
  /** Throws when a flush has failed: what is written behind a gap would be lost with it, whatever later flushes say. */
  refuseIfBroken(): void;
  close(): Promise<void>;
};

export function openLogSync(file: string, flush = toDisk): LogSync {
  let opened: Promise<number> | undefined;
  let underWay: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let broken: NotOnDisk | null = null;

  function refuseIfBroken(): void {
    if (broken) throw broken;
  }

  async function flushOnce(): Promise<void> {
    try {
      refuseIfBroken();
      // Before the first commit there is no log; from then on SQLite keeps this file as long as the database is open.
      await flush(await (opened ??= openFile(file, "r+")));
    } catch (error) {
      throw (broken ??= new NotOnDisk(error));
    } finally {
      underWay = null;
    }
  }

  const begin = () => (underWay = flushOnce());

  function afterIt(): Promise<void> {
    next = null;
    return begin();
  }

  return {
    // One that has begun may have missed what was written since.
    synced: () => (underWay ? (next ??= underWay.then(afterIt, afterIt)) : begin()),
    refuseIfBroken,
    async close() {
      await Promise.allSettled([underWay, next]);
      const closing = opened?.then(closeFile);
      opened = undefined;
      // All that it had to say was said to those who wrote.
      await closing?.catch(() => {});
    },
  };
}
