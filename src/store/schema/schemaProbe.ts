// Reads how far the schema of a database is, without changing it.

import { existsSync } from "node:fs";
import { readOldestSchema } from "./compatibility.ts";
import { schemaVersion } from "./applyMigration.ts";
import { latestVersion } from "./migrate.ts";
import { openDatabase, type StoreLocation } from "../open.ts";
import { columnsOf } from "./tables.ts";

/** `found` is 0 for an empty database. `fits`: this version can work with the schema that was found, even a newer one. */
export type SchemaProbe = { found: number; known: number; fits: boolean };

export async function probeSchema(location: StoreLocation): Promise<SchemaProbe> {
  const known = latestVersion;
  if (location.engine === "sqlite" && !existsSync(location.file)) return { found: 0, known, fits: true };
  const db = openDatabase(location);
  try {
    const hasSchema = (await columnsOf(db, "migrations")).length > 0;
    const found = hasSchema ? await schemaVersion(db) : 0;
    const oldest = found > known ? ((await readOldestSchema(db)) ?? found) : 0;
    return { found, known, fits: oldest <= known };
  } finally {
    await db.close();
  }
}
