// Wraps a database so that its commits are timed. Callers see the same database.

import type { Database } from "./database.ts";

export type CommitObserver = {
  /** The transactions in progress, in the order of their start. */
  inFlight: Set<{ startedAt: number }>;
  /** Called when a transaction has ended, with its duration including the wait before it. */
  onCommit(ms: number, failed: boolean): void;
  /** Called when an event or an outcome asks for its commit, which it may share with others. */
  onWrite(): void;
  /** Called when the database works on, but needs attention. Without it, a warning is printed. */
  onDefect?: (error: Error) => void;
};

export function timed(db: Database, observer: CommitObserver | undefined): Database {
  if (!observer) return db;
  return {
    ...db,
    commitGroup(siteId) {
      observer.onWrite();
      return db.commitGroup(siteId);
    },
    async write(work, options) {
      const startedAt = performance.now();
      const own = { startedAt };
      observer.inFlight.add(own);
      let failed = false;
      try {
        return await db.write(work, options);
      } catch (error) {
        failed = db.isOwnError(error) && !db.isDataError(error);
        throw error;
      } finally {
        observer.inFlight.delete(own);
        observer.onCommit(performance.now() - startedAt, failed);
      }
    },
  };
}
