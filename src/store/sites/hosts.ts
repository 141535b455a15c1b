// The hosts of sites, with their state and the result of the last check.

import { writeAudit, writeAudited, type AuditLine } from "./audit.ts";
import { asNumber, asNumberOrNull, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { insertRow, type Database, type Query } from "../engine/database.ts";
import { changeConfiguration, raiseRevision } from "./revision.ts";

export type HostRow = {
  siteId: string;
  host: string;
  addedAt: number;
  /** Added by a member who manages the whole installation, so it is served without being verified. */
  isTrusted: boolean;
  pausedAt: number | null;
  /** When a check last found that the host leads here, and by which method. */
  verifiedAt: number | null;
  verifiedBy: string | null;
  checkedAt: number | null;
  /** The problem that the last check found, or null. */
  finding: string | null;
  /** The value that the check found instead of the expected one. */
  seen: string | null;
  failingSince: number | null;
  nextCheckAt: number;
};

export type CheckRow = Pick<
  HostRow,
  "verifiedAt" | "verifiedBy" | "checkedAt" | "finding" | "seen" | "failingSince" | "nextCheckAt"
>;

type NewHost = {
  host: string;
  isTrusted: boolean;
  /** The audit line of the site that loses this host because it had not verified it. */
  displaces: AuditLine | null;
};

export function hostStore(db: Database, newId: () => string) {
  return {
    async add(line: AuditLine, host: NewHost): Promise<void> {
      const displacedId = newId();
      await changeConfiguration(db, newId(), line, (tx) => insertHost(tx, displacedId, line, host));
    },

    /** False when it is the site's last host, or gone. Changes are serialised, so that two cannot remove the last two. */
    remove(line: AuditLine, host: string): Promise<boolean> {
      return writeAudited(db, newId, line, (tx) =>
        raiseRevision(tx, line.siteId, async () => {
          const rows = await tx.all(
            `DELETE FROM hosts WHERE host = $1 AND site_id = $2
             AND EXISTS (SELECT 1 FROM hosts AS others WHERE others.site_id = $2 AND others.host <> $1) RETURNING host`,
            [host, line.siteId],
          );
          return rows.length > 0;
        }),
      );
    },

    setPaused: (line: AuditLine, host: string, pausedAt: number | null) =>
      changeConfiguration(db, newId(), line, (tx) =>
        tx.all(`UPDATE hosts SET paused_at = $3 WHERE host = $1 AND site_id = $2`, [host, line.siteId, pausedAt]),
      ),

    /** Leases a host for a check that is due; true for one node. If that node dies, the host is due again at `until`. */
    async claimCheck({ host, siteId, nextCheckAt }: HostRow, until: number): Promise<boolean> {
      const rows = await db.run(
        `UPDATE hosts SET next_check_at = $4 WHERE host = $1 AND site_id = $2 AND next_check_at = $3 RETURNING host`,
        [host, siteId, nextCheckAt, until],
      );
      return rows.length > 0;
    },

    /** Writes the result of a check, and an audit line if there is one. */
    async saveCheck({ host, siteId }: Pick<HostRow, "host" | "siteId">, found: CheckRow, line: AuditLine | null): Promise<void> {
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
          // The host may have been removed during the check.
          if (line && rows.length > 0) await writeAudit(tx, id, line);
        }),
      );
    },
  };
}

/** Part of a change of the site that gets the host. A host that another site has verified stays with that site. */
export async function insertHost(
  tx: Query,
  auditId: string,
  { siteId, at }: AuditLine,
  { host, isTrusted, displaces }: NewHost,
): Promise<void> {
  if (displaces) {
    await raiseRevision(tx, displaces.siteId, async () => {
      const lost = await tx.all(
        `DELETE FROM hosts WHERE host = $1 AND site_id = $2 AND trusted = 0 AND verified_at IS NULL RETURNING host`,
        [host, displaces.siteId],
      );
      if (lost.length > 0) await writeAudit(tx, auditId, displaces);
    });
  }
  await insertRow(tx, "hosts", { host, site_id: siteId, created_at: at, trusted: isTrusted ? 1 : 0 });
}

export const hostRow = describeRow<HostRow, HostRow>({
  siteId: asText,
  host: asText,
  addedAt: { column: "created_at", read: Number },
  isTrusted: { column: "trusted", read: (value) => Number(value) === 1 },
  pausedAt: asNumberOrNull,
  verifiedAt: asNumberOrNull,
  verifiedBy: asTextOrNull,
  checkedAt: asNumberOrNull,
  finding: asTextOrNull,
  seen: asTextOrNull,
  failingSince: asNumberOrNull,
  nextCheckAt: asNumber,
});
