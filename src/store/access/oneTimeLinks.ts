// One-time links: to become the first owner, and to reset a password. Only the SHA-256 of a link's token is stored, and it
// is looked up by that, so the response time does not reveal how much of a guess was right.

import { endSessions } from "./accounts.ts";
import { writeAudit, writeAudited, type AuditLine } from "../sites/audit.ts";
import { hasRows, type Database } from "../engine/database.ts";
import { addUser, hasUser, countOwners, putGrant, lockMembers, type NewUser } from "./members.ts";

/** Several nodes may start before there is an owner, and each shows its own link. */
const maxSetUps = 5;
const maxResets = 3;
const never = Number.MAX_SAFE_INTEGER;

type ResetLink = { hash: string; userId: string; byOperator: boolean; expiresAt: number };

export function oneTimeLinkStore(db: Database, newId: () => string) {
  async function add(purpose: string, link: ResetLink, now: number, max: number): Promise<void> {
    const { hash, userId, byOperator, expiresAt } = link;
    await db.write(async (tx) => {
      await tx.all(
        `INSERT INTO one_time_links (hash, purpose, user_id, by_operator, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (hash) DO NOTHING`,
        [hash, purpose, userId, byOperator ? 1 : 0, now, expiresAt],
      );
      await tx.all(
        // Per kind, so that links anyone can request do not displace one that an owner made.
        `DELETE FROM one_time_links WHERE purpose = $1 AND user_id = $2 AND by_operator = $3 AND hash NOT IN
           (SELECT hash FROM one_time_links WHERE purpose = $1 AND user_id = $2 AND by_operator = $3
            ORDER BY created_at DESC, hash LIMIT $4)`,
        [purpose, userId, byOperator ? 1 : 0, max],
      );
    });
  }

  return {
    addSetUp: (hash: string, now: number) =>
      add("set-up", { hash, userId: "", byOperator: true, expiresAt: never }, now, maxSetUps),

    async hasSetUp(hash: string): Promise<boolean> {
      return hasRows(db.all(`SELECT hash FROM one_time_links WHERE hash = $1 AND purpose = 'set-up'`, [hash]));
    },

    /** Adds the first owner; of two concurrent calls one succeeds. */
    async addFirstOwner(line: AuditLine, hash: string, user: NewUser): Promise<"done" | "has owner" | "no link" | "known email"> {
      const lineId = newId();
      return db.write(async (tx) => {
        await lockMembers(tx);
        const [link] = await tx.all(`SELECT hash FROM one_time_links WHERE hash = $1 AND purpose = 'set-up'`, [hash]);
        if ((await countOwners(tx)) > 0) return (await hasUser(tx, user.id)) ? "done" : "has owner";
        if (!link) return "no link";
        if (!(await addUser(tx, user, line.at))) return "known email";
        await putGrant(tx, user.id, { site: null, role: "owner" }, line.at);
        await tx.all(`DELETE FROM one_time_links WHERE purpose = 'set-up'`);
        await writeAudit(tx, lineId, line);
        return "done";
      });
    },

    /** `line` is null when the member asked for the link themselves. */
    async addReset(link: ResetLink, now: number, line: AuditLine | null): Promise<void> {
      await add("reset", link, now, maxResets);
      if (line) await db.write((tx) => writeAudit(tx, newId(), line));
    },

    /** Finds the user whose password the link resets; null for an unknown or expired link. */
    async findReset(hash: string, now: number): Promise<{ userId: string; email: string } | null> {
      const [row] = await db.all(
        `SELECT users.id, users.email FROM one_time_links JOIN users ON users.id = one_time_links.user_id
         WHERE one_time_links.hash = $1 AND purpose = 'reset' AND expires_at > $2`,
        [hash, now],
      );
      return row ? { userId: String(row.id), email: String(row.email) } : null;
    },

    /** Sets the new password, ends every session, and deletes all reset links of the user. */
    async resetPassword(
      line: AuditLine,
      hash: string,
      { userId, passwordId, passwordHash }: { userId: string; passwordId: string; passwordHash: string },
    ): Promise<boolean> {
      return writeAudited(db, newId, line, async (tx) => {
        await lockMembers(tx);
        const [link] = await tx.all(
          `DELETE FROM one_time_links WHERE hash = $1 AND purpose = 'reset' AND user_id = $2 AND expires_at > $3
           RETURNING by_operator`,
          [hash, userId, line.at],
        );
        if (!link) {
          return hasRows(tx.all(`SELECT id FROM passwords WHERE user_id = $1 AND password = $2`, [userId, passwordHash]));
        }
        await tx.all(`DELETE FROM one_time_links WHERE purpose = 'reset' AND user_id = $1`, [userId]);
        await tx.all(
          `INSERT INTO passwords (id, user_id, account_id, provider_id, password, created_at, updated_at)
           VALUES ($1, $2, $2, 'credential', $3, $4, $4)
           ON CONFLICT (user_id, provider_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at`,
          [passwordId, userId, passwordHash, line.at],
        );
        // The link proves that this person owns the email, so the account is theirs from now on.
        await tx.all(`UPDATE users SET email_verified = 1 WHERE id = $1`, [userId]);
        // Only a link from an owner removes the second factor; access to the mailbox is not enough.
        if (Number(link.by_operator) === 1) {
          await tx.all(`DELETE FROM two_factors WHERE user_id = $1`, [userId]);
          await tx.all(`UPDATE users SET two_factor = 0 WHERE id = $1`, [userId]);
          // The next sign-in at the provider links the account again.
          await tx.all(`DELETE FROM passwords WHERE user_id = $1 AND provider_id = 'oidc'`, [userId]);
        }
        await endSessions(tx, userId);
        return true;
      });
    },
  };
}
