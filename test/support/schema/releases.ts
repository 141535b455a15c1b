// Reads frozen releases (`npm run release:freeze`) and checks that their statements still work on a newer schema.

import { hash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { list, type Database } from "../../../src/store/engine/database.ts";
import { columns } from "../../../src/store/schema/columns.ts";
import { latestVersion, migrate } from "../../../src/store/schema/migrate.ts";
import type { Migration } from "../../../src/store/schema/migration.ts";
import { migrations } from "../../../src/store/schema/schema.ts";
import { connectDatabase } from "../../../src/store/connect.ts";
import { freshDatabase } from "../databases.ts";
import { newLocation } from "../nodes.ts";
import { withClient } from "../postgres/postgres.ts";
import type { Engine } from "../relay.ts";
import { describedRows } from "./describedRows.ts";
import { statementsInSource } from "./sourceStatements.ts";

export type Release = {
  release: string;
  schema: number;
  /** The hash of the migrations up to its schema. */
  migrations: string;
  /** Every statement that its store sends. */
  statements: Record<"both" | Engine, string[]>;
};

export const releasesFolder = fileURLToPath(new URL("../../releases/", import.meta.url));

/** Reads the releases that are out, the oldest first. */
export const readReleases = (): Release[] =>
  (existsSync(releasesFolder) ? readdirSync(releasesFolder) : [])
    .map((file) => JSON.parse(readFileSync(`${releasesFolder}${file}`, "utf8")) as Release)
    .toSorted((one, other) => one.schema - other.schema);

/**
 * Makes a release of the present code without running it: from the statements in the sources whose gaps can be filled.
 * Freezing a release needs a run of all tests, which also records what is composed at run time.
 */
export function presentRelease(): Release {
  const release: Release = {
    release: "the present code",
    schema: latestVersion,
    migrations: hashMigrations(migrations, latestVersion),
    statements: { both: [], postgres: [], sqlite: [] },
  };
  for (const { text } of statementsInSource()) {
    const filled = fillGaps(text);
    if (filled !== null) release.statements[engineOf(filled)].push(filled);
  }
  return release;
}

const gap = "${…}";

type Described = { columns: readonly string[]; inserted: readonly string[] };

/** Puts in a table's columns, one row of values, one element of a list, and no further condition or lock; returns null where more is missing. */
function fillGaps(text: string): string | null {
  const described = (table: string) => (describedRows as Partial<Record<string, Described>>)[table];
  const columnsOf = (table: string) => (columns as Record<string, string>)[table] ?? described(table)?.columns.join(", ") ?? gap;
  const insertedOf = (table: string) => described(table)?.inserted.join(", ") ?? columnsOf(table);
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map((found) => Number(found[1])));
  const filled = text
    .replace(/^SELECT \$\{…\} FROM (\w+)/, (_all, table: string) => `SELECT ${columnsOf(table)} FROM ${table}`)
    .replace(/RETURNING \$\{…\}$/, () => `RETURNING ${columnsOf(/^(?:UPDATE|INSERT INTO) (\w+)/.exec(text)?.[1] ?? "")}`)
    .replace(/^INSERT INTO (\w+) \(\$\{…\}\)/, (_all, table: string) => `INSERT INTO ${table} (${insertedOf(table)})`)
    .replace(
      /^(INSERT INTO \w+ \()([^)]*)(\) VALUES )(?:\$\{…\}|\(\$\{…\}\)|\{ROWS\})/,
      (_all, before: string, names: string, values: string) =>
        `${before}${names}${values}(${list(names.split(",").length, count)})`,
    )
    .replace(/ IN \((?:\$\{…\}|\{KEYS\})\)/, ` IN ($${count + 1})`)
    .replaceAll(/\{(\d)\}/g, (_all, at: string) => `$${count + 1 + Number(at)}`)
    .replace(/\b(LIMIT|OFFSET) \$\{…\}/, "$1 1")
    .replace(/(?<!WHERE|AND|SET|<) \$\{…\}(?= ORDER BY|$)/, "");
  return /\$\{…\}|\{(?:ROWS|FIRSTS|KEYS)\}/.test(filled) ? null : filled;
}

