// How far a move has come: lines of JSON beside the database, added to as ranges arrive. A line that is missing or cut
// off only means that its range is copied once more.

import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { compareKeys, type Key, type Range } from "../store/copy.ts";

export type Progress = {
  /** Names this move, here and in the database that is filled. */
  id: string;
  /** The ends of a table's ranges, in order; the last is null: whatever comes. */
  ends(table: string): (Key | null)[];
  /** Does PostgreSQL hold, in this range, just what the hash says? */
  holds(table: string, range: Range, hash: string): boolean;
  arrived(table: string, range: Range, hash: string): void;
  remove(): void;
};

type Line = Range & { table: string; hash: string };

export function openProgress(file: string, newId: () => string): Progress {
  const found = existsSync(file) ? readFileSync(file, "utf8").split("\n").flatMap(parsed) : [];
  const head = found.find((line) => "move" in line);
  const id = head ? String(head.move) : newId();
  if (!head) {
    rmSync(file, { force: true });
    append({ move: id });
  } else appendFileSync(file, "\n");
  const tables = new Map<string, Map<string, Line>>();
  for (const line of found) if ("table" in line) note(line as Line);

  function append(line: object): void {
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }
  function note(line: Line): void {
    const ranges = tables.get(line.table) ?? new Map<string, Line>();
    ranges.set(JSON.stringify(line.end), line);
    tables.set(line.table, ranges);
  }

  return {
    id,
    ends(table) {
      const ends = [...(tables.get(table)?.values() ?? [])].map(({ end }) => end);
      return [...ends.filter((end) => end !== null).toSorted(compareKeys), null];
    },
    holds(table, { after, end }, hash) {
      const line = tables.get(table)?.get(JSON.stringify(end));
      if (line?.hash !== hash) return false;
      // What began before this range and has the same rows, has nothing else in it. What began later may.
      return line.after === null || (after !== null && compareKeys(line.after, after) <= 0);
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
