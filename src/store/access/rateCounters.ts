// Rate counters over all nodes: a row per key until its window ends.

import { maxSkewMs } from "../../kernel/time.ts";
import type { Database } from "../engine/database.ts";

/** Allows `max` attempts within `windowMs` from the first. */
export type RateLimit = { key: string; max: number; windowMs: number };

class Exceeded extends Error {
  readonly until: number;
  constructor(until: number) {
    super("exceeded");
    this.until = until;
  }
}

export function rateCounterStore(db: Database) {
  return {
    /**
     * Counts one attempt against every limit, or against none when one of them is exceeded: a caller whom the limit of an
     * address stops must not use up the limit of an account. Returns the time until which to wait, or 0.
     */
    async count(limits: readonly RateLimit[], now: number): Promise<number> {
      try {
        await db.write(async (tx) => {
          // Sorted, so that two transactions that count the same limits cannot deadlock.
          for (const { key, max, windowMs } of limits.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
            const [row] = await tx.all(
              `INSERT INTO rate_counters (key, count, until) VALUES ($1, 1, $2)
               ON CONFLICT (key) DO UPDATE SET
                 count = CASE WHEN rate_counters.until <= $3 OR rate_counters.until > $4 THEN 1
                   ELSE rate_counters.count + 1 END,
                 until = CASE WHEN rate_counters.until <= $3 OR rate_counters.until > $4 THEN excluded.until
                   ELSE rate_counters.until END
               RETURNING count, until`,
              // A window that ends later than one that begins now was begun by a clock that ran ahead.
              [key, now + windowMs, now, now + windowMs + maxSkewMs],
            );
            if (Number(row?.count) > max) throw new Exceeded(Number(row?.until));
          }
        });
        return 0;
      } catch (error) {
        if (error instanceof Exceeded) return error.until;
        throw error;
      }
    },

    /** Takes one attempt back, because the password was right. */
    async decrement(keys: readonly string[]): Promise<void> {
      await db.write(async (tx) => {
        for (const key of keys.toSorted())
          await tx.all(`UPDATE rate_counters SET count = count - 1 WHERE key = $1 AND count > 0`, [key]);
      });
    },

    async reset(keys: readonly string[]): Promise<void> {
      await db.write(async (tx) => {
        for (const key of keys.toSorted()) await tx.all(`DELETE FROM rate_counters WHERE key = $1`, [key]);
      });
    },
  };
}
