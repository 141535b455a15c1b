// The generation of the schema: the hash of the first migration, in a settings row. Until a release is out, that migration is
// edited in place, so databases with the same schema number can have different tables. One of another generation is refused.
// All releases share one generation, because a released migration is never edited (test/releases.test.ts).

import { hash } from "node:crypto";
import type { Dialect } from "../engine/database.ts";
import { readSetting } from "../settings.ts";
import type { Migration } from "./migration.ts";
import { migrations } from "./schema.ts";
import { columnsOf, type DialectQuery } from "./tables.ts";

/** The name of the settings row. */
export const generationSetting = "schema_generation";

export class UnreleasedSchema extends Error {
  constructor(engine: Dialect["engine"]) {
    const [name, remedy] = engine === "sqlite" ? ["embedded", "a new data folder"] : ["PostgreSQL", "a new, empty database"];
    super(
      `The ${name} database was made by an unreleased version of Cleancast, and cannot be used or migrated: start with ${remedy}.`,
    );
  }
}

const known = new WeakMap<readonly Migration[], string>();

/** Ignores line breaks and indentation. */
export function generationOf(steps: readonly Migration[] = migrations): string {
  const generation = known.get(steps) ?? hash("sha256", (steps[0]?.statements ?? []).join(";").replaceAll(/\s+/g, " "));
  known.set(steps, generation);
  return generation;
}

/** Throws for a database that has a schema, but not one of this generation. */
export async function refuseUnreleased(db: DialectQuery, version: number, steps?: readonly Migration[]): Promise<void> {
  if (version === 0) return;
  const hasSettings = (await columnsOf(db, "settings")).length > 0;
  const found = hasSettings ? await readSetting(db, generationSetting) : null;
  if (found !== generationOf(steps)) throw new UnreleasedSchema(db.engine);
}
