// The move lock says whether the embedded database may still be written to. It is stored in the file's own header
// (user_version), so that a writer can read it inside its transaction at almost no cost, and no write can get past it.
//
//   0             not locked
//   more than 0   being moved: no writes until that time, in seconds since 2020. A move renews it, so a lock of a move that
//                 died expires.
//   -1            moved: never written again

import type { DatabaseSync } from "node:sqlite";

const epoch = Date.UTC(2020, 0, 1);
const movedMark = -1;

/** The database was moved, or is being moved: a write is refused for good, or for the moment. */
export class DatabaseMoved extends Error {
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

/** Throws where the data was moved: what is here is old, and must not be taken for the current data. */
export function refuseMoved(mark: number): void {
  if (mark === movedMark) throw new DatabaseMoved(true);
}

/** Throws where writes are locked. To be called inside the transaction that writes. */
export function refuseWrite(mark: number, now: number): void {
  if (mark === 0) return;
  if (mark === movedMark) throw new DatabaseMoved(true);
  if (now < lockedUntil(mark)) throw new DatabaseMoved(false);
}

const lockedUntil = (mark: number) => epoch + mark * 1000;

/** The id of the move, and the database that has the data now, as a person would name it. */
type MovedTo = { move: string; target: string };

export type MoveLock = {
  /** Returns null where the file is still in use. */
  movedTo(): MovedTo | null;
  /** Locks writes until `until`, or renews the lock. False where the lock has expired: there may have been writes. */
  hold(until: number, now: number): boolean;
  /** Locks writes for good, and records the target in the file itself. False where the lock has expired. */
  finish(now: number, to: MovedTo): boolean;
  release(): void;
};

export function createMoveLock(db: DatabaseSync): MoveLock {
  let held = 0;
  let isLost = false;
  const read = () => Number(db.prepare("PRAGMA user_version").get()?.user_version);

  /** Reads and writes the mark in one transaction: a writer comes before or after it. */
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

  const isStillHeld = (now: number) => (found: number) => found === held && now < lockedUntil(found);

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
      // A timer renews the lock, and nothing would catch its errors: a lock that could not be renewed counts as lost.
      isLost = true;
      try {
        isLost = !change(mark, (found) => (isFirst ? found !== movedMark : isStillHeld(now)(found)));
      } catch (error) {
        if (isFirst) throw error;
      }
      if (!isLost) held = mark;
      return !isLost;
    },
    finish: (now, to) => !isLost && change(movedMark, isStillHeld(now), to),
    release() {
      try {
        if (held !== 0) change(0, (found) => found === held);
      } catch {
        // The lock expires by itself, and the error to report is the one before this.
      }
      held = 0;
      isLost = false;
    },
  };
}
