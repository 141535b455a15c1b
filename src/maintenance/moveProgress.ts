// The progress of a move: a file of JSON lines next to the database, to which each copied range is appended. A line that is
// missing or cut off only means that its range is copied once more.

import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { compareKeys, type Key, type Range } from "../store/maintenance/copy.ts";

/** The id in the marker of the target database, and the name of that database for messages. */
export type MoveId = { move: string; target: string };

/**
 * A range that an earlier run wrote is `recorded`: PostgreSQL may have been changed since, or restored to an older state.
 * A range that this run wrote or read back is `verified`.
 */
type RangeStatus = "unknown" | "recorded" | "verified";

export type Progress = {
  /** The move whose target is being filled; null before anything was copied. */
  begun(): MoveId | null;
  /** Called before the marker is written, so that a move that dies just then knows its own marker. */
  intend(id: MoveId): void;
  intended(): MoveId | null;
  /** Starts with an empty target: what was copied into another database is discarded. */
  begin(id: MoveId): void;
  /** Returns the ends of a table's ranges, in order; the last is null, for an open end. */
  ends(table: string): (Key | null)[];
  statusOf(table: string, range: Range, hash: string): RangeStatus;
  /**
   * Called before the range with this end, or a part of it, is written: its recorded hash is then no longer true, also
   * where rows change back later.
   */
  invalidate(table: string, end: Key | null): void;
  record(table: string, range: Range, hash: string): void;
  /** Makes the next pass compare all ranges again. */
  unverifyAll(): void;
  remove(): void;
};

type CopiedRange = Range & { table: string; hash: string };

export function createProgress(file: string): Progress {
  const tables = new Map<string, Map<string, CopiedRange & { isVerified: boolean }>>();
  let begun: MoveId | null = null;
  let intended: MoveId | null = null;
  if (existsSync(file)) {
    for (const line of readFileSync(file, "utf8").split("\n").flatMap(parseLine)) {
      if ("move" in line) begun = line as MoveId;
      else if ("next" in line) intended = line.next as MoveId;
      else if ("table" in line) note(line as CopiedRange, false);
    }
    // A line that was cut off must not run into the next one.
    appendFileSync(file, "\n");
  }

  /** The line is on the disk before the move goes on. */
  function append(line: object): void {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
  }
  function note(line: CopiedRange, isVerified: boolean): void {
    const ranges = tables.get(line.table) ?? new Map<string, CopiedRange & { isVerified: boolean }>();
    ranges.set(JSON.stringify(line.end), { ...line, isVerified });
    tables.set(line.table, ranges);
  }
  const find = (table: string, end: Key | null) => tables.get(table)?.get(JSON.stringify(end));

  return {
    begun: () => begun,
    intended: () => intended,
    intend(next) {
      intended = next;
      append({ next });
    },
    begin(next) {
      writeFileSync(`${file}.new`, `${JSON.stringify(next)}\n`, { mode: 0o600, flush: true });
      renameSync(`${file}.new`, file);
      begun = next;
      intended = null;
      tables.clear();
    },
    ends(table) {
      const ends = [...(tables.get(table)?.values() ?? [])].map(({ end }) => end);
      return [...ends.filter((end) => end !== null).toSorted(compareKeys), null];
    },
    statusOf(table, { after, end }, hash) {
      const found = find(table, end);
      if (found?.hash !== hash) return "unknown";
      // A copied range that began no later covers this one: with the same hash it has the same rows, and no others. Before a
      // range that began later, PostgreSQL may have other rows.
      const isWithin = found.after === null || (after !== null && compareKeys(found.after, after) <= 0);
      if (!isWithin) return "unknown";
      return found.isVerified ? "verified" : "recorded";
    },
    invalidate(table, end) {
      const found = find(table, end);
      if (!found || found.hash === "") return;
      const emptied = { table, after: found.after, end, hash: "" };
      note(emptied, false);
      append(emptied);
    },
    record(table, range, hash) {
      const isNew = this.statusOf(table, range, hash) === "unknown";
      note({ table, ...range, hash }, true);
      if (isNew) append({ table, ...range, hash });
    },
    unverifyAll() {
      for (const ranges of tables.values()) for (const one of ranges.values()) one.isVerified = false;
    },
    remove: () => rmSync(file, { force: true }),
  };
}

function parseLine(line: string): object[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? [value] : [];
  } catch {
    return [];
  }
}
