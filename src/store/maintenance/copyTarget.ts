// Fills PostgreSQL for a move, and reads back what it holds.
//
// PostgreSQL may order texts by a language; then the copy brings an index of its own, which goes when the copy is done.

import { fromRange, hashOf, keyOf, keyText, rangeText, type Piece, type Range, type Table, type Values } from "./copy.ts"; // prettier-ignore
import {
  rowStatement,
  type Database,
  type Query,
  type Row,
  type RowQuery,
  type Value,
} from "../engine/database.ts";
import { isCitus, oneAfterTheOther } from "../schema/distribute.ts";

/** Rows that PostgreSQL does not take, or not as they are. */
export class UnfitRows extends Error {
  constructor(table: Table, { range, rows }: Piece, why: string) {
    const odd = rows.find((row) => isOdd(table, row));
    const where = odd ? `the row with the key "${keyOf(table, odd).join(" ")}"` : `rows ${rangeText(range)}`;
    super(
      `The table ${table.name} cannot be copied: ${where} (${why}). Put it right and run the same command again.`,
    );
  }
}

/** What SQLite keeps and PostgreSQL does not: a NUL in a text, something else where a whole number belongs. */
const isOdd = (table: Table, row: Values) =>
  row.some((value, i) => {
    if (typeof value === "string" && value.includes("\0")) return true;
    return value !== null && table.whole.includes(table.columns[i] ?? "") && !Number.isSafeInteger(value);
  });

/** A value that may be there once is there already: in a row of another range, which may be about to go. */
export class Taken extends Error {}

export async function openFilled(db: Database) {
  const collation = (await ordersByBytes(db)) ? "" : ' COLLATE "C"';
  const isSpread = await isCitus(db);

  async function readBack(on: Query, table: Table, range: Range, most: number): Promise<string> {
    const { text, params } = fromRange(table, range, collation);
    const found = await on.all(
      `SELECT ${table.columns.join(", ")} ${text} ORDER BY ${keyText(table, collation)} LIMIT ${most}`,
      params,
    );
    return hashOf(found.map((row) => table.columns.map((column) => row[column] as Value)));
  }

  async function put(tx: RowQuery, table: Table, pieces: readonly Piece[]): Promise<void> {
    if (isSpread) await tx.all(oneAfterTheOther);
    const insert = rowStatement({
      text: `INSERT INTO ${table.name} (${table.columns.join(",")}) VALUES {ROWS}`,
      columns: table.columns.length,
    });
    for (const { range } of pieces) {
      const { text, params } = fromRange(table, range, collation);
      await tx.all(`DELETE ${text}`, params);
    }
    for (const piece of pieces) {
      await tx.change(insert, piece.rows);
      if ((await readBack(tx, table, piece.range, piece.rows.length + 1)) !== hashOf(piece.rows))
        throw new UnfitRows(table, piece, "PostgreSQL gives them back changed");
    }
  }

  return {
    /** What each range holds becomes what its rows are, all of it or nothing, and is read back before it counts. */
    async fill(table: Table, pieces: readonly [Piece, ...Piece[]]): Promise<void> {
      try {
        await db.write((tx) => put(tx, table, pieces));
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error);
        if (error instanceof Error && "code" in error && error.code === "23505") throw new Taken(said);
        throw db.blamesData(error) ? new UnfitRows(table, pieces[0], said) : error;
      }
    },

    /** Does PostgreSQL hold just these rows? */
    async holds(table: Table, { range, rows }: Piece): Promise<boolean> {
      return (await readBack(db, table, range, rows.length + 1)) === hashOf(rows);
    },

    /** The rows of each table. */
    count: (tables: readonly Table[]): Promise<Map<string, number>> =>
      db.write(async (tx) => {
        await tx.all(withoutHaste);
        const found = new Map<string, number>();
        for (const { name } of tables) {
          const [row] = await tx.all(`SELECT COUNT(*) AS n FROM ${name}`);
          found.set(name, Number(row?.n));
        }
        return found;
      }),

    /**
     * Which database answers. Another one, or the same after a standby took over, may lack what was written; empty where
     * it cannot be told.
     */
    async place(): Promise<string> {
      const asked = db.all(
        `SELECT CONCAT((SELECT system_identifier FROM pg_control_system()), ' ',
           SUBSTR(pg_walfile_name(pg_current_wal_lsn()), 1, 8), ' ',
           (SELECT oid FROM pg_database WHERE datname = current_database())) AS place`,
      );
      const isUnknown = (error: unknown) =>
        error instanceof Error && "code" in error && /^(?:42|0A)/.test(String(error.code));
      const [row] = await asked.catch((error: unknown): Row[] => {
        if (isUnknown(error)) return [];
        throw error;
      });
      return String(row?.place ?? "");
    },

    /** So that the first queries of a relay are planned for tables that are full. */
    analyze: (tables: readonly Table[]) =>
      db.write(async (tx) => {
        await tx.all(withoutHaste);
        for (const { name } of tables) await tx.all(`ANALYZE ${name}`);
      }),

    /** For the time of the copy: an order by bytes, where the database's own is another. */
    begin: (tables: readonly Table[]) =>
      db.write(async (tx) => {
        await tx.all(withoutHaste);
        for (const table of collation === "" ? [] : tables)
          await tx.all(
            `CREATE INDEX IF NOT EXISTS ${indexOf(table)} ON ${table.name} (${keyText(table, collation)})`,
          );
      }),

    async end(tables: readonly Table[]): Promise<void> {
      for (const table of collation === "" ? [] : tables)
        await db.write((tx) => tx.all(`DROP INDEX IF EXISTS ${indexOf(table)}`));
    },
  };
}

export type Filled = Awaited<ReturnType<typeof openFilled>>;

/** A full table may take longer than any statement of a relay. */
const withoutHaste = `SET LOCAL statement_timeout = 0`;

const indexOf = (table: Table) => `moving_${table.name}`;

/** Asked by an example: a language puts a before B whatever their case. The catalogue spells it differently in each version. */
async function ordersByBytes(db: Query): Promise<boolean> {
  const [row] = await db.all(`SELECT CASE WHEN 'a' < 'B' THEN 'language' ELSE 'bytes' END AS kind`);
  return row?.kind === "bytes";
}
