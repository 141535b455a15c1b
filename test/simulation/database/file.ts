// The file of the embedded database, on the disk of a simulated machine. One process at a time opens it, with two connections:
// the first writes, the second reads what was committed while the first one writes.
//
// A commit survives the end of the process. It survives a power cut only if a flush began after it and has ended.

import { callingProcess, ProcessDied, type SimulatedProcess } from "../runtime/world.ts";
import { Tables, type Change, type Row, type Value } from "./tables.ts";

/** An error of SQLite: 13 is a full disk, 10 a failed read or write. */
export class SqliteError extends Error {
  readonly errcode: number;
  constructor(errcode: number, message: string) {
    super(message);
    this.errcode = errcode;
  }
}

export class DatabaseFile {
  readonly tables: Tables;
  /** Called with the changes of every commit and its number; `isLost` where a power cut undoes them. */
  onCommit: (changes: readonly Change[], commit: number, isLost: boolean) => void = () => {};
  /** Set by a fault: the next commits fail, or only the one after `passing` others. */
  failure: SqliteError | null = null;
  passing: number | null = null;
  /** Commits that no flush has covered. */
  readonly #unflushed: Change[][] = [];
  /** The commits so far, and those that are on the disk. */
  #committed = 0;
  #flushed = 0;
  /** A flush that a power cut interrupted never ends. */
  #powerCuts = 0;
  #holder: SimulatedProcess | null = null;
  #savepoint = 0;
  #isWriting = false;

  constructor(tables: Tables) {
    this.tables = tables;
  }

  open(process: SimulatedProcess): "writer" | "reader" {
    if (this.#holder && this.#holder !== process && this.#holder.isAlive)
      throw new Error("two processes have the embedded database open");
    if (this.#holder === process) return "reader";
    this.#holder = process;
    process.onEnd.add(() => this.#end());
    return "writer";
  }

  #end(): void {
    if (this.tables.isTransaction) this.tables.transact("ROLLBACK");
    this.tables.takeChanges();
    this.#isWriting = false;
    this.#holder = null;
  }

  /** Runs a statement that is no query: transactions, savepoints and settings. */
  exec(sql: string): void {
    const { tables } = this;
    switch (sql) {
      case "BEGIN IMMEDIATE":
        tables.transact("BEGIN");
        this.#isWriting = true;
        return;
      case "BEGIN":
        return tables.transact("BEGIN");
      case "COMMIT":
        return this.#commit();
      case "ROLLBACK":
        tables.transact("ROLLBACK");
        tables.takeChanges();
        this.#isWriting = false;
        return;
      case "SAVEPOINT work":
        this.#savepoint = tables.changes.length;
        return tables.exec(sql);
      case "ROLLBACK TO work; RELEASE work":
        tables.changes.length = this.#savepoint;
        return tables.exec(sql);
      case "RELEASE work":
        return tables.exec(sql);
      default:
        if (!sql.startsWith("PRAGMA")) throw new Error(`not simulated: ${sql}`);
    }
  }

  #commit(): void {
    const { tables } = this;
    const failure = this.#isWriting ? this.#takeFailure() : null;
    if (failure) {
      tables.transact("ROLLBACK");
      tables.takeChanges();
      this.#isWriting = false;
      callingProcess().world.occurred.add("embedded database", "failed write");
      throw failure;
    }
    tables.transact("COMMIT");
    this.#isWriting = false;
    const changes = tables.takeChanges();
    if (changes.length === 0) return;
    this.#committed += 1;
    this.#unflushed.push(changes);
    this.onCommit(changes, this.#committed, false);
  }

  #takeFailure(): SqliteError | null {
    const { failure } = this;
    if (!failure || this.passing === null) return failure;
    if (this.passing-- > 0) return null;
    this.failure = null;
    return failure;
  }

  read(role: "writer" | "reader", sql: string, params: readonly Value[]): Row[] {
    if (role === "writer" || !this.#isWriting) return this.tables.all(sql, params);
    const { changes } = this.tables;
    this.tables.undo(changes);
    try {
      return this.tables.all(sql, params);
    } finally {
      this.tables.redo(changes);
    }
  }

  /** Returns a function that ends the flush: what was committed before it began is then on the disk. */
  beginFlush(): () => void {
    const [target, powerCuts] = [this.#committed, this.#powerCuts];
    return () => {
      if (target <= this.#flushed || powerCuts !== this.#powerCuts) return;
      this.#unflushed.splice(0, target - this.#flushed);
      this.#flushed = target;
    };
  }

  /** True when no power cut can undo this commit. */
  isDurable(commit: number): boolean {
    return commit <= this.#flushed;
  }

  /** The commits that a power cut may undo. */
  get unflushed(): number {
    return this.#unflushed.length;
  }

  /** The power fails: the last `lost` commits, which no flush has covered, are gone. No process may have the file open. */
  cutPower(lost: number): void {
    this.#powerCuts += 1;
    for (let i = 0; i < lost; i++) {
      const changes = this.#unflushed.pop();
      if (!changes) break;
      this.#committed -= 1;
      this.tables.undo(changes);
      this.onCommit(changes.map(invert).toReversed(), this.#committed, true);
    }
    // The rest is on the disk.
    this.#flushed = this.#committed;
    this.#unflushed.length = 0;
  }
}

export const invert = ({ table, before, after }: Change): Change => ({ table, before: after, after: before });

const files = new WeakMap<object, DatabaseFile>();

/** Each machine has one file. */
export const placeFile = (machine: object, file: DatabaseFile) => void files.set(machine, file);

/** The file of the machine on which the calling process runs. A process that has died cannot use it. `label` names an effect. */
export function fileOfCaller(label?: string): DatabaseFile {
  const process = callingProcess();
  const isAlive = label === undefined ? process.isAlive : process.act(label);
  if (!isAlive) throw new ProcessDied("the process has died");
  const file = files.get(process.machine);
  if (!file) throw new Error(`machine ${process.machine.name} has no database file`);
  return file;
}
