// Reads the embedded database for a move, a piece at a time. Each is of one moment; nobody is held up.

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

export function openSource(db: DatabaseSync, size: Size) {
  const statements = new Map<string, StatementSync>();

  function prepare(table: Table, text: string): StatementSync {
    const sql = `SELECT ${table.columns.join(", ")} ${text} ORDER BY ${keyText(table, "")}`;
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
    const { text, params } = fromRange(table, range, "");
    const rows: Values[] = [];
    let bytes = 0;
    let cut = 0;
    for (const row of prepare(table, text).iterate(...params) as Iterable<unknown>) {
      rows.push(row as Values);
      for (const value of row as Values) bytes += typeof value === "string" ? value.length : 8;
      if (cut === 0 && (rows.length >= size.rows || bytes >= size.bytes)) cut = rows.length;
      if (rows.length > 2 * size.rows || (bytes > 2 * size.bytes && rows.length > cut))
        return { rows: rows.slice(0, cut), isWhole: false };
    }
    return { rows, isWhole: true };
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
