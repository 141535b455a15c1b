// Databases and folders for one test file, gone when that file ends.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { inject } from "vitest";
import { afterFile } from "./afterFile.ts";
import { createDatabase } from "./postgres.ts";

const databases: string[] = [];
const folders: string[] = [];

/** The URL of a new, empty database on the PostgreSQL of this test run. */
export async function freshDatabase(): Promise<string> {
  const url = await createDatabase(inject("postgresUrl"));
  databases.push(url);
  return url;
}

/** A new, empty folder. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "cleancast-test-"));
  folders.push(folder);
  return folder;
}

afterFile(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  if (databases.length === 0) return;
  const client = new Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    for (const url of databases.splice(0)) {
      await client.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    }
  } finally {
    await client.end();
  }
});
