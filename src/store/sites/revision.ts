// The one number that tells every node that configuration has changed.

import type { Query } from "../engine/database.ts";

/** Runs `work` as a change that every node hears of. The revision's row comes first, so that changes take turns. */
export async function raiseRevision<T>(tx: Query, siteId: string, work: () => Promise<T>): Promise<T> {
  const [row] = await tx.all(
    `UPDATE settings SET value = CAST(CAST(value AS bigint) + 1 AS text) WHERE name = 'revision' RETURNING value`,
  );
  const result = await work();
  await tx.all(`UPDATE sites SET revision = $1 WHERE site_id = $2`, [Number(row?.value), siteId]);
  return result;
}
