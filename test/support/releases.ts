// Releases as they were frozen (`npm run release:freeze`), and what of one would no longer work on a newer schema.

import { hash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { Database } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import type { Migration } from "../../src/store/schema/migration.ts";
import { openDatabase, type StoreLocation } from "../../src/store/store.ts";
import { freshDatabase, freshFolder } from "./databases.ts";
import type { Engine } from "./relay.ts";

export type Release = {
  release: string;
  schema: number;
  /** Of the migrations up to its schema. */
  migrations: string;
  /** Every statement that its store sends. */
  statements: Record<"both" | Engine, string[]>;
};

export const releasesFolder = fileURLToPath(new URL("../releases/", import.meta.url));

/** The oldest first. */
export const releases = (): Release[] =>
  readdirSync(releasesFolder)
    .map((file) => JSON.parse(readFileSync(`${releasesFolder}${file}`, "utf8")) as Release)
    .toSorted((one, other) => one.schema - other.schema);

export const hashOfSteps = (steps: readonly Migration[], schema: number) =>
  hash(
    "sha256",
    JSON.stringify(
      steps
        .filter(({ version }) => version <= schema)
        .map(({ version, statements, configuration, bySite, indexes = [] }) => [
          version,
          statements,
          configuration,
          bySite,
          indexes,
        ]),
    ),
  );

/** What is wrong with the steps after the releases that are out; empty where nothing is. */
export function faultsOfSteps(steps: readonly Migration[], out: readonly Release[]): string[] {
  return steps.flatMap((step, i) => {
    const faults: string[] = [];
    if (step.version !== i + 1) faults.push("is not the next number");
    if (step.indexes && step.statements.length + step.configuration.length + step.bySite.length > 0)
      faults.push("has indexes and something else");
    const isOut = (one: Release) =>
      step.kind === "contract" && one.schema >= step.unusedSince && one.schema < step.version;
    if (step.kind === "contract" && !out.some(isOut))
      faults.push("takes away what every release that is out still uses");
    return faults.map((fault) => `schema ${step.version} ${fault}`);
  });
}

/** What of a release does not work on the schema that `steps` make; empty where all does. */
export async function faultsBeside(
  release: Release,
  engine: Engine,
  steps: readonly Migration[],
): Promise<string[]> {
  const statements = [...release.statements.both, ...release.statements[engine]];
  const name = `${release.release} ${engine}`;
  const then = itsOwn.get(name) ?? (await look(engine, statements, { steps, to: release.schema }));
  itsOwn.set(name, then);
  const now = await look(engine, statements, { steps });
  const changed = statements.flatMap((text, i) =>
    then.answers[i] === now.answers[i] && !then.answers[i]?.startsWith(failed)
      ? []
      : [`${now.answers[i]} (${then.answers[i]}): ${text}`],
  );
  return [...changed, ...stricter(then.needs, now.needs)];
}

const failed = "failed: ";

type Look = { answers: string[]; needs: Needs };

/** How a release does on its own schema; released steps do not change. */
const itsOwn = new Map<string, Look>();

async function look(
  engine: Engine,
  statements: readonly string[],
  options: { steps: readonly Migration[]; to?: number },
): Promise<Look> {
  const location = await locationOf(engine);
  const db = openDatabase(location);
  try {
    // As a restore does: without the care for nodes that run.
    await migrate({ ...db, alone: null }, options);
    const answers =
      location.engine === "postgres"
        ? await planned(location.url, statements)
        : prepared(location.file, statements);
    return { answers, needs: await needsOf(db) };
  } finally {
    await db.close();
  }
}

const locationOf = async (engine: Engine): Promise<StoreLocation> =>
  engine === "sqlite"
    ? { engine, file: `${freshFolder()}/store.db` }
    : { engine, url: await freshDatabase(), connections: 2 };

/** For each statement the types of its parameters and its result, or the error. Planned too: an upsert needs its key. */
async function planned(url: string, statements: readonly string[]): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SET plan_cache_mode = force_generic_plan");
    const answers: string[] = [];
    for (const [i, text] of statements.entries()) {
      const most = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map((found) => Number(found[1])));
      const nulls = most ? `(${Array.from({ length: most }, () => "NULL").join(", ")})` : "";
      const asked = `PREPARE s${i} AS ${text}; EXPLAIN EXECUTE s${i}${nulls};
        SELECT parameter_types::text AS takes, result_types::text AS gives FROM pg_prepared_statements WHERE name = 's${i}'`;
      answers.push(
        await client.query(asked).then(
          (results) => JSON.stringify((results as unknown as { rows: unknown[] }[])[2]?.rows[0]),
          (error: Error) => `${failed}${error.message}`,
        ),
      );
    }
    return answers;
  } finally {
    await client.end();
  }
}

function prepared(file: string, statements: readonly string[]): string[] {
  const db = new DatabaseSync(file);
  try {
    return statements.map((text) => {
      try {
        const columns = db.prepare(text.replaceAll(/\$(\d+)/g, "?$1")).columns();
        return columns.map(({ name, type }) => `${name} ${type}`).join(", ");
      } catch (error) {
        return `${failed}${error instanceof Error ? error.message : String(error)}`;
      }
    });
  } finally {
    db.close();
  }
}

/** What a row must have: of each table the columns that have to be given, and what must be unique. */
type Needs = Map<string, Set<string>>;

async function needsOf(db: Database): Promise<Needs> {
  const rows = await db.all(
    db.engine === "sqlite"
      ? `SELECT t.name AS "table", c.name AS what FROM sqlite_master AS t, pragma_table_info(t.name) AS c
           WHERE t.type = 'table' AND c."notnull" = 1 AND c.dflt_value IS NULL
         UNION ALL SELECT t.name, i.name || ' (' || (SELECT group_concat(x.name) FROM pragma_index_info(i.name) AS x) || ')'
           FROM sqlite_master AS t, pragma_index_list(t.name) AS i WHERE t.type = 'table' AND i."unique" = 1`
      : `SELECT table_name AS "table", column_name AS what FROM information_schema.columns
           WHERE table_schema = current_schema() AND is_nullable = 'NO' AND column_default IS NULL
         UNION ALL SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexdef LIKE 'CREATE UNIQUE%'
         UNION ALL SELECT CAST(CAST(conrelid AS regclass) AS text), pg_get_constraintdef(oid) FROM pg_constraint
           WHERE contype = 'c' AND connamespace = CAST(current_schema() AS regnamespace)`,
  );
  const needs: Needs = new Map();
  for (const row of rows) {
    const table = String(row.table);
    needs.set(table, (needs.get(table) ?? new Set()).add(String(row.what)));
  }
  return needs;
}

const stricter = (then: Needs, now: Needs): string[] =>
  [...then].flatMap(([table, before]) =>
    [...(now.get(table) ?? [])]
      .filter((what) => !before.has(what))
      .map((what) => `${table} now asks of every row: ${what}`),
  );
