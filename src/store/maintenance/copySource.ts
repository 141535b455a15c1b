// Reads the embedded database for a move, a piece at a time; nobody is held up.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { fromRange, keyOf, keyText, type Key, type Piece, type Range, type Table, type Values } from "./copy.ts"; // prettier-ignore

/** The embedded database, and not the one that is filled, is at fault. */
export class SourceFault extends Error {
  constructor(doing: string, error: unknown) {
    const said = error instanceof Error ? error.message : String(error);
    const remedy = isBusy(error)
      ? "Something else writes to it for long; try again."
      : "Run 'cleancast check', and see whether a backup helps.";
    super(`The embedded database cannot be ${doing} (${said}). ${remedy}`);
  }
}

/** SQLITE_BUSY. */
const isBusy = (error: unknown) =>
  error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5;

export function fromSource<T>(doing: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SourceFault(doing, error);
  }
}

/** How large a piece is to be. A range that has grown to twice of it is cut. */
export type Size = { rows: number; bytes: number };

/** Rows that are read at once: faster than one after the other, and large ones must fit into memory. */
const portion = 250;

export function openSource(db: DatabaseSync, size: Size) {
  const statements = new Map<string, StatementSync>();

  function prepare(table: Table, text: string): StatementSync {
    const sql = `SELECT ${table.columns.join(", ")} ${text} ORDER BY ${keyText(table, "")} LIMIT ${portion}`;
    let statement = statements.get(sql);
    if (!statement) {
      statement = db.prepare(sql.replace(/\$(\d+)/g, "?$1"));
      // Half the time of objects.
      statement.setReturnArrays(true);
      statements.set(sql, statement);
    }
    return statement;
  }

  /** The rows of a range; where they are too many, the first of them. */
  function read(table: Table, range: Range): { rows: Values[]; isWhole: boolean } {
    const rows: Values[] = [];
    let [bytes, cut] = [0, 0];
    for (let { after } = range; ;) {
      const { text, params } = fromRange(table, { after, end: range.end }, "");
      const some = prepare(table, text).all(...params) as unknown as Values[];
      for (const row of some) {
        rows.push(row);
        for (const value of row) bytes += typeof value === "string" ? value.length : 8;
        if (cut === 0 && (rows.length >= size.rows || bytes >= size.bytes)) cut = rows.length;
        if (rows.length > 2 * size.rows || (bytes > 2 * size.bytes && rows.length > cut))
          return { rows: rows.slice(0, cut), isWhole: false };
      }
      if (some.length < portion) return { rows, isWhole: true };
      after = keyOf(table, some.at(-1) as Values);
    }
  }

  return {
    /** The whole table, cut at `ends`, of which the last is null, and where a range has grown too large. */
    *pieces(table: Table, ends: readonly (Key | null)[]): Generator<Piece & { within: Key | null }> {
      let after: Key | null = null;
      for (const within of ends)
        for (let isOver = false; !isOver;) {
          const { rows, isWhole } = fromSource(`read in ${table.name}`, () =>
            read(table, { after, end: within }),
          );
          const end: Key | null = isWhole ? within : keyOf(table, rows.at(-1) as Values);
          yield { range: { after, end }, rows, within };
          after = end;
          isOver = isWhole;
        }
    },
  };
}

export type Source = ReturnType<typeof openSource>;

/** The schema of an embedded database; null where it is none of ours. */
export function schemaIn(db: DatabaseSync): number | null {
  return fromSource("read", () => {
    const ours = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get();
    return ours ? Number(db.prepare("SELECT MAX(version) AS version FROM migrations").get()?.version) : null;
  });
}
