// Statements on one connection: named, so that each is prepared once, and many rows in as few round trips as it can.

import { hash } from "node:crypto";
import type { Client, PoolClient } from "pg";
import { chunks, type Row, type RowStatement, type Value } from "../database.ts";
import { abilitiesOf } from "./client.ts";

const names = new Map<string, string>();

/** Names a statement by its text: each text is prepared once per connection. */
function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) {
    name = hash("sha1", sql);
    names.set(sql, name);
  }
  return name;
}

export async function query(on: PoolClient | Client, sql: string, params: readonly Value[] = []): Promise<Row[]> {
  const statement = { text: sql, values: params as Value[] };
  const result = await on.query<Row>(abilitiesOf(on).keepsStatements ? { name: statementName(sql), ...statement } : statement);
  return result.rows;
}

/** Sends the statements without waiting for each other where it can, so that they share a round trip. */
export async function changeRows(
  client: PoolClient | Client,
  statement: RowStatement,
  rows: readonly (readonly Value[])[],
  first: readonly Value[] = [],
): Promise<boolean[]> {
  const { isPipelined } = abilitiesOf(client);
  const sent: Promise<Row[]>[] = [];
  for (const some of chunks(rows)) {
    const one = query(client, statement.forMany(some.length), [...first, ...some.flat()]);
    sent.push(one);
    if (!isPipelined) await one;
  }
  const returned = await Promise.all(sent);
  // By key and not by position: a sharded database returns rows in any order.
  const changed = new Set(returned.flat().map((row) => Object.values(row).join("\n")));
  return rows.map((row) => changed.has(statement.key.map((at) => row[at]).join("\n")));
}
