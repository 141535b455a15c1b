// Members of the installation and their roles on its sites. Changes are serialised, and each writes its audit line in the
// same transaction.

import { endSessions } from "./accounts.ts";
import { writeAudit, type AuditLine } from "../sites/audit.ts";
import { asNumber, asText, asTextOrNull, describeRow, readNumber } from "../describeRow.ts";
import { hasRows, insertRow, orReplace, type Database, type Query, type Row, type Value } from "../engine/database.ts";

export type MemberRole = "viewer" | "admin" | "owner";
/** `site` null is every site, and the installation itself. */
export type GrantRow = { site: string | null; role: MemberRole };

export type Member = {
  id: string;
  email: string;
  name: string;
  twoFactor: boolean;
  /** False when another person than the owner of the email may have created the account (see access/invitations.ts). */
  confirmed: boolean;
  /** Null for members who were not invited. */
  invitedBy: string | null;
  createdAt: number;
  lastSeenAt: number | null;
  grants: GrantRow[];
};

export type NewUser = { id: string; passwordId: string; email: string; name: string; passwordHash: string };

const isOne = (value: Value) => Number(value) === 1;
const memberRow = describeRow<Omit<Member, "grants">, Member>({
  id: asText,
  email: asText,
  name: asText,
  twoFactor: { column: "two_factor", read: isOne },
  confirmed: { column: "email_verified", read: isOne },
  invitedBy: asTextOrNull,
  createdAt: asNumber,
  lastSeenAt: { column: "seen_at", read: readNumber },
});

export const siteIdOf = (site: string | null) => site ?? "";
export const siteOf = (siteId: unknown) => (siteId === "" ? null : String(siteId));

const grantOf = (row: Row): GrantRow => ({ site: siteOf(row.site_id), role: row.role as MemberRole });

export type TwoFactorRow = { email: string; secret: string; backupCodes: string };

/** Reads the secrets of two-factor sign-in, as better-auth sealed them. */
export async function listTwoFactors(db: Query): Promise<TwoFactorRow[]> {
  const rows = await db.all(
    `SELECT email, secret, backup_codes FROM two_factors JOIN users ON users.id = two_factors.user_id ORDER BY email`,
  );
  return rows.map((row) => ({
    email: String(row.email),
    secret: String(row.secret),
    backupCodes: String(row.backup_codes),
  }));
}