function engineOf(text: string): "both" | Engine {
  if (/\bpg_|information_schema|current_setting|FOR UPDATE|= ANY\(/.test(text)) return "postgres";
  return /\bpragma_|\bsqlite_/.test(text) ? "sqlite" : "both";
}

export const hashMigrations = (all: readonly Migration[], schema: number) =>
  hash(
    "sha256",
    JSON.stringify(
      all
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

/** Lists the faults of migrations, given the releases that are out. */
export function migrationFaults(all: readonly Migration[], out: readonly Release[]): string[] {
  const edited = out
    .filter(({ schema, migrations: frozen }) => hashMigrations(all, schema) !== frozen)
    .map(({ release, schema }) => `a migration up to schema ${schema} was edited after release ${release}`);
  const faults = all.flatMap((migration, i) => {
    const { version, indexes, statements, configuration, bySite } = migration;
    const found: string[] = [];
    if (version !== i + 1) found.push("is not the next number");
    if (indexes && statements.length + configuration.length + bySite.length > 0) found.push("has indexes and something else");
    const isOut = (one: Release) => migration.kind === "contract" && one.schema >= migration.unusedSince && one.schema < version;
    if (migration.kind === "contract" && !out.some(isOut)) found.push("removes what every release that is out still uses");
    return found.map((fault) => `schema ${version} ${fault}`);
  });
  return [...edited, ...faults];
}

/** Finds the statements and rows of a release that the schema of `all` migrations would refuse or answer differently. */
export async function compatibilityFaults(release: Release, engine: Engine, all: readonly Migration[]): Promise<string[]> {
  const statements = [...release.statements.both, ...release.statements[engine]];
  const name = `${release.release} ${engine}`;
  const before = ownSchemas.get(name) ?? (await inspect(engine, statements, { steps: all, to: release.schema }));
  ownSchemas.set(name, before);
  const after = await inspect(engine, statements, { steps: all });
  const changed = statements.flatMap((text, i) =>
    before.answers[i] === after.answers[i] && !before.answers[i]?.startsWith(failed)
      ? []
      : [`${after.answers[i]} (${before.answers[i]}): ${text}`],
  );
  return [...changed, ...addedRequirements(before.requirements, after.requirements)];
}

const failed = "failed: ";

type Inspection = { answers: string[]; requirements: Requirements };

/** The inspections of releases on their own schemas, kept because released migrations do not change. */
const ownSchemas = new Map<string, Inspection>();

async function inspect(
  engine: Engine,
  statements: readonly string[],
  options: { steps: readonly Migration[]; to?: number },
): Promise<Inspection> {
  const location = await newLocation(engine, freshDatabase);
  const db = connectDatabase(location);
  try {
    // Migrates as a restore does: no other node runs.
    await migrate({ ...db, onDedicatedConnection: null }, options);
    const answers = location.engine === "postgres" ? await plan(location.url, statements) : prepare(location.file, statements);
    return { answers, requirements: await readRequirements(db) };
  } finally {
    await db.close();
  }
}

/**
 * Returns for each statement the types of its parameters and its result, or the error. Plans it too, because an upsert
 * without its key is only refused then.
 */
function plan(url: string, statements: readonly string[]): Promise<string[]> {
  return withClient(url, async (client) => {
    await client.query("SET plan_cache_mode = force_generic_plan");
    const answers: string[] = [];
    for (const [i, text] of statements.entries()) {
      const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map((found) => Number(found[1])));
      const nulls = count ? `(${Array.from({ length: count }, () => "NULL").join(", ")})` : "";
      const query = `PREPARE s${i} AS ${text}; EXPLAIN EXECUTE s${i}${nulls};
        SELECT parameter_types::text AS takes, result_types::text AS gives FROM pg_prepared_statements WHERE name = 's${i}'`;
      answers.push(
        await client.query(query).then(
          (results) => JSON.stringify((results as unknown as { rows: unknown[] }[])[2]?.rows[0]),
          (error: Error) => `${failed}${error.message}`,
        ),
      );
    }
    return answers;
  });
}

function prepare(file: string, statements: readonly string[]): string[] {
  const db = new DatabaseSync(file);
  try {
    return statements.map((text) => {
      try {
        const result = db.prepare(text.replaceAll(/\$(\d+)/g, "?$1")).columns();
        return result.map(({ name, type }) => `${name} ${type}`).join(", ");
      } catch (error) {
        return `${failed}${error instanceof Error ? error.message : String(error)}`;
      }
    });
  } finally {
    db.close();
  }
}

/** By table, what every row must satisfy: columns without a default, unique indexes and checks. */
type Requirements = Map<string, Set<string>>;

async function readRequirements(db: Database): Promise<Requirements> {
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
  const requirements: Requirements = new Map();
  for (const row of rows) {
    const table = String(row.table);
    requirements.set(table, (requirements.get(table) ?? new Set()).add(String(row.what)));
  }
  return requirements;
}

const addedRequirements = (before: Requirements, after: Requirements): string[] =>
  [...before].flatMap(([table, known]) =>
    [...(after.get(table) ?? [])].filter((what) => !known.has(what)).map((what) => `${table} now requires of every row: ${what}`),
  );
