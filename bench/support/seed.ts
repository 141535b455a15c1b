// Fills a database in bulk by copying one real row in SQL, so that columns that are added later are filled too. The expressions
// may use `n`, the number of the copy.

import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { dayMs } from "../../src/kernel/time.ts";
import { daysAgo, identityRecord, knownEmail, oldDays, youngDays } from "./input.ts";
import { readOutcomes } from "../../src/store/deliveries/outcomes.ts";
import { packRecord } from "../../src/store/people/personCodec.ts";
import { hashEmail } from "../../test/support/person.ts";
import { connectStoreOf, type Installation } from "./relay.ts";

type Sql = {
  run(text: string): Promise<Record<string, unknown>[]>;
  /** A subquery with the rows n = from … to. */
  numbers(from: number, to: number): string;
  sha256(expression: string): string;
  /** Returns the first 52 bits of a hash as a number: `emailRef` of src/store/events/eventRow.ts. */
  emailRef(sha256: string): string;
  /** Formats a number with ten digits. */
  digits(expression: string): string;
  /** Returns the bytes of a table with its indexes, or of the whole database. */
  bytes(table?: string): Promise<number>;
  /** Writes what was seeded to the disk, so that the measurement does not pay for it. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

export async function createSql({ store }: Pick<Installation, "store">): Promise<Sql> {
  return store.engine === "sqlite" ? connectSqliteFile(store.file) : connectPostgresUrl(store.url);
}

function connectSqliteFile(file: string): Sql {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA temp_store = MEMORY");
  db.function("sha256", (text) => hash("sha256", String(text)));
  db.function("email_ref", (sha256) => BigInt(`0x${String(sha256).slice(0, 13)}`));
  const run = async (text: string) => db.prepare(text).all() as Record<string, unknown>[];
  return {
    run,
    numbers: (from, to) =>
      `(WITH RECURSIVE some(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM some WHERE n < ${to}) SELECT n FROM some)`,
    sha256: (expression) => `sha256(${expression})`,
    emailRef: (sha256) => `email_ref(${sha256})`,
    digits: (expression) => `printf('%010d', ${expression})`,
    async bytes(table) {
      if (!table) return Number((await run("SELECT SUM(pgsize) AS bytes FROM dbstat"))[0]?.bytes);
      const rows = await run(
        `SELECT SUM(pgsize) AS bytes FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = '${table}')`,
      );
      return Number(rows[0]?.bytes);
    },
    flush: async () => db.exec("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize"),
    close: async () => db.close(),
  };
}

async function connectPostgresUrl(url: string): Promise<Sql> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const run = async (text: string) => (await client.query(text)).rows as Record<string, unknown>[];
  return {
    run,
    numbers: (from, to) => `(SELECT n FROM generate_series(${from}, ${to}) AS n)`,
    sha256: (expression) => `encode(sha256(convert_to(${expression}, 'UTF8')), 'hex')`,
    emailRef: (sha256) => `('x' || substr(${sha256}, 1, 13))::bit(52)::bigint`,
    digits: (expression) => `lpad((${expression})::text, 10, '0')`,
    async bytes(table) {
      const size = table ? `pg_total_relation_size('${table}')` : "pg_database_size(current_database())";
      return Number((await run(`SELECT ${size} AS bytes`))[0]?.bytes);
    },
    async flush() {
      await client.query("VACUUM ANALYZE");
      await client.query("CHECKPOINT");
    },
    close: () => client.end(),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const mark = "0123456789";
const knownEmailSql = quoted(knownEmail(mark)).replace(mark, "' || n || '");
/** Stands for the hash of the row, which packRecord leaves out. */
const anyHash = "0".repeat(64);

/** Inserts records of `count` people on every site, and of `old` more, which are older than the retention period. */
export async function seedIdentities(installation: Installation, count: number, old = 0): Promise<void> {
  const sql = await createSql(installation);
  for (const [from, to, days] of [
    [0, count - 1, youngDays],
    [count, count + old - 1, oldDays],
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
  await sql.flush();
  await sql.close();
  const store = await connectStoreOf(installation);
  for (const { id } of installation.sites)
    if (!(await store.people.findIdentity(id, hashEmail(knownEmail(count - 1)))))
      throw new Error(`the store does not find the seeded people of the site ${id}`);
  await store.close();
}

const chunkSize = 250_000;

/** The tables that an event writes to. */
const eventTables = ["events", "dedup_claims", "outcomes", "deliveries", "attempts"] as const;

/** Returns the bytes of the event tables per event, with indexes, without the platforms' answers. */
export async function bytesPerEvent(installation: Installation): Promise<number> {
  const sql = await createSql(installation);
  let bytes = 0;
  for (const table of eventTables) bytes += await sql.bytes(table);
  const [row] = await sql.run(`SELECT COUNT(*) AS n FROM events`);
  const outcomes = await sql.run(`SELECT event_id, results FROM outcomes ORDER BY event_id DESC LIMIT 1000`);
  await sql.close();
  const answers = outcomes.flatMap(({ results }) => readOutcomes(String(results)).map(({ sent }) => sent?.response ?? ""));
  const events = new Set(outcomes.map((one) => one.event_id)).size || 1;
  // A quote in an answer is escaped, because the results are JSON.
  const answerBytes = answers.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)) - 2, 0);
  return bytes / Number(row?.n) - answerBytes / events;
}

