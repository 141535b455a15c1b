// Creates databases and folders for one test file, and deletes them when that file ends.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { afterFile } from "./afterFile.ts";
import { schemaPrefix } from "../../scripts/testStore/files.ts";
import { createDatabase, withClient } from "./postgres/postgres.ts";

const databases: string[] = [];
const schemas: string[] = [];
const folders: string[] = [];

/** Creates an empty database on the PostgreSQL of this test run, and returns its URL. */
export async function freshDatabase(template?: string): Promise<string> {
  if (inject("inSchemas")) return freshSchema();
  const url = await createDatabase(inject("postgresUrl"), template);
  databases.push(url);
  return url;
}

/** Creates a database with the tables of the present schema, for tests that are not about migrations. */
export async function migratedDatabase(): Promise<string> {
  return freshDatabase(inject("migratedDatabase") || undefined);
}

/** Creates a schema in a given database, whose owner may not create databases; the URL selects the schema. */
async function freshSchema(): Promise<string> {
  const url = inject("postgresUrl");
  const schema = `${schemaPrefix}${randomUUID().replaceAll("-", "")}`;
  await withClient(url, (client) => client.query(`create schema ${schema}`));
  schemas.push(schema);
  return `${url}${url.includes("?") ? "&" : "?"}options=-csearch_path%3D${schema}`;
}

export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cleancast-test-"));
  folders.push(folder);
  return folder;
}

afterFile(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  if (databases.length + schemas.length === 0) return;
  await withClient(inject("postgresUrl"), async (client) => {
    for (const url of databases.splice(0))
      await client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    for (const schema of schemas.splice(0)) await client.query(`drop schema if exists ${schema} cascade`);
  });
});
