// A look at a database without touching it: how far its schema is.

import { existsSync } from "node:fs";
import { oldestIn } from "./compatibility.ts";
import type { Database } from "../engine/database.ts";
import { schemaVersion } from "./applyMigration.ts";
import { openPostgres } from "../engine/postgres/engine.ts";
import { migrations } from "./schema.ts";
import { openSqlite } from "../engine/sqlite/engine.ts";
import type { StoreLocation } from "../store.ts";

/** `fits`: this version can work with what was found, also where that is newer. */
export type Schemas = { found: number; known: number; fits: boolean };

/** `found` is 0 where nothing is there yet. */
export async function peekSchema(location: StoreLocation): Promise<Schemas> {
  const known = migrations.at(-1)?.version ?? 0;
  if (location.engine === "sqlite" && !existsSync(location.file)) return { found: 0, known, fits: true };
  const db = location.engine === "sqlite" ? openSqlite(location.file) : openPostgres(location.url, location);
  try {
    const found = (await hasSchema(db)) ? await schemaVersion(db) : 0;
    const oldest = found > known ? ((await oldestIn(db)) ?? found) : 0;
    return { found, known, fits: oldest <= known };
  } finally {
    await db.close();
  }
}

async function hasSchema(db: Database): Promise<boolean> {
  const tables = db.engine === "sqlite" ? "sqlite_master" : "pg_tables";
  const name = db.engine === "sqlite" ? "name" : "tablename";
  const rows = await db.all(`SELECT 1 AS one FROM ${tables} WHERE ${name} = 'migrations'`);
  return rows.length > 0;
}
