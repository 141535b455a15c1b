// The file next to the database that says where a move goes. What was copied is compared with the target itself.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readObject } from "../../store/damagedRows.ts";

/** The id in the marker of the target database, and the name of that database for messages. */
export type MoveId = { move: string; target: string };

type Stored = {
  /** The move whose target is being filled; null before anything was copied. */
  begun: MoveId | null;
  /** The move whose marker is about to be written. */
  intended: MoveId | null;
};

export function createProgress(file: string) {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  let stored: Stored = { begun: null, intended: null, ...readObject(text) };

  function write(next: Stored): void {
    writeFileSync(`${file}.new`, `${JSON.stringify(next)}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
    stored = next;
  }

  return {
    begun: () => stored.begun,
    intended: () => stored.intended,
    /** Called before the marker is written, so that a move that dies just then knows its own marker. */
    intend: (intended: MoveId) => write({ ...stored, intended }),
    begin: (begun: MoveId) => write({ begun, intended: null }),
    remove: () => rmSync(file, { force: true }),
  };
}

export type Progress = ReturnType<typeof createProgress>;
