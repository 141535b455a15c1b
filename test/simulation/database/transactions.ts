// A model of PostgreSQL's transactions at the level READ COMMITTED, as far as the product relies on them:
//
// - A statement sees what was committed before it began, and the changes of its own transaction.
// - A row that a transaction has inserted, changed, removed or selected FOR UPDATE is locked until the transaction ends. A
//   statement that wants to write such a row waits, keeps the locks that it has taken, locks the row, and then runs again on
//   what is committed by then. SKIP LOCKED leaves such rows out.
// - INSERT … ON CONFLICT waits for a transaction that has inserted, changed or removed the row. DO NOTHING does not wait for one
//   that has only locked it.
// - A statement that fails makes its transaction fail: its changes are undone and its locks released at once.
//
// PostgreSQL evaluates only the locked row again after a wait, and the model the whole statement. The product's statements do
// not depend on the difference; `model.test.ts` compares the model with PostgreSQL and with SQLite.

import { createStatements, type Statement } from "./statements.ts";
import { keyOf, type Change, type Row, type Tables, type Value } from "./tables.ts";

export class Transaction {
  readonly changes: Change[] = [];
  readonly locks = new Set<string>();
  /** The locked rows that it has written. */
  readonly written = new Set<string>();
  hasFailed = false;
  isCommitted = false;
  /** It has written to the log without changing a row, so its commit waits for the standby too. */
  hasMessage = false;
  /** The transaction that it waits for. */
  blockedBy: Transaction | null = null;
  /** Called when it ends. */
  readonly onEnd: (() => void)[] = [];
}

/** `key` is the row that the statement locks when its wait has ended; null for an insert, which locks none. */
export type Executed = { rows: Row[] } | { blockedBy: Transaction; key: string | null };

class Blocked extends Error {
  readonly holder: Transaction;
  readonly key: string | null;
  constructor(holder: Transaction, key: string | null) {
    super("blocked");
    this.holder = holder;
    this.key = key;
  }
}

export class Transactions {
  readonly tables: Tables;
  readonly translate: (text: string) => Statement;
  readonly #locks = new Map<string, Transaction>();
  /** The transaction whose changes SQLite holds at the moment. */
  #resident: Transaction | null = null;
  #current: Transaction | null = null;

  /** `clock` is the server's, in milliseconds. */
  constructor(tables: Tables, clock: () => number) {
    this.tables = tables;
    this.translate = createStatements(tables);
    tables.define("simulation_clock", clock);
    tables.define("simulation_is_free", (table, ...key) => {
      const holder = this.#locks.get(`${table} ${key.join(" ")}`);
      return holder && holder !== this.#current ? 0 : 1;
    });
  }

  /** Runs a statement inside of a transaction. Throws what SQLite throws. */
  execute(transaction: Transaction, statement: Statement, params: readonly Value[]): Executed {
    this.#enter(transaction);
    this.#current = transaction;
    const { tables } = this;
    tables.onTouch = ({ key, by }) => this.#touch(transaction, statement, key, by);
    try {
      const rows = tables.prepare(statement.sql).all(...params) as Row[];
      this.#own(transaction, tables.changes);
      transaction.changes.push(...tables.takeChanges());
      return { rows: statement.lock ? this.#lockRows(transaction, statement.lock, rows) : rows };
    } catch (error) {
      // SQLite has undone the statement. In PostgreSQL the rows that it wrote so far stay locked.
      const partial = tables.takeChanges();
      if (!(error instanceof Blocked)) throw error;
      this.#own(transaction, partial);
      return { blockedBy: error.holder, key: error.key };
    } finally {
      tables.onTouch = null;
      this.#current = null;
    }
  }

  /** Runs a query outside of a transaction. */
  read({ sql }: Statement, params: readonly Value[]): Row[] {
    this.#undoResident();
    return this.tables.all(sql, params);
  }

  #touch(transaction: Transaction, { onConflict }: Statement, key: string, by: "insert" | "write"): void {
    const holder = this.#locks.get(key);
    if (holder && holder !== transaction) {
      const isOnlyLocked = by === "insert" && onConflict === "nothing" && !holder.written.has(key);
      if (!isOnlyLocked) throw new Blocked(holder, by === "write" ? key : null);
      return;
    }
    if (by === "write" || onConflict === "update") this.#lock(transaction, key);
  }

