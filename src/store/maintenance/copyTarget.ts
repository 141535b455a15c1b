// The PostgreSQL database that a move fills. Checks that it may be filled, writes rows, and reads them back.
//
// PostgreSQL may order texts by a language; then the copy creates indexes of its own, which are dropped when it is done.

import { errorCode } from "../../kernel/errorCode.ts";
import { fromRange, hashOf, keyOf, keyText, rangeText, type Piece, type Range, type Table, type Values } from "./copy.ts";
import { rowStatement, type Database, type Query, type Row, type RowQuery, type Value } from "../engine/database.ts";
import { schemaVersion } from "../schema/applyMigration.ts";
import { isCitus, sequentialShardChanges } from "../schema/distribute.ts";
import { refuseUnreleased } from "../schema/generation.ts";
import { latestVersion } from "../schema/migrate.ts";
import { readMoveMarker } from "../schema/moveMarker.ts";
import { columnsOf, tablesAt, type DialectQuery } from "../schema/tables.ts";

/** The schema of the database, 0 where it has none, and the id of the move that fills it. */
type TargetState = { version: number; move: string | null };

export async function readTargetState(db: DialectQuery): Promise<TargetState> {
  // Other programs may have a table of this name, too.
  const columns = await columnsOf(db, "migrations");
  if (!["version", "name", "applied_at"].every((one) => columns.includes(one))) return { version: 0, move: null };
  const version = await schemaVersion(db);
  await refuseUnreleased(db, version);
  return { version, move: await readMoveMarker(db) };
}

/**
 * Finds a table that prevents a move into this database. In a schema of ours every row counts but those that a start writes;
 * in any other database every table with one of our names.
 */
export async function findTableInUse(db: DialectQuery, { version }: TargetState): Promise<string | null> {
  const ours = tablesAt(version === 0 ? latestVersion : version);
  for (const table of version === 0 ? ["migrations", ...ours] : ours) {
    if (version > 0 && table === "settings") continue;
    const found = version === 0 ? await columnsOf(db, table) : await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`);
    if (found.length) return table;
  }
  return null;
}

/** Rows that PostgreSQL refuses, or does not store as they are. */
export class UnfitRows extends Error {
  constructor(table: Table, { range, rows }: Piece, why: string) {
    const unfit = rows.find((row) => isUnfit(table, row));
    const where = unfit ? `the row with the key "${keyOf(table, unfit).join(" ")}"` : `rows ${rangeText(range)}`;
    super(`The table ${table.name} cannot be copied: ${where} (${why}). Correct it and run the same command again.`);
  }
}

/** SQLite stores, and PostgreSQL refuses, a NUL in a text and anything but a whole number in an integer column. */
const isUnfit = (table: Table, row: Values) =>
  row.some((value, i) => {
    if (typeof value === "string" && value.includes("\0")) return true;
    return value !== null && table.whole.includes(table.columns[i] ?? "") && !Number.isSafeInteger(value);
  });

/** A unique value exists already: in a row of another range, which may be about to be removed. */
export class UniqueConflict extends Error {}

export async function createCopyTarget(db: Database) {
  const collation = (await ordersByBytes(db)) ? "" : ' COLLATE "C"';
  const isSharded = await isCitus(db);

  async function readBack(on: Query, table: Table, range: Range, limit: number): Promise<string> {
    const { text, params } = fromRange(table, range, collation);
    const found = await on.all(
      `SELECT ${table.columns.join(", ")} ${text} ORDER BY ${keyText(table, collation)} LIMIT ${limit}`,
      params,
    );
    return hashOf(found.map((row) => table.columns.map((column) => row[column] as Value)));
  }

  async function writePieces(tx: RowQuery, table: Table, pieces: readonly Piece[]): Promise<void> {
    if (isSharded) await tx.all(sequentialShardChanges);
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
        throw new UnfitRows(table, piece, "PostgreSQL returns them changed");
    }
  }

  return {
    /** Replaces the contents of each range with its rows, all or nothing, and reads them back before the commit. */
    async fill(table: Table, pieces: readonly [Piece, ...Piece[]]): Promise<void> {
      try {
        await db.write((tx) => writePieces(tx, table, pieces));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (errorCode(error) === "23505") throw new UniqueConflict(message);
        throw db.isDataError(error) ? new UnfitRows(table, pieces[0], message) : error;
      }
    },

    /** True if PostgreSQL holds exactly these rows. */
    async holds(table: Table, { range, rows }: Piece): Promise<boolean> {
      return (await readBack(db, table, range, rows.length + 1)) === hashOf(rows);
    },

    /** Counts the rows of each table. */
    count: (tables: readonly Table[]): Promise<Map<string, number>> =>
      db.write(async (tx) => {
        await tx.all(noStatementTimeout);
        const found = new Map<string, number>();
        for (const { name } of tables) {
          const [row] = await tx.all(`SELECT COUNT(*) AS n FROM ${name}`);
          found.set(name, Number(row?.n));
        }
        return found;
      }),

    /**
     * Identifies the database that answers. Another one, or the same after a fail-over, may lack what was written. Returns an
     * empty text where it cannot be identified.
     */
    async identify(): Promise<string> {
      const reading = db.all(
        `SELECT CONCAT((SELECT system_identifier FROM pg_control_system()), ' ',
           SUBSTR(pg_walfile_name(pg_current_wal_lsn()), 1, 8), ' ',
           (SELECT oid FROM pg_database WHERE datname = current_database())) AS place`,
      );
      const [row] = await reading.catch((error: unknown): Row[] => {
        if (/^(?:42|0A)/.test(errorCode(error))) return [];
        throw error;
      });
      return String(row?.place ?? "");
    },

    /** Lets the first queries of a relay be planned for full tables. */
    analyze: (tables: readonly Table[]) =>
      db.write(async (tx) => {
        await tx.all(noStatementTimeout);
        for (const { name } of tables) await tx.all(`ANALYZE ${name}`);
      }),

    /** Creates indexes in byte order for the time of the copy, where the database has another order. */
    createIndexes: (tables: readonly Table[]) =>
      db.write(async (tx) => {
        await tx.all(noStatementTimeout);
        for (const table of collation === "" ? [] : tables)
          await tx.all(`CREATE INDEX IF NOT EXISTS ${indexName(table)} ON ${table.name} (${keyText(table, collation)})`);
      }),

    async dropIndexes(tables: readonly Table[]): Promise<void> {
      for (const table of collation === "" ? [] : tables) await db.run(`DROP INDEX IF EXISTS ${indexName(table)}`);
    },
  };
}

export type CopyTarget = Awaited<ReturnType<typeof createCopyTarget>>;

/** A statement over a full table may take longer than any statement of a relay. */
const noStatementTimeout = `SET LOCAL statement_timeout = 0`;

const indexName = (table: Table) => `moving_${table.name}`;

/** Tries an example: a language sorts a before B. Each version's catalogue describes the order differently. */
async function ordersByBytes(db: Query): Promise<boolean> {
  const [row] = await db.all(`SELECT CASE WHEN 'a' < 'B' THEN 'language' ELSE 'bytes' END AS kind`);
  return row?.kind === "bytes";
}
