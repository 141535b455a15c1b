// Wraps a database so that its commits are timed. Callers see the same database.

import { append, link, remove, type RingNode } from "../../kernel/ring.ts";
import type { Database } from "./database.ts";

export interface InFlightCommit extends RingNode<InFlightCommit> {
  startedAt: number;
}

export type CommitObserver = {
  /** The head of the transactions in progress, in the order of their start. */
  inFlight: InFlightCommit;
  /**
   * Called when a transaction has ended, with its duration including the wait before it. `isOfMachine`: it failed because a machine of
   * a sharded database is down, which says nothing about the others.
   */
  onCommit(ms: number, failed: boolean, isOfMachine: boolean): void;
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
      if (options?.isBackground) return db.write(work, options);
      const startedAt = performance.now();
      const own = link<InFlightCommit>({ startedAt });
      append(observer.inFlight, own);
      let failed = false;
      let isOfMachine = false;
      try {
        return await db.write(work, options);
      } catch (error) {
        failed = db.isOwnError(error) && !db.isDataError(error);
        isOfMachine = db.isMachineError(error);
        throw error;
      } finally {
        remove(own);
        observer.onCommit(performance.now() - startedAt, failed, isOfMachine);
      }
    },
  };
}
