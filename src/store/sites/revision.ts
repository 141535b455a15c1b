// The revision: one number by which every node sees that configuration has changed.

import type { Query } from "../engine/database.ts";

/** Runs `work` under a new revision. The row of the revision is locked first, which serialises changes. */
export async function raiseRevision<T>(tx: Query, siteId: string, work: () => Promise<T>): Promise<T> {
  const [row] = await tx.all(
    `UPDATE settings SET value = CAST(CAST(value AS bigint) + 1 AS text) WHERE name = 'revision' RETURNING value`,
  );
  const result = await work();
  await tx.all(`UPDATE sites SET revision = $1 WHERE site_id = $2`, [Number(row?.value), siteId]);
  return result;
}
