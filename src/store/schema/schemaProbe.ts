// Reads how far the schema of a database is, without changing it. Throws for a database of an unreleased version.

import { existsSync } from "node:fs";
import { readOldestSchema } from "./compatibility.ts";
import { schemaVersion } from "./applyMigration.ts";
import { refuseUnreleased } from "./generation.ts";
import { latestVersion } from "./migrate.ts";
import { MoveUnfinished, readMoveMarker } from "./moveMarker.ts";
import { connectDatabase, type StoreLocation } from "../connect.ts";
import { columnsOf, type DialectQuery } from "./tables.ts";

/** `found` is 0 for an empty database. `fits`: this version can work with the schema that was found, even a newer one. */
type SchemaProbe = { found: number; known: number; fits: boolean };

export async function probeSchema(location: StoreLocation): Promise<SchemaProbe> {
  const known = latestVersion;
  if (location.engine === "sqlite" && !existsSync(location.file)) return { found: 0, known, fits: true };
  const db = connectDatabase(location);
  try {
    const found = (await hasMigrations(db)) ? await readVersion(db) : 0;
    const oldest = found > known ? ((await readOldestSchema(db)) ?? found) : 0;
    return { found, known, fits: oldest <= known };
  } finally {
    await db.close();
  }
}

/** Returns 0 for a database that was never used. Throws for one that a move is filling. */
export async function probeVersion(db: DialectQuery): Promise<number> {
  if (!(await hasMigrations(db))) return 0;
  if ((await readMoveMarker(db)) !== null) throw new MoveUnfinished();
  return readVersion(db);
}

export const hasMigrations = async (db: DialectQuery) => (await columnsOf(db, "migrations")).length > 0;

export async function readVersion(db: DialectQuery): Promise<number> {
  const version = await schemaVersion(db);
  await refuseUnreleased(db, version);
  return version;
}
