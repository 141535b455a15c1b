// How far a move has come: lines of JSON beside the database, added to as ranges arrive. A line that is missing or cut
// off only means that its range is copied once more.

import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { compareKeys, type Key, type Range } from "../store/maintenance/copy.ts";

/** A move: what the sign in the database says that it fills, and how a person would name that database. */
export type Aim = { move: string; target: string };

/**
 * What is known of a range. What an earlier run wrote is `remembered`: the database may have been changed since, or be an
 * older copy of itself. `sure` is what this run wrote or read back.
 */
export type Knowledge = "nothing" | "remembered" | "sure";

export type Progress = {
  /** Null before anything was copied. */
  aim(): Aim | null;
  /** Said before a sign is hung, so that a move which dies just then knows its own sign. */
  intends(aim: Aim): void;
  intended(): Aim | null;
  /** A database is filled from its beginning; what was copied into another one, this one has not. */
  begin(aim: Aim): void;
  /** The ends of a table's ranges, in order; the last is null: whatever comes. */
  ends(table: string): (Key | null)[];
  knows(table: string, range: Range, hash: string): Knowledge;
  /**
   * The range that ends there is about to be written, or a part of it. Said before, because what was known of it does not hold
   * from then on: rows can become again what they were.
   */
  leaves(table: string, end: Key | null): void;
  arrived(table: string, range: Range, hash: string): void;
  /** What this run was sure of has to be looked at again. */
  doubt(): void;
  remove(): void;
};

type Arrived = Range & { table: string; hash: string };

export function openProgress(file: string): Progress {
  const tables = new Map<string, Map<string, Arrived & { isSure: boolean }>>();
  let aim: Aim | null = null;
  let intended: Aim | null = null;
  if (existsSync(file)) {
    for (const line of readFileSync(file, "utf8").split("\n").flatMap(parsed)) {
      if ("move" in line) aim = line as Aim;
      else if ("next" in line) intended = line.next as Aim;
      else if ("table" in line) note(line as Arrived, false);
    }
    // What was cut off must not swallow what comes next.
    appendFileSync(file, "\n");
  }

  /** On the disk before anything else happens. */
  function append(line: object): void {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
  }
  function note(line: Arrived, isSure: boolean): void {
    const ranges = tables.get(line.table) ?? new Map<string, Arrived & { isSure: boolean }>();
    ranges.set(JSON.stringify(line.end), { ...line, isSure });
    tables.set(line.table, ranges);
  }
  const find = (table: string, end: Key | null) => tables.get(table)?.get(JSON.stringify(end));

  return {
    aim: () => aim,
    intended: () => intended,
    intends(next) {
      intended = next;
      append({ next });
    },
    begin(next) {
      writeFileSync(`${file}.new`, `${JSON.stringify(next)}\n`, { mode: 0o600, flush: true });
      renameSync(`${file}.new`, file);
      aim = next;
      intended = null;
      tables.clear();
    },
    ends(table) {
      const ends = [...(tables.get(table)?.values() ?? [])].map(({ end }) => end);
      return [...ends.filter((end) => end !== null).toSorted(compareKeys), null];
    },
    knows(table, { after, end }, hash) {
      const found = find(table, end);
      if (found?.hash !== hash) return "nothing";
      // What began before this range and has the same rows, has nothing else in it. What began later may.
      const isWithin = found.after === null || (after !== null && compareKeys(found.after, after) <= 0);
      if (!isWithin) return "nothing";
      return found.isSure ? "sure" : "remembered";
    },
    leaves(table, end) {
      const found = find(table, end);
      if (!found || found.hash === "") return;
      const left = { table, after: found.after, end, hash: "" };
      note(left, false);
      append(left);
    },
    arrived(table, range, hash) {
      const isNews = this.knows(table, range, hash) === "nothing";
      note({ table, ...range, hash }, true);
      if (isNews) append({ table, ...range, hash });
    },
    doubt() {
      for (const ranges of tables.values()) for (const one of ranges.values()) one.isSure = false;
    },
    remove: () => rmSync(file, { force: true }),
  };
}

function parsed(line: string): object[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? [value] : [];
  } catch {
    return [];
  }
}
