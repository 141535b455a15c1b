// How often something was tried, counted over all nodes: a row for each thing, until its window ends.

import type { Database } from "../engine/database.ts";

/** `most` tries within `windowMs` from the first. */
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
     * Counts one try under every limit, or, where one of them is spent, under none: who is stopped by the limit of an
     * address must not use up the limit of an account. Returns until when to wait, or 0.
     */
    async count(limits: readonly RateLimit[], now: number): Promise<number> {
      try {
        await db.write(async (tx) => {
          // Always in one order: two that count the same limits do not wait for each other crosswise.
          for (const { key, max: most, windowMs } of limits.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
            const [row] = await tx.all(
              `INSERT INTO tries (key, count, until) VALUES ($1, 1, $2)
               ON CONFLICT (key) DO UPDATE SET
                 count = CASE WHEN tries.until <= $3 THEN 1 ELSE tries.count + 1 END,
                 until = CASE WHEN tries.until <= $3 THEN excluded.until ELSE tries.until END
               RETURNING count, until`,
              [key, now + windowMs, now],
            );
            if (Number(row?.count) > most) throw new Exceeded(Number(row?.until));
          }
        });
        return 0;
      } catch (error) {
        if (error instanceof Exceeded) return error.until;
        throw error;
      }
    },

    /** Takes a try back that was none: the password was right. */
    async decrement(keys: readonly string[]): Promise<void> {
      await db.write(async (tx) => {
        for (const key of keys.toSorted())
          await tx.all(`UPDATE tries SET count = count - 1 WHERE key = $1 AND count > 0`, [key]);
      });
    },

    async reset(keys: readonly string[]): Promise<void> {
      await db.write(async (tx) => {
        for (const key of keys.toSorted()) await tx.all(`DELETE FROM tries WHERE key = $1`, [key]);
      });
    },
  };
}
