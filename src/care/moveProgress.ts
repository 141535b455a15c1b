// How far a move has come: lines of JSON beside the database, added to as ranges arrive. A line that is missing or cut
// off only means that its range is copied once more.

import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { compareKeys, type Key, type Range } from "../store/copy.ts";

export type Progress = {
  /** Names this move, here and in the database that is filled. */
  id(): string;
  /** Another database is filled, from its beginning. */
  restart(): void;
  /** The ends of a table's ranges, in order; the last is null: whatever comes. */
  ends(table: string): (Key | null)[];
  /** Does PostgreSQL hold, in this range, just what the hash says? */
  holds(table: string, range: Range, hash: string): boolean;
  /**
   * The range that ends there is about to be written, or a part of it. Said before, because what was known of it does not hold
   * from then on: rows can become again what they were.
   */
  leaves(table: string, end: Key | null): void;
  arrived(table: string, range: Range, hash: string): void;
  remove(): void;
};

type Line = Range & { table: string; hash: string };

export function openProgress(file: string, newId: () => string): Progress {
  const tables = new Map<string, Map<string, Line>>();
  const found = existsSync(file) ? readFileSync(file, "utf8").split("\n").flatMap(parsed) : [];
  const head = found.find((line) => "move" in line);
  let id = head ? String(head.move) : "";
  if (head) appendFileSync(file, "\n");
  else restart();
  for (const line of found) if (head && "table" in line) note(line as Line);

  function restart(): void {
    id = newId();
    tables.clear();
    rmSync(file, { force: true });
    append({ move: id });
  }
  /** On the disk before anything else happens. */
  function append(line: object): void {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
  }
  function note(line: Line): void {
    const ranges = tables.get(line.table) ?? new Map<string, Line>();
    ranges.set(JSON.stringify(line.end), line);
    tables.set(line.table, ranges);
  }
  const lineOf = (table: string, end: Key | null) => tables.get(table)?.get(JSON.stringify(end));

  return {
    id: () => id,
    restart,
    ends(table) {
      const ends = [...(tables.get(table)?.values() ?? [])].map(({ end }) => end);
      return [...ends.filter((end) => end !== null).toSorted(compareKeys), null];
    },
    holds(table, { after, end }, hash) {
      const line = lineOf(table, end);
      if (line?.hash !== hash) return false;
      // What began before this range and has the same rows, has nothing else in it. What began later may.
      return line.after === null || (after !== null && compareKeys(line.after, after) <= 0);
    },
    leaves(table, end) {
      const line = lineOf(table, end);
      if (!line || line.hash === "") return;
      const left = { ...line, hash: "" };
      note(left);
      append(left);
    },
    arrived(table, range, hash) {
      note({ table, ...range, hash });
      append({ table, ...range, hash });
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
