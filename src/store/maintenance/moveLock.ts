// Whether the embedded database may still be written to. The answer stands in the file's own header (user_version), so
// that a writer can ask inside its transaction for next to nothing, and no write can slip past it.
//
//   0                    as always
//   more than 0          being moved: nothing is written until then, in seconds since 2020; a move renews it, so that one that died holds nobody up
//   -1                   moved: never written again

import type { DatabaseSync } from "node:sqlite";

const epoch = Date.UTC(2020, 0, 1);
const movedMark = -1;

/** A write that came too late, or too early. */
export class Moved extends Error {
  readonly isOver: boolean;
  constructor(isOver: boolean) {
    super(
      isOver
        ? "The data of this installation was moved to PostgreSQL, and the embedded database is no longer used: set " +
            "DATABASE_URL to the database that 'cleancast move' was given, and start again."
        : "The data of this installation is being moved to PostgreSQL: for a moment nothing can be changed. Try again.",
    );
    this.isOver = isOver;
  }
}

/** Throws where everything is elsewhere: what is here is old, and must not be taken for all there is. */
export function refuseIfOld(mark: number): void {
  if (mark === movedMark) throw new Moved(true);
}

/** Throws where nothing may be written. To be asked inside the transaction that writes. */
export function refuseIfMoved(mark: number, now: number): void {
  if (mark === 0) return;
  if (mark === movedMark) throw new Moved(true);
  if (now < untilOf(mark)) throw new Moved(false);
}

const untilOf = (mark: number) => epoch + mark * 1000;

/** Which move it was, and how a person would name the database that has it all now. */
export type MovedTo = { move: string; target: string };

export type Marks = {
  /** Null where the file is still in use. */
  movedTo(): MovedTo | null;
  /** Nothing is written from now until `until`. False where an earlier hold has run out: something may have been written. */
  hold(until: number, now: number): boolean;
  /** For good, and in the file itself where everything went. False where the hold has run out. */
  finish(now: number, to: MovedTo): boolean;
  release(): void;
};

export function marksOn(db: DatabaseSync): Marks {
  let held = 0;
  let isLost = false;
  const read = () => Number(db.prepare("PRAGMA user_version").get()?.user_version);

  /** The mark is read and written in one transaction: writers come before or after it. */
  function change(mark: number, isAllowed: (found: number) => boolean, to?: MovedTo): boolean {
    db.exec("BEGIN IMMEDIATE");
    try {
      const allowed = isAllowed(read());
      if (allowed) db.exec(`PRAGMA user_version = ${mark}`);
      if (allowed && to) {
        db.exec(`CREATE TABLE IF NOT EXISTS moved (move text NOT NULL, target text NOT NULL)`);
        db.prepare(`INSERT INTO moved (move, target) VALUES (?, ?)`).run(to.move, to.target);
      }
      db.exec("COMMIT");
      return allowed;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }

  const stillOurs = (now: number) => (found: number) => found === held && now < untilOf(found);

  return {
    movedTo() {
      if (read() !== movedMark) return null;
      const row = db.prepare(`SELECT move, target FROM moved`).get();
      return { move: String(row?.move), target: String(row?.target) };
    },
    hold(until, now) {
      if (isLost) return false;
      const mark = Math.ceil((until - epoch) / 1000);
      const isFirst = held === 0;
      // Renewed by a timer, whose errors nobody would catch: a hold that could not be renewed is lost.
      isLost = true;
      try {
        isLost = !change(mark, (found) => (isFirst ? found !== movedMark : stillOurs(now)(found)));
      } catch (error) {
        if (isFirst) throw error;
      }
      if (!isLost) held = mark;
      return !isLost;
    },
    finish: (now, to) => !isLost && change(movedMark, stillOurs(now), to),
    release() {
      try {
        if (held !== 0) change(0, (found) => found === held);
      } catch {
        // It runs out by itself, and what went wrong before is what has to be told.
      }
      held = 0;
      isLost = false;
    },
  };
}
