// Starts one PostgreSQL for the whole test run. Each test file creates its own databases in it (test/support/databases.ts),
// most of them as copies of a migrated one: migrating each would take ten times as long.

import type { TestProject } from "vitest/node";
import { migrate } from "../../../src/store/schema/migrate.ts";
import { connectDatabase } from "../../../src/store/connect.ts";
import { createDatabase, startPostgres } from "../postgres/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    /** The name of the database to copy; empty where a database is given, whose owner may not create others. */
    migratedDatabase: string;
    /** Each test file gets a schema of the given database in place of a database of its own. */
    inSchemas: boolean;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env["CLEANCAST_TEST_DATABASE_URL"];
  const inSchemas = process.env["CLEANCAST_TEST_IN_SCHEMAS"] === "1";
  project.provide("inSchemas", inSchemas);
  if (given !== undefined && given !== "") {
    project.provide("postgresUrl", given);
    project.provide("migratedDatabase", "");
    return undefined;
  }
  const postgres = await startPostgres({ inMemory: true });
  project.provide("postgresUrl", postgres.url);
  project.provide("migratedDatabase", await migratedOn(postgres.url));
  return () => postgres.stop();
}

/** Creates a database with all tables and no row, and returns its name. PostgreSQL copies it only while it has no connections. */
async function migratedOn(server: string): Promise<string> {
  const url = await createDatabase(server);
  const db = connectDatabase({ engine: "postgres", url, connections: 2 });
  try {
    await migrate(db);
  } finally {
    await db.close();
  }
  return new URL(url).pathname.slice(1);
}
