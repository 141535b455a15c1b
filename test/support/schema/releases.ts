// Checks that the code of a release still works on a newer schema. A release uses every column and key of its own schema, which the
// migrations give, but for columns that it lists as unused: so a frozen release is a few lines (`npm run release:freeze`). The
// statements of the present code are also planned, one by one.

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
  /** `table.column`, what its code no longer uses: a later release may remove it. */
  unused: string[];
};

export const releasesFolder = fileURLToPath(new URL("../../releases/", import.meta.url));

/** Reads the releases that are out, the oldest first. */
export const readReleases = (): Release[] =>
  (existsSync(releasesFolder) ? readdirSync(releasesFolder) : [])
    .map((file) => JSON.parse(readFileSync(`${releasesFolder}${file}`, "utf8")) as Release)
    .toSorted((one, other) => one.schema - other.schema);

export const releaseOf = (name: string, unused: string[] = []): Release => ({
  release: name,
  schema: latestVersion,
  migrations: hashMigrations(migrations, latestVersion),
  unused,
});

/** Lists the columns that no file of the store names together with their table, neither in SQL nor in a description of rows. */
export async function unusedColumns(): Promise<string[]> {
  const folder = fileURLToPath(new URL("../../../src/store/", import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith("schema/migrations/"))
    .map((file) => new Set(readFileSync(`${folder}${file}`, "utf8").match(/\w+/g)));
  const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const { columns: all } = await inspect("sqlite", [], { steps: migrations });
  return [...all.keys()].filter((name) => {
    const [table = "", column = ""] = name.split(".");
    return !files.some((words) => words.has(table) && (words.has(column) || words.has(camelCase(column))));
  });
}

/** The statements in the sources whose gaps can be filled. */
function presentStatements(engine: Engine): string[] {
  const filled = statementsInSource().flatMap(({ text }) => fillGaps(text) ?? []);
  return filled.filter((text) => ["both", engine].includes(engineOf(text)));
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

/** Finds what a release uses and the schema of `all` migrations lacks, and what that schema requires beyond the release's own. */
export async function releaseFaults(release: Release, engine: Engine, all: readonly Migration[]): Promise<string[]> {
  const before = await inspect(engine, [], { steps: all, to: release.schema });
  const after = await inspect(engine, [], { steps: all });
  const isUsed = (column: string) => !release.unused.includes(column);
  const lost = [...before.columns].flatMap(([column, type]) =>
    isUsed(column) && after.columns.get(column) !== type
      ? [`${column} was ${type}, and is ${after.columns.get(column) ?? "gone"}`]
      : [],
  );
  const tables = new Set([...before.columns.keys()].filter(isUsed).map((column) => column.split(".")[0] as string));
  const lostKeys = [...tables].flatMap((table) =>
    keysOf(before.requirements, table)
      .filter((key) => !keysOf(after.requirements, table).includes(key))
      .map((key) => `${table} has no longer ${key}`),
  );
  return [...lost, ...lostKeys, ...addedRequirements(before.requirements, after.requirements)];
}

/** Finds the statements of the present code that the schema of `all` migrations refuses, or answers with other types. */
export async function statementFaults(engine: Engine, all: readonly Migration[]): Promise<string[]> {
  const statements = presentStatements(engine);
  const before = (own[engine] ??= await inspect(engine, statements, { steps: migrations }));
  const after = all === migrations ? before : await inspect(engine, statements, { steps: all });
  const changed = statements.flatMap((text, i) =>
    before.answers[i] === after.answers[i] && !before.answers[i]?.startsWith(failed)
      ? []
      : [`${after.answers[i]} (${before.answers[i]}): ${text}`],
  );
  return [...(statements.length > 250 ? [] : [`only ${statements.length} statements were found`]), ...changed];
}

const failed = "failed: ";

type Inspection = { answers: string[]; columns: Map<string, string>; requirements: Requirements };

/** The present statements on the present schema. */
const own: Partial<Record<Engine, Inspection>> = {};

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
    return { answers, columns: await readColumns(db), requirements: await readRequirements(db) };
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

/** The types of all columns, by `table.column`. */
async function readColumns(db: Database): Promise<Map<string, string>> {
  const rows = await db.all(
    db.engine === "sqlite"
      ? `SELECT t.name || '.' || c.name AS name, c.type FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'`
      : `SELECT table_name || '.' || column_name AS name, data_type AS type FROM information_schema.columns
           WHERE table_schema = current_schema()`,
  );
  return new Map(rows.map((row) => [String(row.name), String(row.type)]));
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

/** The unique indexes of a table, which upserts need. */
const keysOf = (requirements: Requirements, table: string): string[] =>
  [...(requirements.get(table) ?? [])].filter((what) => /^CREATE UNIQUE|^(?!CHECK)\w+ \(/.test(what));

const addedRequirements = (before: Requirements, after: Requirements): string[] =>
  [...before].flatMap(([table, known]) =>
    [...(after.get(table) ?? [])].filter((what) => !known.has(what)).map((what) => `${table} now requires of every row: ${what}`),
  );
