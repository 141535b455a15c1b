// Invitations: an email, a role, and the SHA-256 of the token in the link.

import { writeAudit, type AuditLine } from "../sites/audit.ts";
import { columns } from "../schema/columns.ts";
import type { Database, Row } from "../engine/database.ts";
import {
  addUser,
  hasUser,
  isOwnerOf,
  putGrant,
  siteIdOf,
  siteOf,
  lockMembers,
  type GrantRow,
  type MemberRole,
  type NewUser,
} from "./members.ts";

export type Invitation = GrantRow & {
  id: string;
  email: string;
  invitedBy: string;
  createdAt: number;
  expiresAt: number;
};

const invitationOf = (row: Row): Invitation => ({
  id: String(row.id),
  email: String(row.email),
  site: siteOf(row.site_id),
  role: row.role as MemberRole,
  invitedBy: String(row.invited_by),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
});

export function invitationStore(db: Database, newId: () => string) {
  return {
    /**
     * A second invitation of an email to a site replaces the first. `inviter` is the id of the inviting member; false when
     * they no longer own the site. `shown` means that the inviter sees the link.
     */
    async add(
      line: AuditLine,
      invitation: Invitation,
      hash: string,
      { inviter = null, shown = false }: { inviter?: string | null; shown?: boolean } = {},
    ): Promise<boolean> {
      const { id, email, site, role, invitedBy, createdAt, expiresAt } = invitation;
      const lineId = newId();
      return db.write(async (tx) => {
        await lockMembers(tx);
        if (inviter !== null && !(await isOwnerOf(tx, inviter, site))) return false;
        await tx.all(
          `INSERT INTO invitations (id, hash, email, site_id, role, invited_by, shown, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           ON CONFLICT (email, site_id) DO UPDATE SET id = excluded.id, hash = excluded.hash, role = excluded.role,
             invited_by = excluded.invited_by, shown = excluded.shown, created_at = excluded.created_at,
             expires_at = excluded.expires_at`,
          [id, hash, email, siteIdOf(site), role, invitedBy, shown ? 1 : 0, createdAt, expiresAt],
        );
        await writeAudit(tx, lineId, line);
        return true;
      });
    },

    /** Lists invitations that have not expired. */
    async listOpen(now: number): Promise<Invitation[]> {
      const rows = await db.all(
        `SELECT ${columns.invitations} FROM invitations WHERE expires_at > $1 ORDER BY created_at DESC, id`,
        [now],
      );
      return rows.map(invitationOf);
    },

    async findByHash(hash: string, now: number): Promise<Invitation | null> {
      const [row] = await db.all(
        `SELECT ${columns.invitations} FROM invitations WHERE hash = $1 AND expires_at > $2`,
        [hash, now],
      );
      return row ? invitationOf(row) : null;
    },

    async withdraw(line: AuditLine, id: string): Promise<boolean> {
      const lineId = newId();
      return db.write(async (tx) => {
        const gone = await tx.all(`DELETE FROM invitations WHERE id = $1 RETURNING id`, [id]);
        if (gone.length) await writeAudit(tx, lineId, line);
        return gone.length > 0;
      });
    },

    /** Consumes the invitation and grants its role to a new or an existing user. An invitation never lowers a role. */
    async accept(
      line: AuditLine,
      hash: string,
      who: { added: NewUser } | { known: string },
    ): Promise<"done" | "no invitation" | "known email"> {
      const lineId = newId();
      return db.write(async (tx) => {
        await lockMembers(tx);
        const [row] = await tx.all(
          `SELECT ${columns.invitations} FROM invitations WHERE hash = $1 AND expires_at > $2`,
          [hash, line.at],
        );
        if (!row) return "added" in who && (await hasUser(tx, who.added.id)) ? "done" : "no invitation";
        const { site, role, invitedBy } = invitationOf(row);
        const origin = { confirmed: Number(row.shown) !== 1, invitedBy };
        if ("added" in who && !(await addUser(tx, who.added, line.at, origin))) return "known email";
        const userId = "added" in who ? who.added.id : who.known;
        const [held] = await tx.all(`SELECT role FROM grants WHERE user_id = $1 AND site_id = $2`, [
          userId,
          siteIdOf(site),
        ]);
        const ranks = ["viewer", "admin", "owner"];
        if (!held || ranks.indexOf(role) > ranks.indexOf(String(held.role)))
          await putGrant(tx, userId, { site, role }, line.at);
        await tx.all(`DELETE FROM invitations WHERE hash = $1`, [hash]);
        await writeAudit(tx, lineId, line);
        return "done";
      });
    },

    async purge(now: number): Promise<void> {
      await db.write((tx) => tx.all(`DELETE FROM invitations WHERE expires_at <= $1`, [now]));
    },
  };
}
