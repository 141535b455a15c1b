// The rows of a simulated database: SQLite in memory, which evaluates the SQL, and a record of every row that changes. With
// the record, changes can be undone and made again, as a crash, a lost commit or another transaction requires.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import { toSqliteParams } from "../../../src/store/engine/sqlite/dialect.ts";

export type Value = string | number | null;
export type Row = Record<string, Value>;

export type Table = {
  name: string;
  columns: readonly string[];
  key: readonly number[];
  /** The statements that put a row back. */
  removal: string;
  insertion: string;
};

/** One changed row: `before` is null for a new row, `after` for a removed one. */
export type Change = { table: Table; before: Value[] | null; after: Value[] | null };

export const keyOf = ({ name, key }: Table, row: readonly Value[]) => `${name} ${key.map((at) => row[at]).join(" ")}`;

type Touch = { table: Table; key: string; by: "insert" | "write" };

export class Tables {
  /** Changes since they were last taken. */
  changes: Change[] = [];
  /** Called before a row is inserted, changed or removed. What it throws fails the statement. */
  onTouch: ((touch: Touch) => void) | null = null;
  readonly #db = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  readonly #tables = new Map<string, Table>();
  readonly #functions = new Map<string, (...args: Value[]) => Value>();
  /** Tables whose rows may differ from the base. */
  readonly #changed = new Set<Table>();
  #isRecording = true;
  #base: Change[] = [];

