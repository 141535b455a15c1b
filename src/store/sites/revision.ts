// The revision: one number by which every node sees that configuration has changed.

import type { Database, Query } from "../engine/database.ts";
import { writeAudit, type AuditLine } from "./audit.ts";
import { refuseLeaving } from "./siteMoves.ts";

/** The actor of changes that no person made. */
const relayActor = "relay";

/** Commits the work, the new revision and the audit line together. */
export function changeConfiguration(
  db: Database,
  auditId: string,
  line: AuditLine,
  work: (tx: Query) => Promise<unknown>,
): Promise<void> {
  return db.write(async (tx) => {
    await raiseRevision(tx, line.siteId, async () => {
      // What the relay itself changes, such as the state of a connection, is moved with the site.
      if (line.siteId !== "" && line.actor !== relayActor) await refuseLeaving(tx, line.siteId);
      await work(tx);
    });
    await writeAudit(tx, auditId, line);
  });
}

/** Runs `work` under a new revision. */
export async function raiseRevision<T>(tx: Query, siteId: string, work: () => Promise<T>): Promise<T> {
  const revision = await lockRevision(tx);
  const result = await work();
  await markChanged(tx, siteId, revision);
  return result;
}

/** Returns a new revision. Its row is locked from here on, which serialises changes. */
export async function lockRevision(tx: Query): Promise<number> {
  const [row] = await tx.all(
    `UPDATE settings SET value = CAST(CAST(value AS bigint) + 1 AS text) WHERE name = 'revision' RETURNING value`,
  );
  return Number(row?.value);
}

/** Lets every node read the site again. */
export async function markChanged(tx: Query, siteId: string, revision: number): Promise<void> {
  await tx.all(`UPDATE sites SET revision = $1 WHERE site_id = $2`, [revision, siteId]);
}
