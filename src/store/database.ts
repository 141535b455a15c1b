// What the SQL files need of an engine. `sqlite.ts` and `postgres.ts` each provide exactly this.

export type Value = string | number | null;
export type Row = Record<string, Value>;

export type Query = {
  /** Runs one statement with `$1`, `$2` … and returns its rows. */
  all: (sql: string, params?: readonly Value[]) => Promise<Row[]>;
};

/** The same, and what concerns many rows. */
export type RowQuery = Query & {
  /**
   * Runs a statement over many rows, in as few steps as suit the engine, and returns the rows of all steps. `first` are
   * the values that all rows share: `$1` and on.
   */
  overRows: (
    statement: RowStatement,
    rows: readonly (readonly Value[])[],
    first?: readonly Value[],
  ) => Promise<Row[]>;
};

/**
 * A statement whose text has `{ROWS}` where the values of its rows belong. PostgreSQL gets many rows at a time, because a
 * round trip is dear; SQLite one at a time, because there a statement of 64 rows costs three times as much for each row.
 */
export type RowStatement = { forOne: string; forMany: (rows: number) => string };

export function rowStatement(
  text: string,
  shape: {
    columns: number;
    /** How many parameters of the text come before those of the rows. */
    first?: number;
    /** PostgreSQL's types of the columns, where it cannot tell them from where they go. */
    types?: readonly string[];
  },
): RowStatement {
  const textFor = (rows: number, types?: readonly string[]) =>
    text.replace("{ROWS}", tuples(rows, shape.columns, shape.first, types).replaceAll("$", "$$$$"));
  const texts = new Map<number, string>();
  return {
    forOne: textFor(1),
    forMany(rows) {
      const known = texts.get(rows) ?? textFor(rows, shape.types);
      texts.set(rows, known);
      return known;
    },
  };
}

export type Database = RowQuery & {
  engine: "sqlite" | "postgres";
  /** Row locks for claims: SQLite has one writer and needs none. */
  skipLocked: string;
  /**
   * Runs `work` in one durable transaction. A transaction that failed for a passing reason is run again as a
   * whole, so `work` must give the same result when an earlier run was committed without our knowing.
   */
  write<T>(work: (tx: RowQuery) => Promise<T>): Promise<T>;
  /**
   * Which commits may share a transaction: all of them in SQLite (one writer, one fsync), those of one site in
   * PostgreSQL (a transaction that touches one site stays on one shard).
   */
  commitGroup(siteId: string): string;
  /** True when the data of one statement is at fault and not the database: the others of its group may pass. */
  blamesData: (error: unknown) => boolean;
  /** True for what the engine or its driver threw. */
  isOwnError: (error: unknown) => boolean;
  close(): Promise<void>;
};

/** `($1,$2),($3,$4)` for `rows` rows of `columns` values, numbered after the first `before` parameters. */
export function tuples(
  rows: number,
  columns: number,
  before = 0,
  casts: readonly (string | null)[] = [],
): string {
  let n = before;
  return Array.from({ length: rows }, () => {
    const values = Array.from({ length: columns }, (_, column) => {
      n += 1;
      return casts[column] ? `CAST($${n} AS ${casts[column]})` : `$${n}`;
    });
    return `(${values.join(",")})`;
  }).join(",");
}

/** `$2,$3,$4`: `count` parameters after the first `before`. */
export function list(count: number, before = 0): string {
  return Array.from({ length: count }, (_, i) => `$${before + i + 1}`).join(",");
}

/**
 * Cuts rows into chunks of 64, 32, 16 … 1, so that a statement over any number of rows needs only seven
 * prepared texts and stays far below both engines' parameter limits.
 */
export function* chunks<T>(rows: readonly T[]): Generator<readonly T[]> {
  let at = 0;
  for (let size = 64; size >= 1; size /= 2) {
    while (rows.length - at >= size) {
      yield rows.slice(at, at + size);
      at += size;
    }
  }
}
