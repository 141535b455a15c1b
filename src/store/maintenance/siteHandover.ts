// The statements of a move of one site that are not copies of rows: what stands in its way there, what nodes have in hand here, and
// the hand-over itself. maintenance/moves/siteMove.ts has the order.

import { type Database, type Query, type Row, type RowQuery } from "../engine/database.ts";
import { tryUnseal } from "../engine/seal.ts";
import { putGrant, type MemberRole } from "../access/members.ts";
import { writeAudit, type AuditLine } from "../sites/audit.ts";
import { readLeaseTime } from "../deliveries/dueTime.ts";
import { connectionPlace } from "../sites/configuration.ts";
import { lockRevision, markChanged, raiseRevision } from "../sites/revision.ts";
import { removeSiteMove, setMoveState, type SiteMove, type SiteMoveState } from "../sites/siteMoves.ts";
import { putRows, type Side, type Table } from "../copy/rows.ts";
import { claimTables } from "../copy/siteTables.ts";

/** A value that must exist only once, and the site that has it there. */
type Clash = { kind: "host" | "inbound key" | "API key"; name: string };

/** Finds hosts and keys of the site that the other installation has already. */
export async function findClashes(from: Query, to: Query, siteId: string): Promise<Clash[]> {
  const found: Clash[] = [];
  for (const [kind, table, column, name] of [
    ["host", "hosts", "host", "host"],
    ["inbound key", "inbound_keys", "hash", "name"],
    ["API key", "api_keys", "hash", "name"],
    ["API key", "api_keys", "id", "name"],
  ] as const)
    for (const row of await from.all(`SELECT ${column} AS value, ${name} AS name FROM ${table} WHERE site_id = $1`, [siteId])) {
      const there = await to.all(`SELECT 1 AS n FROM ${table} WHERE ${column} = $1`, [String(row.value)]);
      if (there.length > 0) found.push({ kind, name: String(row.name) });
    }
  return found;
}

/** What the other installation knows of the site's id. */
export async function findSiteThere(to: Query, siteId: string): Promise<"none" | "present" | "being purged" | "deleted"> {
  if ((await to.all(`SELECT 1 AS n FROM sites WHERE site_id = $1`, [siteId])).length > 0) return "present";
  const [deleted] = await to.all(`SELECT purged_at FROM deleted_sites WHERE site_id = $1`, [siteId]);
  if (!deleted) return "none";
  return deleted.purged_at === null ? "being purged" : "deleted";
}

/** The platforms whose tokens the relay renews with an OAuth app that the other installation does not have. */
export async function findMissingApps(from: Side, to: Query, siteId: string): Promise<string[]> {
  const rows = await from.db.all(`SELECT id, platform, credentials FROM connections WHERE site_id = $1`, [siteId]);
  const renewed = rows.filter((row) => {
    const plain = from.seal && tryUnseal(from.seal, String(row.credentials), connectionPlace(siteId, String(row.id)));
    return plain?.includes('"refresh_token"') === true;
  });
  const missing = new Set<string>();
  for (const platform of new Set(renewed.map((row) => String(row.platform)))) {
    const sql = `SELECT client_id FROM oauth_apps WHERE platform = $1`;
    const [[here], [there]] = [await from.db.all(sql, [platform]), await to.all(sql, [platform])];
    if (here && here.client_id !== there?.client_id) missing.add(platform);
  }
  return [...missing].toSorted();
}

/** An import writes events on its own, without a node. */
export async function isImporting(db: Database, siteId: string, now: number): Promise<boolean> {
  const rows = await db.all(`SELECT 1 AS n FROM imports WHERE site_id = $1 AND state = 'running' AND lease_until > $2`, [
    siteId,
    now,
  ]);
  return rows.length > 0;
}

/** Counts deliveries and pushes that a node holds. */
export async function countLeased(db: Database, siteId: string, now: number, on: Query = db): Promise<number> {
  const time = await readLeaseTime(db, on, now);
  let count = 0;
  for (const [table, where] of [
    ["deliveries", "AND state = 'queued'"],
    ["webhooks", ""],
  ]) {
    const [row] = await on.all(`SELECT COUNT(*) AS n FROM ${table} WHERE site_id = $1 AND owner <> '' AND due_at > $2 ${where}`, [
      siteId,
      time,
    ]);
    count += Number(row?.n);
  }
  return count;
}

