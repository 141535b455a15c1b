// Makes tables read-only for one site, by the database itself: a node that is slow, suspended or unreachable can write nothing
// either. PostgreSQL gets a constraint, which waits for the transactions that write to the table at that moment; SQLite gets
// triggers. Rows can still be deleted.

import { setTimeout as sleep } from "node:timers/promises";
import { Conflict } from "../../kernel/refusal.ts";
import { hasRows, type Database, type Query } from "../engine/database.ts";
import { sqlState } from "../engine/postgres/errors.ts";
import { isCitus, limitsOnEveryMachine } from "../schema/distribute.ts";

const isLockable = (siteId: string) => /^[a-z0-9]{1,40}$/.test(siteId);
const lockName = (siteId: string) => `site_locked_${siteId}`;

/** Other sites wait for a table no longer than this. */
const lockTimeoutMs = 1000;
const maxTries = 30;

/** Locks one table after the other, so that other sites wait for one at a time. */
export async function lockTables(db: Database, siteId: string, tables: readonly string[]): Promise<void> {
  for (const table of tables) await lockTogether(db, siteId, [table], async () => true);
}

/**
 * Locks tables in one transaction, but only if `isFree` is true in it. It is asked when nothing else can write to them. What is
 * written at that moment waits for the answer: it is not refused where the tables stay unlocked.
 */
export async function lockTogether(
  db: Database,
  siteId: string,
  tables: readonly string[],
  isFree: (tx: Query) => Promise<boolean>,
): Promise<boolean> {
  if (!isLockable(siteId)) throw new Conflict("site", `A site with the id ${siteId} cannot be moved.`);
  try {
    await changeTables(db, async (tx) => {
      for (const table of tables) await lockTable(db, tx, siteId, table);
      if (!(await isFree(tx))) throw new NotFree();
    });
    return true;
  } catch (error) {
    if (error instanceof NotFree) return false;
    throw error;
  }
}

/** Rolls the transaction back. */
class NotFree extends Error {}

async function lockTable(db: Database, tx: Query, siteId: string, table: string): Promise<void> {
  const name = lockName(siteId);
  if (db.engine === "sqlite") {
    for (const change of ["INSERT", "UPDATE"])
      await tx.all(
        `CREATE TRIGGER IF NOT EXISTS ${name}_${table}_${change.toLowerCase()} BEFORE ${change} ON ${table}
         WHEN NEW.site_id = '${siteId}' BEGIN SELECT RAISE(ABORT, '${name}'); END`,
      );
  } else if (!(await hasConstraint(tx, name, table))) {
    await tx.all(`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (site_id <> '${siteId}') NOT VALID`);
  }
}

export async function unlockTables(db: Database, siteId: string, tables: readonly string[]): Promise<void> {
  if (!isLockable(siteId)) return;
  const name = lockName(siteId);
  for (const table of tables) {
    if (db.engine === "sqlite") {
      await db.write(async (tx) => {
        for (const change of ["insert", "update"]) await tx.all(`DROP TRIGGER IF EXISTS ${name}_${table}_${change}`);
      });
    } else if (await hasConstraint(db, name, table)) {
      await changeTables(db, (tx) => tx.all(`ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`));
    }
  }
}

async function hasConstraint(db: Query, name: string, table: string): Promise<boolean> {
  return hasRows(db.all(`SELECT 1 AS n FROM pg_constraint WHERE conname = $1 AND conrelid = to_regclass($2)`, [name, table]));
}

/** A transaction of another site may hold the table for long: then writers go first, and it is tried again. */
async function changeTables(db: Database, work: (tx: Query) => Promise<unknown>): Promise<void> {
  const isSharded = db.isServer && (await isCitus(db));
  for (let tries = 1; ; tries += 1) {
    try {
      await db.write(async (tx) => {
        if (isSharded) await tx.all(limitsOnEveryMachine);
        if (db.isServer) await tx.all(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
        await work(tx);
      });
      return;
    } catch (error) {
      // Another process may have locked the table meanwhile, which the next try finds.
      if (!["55P03", "42710"].includes(sqlState(error)) || tries === maxTries) throw error;
      await sleep(200);
    }
  }
}