  constructor() {
    this.#db.exec("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA journal_mode = MEMORY");
    this.#db.function("simulation_is_locking", () => (this.#isRecording && this.onTouch ? 1 : 0));
    this.#db.function("simulation_is_recording", () => (this.#isRecording ? 1 : 0));
    this.#db.function("simulation_touch", { varargs: true }, (by, name, ...key) => {
      const table = this.table(String(name));
      this.onTouch?.({ table, key: `${table.name} ${key.join(" ")}`, by: by as Touch["by"] });
      return null;
    });
    this.#db.function("simulation_change", { varargs: true }, (name, kind, ...values) => {
      this.#record(this.table(String(name)), String(kind), values as Value[]);
      return null;
    });
  }

  #record(table: Table, kind: string, values: Value[]): void {
    this.#changed.add(table);
    const { length } = table.columns;
    if (kind === "insert") this.changes.push({ table, before: null, after: values });
    else if (kind === "delete") this.changes.push({ table, before: values, after: null });
    else this.changes.push({ table, before: values.slice(0, length), after: values.slice(length) });
  }

  /** Adds a function to SQL, or replaces it. SQLite itself gets it once: it would compile all statements again. */
  define(name: string, work: (...args: Value[]) => Value): void {
    if (!this.#functions.has(name))
      this.#db.function(name, { varargs: true }, (...args) => this.#functions.get(name)?.(...(args as Value[])) ?? null);
    this.#functions.set(name, work);
  }

  table(name: string): Table {
    const table = this.#tables.get(name);
    if (!table) throw new Error(`there is no table ${name}`);
    return table;
  }

  /** To be called when the schema is complete. Only a model of locks has to know of rows before they change. */
  watch({ hasLocks }: { hasLocks: boolean }): void {
    const names = this.all(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`);
    for (const { name } of names) this.#watchTable(String(name), hasLocks);
    this.changes = [];
  }

  #watchTable(name: string, hasLocks: boolean): void {
    const found = this.all(`SELECT name, pk FROM pragma_table_info($1) ORDER BY cid`, [name]);
    const columns = found.map((row) => String(row.name));
    const inKey = found.filter(({ pk }) => Number(pk) > 0).toSorted((one, other) => Number(one.pk) - Number(other.pk));
    const key = inKey.map((row) => columns.indexOf(String(row.name)));
    const where = key.map((at, i) => `"${columns[at]}" = $${i + 1}`).join(" AND ");
    this.#tables.set(name, {
      name,
      columns,
      key,
      removal: `DELETE FROM "${name}" WHERE ${where}`,
      insertion: `INSERT OR REPLACE INTO "${name}" VALUES (${columns.map((_, i) => `$${i + 1}`).join(",")})`,
    });
    const all = (row: "OLD" | "NEW") => columns.map((column) => `${row}."${column}"`).join(", ");
    const keys = (row: "OLD" | "NEW") => key.map((at) => `${row}."${columns[at]}"`).join(", ");
    // The arguments of the work are read only where its condition holds.
    const trigger = (when: "BEFORE" | "AFTER", what: string, work: string) =>
      this.#db.exec(
        `CREATE TEMP TRIGGER "${name} ${when} ${what}" ${when} ${what} ON "${name}"
         WHEN ${when === "BEFORE" ? "simulation_is_locking()" : "simulation_is_recording()"} BEGIN SELECT ${work}; END`,
      );
    if (hasLocks) {
      trigger("BEFORE", "INSERT", `simulation_touch('insert', '${name}', ${keys("NEW")})`);
      trigger("BEFORE", "UPDATE", `simulation_touch('write', '${name}', ${keys("OLD")})`);
      trigger("BEFORE", "DELETE", `simulation_touch('write', '${name}', ${keys("OLD")})`);
    }
    trigger("AFTER", "INSERT", `simulation_change('${name}', 'insert', ${all("NEW")})`);
    trigger("AFTER", "UPDATE", `simulation_change('${name}', 'update', ${all("OLD")}, ${all("NEW")})`);
    trigger("AFTER", "DELETE", `simulation_change('${name}', 'delete', ${all("OLD")})`);
  }

  /** `$1` is a parameter, as in the product's texts. */
  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(toSqliteParams(sql));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Runs a statement. When it fails, none of its changes is recorded, because SQLite has undone them. */
  all(sql: string, params: readonly Value[] = []): Row[] {
    return this.atomically(() => this.prepare(sql).all(...params) as Row[]);
  }

  atomically<T>(work: () => T): T {
    const { length } = this.changes;
    try {
      return work();
    } catch (error) {
      this.changes.length = length;
      throw error;
    }
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Begins or ends a transaction. */
  transact(command: "BEGIN" | "COMMIT" | "ROLLBACK"): void {
    this.prepare(command).run();
  }

  get isTransaction(): boolean {
    return this.#db.isTransaction;
  }

  takeChanges(): Change[] {
    const taken = this.changes;
    this.changes = [];
    return taken;
  }

  /** Undoes changes, the last one first. */
  undo(changes: readonly Change[]): void {
    this.#unrecorded(() => {
      for (let at = changes.length - 1; at >= 0; at--) {
        const { table, before, after } = changes[at] as Change;
        this.#put(table, after, before);
      }
    });
  }

  redo(changes: readonly Change[]): void {
    this.#unrecorded(() => {
      for (const { table, before, after } of changes) this.#put(table, before, after);
    });
  }

  #unrecorded(work: () => void): void {
    this.#isRecording = false;
    try {
      work();
    } finally {
      this.#isRecording = true;
    }
  }

  #put(table: Table, from: Value[] | null, to: Value[] | null): void {
    if (from && (!to || keyOf(table, from) !== keyOf(table, to))) {
      const key = table.key.map((at) => from[at] ?? null);
      this.prepare(table.removal).run(...key);
    }
    if (to) this.prepare(table.insertion).run(...to);
  }

  /** Makes the present rows those that `reset` restores. */
  saveBase(): void {
    this.#base = [...this.#tables.values()].flatMap((table) =>
      this.all(`SELECT * FROM "${table.name}"`).map((row) => ({
        table,
        before: null,
        after: table.columns.map((column) => row[column] ?? null),
      })),
    );
    this.#changed.clear();
  }

  reset(): void {
    if (this.isTransaction) this.transact("ROLLBACK");
    this.#unrecorded(() => {
      for (const { name } of this.#changed) this.prepare(`DELETE FROM "${name}"`).run();
    });
    this.redo(this.#base.filter(({ table }) => this.#changed.has(table)));
    this.#changed.clear();
    this.changes = [];
  }

  /** The rows that `reset` restores, as changes of an empty database. */
  get base(): readonly Change[] {
    return this.#base;
  }
}
