// `npm run test:store` runs what the store promises on SQLite and on the PostgreSQL of the tests; with a URL behind `--` on
// that database: Citus, YugabyteDB, CockroachDB or whatever else speaks PostgreSQL's language. Everything happens in schemas
// of its own, which are gone afterwards; the user must be allowed to make them.

import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";

const [url] = process.argv.slice(2);
process.exitCode = await (url === undefined ? vitest(["src/store"], {}) : onDatabase(url));

function vitest(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn("vitest", ["run", ...args], { stdio: "inherit", env: { ...process.env, ...env } });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
}

async function onDatabase(address: string): Promise<number> {
  try {
    process.stdout.write(`${await describe(address)}\n`);
  } catch (error) {
    process.stderr.write(
      `The database cannot be used: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 1;
  }
  const report = join(tmpdir(), `cleancast-store-${process.pid}.json`);
  const code = await vitest(
    [
      "src/store",
      "test/faults/duplicates.test.ts",
      // The embedded database is not what is asked about.
      "--testNamePattern=^((?!sqlite).)*$",
      "--reporter=json",
      `--outputFile=${report}`,
      "--reporter=dot",
    ],
    {
      CLEANCAST_TEST_DATABASE_URL: address,
      CLEANCAST_TEST_IN_SCHEMAS: "1",
      STORE_LOAD_EVENTS: process.env["STORE_LOAD_EVENTS"] ?? "4000",
    },
  );
  process.stdout.write(`\n${summary(readFileSync(report, "utf8"))}\n`);
  rmSync(report, { force: true });
  return code;
}

/** What it is, and what of PostgreSQL it has. */
async function describe(address: string): Promise<string> {
  const client = new Client({ connectionString: address });
  await client.connect();
  try {
    const first = async (sql: string) => {
      try {
        return (
          Object.values((await client.query<Record<string, string | null>>(sql)).rows[0] ?? {})[0] ?? "no"
        );
      } catch (error) {
        return `refused (${error instanceof Error ? error.message : String(error)})`;
      }
    };
    return [
      `server:          ${await first("SELECT version()")}`,
      `Citus:           ${await first("SELECT extversion FROM pg_extension WHERE extname = 'citus'")}`,
      `superuser:       ${await first("SELECT CASE WHEN rolsuper THEN 'yes' ELSE 'no' END FROM pg_roles WHERE rolname = current_user")}`,
      `may make schemas: ${await first("SELECT CASE WHEN has_database_privilege(current_database(), 'CREATE') THEN 'yes' ELSE 'no' END")}`,
      `isolation:       ${await first("SHOW transaction_isolation")}`,
    ].join("\n");
  } finally {
    await client.end();
  }
}

type Report = {
  testResults: { name: string; message: string; assertionResults: { fullName: string; status: string; failureMessages: string[] }[] }[];
}; // prettier-ignore

/** By file what holds, and by name what does not. */
function summary(text: string): string {
  const { testResults } = JSON.parse(text) as Report;
  const lines = testResults.map(({ name, message, assertionResults }) => {
    const count = (status: string) => assertionResults.filter((one) => one.status === status);
    const failed = count("failed");
    const file = name.slice(process.cwd().length + 1);
    const head = `${failed.length || message ? "FAILS" : "holds"}  ${file}: ${count("passed").length} of ${count("passed").length + failed.length}`;
    const why = failed.map(
      (one) => `         ${one.fullName}\n           ${one.failureMessages[0]?.split("\n")[0] ?? ""}`,
    );
    return [head, ...why, ...(message && !failed.length ? [`         ${message.split("\n")[0]}`] : [])].join(
      "\n",
    );
  });
  return lines.toSorted().join("\n");
}
