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
   * Writes many rows, in as few steps as suit the engine, and tells of each whether it changed something. `first` are the
   * values that all rows share: `$1` and on.
   */
  change: (
    statement: RowStatement,
    rows: readonly (readonly Value[])[],
    first?: readonly Value[],
  ) => Promise<boolean[]>;
};

/**
 * A statement over many rows. PostgreSQL gets up to 64 at a time, because a round trip is dear; SQLite one at a time,
 * because there a statement of 64 rows costs three times as much for each of them.
 */
export type RowStatement = {
  forOne: string;
  /** Returns the keys of the rows that it changed, where they have one. */
  forMany: (rows: number) => string;
  /** Where the key stands among the values of a row. */
  key: readonly number[];
};

export function rowStatement(shape: {
  /** With `{ROWS}` where the values of the rows belong, and `{FIRSTS}` for the first value of each alone. */
  text: string;
  /** The same for a single row, where there is a cheaper way to say it. */
  forOne?: string;
  columns: number;
  /** How many parameters of the text come before those of the rows. */
  first?: number;
  /** PostgreSQL's types of the columns, where it cannot tell them from where they go. */
  types?: readonly string[];
  /** What tells the rows apart, and where it stands among their values. Without it nobody learns which of them changed. */
  key?: Readonly<Record<string, number>>;
}): RowStatement {
  const { text, columns, first, key = {} } = shape;
  const returning = shape.key ? ` RETURNING ${Object.keys(key).join(", ")}` : "";
  const withRows = (rows: number, types?: readonly string[]) =>
    text
      .replace("{ROWS}", () => tuples(rows, columns, first, types))
      .replace("{FIRSTS}", () => everyNth(rows, columns, first));
  const forMany = (rows: number) => (rows === 1 && shape.forOne) || withRows(rows, shape.types);
  const texts = new Map<number, string>();
  return {
    forOne: shape.forOne ?? withRows(1),
    forMany(rows) {
      const made = texts.get(rows) ?? forMany(rows) + returning;
      texts.set(rows, made);
      return made;
    },
    key: Object.values(key),
  };
}

export type Manner = {
  /** For what must not be given up within seconds. */
  timeoutMs?: number;
  /**
   * Nothing is lost when a power cut undoes it: it is done again. So it does not wait for the disk, where that costs the
   * most; the end of the process does not undo it.
   */
  isRepeatable?: boolean;
};

export type Database = Query & {
  engine: "sqlite" | "postgres";
  /** Row locks for claims: SQLite has one writer and needs none. */
  skipLocked: string;
  /** Comfort, where the engine has them. */
  advisoryLocks: boolean;
  /**
   * Runs `work` on a connection of its own, outside of any transaction and for as long as it takes; null where the engine
   * needs no such thing, or lacks what makes nodes take turns.
   */
  alone: (<T>(work: (session: Query) => Promise<T>) => Promise<T>) | null;
  /** Spread over several machines: what is asked of all sites at once must be something that each can answer alone. */
  isSharded(): Promise<boolean>;
  /**
   * Runs `work` in one durable transaction. A transaction that failed for a passing reason is run again as a
   * whole, so `work` must give the same result when an earlier run was committed without our knowing. Where there is no
   * database to write to it fails within seconds.
   */
  write<T>(work: (tx: RowQuery) => Promise<T>, manner?: Manner): Promise<T>;
  /**
   * Which commits may share a transaction: all of them in SQLite (one writer, one fsync). In PostgreSQL sites are divided into
   * a few groups: so quiet sites have somebody to share with, and one that has to wait for a lock holds up some of the others and
   * not all. Where it is sharded each site is a group, whose transactions stay on one shard.
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

/** `$1,$4,$7`: the first of each `columns` parameters, `rows` times. */
const everyNth = (rows: number, columns: number, before = 0) =>
  Array.from({ length: rows }, (_, row) => `$${before + row * columns + 1}`).join(",");

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
