// Fills a database in bulk by copying one real row in SQL, so that columns that are added later are filled too. The expressions
// may use `n`, the number of the copy.

import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { daysAgo, identityRecord, knownEmail, oldDays, youngDays } from "./input.ts";
import { packRecord } from "../../src/store/people/personCodec.ts";
import { hashEmail } from "../../test/support/person.ts";
import { openStoreOf, type Installation } from "./relay.ts";

type Sql = {
  run(text: string): Promise<Record<string, unknown>[]>;
  /** A subquery with the rows n = from … to. */
  numbers(from: number, to: number): string;
  sha256(expression: string): string;
  /** Formats a number with ten digits. */
  digits(expression: string): string;
  /** Returns the bytes of a table with its indexes, or of the whole database. */
  bytes(table?: string): Promise<number>;
  close(): Promise<void>;
};

export async function openSql({ store }: Pick<Installation, "store">): Promise<Sql> {
  return store.engine === "sqlite" ? openSqliteFile(store.file) : openPostgresUrl(store.url);
}

function openSqliteFile(file: string): Sql {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA temp_store = MEMORY");
  db.function("sha256", (text) => hash("sha256", String(text)));
  const run = async (text: string) => db.prepare(text).all() as Record<string, unknown>[];
  return {
    run,
    numbers: (from, to) =>
      `(WITH RECURSIVE some(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM some WHERE n < ${to}) SELECT n FROM some)`,
    sha256: (expression) => `sha256(${expression})`,
    digits: (expression) => `printf('%010d', ${expression})`,
    async bytes(table) {
      if (!table) return Number((await run("SELECT SUM(pgsize) AS bytes FROM dbstat"))[0]?.bytes);
      const rows = await run(
        `SELECT SUM(pgsize) AS bytes FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = '${table}')`,
      );
      return Number(rows[0]?.bytes);
    },
    async close() {
      // Rows were written without fsync; they must be on disk before the measurement.
      db.exec("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize");
      db.close();
    },
  };
}

async function openPostgresUrl(url: string): Promise<Sql> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const run = async (text: string) => (await client.query(text)).rows as Record<string, unknown>[];
  return {
    run,
    numbers: (from, to) => `(SELECT n FROM generate_series(${from}, ${to}) AS n)`,
    sha256: (expression) => `encode(sha256(convert_to(${expression}, 'UTF8')), 'hex')`,
    digits: (expression) => `lpad((${expression})::text, 10, '0')`,
    async bytes(table) {
      const size = table ? `pg_total_relation_size('${table}')` : "pg_database_size(current_database())";
      return Number((await run(`SELECT ${size} AS bytes`))[0]?.bytes);
    },
    async close() {
      await client.query("VACUUM ANALYZE");
      await client.query("CHECKPOINT");
      await client.end();
    },
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const mark = "0123456789";
const knownEmailSql = quoted(knownEmail(mark)).replace(mark, "' || n || '");
/** Stands for the hash of the row, which packRecord leaves out. */
const anyHash = "0".repeat(64);

/** Inserts records of `count` people on every site. The first `old` of them are older than the retention period. */
export async function seedIdentities(installation: Installation, count: number, old = 0): Promise<void> {
  const sql = await openSql(installation);
  for (const [from, to, days] of [
    [0, old - 1, oldDays],
    [old, count - 1, youngDays],
  ] as const) {
    if (to < from) continue;
    const seenAt = daysAgo(days);
    const record = `replace(${quoted(packRecord(identityRecord(mark, seenAt, anyHash), anyHash))}, '${mark}', ${sql.digits("n")})`;
    // In chunks, so that no transaction exceeds the memory.
    for (const { id } of installation.sites)
      for (let start = from; start <= to; start += chunkSize)
        await sql.run(
          `INSERT INTO identities (site_id, email_sha256, record, oldest_at)
           SELECT ${quoted(id)}, ${sql.sha256(knownEmailSql)}, ${record}, ${seenAt} + n % 1000
           FROM ${sql.numbers(start, Math.min(to, start + chunkSize - 1))} AS copies`,
        );
  }
  await sql.close();
  const store = await openStoreOf(installation);
  for (const { id } of installation.sites)
    if (!(await store.people.findIdentity(id, hashEmail(knownEmail(count - 1)))))
      throw new Error(`the store does not find the seeded people of the site ${id}`);
  await store.close();
}

const chunkSize = 250_000;

/** Copies the newest event with its claims, deliveries and attempts `count` times, each for another known person. */
export async function seedEvents(installation: Installation, count: number): Promise<void> {
  const sql = await openSql(installation);
  const [event] = await sql.run(`SELECT * FROM events ORDER BY id DESC LIMIT 1`);
  if (!event) throw new Error("there is no event to copy");
  const id = String(event.id);
  // A UUIDv7 begins with its time: the copies are older than the original, in the order of their numbers.
  const part = (at: number, length: number) => `substr(${sql.digits("n")}, ${at}, ${length})`;
  const copyId = `'01900000-' || ${part(1, 4)} || '-7' || ${part(5, 3)} || '-8' || ${part(8, 3)} || ${quoted(id.slice(23))}`;
  const claim = (kind: string) => `substr(${sql.sha256(`'${kind}' || n`)}, 1, 43)`;
  const tables: [table: string, where: string, changed: Record<string, string>][] = [
    [
      "events",
      `id = ${quoted(id)}`,
      {
        id: copyId,
        platform_event_id: claim("d"),
        email_sha256: sql.sha256(knownEmailSql),
        order_id: `'S-' || n`,
      },
    ],
    [
      "dedup_claims",
      `event_id = ${quoted(id)}`,
      // The two claims of an event differ only after 36 characters.
      { event_id: copyId, claim: `substr(${claim("c")}, 1, 36) || substr(claim, 37)` },
    ],
    ["deliveries", `event_id = ${quoted(id)}`, { event_id: copyId }],
    ["attempts", `event_id = ${quoted(id)}`, { event_id: copyId }],
  ];
  for (const [table, where, changed] of tables) {
    const [row] = await sql.run(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`);
    const columns = Object.keys(row ?? {}).filter((name) => row?.[name] !== null || name in changed);
    const values = columns.map((name) => changed[name] ?? name);
    for (let start = 0; row && start < count; start += chunkSize)
      await sql.run(
        `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")}
         FROM ${sql.numbers(start, Math.min(count, start + chunkSize) - 1)} AS copies,
           (SELECT * FROM ${table} WHERE ${where}) AS original`,
      );
  }
  await sql.close();
}
