// Databases and folders for one test file, gone when that file ends.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { inject } from "vitest";
import { afterFile } from "./afterFile.ts";
import { schemaPrefix } from "../../scripts/testStore/files.ts";
import { createDatabase } from "./postgres/postgres.ts";

const databases: string[] = [];
const schemas: string[] = [];
const folders: string[] = [];

/** The URL of a new, empty database on the PostgreSQL of this test run. */
export async function freshDatabase(template?: string): Promise<string> {
  if (inject("inSchemas")) return freshSchema();
  const url = await createDatabase(inject("postgresUrl"), template);
  databases.push(url);
  return url;
}

/** The same with the tables of the present schema, for all that is not about how they come to be. */
export async function migratedDatabase(): Promise<string> {
  return freshDatabase(inject("migratedDatabase") || undefined);
}

/** Of a database that is given, and whose owner may not make others: a schema of it, which the URL leads into. */
async function freshSchema(): Promise<string> {
  const url = inject("postgresUrl");
  const schema = `${schemaPrefix}${randomUUID().replaceAll("-", "")}`;
  await onServer((client) => client.query(`create schema ${schema}`));
  schemas.push(schema);
  return `${url}${url.includes("?") ? "&" : "?"}options=-csearch_path%3D${schema}`;
}

async function onServer(work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** A new, empty folder. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cleancast-test-"));
  folders.push(folder);
  return folder;
}

afterFile(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  if (databases.length + schemas.length === 0) return;
  await onServer(async (client) => {
    for (const url of databases.splice(0))
      await client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    for (const schema of schemas.splice(0)) await client.query(`drop schema if exists ${schema} cascade`);
  });
});
