// A database that is only compatible with PostgreSQL may lack some features, or be sharded without being Citus. Flags in
// DATABASE_URL say so: `?cleancast=no-skip-locked,no-advisory-locks,no-pipelining,as-sharded`. Another one says that a pooler gives
// each transaction any of its connections: `transaction-pooler`; and another that Citus keeps plans without a fault:
// `citus-plan-cache` (machines.ts). Results are the same with and without flags; they change how fast statements are, and whether
// such a database understands them.

import type { Dialect } from "../database.ts";

export const postgresDialect: Dialect = {
  engine: "postgres",
  isServer: true,
  forUpdate: "FOR UPDATE",
  compactTable: "",
  serverClock: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS double precision)",
  // The view information_schema.columns has the same names, but takes 10 ms to plan in each new session.
  columnNames: `SELECT CAST(attname AS text) AS name FROM pg_attribute
    WHERE attrelid = (SELECT oid FROM pg_class
      WHERE relname = $1 AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()))
    AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
};

const known = [
  "no-skip-locked",
  "no-advisory-locks",
  "no-pipelining",
  "as-sharded",
  "transaction-pooler",
  "citus-plan-cache",
] as const;
type Flag = (typeof known)[number];

type DialectFlags = {
  skipLocked: boolean;
  advisoryLocks: boolean;
  pipelining: boolean;
  /** Statements are those for a sharded database, even where Citus is not found. */
  asSharded: boolean;
  /** Nothing may depend on the session: no prepared statements, no settings of the connection. */
  transactionPooler: boolean;
  /** Citus finds the plans again that it keeps, and uses none for rows of several shards. */
  citusPlanCache: boolean;
};

export class UnknownDialectFlag extends Error {}

export function readDialectFlags(url: string): DialectFlags {
  const found = /[?&]cleancast=([^&#]*)/.exec(url)?.[1] ?? "";
  const words = decodeURIComponent(found).split(",").filter(Boolean);
  const odd = words.find((word) => !known.includes(word as Flag));
  if (odd !== undefined) throw new UnknownDialectFlag(`"${odd}" is not one of ${known.join(", ")}`);
  return {
    skipLocked: !words.includes("no-skip-locked"),
    advisoryLocks: !words.includes("no-advisory-locks"),
    pipelining: !words.includes("no-pipelining"),
    asSharded: words.includes("as-sharded"),
    transactionPooler: words.includes("transaction-pooler"),
    citusPlanCache: words.includes("citus-plan-cache"),
  };
}
