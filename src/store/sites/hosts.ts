// The hosts of sites: whose they are, whether they are served, and what the last check found.

import { writeAudit, type AuditLine } from "./audit.ts";
import { type Database, type Query, type Row } from "../engine/database.ts";
import { raiseRevision } from "./revision.ts";

export type HostRow = {
  siteId: string;
  host: string;
  addedAt: number;
  /** Somebody who answers for the whole installation added it: it is served without being verified. */
  isVouched: boolean;
  pausedAt: number | null;
  /** When a check last found that it leads here, and how. */
  verifiedAt: number | null;
  verifiedBy: string | null;
  checkedAt: number | null;
  /** What the last check found wrong; null when nothing. */
  finding: string | null;
  /** What it saw in place of what it looked for. */
  seen: string | null;
  failingSince: number | null;
  nextCheckAt: number;
};

export type CheckRow = Pick<
  HostRow,
  "verifiedAt" | "verifiedBy" | "checkedAt" | "finding" | "seen" | "failingSince" | "nextCheckAt"
>;

export type NewHost = {
  host: string;
  isVouched: boolean;
  /** The line for the site that only claimed this host, and loses it. */
  displaces: AuditLine | null;
};

export function hostStore(db: Database, newId: () => string) {
  /** One change that every node hears of, with its line in the audit log. */
  function change(what: AuditLine, work: (tx: Query) => Promise<unknown>): Promise<void> {
    const id = newId();
    return db.write(async (tx) => {
      await raiseRevision(tx, what.siteId, () => work(tx));
      await writeAudit(tx, id, what);
    });
  }

  return {
    async add(what: AuditLine, host: NewHost): Promise<void> {
      const id = newId();
      await change(what, (tx) => insertHost(tx, id, what, host));
    },

    /** False where it is the last one of its site, or gone. Changes take turns, so that two cannot remove the last two. */
    remove(what: AuditLine, host: string): Promise<boolean> {
      const id = newId();
      return db.write((tx) =>
        raiseRevision(tx, what.siteId, async () => {
          const rows = await tx.all(
            `DELETE FROM hosts WHERE host = $1 AND site_id = $2
             AND EXISTS (SELECT 1 FROM hosts AS others WHERE others.site_id = $2 AND others.host <> $1) RETURNING host`,
            [host, what.siteId],
          );
          if (rows.length > 0) await writeAudit(tx, id, what);
          return rows.length > 0;
        }),
      );
    },

    setPaused: (what: AuditLine, host: string, pausedAt: number | null) =>
      change(what, (tx) =>
        tx.all(`UPDATE hosts SET paused_at = $3 WHERE host = $1 AND site_id = $2`, [
          host,
          what.siteId,
          pausedAt,
        ]),
      ),

    /** Takes a host in hand for a check that is due; true for one node. If it dies, the host is due again at `until`. */
    async claimCheck({ host, siteId, nextCheckAt }: HostRow, until: number): Promise<boolean> {
      const rows = await db.write((tx) =>
        tx.all(
          `UPDATE hosts SET next_check_at = $4 WHERE host = $1 AND site_id = $2 AND next_check_at = $3 RETURNING host`,
          [host, siteId, nextCheckAt, until],
        ),
      );
      return rows.length > 0;
    },

    /** Writes what a check found. `line` is for the audit log, where there is something to tell. */
    async saveCheck(
      { host, siteId }: Pick<HostRow, "host" | "siteId">,
      found: CheckRow,
      line: AuditLine | null,
    ): Promise<void> {
      const id = newId();
      await db.write((tx) =>
        raiseRevision(tx, siteId, async () => {
          const rows = await tx.all(
            `UPDATE hosts SET verified_at = $3, verified_by = $4, checked_at = $5, finding = $6, seen = $7,
               failing_since = $8, next_check_at = $9
             WHERE host = $1 AND site_id = $2 RETURNING host`,
            [
              host,
              siteId,
              found.verifiedAt,
              found.verifiedBy,
              found.checkedAt,
              found.finding,
              found.seen,
              found.failingSince,
              found.nextCheckAt,
            ],
          );
          // It may have been removed while it was looked at.
          if (line && rows.length > 0) await writeAudit(tx, id, line);
        }),
      );
    },
  };
}

/** Part of a change of the site that gets the host. One that somebody has proven to be theirs stays theirs. */
export async function insertHost(
  tx: Query,
  auditId: string,
  { siteId, at }: AuditLine,
  { host, isVouched, displaces }: NewHost,
): Promise<void> {
  if (displaces) {
    await raiseRevision(tx, displaces.siteId, async () => {
      const lost = await tx.all(
        `DELETE FROM hosts WHERE host = $1 AND site_id = $2 AND vouched = 0 AND verified_at IS NULL RETURNING host`,
        [host, displaces.siteId],
      );
      if (lost.length > 0) await writeAudit(tx, auditId, displaces);
    });
  }
  await tx.all(`INSERT INTO hosts (host, site_id, created_at, vouched) VALUES ($1, $2, $3, $4)`, [
    host,
    siteId,
    at,
    isVouched ? 1 : 0,
  ]);
}

const numberOr = (value: unknown) => (value === null ? null : Number(value));

export function hostOfRow(row: Row): HostRow {
  return {
    siteId: String(row.site_id),
    host: String(row.host),
    addedAt: Number(row.created_at),
    isVouched: Number(row.vouched) === 1,
    pausedAt: numberOr(row.paused_at),
    verifiedAt: numberOr(row.verified_at),
    verifiedBy: row.verified_by as string | null,
    checkedAt: numberOr(row.checked_at),
    finding: row.finding as string | null,
    seen: row.seen as string | null,
    failingSince: numberOr(row.failing_since),
    nextCheckAt: Number(row.next_check_at),
  };
}