  /** A statement that has waited for a row locks it, also if the row no longer meets its condition. */
  lockAfterWait(transaction: Transaction, key: string, holder: Transaction): void {
    const last = holder.changes.findLast(({ table, before }) => before && keyOf(table, before) === key);
    const isRemoved = holder.isCommitted && last?.after === null;
    if (!isRemoved && !this.#locks.has(key)) this.#lock(transaction, key);
  }

  #lock(transaction: Transaction, key: string): void {
    this.#locks.set(key, transaction);
    transaction.locks.add(key);
  }

  #own(transaction: Transaction, changes: readonly Change[]): void {
    for (const { table, before, after } of changes) {
      for (const row of [before, after]) {
        if (!row) continue;
        const key = keyOf(table, row);
        this.#lock(transaction, key);
        transaction.written.add(key);
      }
    }
  }

  #lockRows(transaction: Transaction, { table, keys }: NonNullable<Statement["lock"]>, rows: Row[]): Row[] {
    return rows.map((row) => {
      const values = Object.values(row);
      const key = `${table} ${values.slice(0, keys).join(" ")}`;
      const holder = this.#locks.get(key);
      if (holder && holder !== transaction) throw new Blocked(holder, key);
      this.#lock(transaction, key);
      return Object.fromEntries(Object.entries(row).slice(keys));
    });
  }

  /** Makes SQLite hold the changes of this transaction and of no other. */
  #enter(transaction: Transaction): void {
    if (this.#resident === transaction) return;
    this.#undoResident();
    if (!this.#resident) this.tables.transact("BEGIN");
    this.tables.redo(transaction.changes);
    this.#resident = transaction;
  }

  /** A transaction without changes has nothing that others must not see. */
  #undoResident(): void {
    if (this.#resident?.changes.length) this.#leave();
  }

  #leave(): void {
    if (!this.#resident) return;
    this.tables.transact("ROLLBACK");
    this.#resident = null;
  }

  /** Returns the changes that are committed now. */
  commit(transaction: Transaction): readonly Change[] {
    if (transaction.changes.length > 0) {
      this.#enter(transaction);
      this.tables.transact("COMMIT");
      this.#resident = null;
    } else if (this.#resident === transaction) this.#leave();
    transaction.isCommitted = true;
    this.#end(transaction);
    return transaction.changes;
  }

  rollback(transaction: Transaction): void {
    if (this.#resident === transaction) this.#leave();
    this.#end(transaction);
  }

  /** An error undoes everything and releases all locks at once. Its session can only end the transaction. */
  fail(transaction: Transaction): void {
    transaction.hasFailed = true;
    transaction.blockedBy = null;
    this.rollback(transaction);
    transaction.changes.length = 0;
  }

  #end(transaction: Transaction): void {
    for (const key of transaction.locks) this.#locks.delete(key);
    transaction.locks.clear();
    for (const resume of transaction.onEnd.splice(0)) resume();
  }

  /** Undoes committed changes, the last ones first. No transaction may be open. */
  undo(changes: readonly Change[]): void {
    this.#leave();
    this.tables.undo(changes);
  }

  /** Reads what is committed, for checks. */
  leave(): void {
    this.#leave();
  }
}

/** True when a transaction waits for itself, through others. */
export function isDeadlocked(transaction: Transaction): boolean {
  const seen = new Set<Transaction>();
  for (let at = transaction.blockedBy; at && !seen.has(at); at = at.blockedBy) {
    if (at === transaction) return true;
    seen.add(at);
  }
  return false;
}
