// `npm run release:freeze` records the statements of this release in test/releases/VERSION.json. It runs the tests, records the
// statements of every process, and keeps those of the store's sources. A statement that is composed at run time and was not
// recorded is an error: then a test is missing, or Citus, which some are for. `-- FOLDER` reuses the recording of an earlier run.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { latestVersion } from "../src/store/schema/migrate.ts";
import { migrations } from "../src/store/schema/schema.ts";
import { tablesAt } from "../src/store/schema/tables.ts";
import type { Engine } from "../test/support/relay.ts";
import { hashMigrations, releasesFolder, type Release } from "../test/support/schema/releases.ts";
import { statementsInSource } from "../test/support/schema/sourceStatements.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const folder = process.argv[2] ?? (await recordTests());
const recorded = readRecording(folder);
const source = statementsInSource();
const all = [...recorded.postgres, ...recorded.sqlite];
// One that names no table of ours asks the server about itself, Citus alone knows its shards, and tests alone
// read all columns or write ids into statements.
const ownTables = new RegExp(`\\b(?:${tablesAt(latestVersion).join("|")})\\b`);
const notOurs = /get_shard_id_for_distribution_column|^SELECT \* FROM \w|'(?=[a-z]*\d)[0-9a-z]{10,}'/;
const isOwn = (text: string) => ownTables.test(text) && !notOurs.test(text);
const notRecorded = source.filter(({ isIn, text }) => !all.some(isIn) && (isOwn(text) || isComposed(text)));
// A statement that is not composed at run time is known without a recording.
const whole = notRecorded.filter(({ isWhole }) => isWhole).map(({ text }) => text);
const missing = notRecorded.filter(({ isWhole }) => !isWhole);
if (missing.length) {
  for (const { file, text } of missing) process.stderr.write(`not recorded, ${file}: ${text}\n`);
  process.stderr.write(`No file was written. The recording is in ${folder}.\n`);
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(path("package.json"), "utf8")) as { version: string };
const schema = migrations.at(-1)?.version ?? 0;
const onBoth = [...recorded.postgres.filter((text) => recorded.sqlite.includes(text) && isOwn(text)), ...whole].toSorted();
const onlyOn = (engine: Engine) => recorded[engine].filter((text) => !onBoth.includes(text) && isOwn(text));
const release: Release = {
  release: version,
  schema,
  migrations: hashMigrations(migrations, schema),
  statements: { both: onBoth, postgres: onlyOn("postgres"), sqlite: onlyOn("sqlite") },
};
mkdirSync(releasesFolder, { recursive: true });
writeFileSync(join(releasesFolder, `${version}.json`), `${JSON.stringify(release, null, 2)}\n`);
process.stdout.write(
  `${version}, schema ${schema}: ${onBoth.length} statements, ${release.statements.postgres.length} only on PostgreSQL, ${release.statements.sqlite.length} only on SQLite.\n`,
);

/** True where the table itself is composed. */
function isComposed(text: string): boolean {
  return /(?:FROM|INTO|UPDATE) \$/.test(text);
}

async function recordTests(): Promise<string> {
  const recording = mkdtempSync(join(tmpdir(), "cleancast-statements-"));
  const now = new Date();
  // When the sources are newer than the build, relays of the tests run from the sources, where the driver can be observed.
  utimesSync(path("src/cli.ts"), now, now);
  const env = {
    ...process.env,
    RECORD_STATEMENTS_TO: recording,
    // Some statements are sent to Citus alone, so it has to be installed.
    ENGINES: "short",
    NODE_OPTIONS: `--import ${new URL("../test/support/schema/recordStatements.ts", import.meta.url).href}`,
  };
  const args = [
    "run",
    "src",
    "test/contract",
    "test/api",
    "test/operations",
    "test/outbound",
    "test/platforms",
    "test/faults/siteMove.test.ts",
    "test/engines/citusMove.test.ts",
    "--testTimeout=120000",
    "--reporter=dot",
  ];
  const child = spawn("vitest", args, { stdio: "inherit", env });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) process.stderr.write("Some tests failed; their statements were recorded all the same.\n");
  return recording;
}

/** Reads the recorded statements of the store, each shape once: the same statement over 1 or 64 rows is one. */
function readRecording(from: string): Record<Engine, string[]> {
  const shapes = { postgres: new Map<string, string>(), sqlite: new Map<string, string>() };
  const inSource = statementsInSource();
  const lines = readdirSync(from).flatMap((file) => readFileSync(join(from, file), "utf8").trim().split("\n"));
  for (const line of new Set(lines)) {
    const { engine, text } = JSON.parse(line) as { engine: Engine; text: string };
    if (!/^(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(text) || !inSource.some(({ isIn }) => isIn(text))) continue;
    const known = shapes[engine].get(shapeOf(text));
    if (known === undefined || text.length < known.length) shapes[engine].set(shapeOf(text), text);
  }
  return { postgres: [...shapes.postgres.values()].toSorted(), sqlite: [...shapes.sqlite.values()].toSorted() };
}

function shapeOf(text: string): string {
  return text
    .replaceAll(/\$\d+/g, "$")
    .replaceAll(/\$(?:, ?\$)+/g, "$…")
    .replaceAll(/\(([^()]*)\)(?:, ?\(\1\))+/g, "($1)…")
    .replaceAll(/\(((?:[^()]|\([^()]*\))*)\)(?:, ?\(\1\))+/g, "($1)…");
}