export function memberStore(db: Database, newId: () => string) {
  async function listGrants(userId: string, from: Query = db): Promise<GrantRow[]> {
    const rows = await from.all(`SELECT site_id, role FROM grants WHERE user_id = $1 ORDER BY site_id`, [userId]);
    return rows.map(grantOf);
  }

  async function findBy(column: "id" | "email", value: string): Promise<Member | null> {
    const [row] = await db.all(`SELECT ${memberRow.list} FROM users WHERE ${column} = $1`, [value]);
    return row ? { ...memberRow.read(row), grants: await listGrants(String(row.id)) } : null;
  }

  /** Commits the work and its audit line, which is left out when nothing changed. */
  function change<T>(line: AuditLine, work: (tx: Query) => Promise<T>): Promise<T> {
    const lineId = newId();
    return db.write(async (tx) => {
      await lockMembers(tx);
      const result = await work(tx);
      if (!isRefused(result)) await writeAudit(tx, lineId, line);
      return result;
    });
  }

  return {
    listTwoFactors: () => listTwoFactors(db),

    listGrants: (userId: string) => listGrants(userId),
    findById: (id: string) => findBy("id", id),
    findByEmail: (email: string) => findBy("email", email),

    async hasOwner(): Promise<boolean> {
      return (await countOwners(db)) > 0;
    },

    /** Lists all members; there are few. */
    async list(): Promise<Member[]> {
      const users = await db.all(`SELECT ${memberRow.list} FROM users ORDER BY created_at, id`);
      const grants = await db.all(`SELECT user_id, site_id, role FROM grants ORDER BY user_id, site_id`);
      const byUser = Map.groupBy(grants, (row) => String(row.user_id));
      return users.map(memberRow.read).map((member) => ({
        ...member,
        grants: (byUser.get(member.id) ?? []).map(grantOf),
      }));
    },

    /** Adds a member with a password and roles, in place of open invitations to the same sites. */
    async add(line: AuditLine, user: NewUser, grants: readonly GrantRow[]): Promise<"done" | "known email"> {
      return change(line, async (tx) => {
        if (!(await addUser(tx, user, line.at))) return (await hasUser(tx, user.id)) ? "done" : "known email";
        for (const grant of grants) {
          await putGrant(tx, user.id, grant, line.at);
          await tx.all(`DELETE FROM invitations WHERE email = $1 AND site_id = $2`, [user.email, siteIdOf(grant.site)]);
        }
        return "done";
      });
    },

    /** Sets a role, or removes it (null). The last owner of the installation cannot be demoted. */
    async setGrant(
      line: AuditLine,
      userId: string,
      site: string | null,
      role: MemberRole | null,
    ): Promise<"done" | "last owner" | "no member"> {
      return change(line, async (tx) => {
        const [user] = await tx.all(`SELECT email FROM users WHERE id = $1`, [userId]);
        if (!user) return "no member";
        if (site === null && role !== "owner" && (await isLastOwner(tx, userId))) return "last owner";
        if (role === null) await tx.all(`DELETE FROM grants WHERE user_id = $1 AND site_id = $2`, [userId, siteIdOf(site)]);
        else await putGrant(tx, userId, { site, role }, line.at);
        const email = String(user.email);
        // An older invitation must not undo this change.
        await tx.all(`DELETE FROM invitations WHERE email = $1 AND site_id = $2`, [email, siteIdOf(site)]);
        await deleteInvitationsBy(tx, userId, email);
        return "done";
      });
    },

    /** Removes a member and ends their sessions. */
    async remove(line: AuditLine, userId: string): Promise<"done" | "last owner" | "no member"> {
      return change(line, async (tx) => {
        if (await isLastOwner(tx, userId)) return "last owner";
        const [gone] = await tx.all(`DELETE FROM users WHERE id = $1 RETURNING email`, [userId]);
        if (!gone) return "no member";
        // Neither an invitation to them nor one that they made may still let them in.
        await tx.all(`DELETE FROM invitations WHERE email = $1 OR invited_by = $1`, [String(gone.email)]);
        await endSessions(tx, userId);
        for (const table of ["grants", "passwords", "two_factors", "one_time_links"])
          await tx.all(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
        return "done";
      });
    },

    rename: (line: AuditLine, userId: string, name: string) =>
      change(line, (tx) => tx.all(`UPDATE users SET name = $2, updated_at = $3 WHERE id = $1`, [userId, name, line.at])),

    /** Ends all sessions of a member. Returns how many. */
    endSessions: (line: AuditLine, userId: string) => change(line, (tx) => endSessions(tx, userId)),
  };
}

const refusals: ReadonlySet<unknown> = new Set(["no member", "last owner", "known email"]);
const isRefused = (result: unknown) => refusals.has(result);

/** Serialises changes of members: each writes this row first. */
export async function lockMembers(tx: Query): Promise<void> {
  await tx.all(`UPDATE settings SET value = CAST(CAST(value AS bigint) + 1 AS text) WHERE name = 'members' RETURNING value`);
}

export async function countOwners(tx: Query): Promise<number> {
  const [row] = await tx.all(`SELECT COUNT(*) AS n FROM grants WHERE site_id = '' AND role = 'owner'`);
  return Number(row?.n);
}

async function isLastOwner(tx: Query, userId: string): Promise<boolean> {
  const owners = await tx.all(`SELECT user_id FROM grants WHERE site_id = '' AND role = 'owner' ORDER BY user_id LIMIT 2`);
  return owners.length === 1 && owners[0]?.user_id === userId;
}

export async function putGrant(tx: Query, userId: string, grant: GrantRow, now: number): Promise<void> {
  const row = { user_id: userId, site_id: siteIdOf(grant.site), role: grant.role, created_at: now };
  await insertRow(tx, "grants", row, orReplace("user_id, site_id", "role"));
}

const ranks = ["viewer", "admin", "owner"];

/** An invitation never lowers a role. */
export async function raiseGrant(tx: Query, userId: string, grant: GrantRow, now: number): Promise<void> {
  const [held] = await tx.all(`SELECT role FROM grants WHERE user_id = $1 AND site_id = $2`, [userId, siteIdOf(grant.site)]);
  if (!held || ranks.indexOf(grant.role) > ranks.indexOf(String(held.role))) await putGrant(tx, userId, grant, now);
}

/** True when the user owns the site, by a role on it or on all sites. */
export async function isOwnerOf(tx: Query, userId: string, site: string | null): Promise<boolean> {
  const sql = `SELECT role FROM grants WHERE user_id = $1 AND site_id IN ('', $2) AND role = 'owner'`;
  const rows = await tx.all(sql, [userId, siteIdOf(site)]);
  return rows.length > 0;
}

/** Deletes the invitations that the user may no longer make. */
async function deleteInvitationsBy(tx: Query, userId: string, email: string): Promise<void> {
  await tx.all(
    `DELETE FROM invitations WHERE invited_by = $2 AND NOT EXISTS
       (SELECT 1 FROM grants WHERE user_id = $1 AND role = 'owner' AND grants.site_id IN ('', invitations.site_id))`,
    [userId, email],
  );
}

/** False when the email is taken. */
export async function addUser(
  tx: Query,
  user: NewUser,
  now: number,
  { confirmed = true, invitedBy = null }: Partial<Pick<Member, "confirmed" | "invitedBy">> = {},
): Promise<boolean> {
  const added = await tx.all(
    `INSERT INTO users (id, email, name, email_verified, invited_by, two_factor, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, 0, $6, $6) ON CONFLICT DO NOTHING RETURNING id`,
    [user.id, user.email, user.name, confirmed ? 1 : 0, invitedBy, now],
  );
  if (added.length === 0) return false;
  await tx.all(
    `INSERT INTO passwords (id, user_id, account_id, provider_id, password, created_at, updated_at)
     VALUES ($1, $2, $2, 'credential', $3, $4, $4)`,
    [user.passwordId, user.id, user.passwordHash, now],
  );
  return true;
}

/** True when a transaction that runs again has inserted the user before. */
export async function hasUser(tx: Query, id: string): Promise<boolean> {
  return hasRows(tx.all(`SELECT id FROM users WHERE id = $1`, [id]));
}
