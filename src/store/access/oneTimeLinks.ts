// Links that work once: to become the first owner, and to set a new password. Only the SHA-256 of a ticket is stored, and
// it is found by that: the time it takes says nothing about how much of a guess was right.

import { endSessions } from "./accounts.ts";
import { writeAudit, type AuditLine } from "../sites/audit.ts";
import type { Database } from "../engine/database.ts";
import { addUser, hasUser, countOwners, putGrant, lockMembers, type NewUser } from "./members.ts";

/** Several nodes may start before there is an owner; each shows its own link. */
const maxSetUps = 5;
const maxResets = 3;
const never = Number.MAX_SAFE_INTEGER;

export type ResetLink = { hash: string; userId: string; byOperator: boolean; expiresAt: number };

export function oneTimeLinkStore(db: Database, newId: () => string) {
  async function add(purpose: string, ticket: ResetLink, now: number, most: number): Promise<void> {
    const { hash, userId, byOperator, expiresAt } = ticket;
    await db.write(async (tx) => {
      await tx.all(
        `INSERT INTO tickets (hash, purpose, user_id, by_operator, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (hash) DO NOTHING`,
        [hash, purpose, userId, byOperator ? 1 : 0, now, expiresAt],
      );
      await tx.all(
        // Each kind on its own: links that anybody can ask for do not push out one that an owner made.
        `DELETE FROM tickets WHERE purpose = $1 AND user_id = $2 AND by_operator = $3 AND hash NOT IN
           (SELECT hash FROM tickets WHERE purpose = $1 AND user_id = $2 AND by_operator = $3
            ORDER BY created_at DESC, hash LIMIT $4)`,
        [purpose, userId, byOperator ? 1 : 0, most],
      );
    });
  }

  return {
    addSetUp: (hash: string, now: number) =>
      add("set-up", { hash, userId: "", byOperator: true, expiresAt: never }, now, maxSetUps),

    async hasSetUp(hash: string): Promise<boolean> {
      const rows = await db.all(`SELECT hash FROM tickets WHERE hash = $1 AND purpose = 'set-up'`, [hash]);
      return rows.length > 0;
    },

    /** Makes the first owner. Of two at once one becomes it. */
    async addFirstOwner(
      line: AuditLine,
      hash: string,
      user: NewUser,
    ): Promise<"done" | "has owner" | "no link" | "known email"> {
      const lineId = newId();
      return db.write(async (tx) => {
        await lockMembers(tx);
        const [ticket] = await tx.all(`SELECT hash FROM tickets WHERE hash = $1 AND purpose = 'set-up'`, [
          hash,
        ]);
        if ((await countOwners(tx)) > 0) return (await hasUser(tx, user.id)) ? "done" : "has owner";
        if (!ticket) return "no link";
        if (!(await addUser(tx, user, line.at))) return "known email";
        await putGrant(tx, user.id, { site: null, role: "owner" }, line.at);
        await tx.all(`DELETE FROM tickets WHERE purpose = 'set-up'`);
        await writeAudit(tx, lineId, line);
        return "done";
      });
    },

    /** `line` null: nobody but the person themselves asked for it. */
    async addReset(ticket: ResetLink, now: number, line: AuditLine | null): Promise<void> {
      await add("reset", ticket, now, maxResets);
      if (line) await db.write((tx) => writeAudit(tx, newId(), line));
    },

    /** Whose password a ticket resets; null for one that does not work (any more). */
    async findReset(hash: string, now: number): Promise<{ userId: string; email: string } | null> {
      const [row] = await db.all(
        `SELECT users.id, users.email FROM tickets JOIN users ON users.id = tickets.user_id
         WHERE tickets.hash = $1 AND purpose = 'reset' AND expires_at > $2`,
        [hash, now],
      );
      return row ? { userId: String(row.id), email: String(row.email) } : null;
    },

    /** Sets the new password, ends every session, and spends all links of the same person. */
    async resetPassword(
      line: AuditLine,
      hash: string,
      { userId, passwordId, passwordHash }: { userId: string; passwordId: string; passwordHash: string },
    ): Promise<boolean> {
      const lineId = newId();
      return db.write(async (tx) => {
        await lockMembers(tx);
        const [ticket] = await tx.all(
          `DELETE FROM tickets WHERE hash = $1 AND purpose = 'reset' AND user_id = $2 AND expires_at > $3
           RETURNING by_operator`,
          [hash, userId, line.at],
        );
        if (!ticket) {
          const own = await tx.all(`SELECT id FROM passwords WHERE user_id = $1 AND password = $2`, [
            userId,
            passwordHash,
          ]);
          return own.length > 0;
        }
        await tx.all(`DELETE FROM tickets WHERE purpose = 'reset' AND user_id = $1`, [userId]);
        await tx.all(
          `INSERT INTO passwords (id, user_id, account_id, provider_id, password, created_at, updated_at)
           VALUES ($1, $2, $2, 'credential', $3, $4, $4)
           ON CONFLICT (user_id, provider_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at`,
          [passwordId, userId, passwordHash, line.at],
        );
        // The password of whoever opened the account ends here: from now on it belongs to who has the link.
        await tx.all(`UPDATE users SET email_verified = 1 WHERE id = $1`, [userId]);
        // Who lost the phone as well asks an owner; a mail alone does not open a second lock.
        if (Number(ticket.by_operator) === 1) {
          await tx.all(`DELETE FROM two_factors WHERE user_id = $1`, [userId]);
          await tx.all(`UPDATE users SET two_factor = 0 WHERE id = $1`, [userId]);
        }
        await endSessions(tx, userId);
        await writeAudit(tx, lineId, line);
        return true;
      });
    },
  };
}
