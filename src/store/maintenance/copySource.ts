// Reads the embedded database for a move, a piece at a time, without blocking a relay.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { queryOn, toSqliteParams } from "../engine/sqlite/dialect.ts";
import { isBusy } from "../engine/sqlite/errors.ts";
import { UnreleasedSchema } from "../schema/generation.ts";
import { hasMigrations, readVersion } from "../schema/schemaProbe.ts";
import { fromRange, keyOf, keyText, type Key, type Piece, type Range, type Table, type Values } from "./copy.ts";

/** The embedded database, and not the target, is at fault. */
export class SourceFault extends Error {
  constructor(doing: string, error: unknown) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = isBusy(error) ? "Another process is writing to it; try again." : "Run 'cleancast check'; a backup may help.";
    super(`The embedded database cannot be ${doing} (${message}). ${remedy}`);
  }
}

/** Runs `work` and reports its errors as those of the embedded database. */
export function onSource<T>(doing: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SourceFault(doing, error);
  }
}

/** The size of a piece. A range that has grown to more than twice this size is cut. */
export type PieceSize = { rows: number; bytes: number };

/** Rows per read: faster than one at a time, and large rows must fit into memory. */
const rowsPerRead = 250;

export function createSource(db: DatabaseSync, size: PieceSize) {
  const statements = new Map<string, StatementSync>();

  function prepare(table: Table, text: string): StatementSync {
    const sql = `SELECT ${table.columns.join(", ")} ${text} ORDER BY ${keyText(table, "")} LIMIT ${rowsPerRead}`;
    let statement = statements.get(sql);
    if (!statement) {
      statement = db.prepare(toSqliteParams(sql));
      // Arrays take half the time of objects.
      statement.setReturnArrays(true);
      statements.set(sql, statement);
    }
    return statement;
  }

  /** Reads the rows of a range; where they are too many, the first of them. */
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
      if (some.length < rowsPerRead) return { rows, isWhole: true };
      after = keyOf(table, some.at(-1) as Values);
    }
  }

  return {
    /** Yields the whole table, cut at `ends`, of which the last is null, and where a range has grown too large. */
    *pieces(table: Table, ends: readonly (Key | null)[]): Generator<Piece & { within: Key | null }> {
      let after: Key | null = null;
      for (const within of ends)
        for (let isDone = false; !isDone;) {
          const { rows, isWhole } = onSource(`read in ${table.name}`, () => read(table, { after, end: within }));
          const end: Key | null = isWhole ? within : keyOf(table, rows.at(-1) as Values);
          yield { range: { after, end }, rows, within };
          after = end;
          isDone = isWhole;
        }
    },
  };
}

export type Source = ReturnType<typeof createSource>;

/** Returns null where the file is not a database of ours. */
export async function readSourceSchema(db: DatabaseSync): Promise<number | null> {
  const source = queryOn(db);
  try {
    return (await hasMigrations(source)) ? await readVersion(source) : null;
  } catch (error) {
    throw error instanceof UnreleasedSchema ? error : new SourceFault("read", error);
  }
}
