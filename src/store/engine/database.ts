// The interface between the SQL files and the engines. `sqlite/engine.ts` and `postgres/engine.ts` each implement it.

export type Value = string | number | null;
export type Row = Record<string, Value>;

export type Query = {
  /** Runs one statement with `$1`, `$2` … and returns its rows. */
  all: (sql: string, params?: readonly Value[]) => Promise<Row[]>;
};

export type RowQuery = Query & {
  /**
   * Writes many rows, in as few statements as suit the engine, and returns for each whether it changed something. `first`
   * are the values that all rows share: `$1` and on.
   */
  change: (statement: RowStatement, rows: readonly (readonly Value[])[], first?: readonly Value[]) => Promise<boolean[]>;
};

/**
 * A statement over many rows. PostgreSQL gets up to 64 at a time, because a round trip is expensive; SQLite one at a time,
 * because there a statement of 64 rows costs three times as much for each of them.
 */
export type RowStatement = {
  forOne: string;
  /** Returns the keys of the rows that it changed, where they have one. */
  forMany: (rows: number) => string;
  /** The positions of the key among the values of a row. */
  key: readonly number[];
};

export function rowStatement(shape: {
  /** The text has `{ROWS}` in place of the values of the rows, and `{FIRSTS}` in place of the first value of each row. */
  text: string;
  /** A text for a single row, where there is a cheaper one. */
  forOne?: string;
  columns: number;
  /** The number of parameters in the text before those of the rows. */
  first?: number;
  /** PostgreSQL's types of the columns, where it cannot infer them. */
  types?: readonly string[];
  /** The columns that identify a row, and their positions among its values. Without them no caller learns which rows changed. */
  key?: Readonly<Record<string, number>>;
}): RowStatement {
  const { text, columns, first, key = {} } = shape;
  const returning = shape.key ? ` RETURNING ${Object.keys(key).join(", ")}` : "";
  const withRows = (rows: number, types?: readonly string[]) =>
    text.replace("{ROWS}", () => tuples(rows, columns, first, types)).replace("{FIRSTS}", () => everyNth(rows, columns, first));
  const forMany = (rows: number) => (rows === 1 && shape.forOne) || withRows(rows, shape.types);
  const texts = new Map<number, string>();
  return {
    forOne: shape.forOne ?? withRows(1),
    forMany(rows) {
      const sql = texts.get(rows) ?? forMany(rows) + returning;
      texts.set(rows, sql);
      return sql;
    },
    key: Object.values(key),
  };
}

/** A read for each of many keys, with a limit for each: made by `keyedRead`. */
type KeyedRead = { forOne: string; forMany: (keys: number) => string };

/**
 * The text has `{0}`, `{1}` … in place of the values of a key, after `first` parameters that all keys share. With IN, a limit for
 * all would let one key hide the rows of others, and PostgreSQL may read the whole table until its statistics know it.
 */
export function keyedRead(shape: {
  text: string;
  first: number;
  /** PostgreSQL's types of the values of a key. */
  types: readonly string[];
}): KeyedRead {
  const { text, first, types } = shape;
  const withValues = (valueOf: (at: number) => string) => text.replaceAll(/\{(\d)\}/g, (_, at) => valueOf(Number(at)));
  const names = types.map((_, at) => `key_${at}`);
  const found = withValues((at) => `wanted.${names[at]}`);
  const texts = new Map<number, string>();
  return {
    forOne: withValues((at) => `$${first + at + 1}`),
    forMany(keys) {
      const sql =
        texts.get(keys) ??
        `SELECT found.* FROM (VALUES ${tuples(keys, types.length, first, types)}) AS wanted (${names.join(", ")})
         CROSS JOIN LATERAL (${found}) AS found`;
      texts.set(keys, sql);
      return sql;
    },
  };
}

/** Runs a read for each of the keys: one at a time on SQLite, where a statement costs little, else up to 64 together. */
export async function allForEach(
  db: Query & Pick<Dialect, "isServer">,
  read: KeyedRead,
  first: readonly Value[],
  keys: readonly (readonly Value[])[],
): Promise<Row[]> {
  const rows: Row[] = [];
  const none = (keys[0] ?? []).map(() => null);
  if (db.isServer)
    for (const some of padded(keys, none)) rows.push(...(await db.all(read.forMany(some.length), [...first, ...some.flat()])));
  else for (const key of keys) rows.push(...(await db.all(read.forOne, [...first, ...key])));
  return rows;
}

/** The differences between the engines that SQL texts depend on. */
export type Dialect = {
  engine: "sqlite" | "postgres";
  /** The database is a server: statements travel over the network, and several nodes may use it. */
  isServer: boolean;
  /** Locks the rows that a transaction reads before it changes them. SQLite has one writer and needs no lock. */
  forUpdate: "" | "FOR UPDATE";
  /** Ends a CREATE TABLE and stores a small row inside its primary key. */
  compactTable: "" | "WITHOUT ROWID";
  /** An expression for the server's clock in milliseconds; NULL where the database has no clock of its own. */
  serverClock: string;
  /** Selects the columns of the table `$1`, in order, as `name`. */
  columnNames: string;
};

