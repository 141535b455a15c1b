// Uses of keys by hour, and lockouts of hosts after wrong keys.

import { maxSkewMs, minuteMs } from "../../kernel/time.ts";
import { asNumber, asText, describeRow } from "../describeRow.ts";
import { hasRows, insertRow, insertRows, orReplace, writeBySite, type Database, type Query } from "../engine/database.ts";
import type { InboundKind } from "../statistics/inboundCounts.ts";

export type KeyUse = { siteId: string; keyId: string; hour: number; uses: number; lastUsedAt: number };
/**
 * The running total of uses that a process has counted on a site in an hour, including this batch. If the stored total is
 * not smaller, this batch was already written.
 */
type UseTotal = { writer: string; hour: number; uses: number };
const useRow = describeRow<KeyUse, KeyUse>({
  siteId: asText,
  keyId: asText,
  hour: asNumber,
  uses: asNumber,
  lastUsedAt: asNumber,
});
type Lockout = { siteId: string; host: string; startedAt: number; lockedUntil: number };
const lockoutRow = describeRow<Lockout, Lockout>({
  siteId: asText,
  host: asText,
  startedAt: asNumber,
  lockedUntil: asNumber,
});
/** A host is locked for `lockMs` after `keys` wrong keys within `windowMs`. */
type LockoutRule = { keys: number; windowMs: number; lockMs: number };

export const lockoutRule: LockoutRule = { keys: 10, windowMs: 5 * minuteMs, lockMs: 15 * minuteMs };

/** A lockout that ends later was begun by a clock that ran ahead, and does not count. */
export const maxLockedUntil = (now: number, { lockMs }: LockoutRule) => now + lockMs + maxSkewMs;

export function keyUseStore(db: Database, newId: () => string) {
  return {
    /** Safe to repeat with a `total`, which covers one site and hour. */
    async addUses(uses: readonly KeyUse[], total?: UseTotal): Promise<void> {
      await writeBySite(db, uses, async (tx, ofSite, siteId) => {
        if (total && !(await raiseTotal(tx, siteId, total))) return;
        const added = `${orReplace("site_id, key_id, hour", "last_used_at")}, uses = key_uses.uses + excluded.uses`;
        await insertRows(
          tx,
          "key_uses",
          ofSite.map((one) => useRow.toRow(one)),
          added,
        );
      });
    },

    async sumUses(
      siteId: string,
      sinceHour: number,
      keyId?: string,
    ): Promise<Map<string, { uses24h: number; lastUsedAt: number }>> {
      const rows = await db.all(
        `SELECT key_id, SUM(CASE WHEN hour >= $2 THEN uses ELSE 0 END) AS uses, MAX(last_used_at) AS last_used_at
         FROM key_uses WHERE site_id = $1 ${keyId === undefined ? "" : "AND key_id = $3"} GROUP BY key_id`,
        [siteId, sinceHour, ...(keyId === undefined ? [] : [keyId])],
      );
      return new Map(
        rows.map((row) => [String(row.key_id), { uses24h: Number(row.uses), lastUsedAt: Number(row.last_used_at) }]),
      );
    },

    /**
     * Counts one wrong key on a host, over all nodes, in a sliding window. Returns the time until which the host is locked,
     * or 0.
     */
    countWrongKey(siteId: string, host: string, now: number, rule: LockoutRule): Promise<number> {
      const id = newId();
      return db.write(async (tx) => {
        // Writing the row first serialises wrong keys on one host, so that exactly the tenth locks it.
        const unlocked = { site_id: siteId, host, started_at: now, locked_until: 0 };
        const [lockout] = await insertRow(
          tx,
          "lockouts",
          unlocked,
          `${orReplace("site_id, host", "host")} RETURNING locked_until`,
        );
        const lockedUntil = Number(lockout?.locked_until);
        if (lockedUntil > now && lockedUntil <= maxLockedUntil(now, rule)) return lockedUntil;
        const sql = `DELETE FROM wrong_keys WHERE site_id = $1 AND host = $2 AND (at <= $3 OR at > $4)`;
        await tx.all(sql, [siteId, host, now - rule.windowMs, now + maxSkewMs]);
        await insertRow(tx, "wrong_keys", { site_id: siteId, host, at: now, id }, "ON CONFLICT DO NOTHING");
        const [row] = await tx.all(`SELECT COUNT(*) AS n FROM wrong_keys WHERE site_id = $1 AND host = $2`, [siteId, host]);
        if (Number(row?.n) < rule.keys) return 0;
        await tx.all(`UPDATE lockouts SET started_at = $3, locked_until = $4 WHERE site_id = $1 AND host = $2`, [
          siteId,
          host,
          now,
          now + rule.lockMs,
        ]);
        await tx.all(`DELETE FROM wrong_keys WHERE site_id = $1 AND host = $2`, [siteId, host]);
        return now + rule.lockMs;
      });
    },

    /** Deletes expired wrong keys and lockouts of a site. */
    async purge(siteId: string, now: number, rule: LockoutRule): Promise<void> {
      await db.write(async (tx) => {
        await tx.all(`DELETE FROM wrong_keys WHERE site_id = $1 AND at <= $2`, [siteId, now - rule.windowMs]);
        await tx.all(
          `DELETE FROM lockouts
           WHERE site_id = $1 AND ((locked_until <= $2 AND started_at <= $3) OR locked_until > $4)`,
          [siteId, now, now - rule.windowMs, maxLockedUntil(now, rule)],
        );
      });
    },

    async listLockouts(siteId: string, now: number): Promise<Lockout[]> {
      const rows = await db.all(
        `SELECT ${lockoutRow.list} FROM lockouts WHERE site_id = $1 AND locked_until > $2 AND locked_until <= $3`,
        [siteId, now, maxLockedUntil(now, lockoutRule)],
      );
      return rows.map(lockoutRow.read);
    },
  };
}

/** False when this total was stored before, which means that the batch was written. */
async function raiseTotal(tx: Query, siteId: string, { writer, hour, uses }: UseTotal): Promise<boolean> {
  const kind: InboundKind = "used";
  const raised = `${orReplace("site_id, hour, kind, writer", "count")} WHERE inbound_counts.count < excluded.count RETURNING hour`;
  return hasRows(insertRow(tx, "inbound_counts", { site_id: siteId, hour, kind, writer, count: uses }, raised));
}