/** Copied events are spread over this time, so that an hour has a realistic number of them. */
export const seededDays = 60;
/** Copies have the time of a whole unit: six of the ten characters of an id's time, and then zeros. */
const unitMs = 32 ** 4;
const base32 = "0123456789abcdefghjkmnpqrstvwxyz";

/** The unit in which the n-th of `count` copies of an event was received: the last one a day before the event. */
function unitOf(event: Record<string, unknown>, count: number): string {
  const newest = Math.floor((Number(event.received_at) - dayMs) / unitMs);
  const units = Math.floor((seededDays * dayMs) / unitMs);
  return `(${newest - units} + CAST(n AS bigint) * ${units} / ${count})`;
}

/** Formats a number in the alphabet of src/kernel/ids.ts. */
const base32Sql = (expression: string, length: number) =>
  Array.from(
    { length },
    (_, i) => `substr('${base32}', CAST(1 + (${expression}) / ${32 ** (length - 1 - i)} % 32 AS integer), 1)`,
  ).join(" || ");

/** Copies a row `count` times with these columns changed. False where there is none. */
async function copyRow(
  sql: Sql,
  table: string,
  where: string,
  changed: Readonly<Record<string, string>>,
  count: number,
): Promise<boolean> {
  const [row] = await sql.run(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`);
  if (!row) return false;
  const unknown = Object.keys(changed).filter((name) => !(name in row));
  if (unknown.length) throw new Error(`${table} has no column ${unknown.join(", ")}`);
  const columns = Object.keys(row).filter((name) => row[name] !== null || name in changed);
  const values = columns.map((name) => changed[name] ?? name);
  for (let start = 0; start < count; start += chunkSize)
    await sql.run(
      `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")}
       FROM ${sql.numbers(start, Math.min(count, start + chunkSize) - 1)} AS copies,
         (SELECT * FROM ${table} WHERE ${where}) AS original`,
    );
  return true;
}

/** Copies the newest event with its claim and outcomes `count` times, each for another known person and at another time. */
export async function seedEvents(installation: Installation, count: number): Promise<void> {
  const sql = await createSql(installation);
  const [event] = await sql.run(`SELECT * FROM events ORDER BY id DESC LIMIT 1`);
  if (!event) throw new Error("there is no event to copy");
  const id = quoted(String(event.id));
  const unit = unitOf(event, count);
  const copyId = `${base32Sql(unit, 6)} || '0000000000' || ${sql.digits("n")}`;
  const emailSha256 = sql.sha256(knownEmailSql);
  const emailRef = sql.emailRef(emailSha256);
  const time = `${unit} * ${unitMs}`;
  const changes: Record<(typeof eventTables)[number], Record<string, string>> = {
    events: {
      id: copyId,
      email_ref: emailRef,
      order_id: `'S-' || n`,
      order_key: `'s-' || n`,
      time,
      received_at: time,
      // The text begins with the hash of the email, and refers to it where other forms have the same one.
      person: `${emailSha256} || substr(person, 65)`,
    },
    dedup_claims: {
      event_id: copyId,
      person_ref: emailRef,
      claim: `substr(${sql.sha256(`'c' || n`)}, 1, 36)`,
    },
    outcomes: { event_id: copyId },
    deliveries: { event_id: copyId },
    attempts: { event_id: copyId },
  };
  for (const table of eventTables) {
    const where = table === "events" ? `id = ${id}` : `event_id = ${id}`;
    const copied = await copyRow(sql, table, where, changes[table], count);
    if (!copied && (table === "dedup_claims" || table === "outcomes"))
      throw new Error(`the event to copy has no row in ${table}`);
  }
  await sql.flush();
  await sql.close();
  const store = await connectStoreOf(installation);
  const [found] = await store.events.list(installation.siteId, {
    emailSha256: hashEmail(knownEmail(count - 1)),
    limit: 1,
  });
  const deliveries = found ? await store.deliveries.listByEvent(installation.siteId, found.id) : [];
  if (deliveries.length === 0 || deliveries.some(({ state }) => state !== "sent"))
    throw new Error("the store does not find the seeded events with their deliveries");
  await store.close();
}

/**
 * Copies the only order of the list: one for each of the `count` copies of the newest event. One of 20 has another order id than
 * the event, and of these half another person; one of ten has a `#`, one of 50 another value.
 */
export async function seedOrders(installation: Installation, count: number): Promise<void> {
  const sql = await createSql(installation);
  const [event] = await sql.run(`SELECT * FROM events ORDER BY id DESC LIMIT 1`);
  if (!event) throw new Error("there is no event");
  const number = `CASE WHEN n % 20 = 0 THEN 'M-' ELSE 'S-' END || n`;
  const person = sql.sha256(knownEmailSql.replace("n ||", "(n + CASE WHEN n % 40 = 20 THEN 1 ELSE 0 END) ||"));
  const [first] = await sql.run(`SELECT id FROM orders`);
  const where = `id = ${quoted(String(first?.id))}`;
  await copyRow(
    sql,
    "orders",
    where,
    {
      id: `'=' || LOWER(${number})`,
      order_id: `CASE WHEN n % 10 = 3 THEN '#' ELSE '' END || ${number}`,
      time: `${unitOf(event, count)} * ${unitMs}`,
      value: `value + CASE WHEN n % 50 = 7 THEN 1 ELSE 0 END`,
      email_sha256: person,
      email_ref: sql.emailRef(person),
    },
    count,
  );
  await sql.run(`DELETE FROM orders WHERE ${where}`);
  await sql.flush();
  await sql.close();
}