/** The time by which a statement compares leases: the server's or, where the database has no clock, the parameter of this number. */
export const clockOr = ({ serverClock }: Pick<Dialect, "serverClock">, parameter: number) =>
  `COALESCE(${serverClock}, CAST($${parameter} AS bigint))`;

type WriteOptions = {
  /** For work that must not be given up within seconds. */
  timeoutMs?: number;
  /**
   * The caller does the work again if a power cut undoes it, so the commit does not wait for the disk where that is the
   * most expensive part. The end of the process does not undo it.
   */
  isRepeatable?: boolean;
  /**
   * Makes sure that the transaction runs on the server that was found last: behind a pooler, a promoted server may take the place
   * of the primary without ending a connection. For leases of nodes, which do not wait for other writes.
   */
  confirmTimeline?: boolean;
  /** Work that no request waits for: its duration says nothing about the database. */
  isBackground?: boolean;
  /** The site of a transaction that begins before its first statement says so. */
  siteId?: string;
  /**
   * The work is one statement. A server then commits it without BEGIN and COMMIT, which costs less, and much less where the
   * statement goes on to a machine of a sharded database.
   */
  isSingle?: boolean;
};

export type Database = Query &
  Dialect & {
    /** How many reads of requests a server works on at a time. */
    readers: number;
    /**
     * Reads for periodic work over all sites: on connections of their own and with a shorter limit, so that those which hang,
     * because a machine of a sharded database is silent, take no connection from requests.
     */
    background: Query;
    /** Locks rows for a claim and skips those that are locked; empty where the engine cannot, or needs no lock. */
    skipLocked: string;
    /** Advisory locks keep nodes that migrate at the same time from colliding; correctness does not depend on them. */
    advisoryLocks: boolean;
    /**
     * Runs `work` on a connection of its own, outside of any transaction and without a time limit; null where the engine
     * needs no such thing, or has no advisory locks to keep two nodes apart.
     */
    onDedicatedConnection: (<T>(work: (session: Query) => Promise<T>) => Promise<T>) | null;
    /** True where tables are sharded: a statement over all sites must then be one that each shard can answer alone. */
    isSharded(): Promise<boolean>;
    /**
     * Runs `work` in one durable transaction. A transaction that failed for a transient reason is run again as a whole, so
     * `work` must give the same result when an earlier run was committed without our knowledge. Where there is no database
     * to write to it fails within seconds.
     */
    write<T>(work: (tx: RowQuery) => Promise<T>, options?: WriteOptions): Promise<T>;
    /** Runs one statement in a durable transaction, and returns its rows. */
    run: Query["all"];
    /**
     * Returns the group of sites whose commits may share a transaction: all sites in SQLite (one writer, one fsync). In
     * PostgreSQL sites are divided into a few groups, so that quiet sites share commits, and a site that waits for a lock
     * delays some of the others and not all. Where it is sharded a transaction stays on one machine if that is connected to
     * directly, else on one shard; a site whose shard is not known is a group of its own.
     */
    commitGroup(siteId: string): string;
    /**
     * Counts how often another server has taken the place of the primary since the database was opened. That server may lack the
     * last commits.
     */
    promotions(): number;
    /**
     * Divides sites by the machine of a sharded database that has them, and those of a machine into slices: what is asked about
     * the sites of one slice concerns one shard. One slice where the database is not sharded.
     */
    divideSites(siteIds: Iterable<string>): Promise<Map<string, Map<string, string[]>>>;
    /** The number of machines of a sharded database that do not answer, while others do; 0 where all are down. */
    countDownMachines(): number;
    /** True for the error of a statement whose site is on a machine that does not answer: others are not affected. */
    isMachineError: (error: unknown) => boolean;
    /** True when the data of one statement is at fault and not the database: the others of its group may pass. */
    isDataError: (error: unknown) => boolean;
    /** True for errors that the engine or its driver threw. */
    isOwnError: (error: unknown) => boolean;
    close(): Promise<void>;
  };

/** The part of a database that a migration needs. */
export type MigratedDatabase = Query & Dialect & Pick<Database, "advisoryLocks" | "onDedicatedConnection" | "write">;

/** Uses the `write` of the database that it is a part of, also where that is wrapped. */
export const singleStatements: Pick<Database, "run"> & ThisType<Database> = {
  run(sql, params) {
    return this.write((tx) => tx.all(sql, params), { isSingle: true });
  },
};

/** For a database on one machine. */
export const onOneMachine: Pick<Database, "divideSites" | "countDownMachines" | "isMachineError"> = {
  divideSites: async (siteIds) => new Map([["", new Map([["", [...siteIds]]])]]),
  countDownMachines: () => 0,
  isMachineError: () => false,
};

