// A database whose commits are timed. Callers see the same database.

import type { Database } from "./database.ts";

export type CommitWatch = {
  /** Transactions that have begun and not ended, in the order of their beginning, each with when that was. */
  underWay: Set<{ startedAt: number }>;
  /** A transaction ended after so many milliseconds, waiting for its turn included. */
  committed(ms: number, failed: boolean): void;
  /** An event or an outcome asked for its commit; those of one moment share one. */
  wrote(): void;
};

export function watched(db: Database, watch: CommitWatch | undefined): Database {
  if (!watch) return db;
  return {
    ...db,
    commitGroup(siteId) {
      watch.wrote();
      return db.commitGroup(siteId);
    },
    async write(work, manner) {
      const startedAt = performance.now();
      const mine = { startedAt };
      watch.underWay.add(mine);
      let failed = false;
      try {
        return await db.write(work, manner);
      } catch (error) {
        failed = db.isOwnError(error) && !db.blamesData(error);
        throw error;
      } finally {
        watch.underWay.delete(mine);
        watch.committed(performance.now() - startedAt, failed);
      }
    },
  };
}
