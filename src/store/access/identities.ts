// Identities of people at an OpenID provider. Each is a row of the accounts table with the provider `oidc`, one per user; its
// account id begins with the id of the issuer.

import { writeAudit, type AuditLine } from "../sites/audit.ts";
import { insertRow, type Database, type Query } from "../engine/database.ts";
import { endSessions } from "./accounts.ts";
import { addUser, lockMembers, raiseGrant, siteOf, type MemberRole, type NewUser } from "./members.ts";

type IdentitySignIn = {
  /** The user who has this identity already. */
  linked: string | null;
  email: string;
  accountId: string;
  issuerId: string;
  /** The id of the row of a new link. */
  identityId: string;
  /** The user that is added where only an invitation exists. */
  newUser: NewUser;
};

export function identityStore(db: Database, newId: () => string) {
  return {
    async findUser(accountId: string): Promise<string | null> {
      const [row] = await db.all(`SELECT user_id FROM passwords WHERE provider_id = 'oidc' AND account_id = $1`, [accountId]);
      return row ? String(row.user_id) : null;
    },

    /**
     * Finds the member, links the identity where that is new, and accepts open invitations to the email. Everything or nothing,
     * with its audit lines.
     */
    async signIn(line: AuditLine, identity: IdentitySignIn): Promise<{ userId: string } | "not a member" | "other identity"> {
      const { linked, email, newUser } = identity;
      const ids = { signIn: newId(), link: newId(), invitation: newId() };
      return db.write(async (tx) => {
        await lockMembers(tx);
        const column = linked === null ? "email" : "id";
        const [known] = await tx.all(`SELECT id, email_verified FROM users WHERE ${column} = $1`, [linked ?? email]);
        const invitations = await tx.all(
          `SELECT site_id, role, invited_by FROM invitations WHERE email = $1 AND expires_at > $2 ORDER BY created_at, id`,
          [email, line.at],
        );
        const [first] = invitations;
        if (!known && !first) return "not a member";
        const userId = known ? String(known.id) : newUser.id;
        if (!known && !(await addUser(tx, newUser, line.at, { invitedBy: String(first?.invited_by) }))) return "not a member";
        if (linked === null) {
          const result = await link(tx, userId, identity, line.at);
          if (result === "other identity") return result;
          if (Number(known?.email_verified ?? 1) === 0) await secure(tx, userId, newUser.passwordHash, line.at);
          await writeAudit(tx, ids.link, { ...line, action: "identity linked", detail: { email } });
        }
        for (const { site_id, role } of invitations)
          await raiseGrant(tx, userId, { site: siteOf(site_id), role: role as MemberRole }, line.at);
        if (first) {
          await tx.all(`DELETE FROM invitations WHERE email = $1`, [email]);
          const detail = { email, invitations: invitations.length };
          await writeAudit(tx, ids.invitation, { ...line, action: "invitation accepted", detail });
        }
        await writeAudit(tx, ids.signIn, line);
        return { userId };
      });
    },
  };
}

/** An identity of another issuer is replaced: the operator has changed the provider. */
async function link(
  tx: Query,
  userId: string,
  { accountId, issuerId, identityId }: IdentitySignIn,
  now: number,
): Promise<"done" | "other identity"> {
  const [present] = await tx.all(`SELECT account_id FROM passwords WHERE user_id = $1 AND provider_id = 'oidc'`, [userId]);
  if (present?.account_id === accountId) return "done";
  if (String(present?.account_id ?? "").startsWith(`${issuerId} `)) return "other identity";
  await tx.all(`DELETE FROM passwords WHERE user_id = $1 AND provider_id = 'oidc'`, [userId]);
  const times = { created_at: now, updated_at: now };
  await insertRow(tx, "passwords", { id: identityId, user_id: userId, account_id: accountId, provider_id: "oidc", ...times });
  return "done";
}

/** Another person may have created this account and may know its password: from now on it belongs to the owner of the email. */
async function secure(tx: Query, userId: string, passwordHash: string, now: number): Promise<void> {
  const sql = `UPDATE passwords SET password = $2, updated_at = $3 WHERE user_id = $1 AND provider_id = 'credential'`;
  await tx.all(sql, [userId, passwordHash, now]);
  await tx.all(`DELETE FROM two_factors WHERE user_id = $1`, [userId]);
  await tx.all(`UPDATE users SET email_verified = 1, two_factor = 0 WHERE id = $1`, [userId]);
  await endSessions(tx, userId);
}