/**
 * Runs a statement for keys, up to 64 at a time, and returns all rows. The text has `{KEYS}` in place of their parameters;
 * `first` are the values before those.
 */
export async function allByKeys(db: Query, sql: string, first: readonly Value[], keys: readonly Value[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const some of padded(keys, null)) {
    const text = sql.replace("{KEYS}", () => list(some.length, first.length));
    rows.push(...(await db.all(text, [...first, ...some])));
  }
  return rows;
}

/** Runs `work` in a transaction for each site, in the order of their ids. */
export async function writeBySite<Item extends { siteId: string }>(
  db: Database,
  items: readonly Item[],
  work: (tx: Query, items: readonly Item[], siteId: string) => Promise<void>,
): Promise<void> {
  const bySite = Map.groupBy(items, (item) => item.siteId);
  for (const siteId of [...bySite.keys()].toSorted()) await db.write((tx) => work(tx, bySite.get(siteId) as Item[], siteId));
}

/** Returns `($1,$2),($3,$4)` for `rows` rows of `columns` values, numbered after the first `before` parameters. */
export function tuples(rows: number, columns: number, before = 0, casts: readonly (string | null)[] = []): string {
  let n = before;
  return Array.from({ length: rows }, () => {
    const values = Array.from({ length: columns }, (_, column) => {
      n += 1;
      return casts[column] ? `CAST($${n} AS ${casts[column]})` : `$${n}`;
    });
    return `(${values.join(",")})`;
  }).join(",");
}

/** Returns `$1,$4,$7`: the first of each `columns` parameters, `rows` times. */
const everyNth = (rows: number, columns: number, before = 0) =>
  Array.from({ length: rows }, (_, row) => `$${before + row * columns + 1}`).join(",");

/** The values of a new row, by column. */
export type NewRow = Readonly<Record<string, Value>>;

/** Inserts rows that all have the same columns. `more` follows the values. A database does it in a transaction of its own. */
export async function insertRows(
  on: Query | Pick<Database, "run">,
  table: string,
  rows: readonly NewRow[],
  more = "",
): Promise<Row[]> {
  // The site comes first: a sharded database finds it there.
  const columns = Object.keys(rows[0] ?? {}).toSorted((one, other) => Number(other === "site_id") - Number(one === "site_id"));
  const returned: Row[] = [];
  for (const some of chunks(rows)) {
    const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${tuples(some.length, columns.length)} ${more}`;
    const values = some.flatMap((row) => columns.map((column) => row[column] ?? null));
    returned.push(...(await ("run" in on ? on.run(sql, values) : on.all(sql, values))));
  }
  return returned;
}

export const insertRow = (on: Query | Pick<Database, "run">, table: string, row: NewRow, more?: string): Promise<Row[]> =>
  insertRows(on, table, [row], more);

/** For `insertRow`: replaces these columns where there is a row with the key. */
export function orReplace(key: string, ...columns: string[]): string {
  const changes = columns.map((one) => `${one} = excluded.${one}`).join(", ");
  return `ON CONFLICT (${key}) DO UPDATE SET ${changes}`;
}

/** True where a statement returned a row. */
export const hasRows = async (rows: Promise<readonly Row[]>): Promise<boolean> => (await rows).length > 0;

/** Returns `$2,$3,$4`: `count` parameters after the first `before`. */
export function list(count: number, before = 0): string {
  return Array.from({ length: count }, (_, i) => `$${before + i + 1}`).join(",");
}

const maxRowsPerStatement = 64;

/**
 * Few, because each is a text that every connection prepares for each statement; and close to each other, because every statement of a
 * batch costs a message each way. Any number up to 64 needs three of them at most, and one up to 8.
 */
export const chunkSizes: readonly number[] = [maxRowsPerStatement, 48, 32, 24, 16, 12, 8, 7, 6, 5, 4, 3, 2, 1];

/** True for a number of rows that `chunks` leaves together. */
export const isOneChunk = (rows: number) => chunkSizes.includes(rows);

/** Cuts rows into chunks of these sizes, which stay far below both engines' parameter limits. */
export function* chunks<T>(rows: readonly T[]): Generator<readonly T[]> {
  let at = 0;
  for (const size of chunkSizes) {
    while (rows.length - at >= size) {
      yield rows.slice(at, at + size);
      at += size;
    }
  }
}

/** The same for keys of a read, in as few statements: the last is filled up with a key that nothing has. */
export function* padded<T>(keys: readonly T[], none: T): Generator<readonly T[]> {
  for (let at = 0; at < keys.length; at += maxRowsPerStatement) {
    const some = keys.slice(at, at + maxRowsPerStatement);
    const size = 2 ** Math.ceil(Math.log2(some.length));
    yield [...some, ...Array.from({ length: size - some.length }, () => none)];
  }
}
