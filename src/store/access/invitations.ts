// Invitations: an email, a role, and the SHA-256 of the token in the link.

import { writeAudit, writeAudited, type AuditLine } from "../sites/audit.ts";
import { asNumber, asOneOf, asText, describeRow } from "../describeRow.ts";
import { hasRows, insertRow, orReplace, type Database } from "../engine/database.ts";
import {
  addUser,
  hasUser,
  isOwnerOf,
  raiseGrant,
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

/** `hash` and `shown` are written, and asked for by name. */
type Link = { hash: string; shown: boolean };

export const invitationRow = describeRow<Invitation, Invitation, Link>(
  {
    id: asText,
    email: asText,
    site: { column: "site_id", write: ({ site }) => siteIdOf(site), read: siteOf },
    role: asOneOf<MemberRole>(),
    invitedBy: asText,
    createdAt: asNumber,
    expiresAt: asNumber,
  },
  { hash: (_invitation, { hash }) => hash, shown: (_invitation, { shown }) => (shown ? 1 : 0) },
);

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
      return writeAudited(db, newId, line, async (tx) => {
        await lockMembers(tx);
        if (inviter !== null && !(await isOwnerOf(tx, inviter, invitation.site))) return false;
        const replaced = orReplace("email, site_id", "id", "hash", "role", "invited_by", "shown", "created_at", "expires_at");
        await insertRow(tx, "invitations", invitationRow.toRow(invitation, { hash, shown }), replaced);
        return true;
      });
    },

    /** Lists invitations that have not expired. */
    async listOpen(now: number): Promise<Invitation[]> {
      const rows = await db.all(
        `SELECT ${invitationRow.list} FROM invitations WHERE expires_at > $1 ORDER BY created_at DESC, id`,
        [now],
      );
      return rows.map(invitationRow.read);
    },

    async findByHash(hash: string, now: number): Promise<Invitation | null> {
      const [row] = await db.all(`SELECT ${invitationRow.list} FROM invitations WHERE hash = $1 AND expires_at > $2`, [
        hash,
        now,
      ]);
      return row ? invitationRow.read(row) : null;
    },

    async withdraw(line: AuditLine, id: string): Promise<boolean> {
      const sql = `DELETE FROM invitations WHERE id = $1 RETURNING id`;
      return writeAudited(db, newId, line, (tx) => hasRows(tx.all(sql, [id])));
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
        const [row] = await tx.all(`SELECT ${invitationRow.list}, shown FROM invitations WHERE hash = $1 AND expires_at > $2`, [
          hash,
          line.at,
        ]);
        if (!row) return "added" in who && (await hasUser(tx, who.added.id)) ? "done" : "no invitation";
        const { site, role, invitedBy } = invitationRow.read(row);
        const origin = { confirmed: Number(row.shown) !== 1, invitedBy };
        if ("added" in who && !(await addUser(tx, who.added, line.at, origin))) return "known email";
        const userId = "added" in who ? who.added.id : who.known;
        await raiseGrant(tx, userId, { site, role }, line.at);
        await tx.all(`DELETE FROM invitations WHERE hash = $1`, [hash]);
        await writeAudit(tx, lineId, line);
        return "done";
      });
    },

    async purge(now: number): Promise<void> {
      await db.run(`DELETE FROM invitations WHERE expires_at <= $1`, [now]);
    },
  };
}
