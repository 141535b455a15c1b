// One PostgreSQL for the whole test run; each test file makes its own databases in it (test/databases.ts).

import type { TestProject } from "vitest/node";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
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
    return undefined;
  }
  const postgres = await startPostgres();
  project.provide("postgresUrl", postgres.url);
  return () => postgres.stop();
}
