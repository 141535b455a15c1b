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

/** Throws where nothing may be written. To be asked inside the transaction that writes. */
export function refuseIfMoved(mark: number, now: number): void {
  if (mark === 0) return;
  if (mark === movedMark) throw new Moved(true);
  if (now < untilOf(mark)) throw new Moved(false);
}

const untilOf = (mark: number) => epoch + mark * 1000;

export type Marks = {
  isMoved(): boolean;
  /** Nothing is written from now until `until`. False where an earlier hold has run out: something may have been written. */
  hold(until: number, now: number): boolean;
  /** For good. False where the hold has run out. */
  finish(now: number): boolean;
  release(): void;
};

export function marksOn(db: DatabaseSync): Marks {
  let held = 0;
  let isLost = false;
  const read = () => Number(db.prepare("PRAGMA user_version").get()?.user_version);

  /** The mark is read and written in one transaction: writers come before or after it. */
  function change(mark: number, isAllowed: (found: number) => boolean): boolean {
    db.exec("BEGIN IMMEDIATE");
    try {
      const allowed = isAllowed(read());
      if (allowed) db.exec(`PRAGMA user_version = ${mark}`);
      db.exec("COMMIT");
      return allowed;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }

  const stillOurs = (now: number) => (found: number) => found === held && now < untilOf(found);

  return {
    isMoved: () => read() === movedMark,
    hold(until, now) {
      if (isLost) return false;
      const mark = Math.ceil((until - epoch) / 1000);
      const isFirst = held === 0;
      if (change(mark, (found) => (isFirst ? found !== movedMark : stillOurs(now)(found)))) held = mark;
      else isLost = true;
      return !isLost;
    },
    finish: (now) => !isLost && change(movedMark, stillOurs(now)),
    release() {
      if (held !== 0) change(0, (found) => found === held);
      held = 0;
      isLost = false;
    },
  };
}
