// The audit log: a line for every change of configuration and every access to a person's data.

import { lastId } from "../../kernel/ids.ts";
import { maxTime, type Period } from "../../kernel/time.ts";
import { readObject } from "../damagedRows.ts";
import { columns } from "../schema/columns.ts";
import { insertRow, type Database, type Query, type RowQuery } from "../engine/database.ts";

export type AuditLine = {
  siteId: string;
  actor: string;
  action: string;
  detail: Record<string, unknown>;
  at: number;
};

export async function writeAudit(tx: Query, id: string, line: AuditLine): Promise<void> {
  // A transaction that runs again has the same id and writes no second line.
  const { siteId, at, actor, action, detail } = line;
  const row = { site_id: siteId, id, at, actor, action, detail: JSON.stringify(detail) };
  await insertRow(tx, "audit", row, "ON CONFLICT DO NOTHING");
}

/** Commits the work and its audit line, unless the work returns false. A transaction that runs again writes the same line. */
export function writeAudited<T>(
  db: Database,
  newId: () => string,
  line: AuditLine,
  work: (tx: RowQuery) => Promise<T>,
): Promise<T> {
  const id = newId();
  return db.write(async (tx) => {
    const result = await work(tx);
    if (result !== false) await writeAudit(tx, id, line);
    return result;
  });
}

export function auditStore(db: Database, newId: () => string) {
  return {
    add: (line: AuditLine) => db.write((tx) => writeAudit(tx, newId(), line)),

    /** Lists the newest first; `before` is the id of the last line of the previous page. Site "" is the installation. */
    async list(
      siteId: string,
      limit: number,
      before: string = lastId,
      { from = 0, to = maxTime }: Period = {},
    ): Promise<(AuditLine & { id: string })[]> {
      const rows = await db.all(
        `SELECT ${columns.audit} FROM audit WHERE site_id = $1 AND id < $3 AND at >= $4 AND at < $5 ORDER BY id DESC LIMIT $2`,
        [siteId, limit, before, from, to],
      );
      return rows.map((row) => ({
        id: String(row.id),
        siteId: String(row.site_id),
        actor: String(row.actor),
        action: String(row.action),
        detail: readObject(String(row.detail)) ?? { unreadable: true },
        at: Number(row.at),
      }));
    },
  };
}
