// Passwords and second factors. Checking a password takes a while, in which it may be changed: the proof is checked again
// in the transaction that relies on it.

import { writeAudit, writeAudited, type AuditLine } from "../sites/audit.ts";
import { type Database, type Query } from "../engine/database.ts";
import { endSessions } from "./accounts.ts";
import { lockMembers } from "./members.ts";

export type Proof = { userId: string; passwordHash: string; twoFactor: boolean };

/** A new token for a session that goes on; its old cookie becomes invalid. */
type Renewed = { sessionId: string; token: string };

export function passwordStore(db: Database, newId: () => string) {
  return {
    /** Null for a user without a password. */
    async findProof(column: "id" | "email", value: string): Promise<Proof | null> {
      const [row] = await db.all(
        `SELECT users.id, users.two_factor, passwords.password
         FROM users JOIN passwords ON passwords.user_id = users.id AND passwords.provider_id = 'credential'
         WHERE users.${column} = $1`,
        [value],
      );
      if (!row) return null;
      const { id, two_factor, password } = row;
      return { userId: String(id), passwordHash: String(password), twoFactor: Number(two_factor) === 1 };
    },

    /**
     * Called after a session was created. It waits for a concurrent change of the password; a later change finds the
     * session and ends it.
     */
    async stillHolds({ userId, passwordHash, twoFactor }: Proof): Promise<boolean> {
      return db.write(async (tx) => {
        if (!(await lockPassword(tx, userId, passwordHash))) return false;
        const [user] = await tx.all(`SELECT two_factor FROM users WHERE id = $1`, [userId]);
        return user !== undefined && (Number(user.two_factor) === 1) === twoFactor;
      });
    },

    /** Sets a new password and ends all other sessions. */
    async change(
      line: AuditLine,
      { userId, passwordHash }: Proof,
      next: string,
      { sessionId, token }: Renewed,
    ): Promise<boolean> {
      return writeAudited(db, newId, line, async (tx) => {
        await lockMembers(tx);
        // A transaction that runs again finds its own change.
        if (await lockPassword(tx, userId, next)) return true;
        if (!(await lockPassword(tx, userId, passwordHash))) return false;
        const sql = `UPDATE sessions SET token = $3 WHERE user_id = $1 AND id = $2 RETURNING id`;
        const [session] = await tx.all(sql, [userId, sessionId, token]);
        if (!session) return false;
        await tx.all(`UPDATE passwords SET password = $2, updated_at = $3 WHERE user_id = $1 AND provider_id = 'credential'`, [
          userId,
          next,
          line.at,
        ]);
        await tx.all(`DELETE FROM one_time_links WHERE purpose = 'reset' AND user_id = $1`, [userId]);
        await endSessions(tx, userId, token);
        return true;
      });
    },

    /**
     * Records that a code has confirmed the (sealed) secret, and ends all sessions but that of `token`. False where the password was
     * changed meanwhile, or another secret was begun with, which no code has confirmed: then the second factor is off again.
     */
    async recordTwoFactorOn(line: AuditLine, { userId, passwordHash }: Proof, token: string, secret: string): Promise<boolean> {
      return writeAudited(db, newId, line, async (tx) => {
        const isCurrent = await lockPassword(tx, userId, passwordHash);
        const [confirmed] = await tx.all(`UPDATE two_factors SET verified = 1 WHERE user_id = $1 AND secret = $2 RETURNING id`, [
          userId,
          secret,
        ]);
        if (!confirmed) {
          await tx.all(`DELETE FROM two_factors WHERE user_id = $1`, [userId]);
          await tx.all(`UPDATE users SET two_factor = 0 WHERE id = $1`, [userId]);
        }
        if (!isCurrent || !confirmed) {
          await tx.all(`DELETE FROM sessions WHERE token = $1`, [token]);
          return false;
        }
        await endSessions(tx, userId, token);
        return true;
      });
    },

    async disableTwoFactor(line: AuditLine, { userId, passwordHash }: Proof): Promise<"done" | "is off" | "no proof"> {
      const lineId = newId();
      return db.write(async (tx) => {
        if (!(await lockPassword(tx, userId, passwordHash))) return "no proof";
        const [user] = await tx.all(
          `UPDATE users SET two_factor = 0, updated_at = $2 WHERE id = $1 AND two_factor = 1 RETURNING id`,
          [userId, line.at],
        );
        if (!user) return "is off";
        await tx.all(`DELETE FROM two_factors WHERE user_id = $1`, [userId]);
        await tx.all(`DELETE FROM verifications WHERE value = $1`, [userId]);
        await writeAudit(tx, lineId, line);
        return "done";
      });
    },
  };
}

/** Locks the row by writing it, so that a concurrent change of the password waits. False when the hash is not current. */
async function lockPassword(tx: Query, userId: string, hash: string): Promise<boolean> {
  const rows = await tx.all(
    `UPDATE passwords SET updated_at = updated_at
     WHERE user_id = $1 AND provider_id = 'credential' AND password = $2 RETURNING id`,
    [userId, hash],
  );
  return rows.length > 0;
}
