// The tables of the sign-in library, which its adapter (access/adapter.ts) reads and writes by conditions, and our own
// queries on them.

import { columns } from "../schema/columns.ts";
import { hasRows, list, type Database, type Query, type Row, type Value } from "../engine/database.ts";

export const accountTables = ["users", "sessions", "passwords", "two_factors", "verifications"] as const;

const operators = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;
export type Operator = keyof typeof operators | "in";
/** A list of conditions is joined with AND. */
export type Condition = { column: string; operator: Operator; value: Value | readonly Value[] };

export type Session = {
  id: string;
  createdAt: number;
  lastSeenAt: number;
  expiresAt: number;
  address: string | null;
  userAgent: string | null;
};

export function accountStore(db: Database) {
  return {
    async insert(table: string, row: Row): Promise<void> {
      const names = Object.keys(row).map(checkColumn);
      // A transaction that runs again finds its own row. Of two secrets that one user begins with at once, the first stays.
      const key = table === "two_factors" ? "user_id" : "id";
      await db.run(
        `INSERT INTO ${checkTable(table)} (${names.join(", ")}) VALUES (${list(names.length)})
         ON CONFLICT (${key}) DO NOTHING`,
        Object.values(row),
      );
    },

    async find(
      table: string,
      conditions: readonly Condition[],
      { limit, offset = 0, orderBy }: { limit: number; offset?: number; orderBy?: string },
    ): Promise<Row[]> {
      const { sql, values } = whereOf(conditions);
      const order = orderBy === undefined ? "" : `ORDER BY ${orderBy.split(" ").map(checkColumn).join(" ")}`;
      const n = values.length;
      return db.all(
        `SELECT ${columns[checkTable(table)]} FROM ${checkTable(table)} ${sql} ${order} LIMIT $${n + 1} OFFSET $${n + 2}`,
        [...values, limit, offset],
      );
    },

    async count(table: string, conditions: readonly Condition[]): Promise<number> {
      const { sql, values } = whereOf(conditions);
      const [row] = await db.all(`SELECT COUNT(*) AS n FROM ${checkTable(table)} ${sql}`, values);
      return Number(row?.n);
    },

    /** Returns the changed rows. `add` increments numbers; NULL counts as 0. */
    async update(
      table: string,
      conditions: readonly Condition[],
      set: Row,
      add: Readonly<Record<string, number>> = {},
    ): Promise<Row[]> {
      const { sql, values } = whereOf(conditions);
      const all: Value[] = [...values];
      const changes = [
        ...Object.entries(set).map(([column, value]) => `${checkColumn(column)} = $${all.push(value)}`),
        ...Object.entries(add).map(([column, by]) => `${checkColumn(column)} = COALESCE(${column}, 0) + $${all.push(by)}`),
      ];
      return db.run(`UPDATE ${checkTable(table)} SET ${changes.join(", ")} ${sql} RETURNING ${columns[checkTable(table)]}`, all);
    },

    /** Returns the removed rows: of two concurrent calls for one row, one gets it. */
    async remove(table: string, conditions: readonly Condition[]): Promise<Row[]> {
      const { sql, values } = whereOf(conditions);
      return db.run(`DELETE FROM ${checkTable(table)} ${sql} RETURNING ${columns[checkTable(table)]}`, values);
    },

    /** Removes and returns one of the rows. */
    async take(table: string, conditions: readonly Condition[]): Promise<Row | null> {
      const { sql, values } = whereOf(conditions);
      const from = checkTable(table);
      // Ordered, because every node of a sharded database has a copy of the table and must take the same row.
      const [row] = await db.run(
        `DELETE FROM ${from} WHERE id = (SELECT id FROM ${from} ${sql} ORDER BY id LIMIT 1) RETURNING ${columns[from]}`,
        values,
      );
      return row ?? null;
    },

    async listSessions(userId: string, now: number): Promise<Session[]> {
      const rows = await db.all(
        `SELECT ${columns.sessions} FROM sessions WHERE user_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id LIMIT 200`,
        [userId, now],
      );
      return rows.map((row) => ({
        id: String(row.id),
        createdAt: Number(row.created_at),
        lastSeenAt: Number(row.seen_at ?? row.updated_at),
        expiresAt: Number(row.expires_at),
        address: (row.address as string | null) || null,
        userAgent: (row.user_agent as string | null) || null,
      }));
    },

    async endSession(userId: string, id: string): Promise<boolean> {
      return hasRows(db.run(`DELETE FROM sessions WHERE user_id = $1 AND id = $2 RETURNING id`, [userId, id]));
    },

    /** Writes when a session and its user were last seen. */
    async touchSession(userId: string, sessionId: string, now: number): Promise<void> {
      await db.write(async (tx) => {
        await tx.all(`UPDATE sessions SET seen_at = $2 WHERE id = $1`, [sessionId, now]);
        await tx.all(`UPDATE users SET seen_at = $2 WHERE id = $1`, [userId, now]);
      });
    },

    /** Deletes expired sessions, sign-ins in progress, one-time links and rate counters. */
    async purge(now: number): Promise<void> {
      await db.write(async (tx) => {
        await tx.all(`DELETE FROM sessions WHERE expires_at <= $1`, [now]);
        await tx.all(`DELETE FROM verifications WHERE expires_at <= $1`, [now]);
        await tx.all(`DELETE FROM one_time_links WHERE expires_at <= $1`, [now]);
        await tx.all(`DELETE FROM rate_counters WHERE until <= $1`, [now]);
      });
    },
  };
}

/**
 * Ends the sessions of a user, but for the one of a token, and sign-ins that wait for a second factor. Whoever had a session may have
 * added a device, so alerts are no longer shown on any.
 */
export async function endSessions(tx: Query, userId: string, keptToken = ""): Promise<number> {
  const ended = await tx.all(`DELETE FROM sessions WHERE user_id = $1 AND token <> $2 RETURNING id`, [userId, keptToken]);
  await tx.all(`DELETE FROM verifications WHERE value = $1`, [userId]);
  await tx.all(`DELETE FROM push_devices WHERE user_id = $1`, [userId]);
  return ended.length;
}

/** Guards against injection: column names come from the library's schema. */
function checkColumn(name: string): string {
  if (!/^[a-z_]+$/.test(name)) throw new Error(`${name} is no column`);
  return name;
}

function checkTable(name: string): (typeof accountTables)[number] {
  const found = accountTables.find((one) => one === name);
  if (!found) throw new Error(`${name} is no table of accounts`);
  return found;
}

function whereOf(conditions: readonly Condition[]): { sql: string; values: Value[] } {
  const values: Value[] = [];
  const parts = conditions.map(({ column, operator, value }) => {
    if (operator === "in") {
      const some = value as readonly Value[];
      const first = values.length;
      values.push(...some);
      return some.length ? `${checkColumn(column)} IN (${list(some.length, first)})` : "1 = 0";
    }
    if (value === null) return `${checkColumn(column)} IS ${operator === "ne" ? "NOT NULL" : "NULL"}`;
    values.push(value as Value);
    return `${checkColumn(column)} ${operators[operator]} $${values.length}`;
  });
  return { sql: parts.length ? `WHERE ${parts.join(" AND ")}` : "", values };
}