/** Ends the leases of nodes that died or, `all`, of nodes that do not run. */
export async function endLeases(db: Database, siteId: string, now: number, all: boolean): Promise<void> {
  const time = await readLeaseTime(db, db, now);
  for (const table of claimTables)
    await db.run(
      `UPDATE ${table} SET owner = '', due_at = CASE WHEN due_at > $2 THEN $2 ELSE due_at END
       WHERE site_id = $1 AND owner <> '' ${all ? "" : `AND due_at <= $2`}`,
      [siteId, time],
    );
}

type StateChange = {
  move: Pick<SiteMove, "siteId" | "runId">;
  /** Null removes the move. */
  state: SiteMoveState | null;
  now: number;
  /** Is done in the same transaction. */
  more?: (tx: RowQuery) => Promise<unknown>;
};

/** Changes the state of the move here and lets every node read the site again. */
export async function changeState(db: Database, { move, state, now, more }: StateChange): Promise<void> {
  await db.write((tx) =>
    raiseRevision(tx, move.siteId, async () => {
      await setMoveState(tx, move, state ?? "copying", now);
      if (state === null) await removeSiteMove(tx, move.siteId);
      await more?.(tx);
    }),
  );
}

export type MovedMember = { email: string; role: string; isLinked: boolean };

/** Reads the members of the site, and which of them have an account there. */
export async function readMembers(from: Query, to: Query, siteId: string): Promise<(MovedMember & { userId: string | null })[]> {
  const rows = await from.all(
    `SELECT users.email, grants.role FROM grants JOIN users ON users.id = grants.user_id
     WHERE grants.site_id = $1 ORDER BY users.email`,
    [siteId],
  );
  const invited = await from.all(`SELECT email, role FROM invitations WHERE site_id = $1 ORDER BY email`, [siteId]);
  const members: (MovedMember & { userId: string | null })[] = [];
  for (const row of [...rows, ...invited]) {
    const email = String(row.email);
    if (members.some((one) => one.email === email)) continue;
    const [user] = rows.includes(row) ? await to.all(`SELECT id FROM users WHERE email = $1`, [email]) : [];
    const userId = user ? String(user.id) : null;
    members.push({ email, role: String(row.role), isLinked: userId !== null, userId });
  }
  return members;
}

/** The rows of a table that are written together with the site. */
export type LiveRows = { table: Table; rows: readonly Row[] };

type HandOver = {
  move: Pick<SiteMove, "siteId" | "runId">;
  live: readonly LiveRows[];
  members: readonly { userId: string | null; role: string }[];
  audit: { id: string; line: AuditLine };
  now: number;
};

/** Writes the site with everything that nodes act on, in one transaction: it is served there from its commit on. */
export async function goLive(to: Side<Database>, { move, live, members, audit, now }: HandOver): Promise<void> {
  const { siteId } = move;
  await to.db.write(
    async (tx) => {
      const revision = await lockRevision(tx);
      await setMoveState(tx, move, "live", now);
      // It was deleted here long ago, and is back.
      await tx.all(`DELETE FROM deleted_sites WHERE site_id = $1`, [siteId]);
      for (const { table, rows } of live) await putRows(tx, to, table, rows);
      await markChanged(tx, siteId, revision);
      for (const { userId, role } of members)
        if (userId !== null) await putGrant(tx, userId, { site: siteId, role: role as MemberRole }, now);
      await writeAudit(tx, audit.id, audit.line);
    },
    { timeoutMs: 60_000 },
  );
}

/** Tables of what could act or that holds secrets. Its hosts and inbound keys stay, so that senders are told to retry. */
const endedTables = [
  "backfills",
  "reconciliations",
  "order_feeds",
  "data_exports",
  "shared_links",
  "weekly_reports",
  "alerts",
  "period_heads",
  "webhooks",
  "connections",
  "api_keys",
  "grants",
  "invitations",
  "platform_sign_ins",
] as const;

/** Removes what could act here: the site is served there. The rest is deleted with the site. */
export async function endHere(tx: Query, siteId: string): Promise<void> {
  await tx.all(`DELETE FROM deliveries WHERE site_id = $1 AND state IN ('queued', 'parked')`, [siteId]);
  for (const table of endedTables) await tx.all(`DELETE FROM ${table} WHERE site_id = $1`, [siteId]);
}
