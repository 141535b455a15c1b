// `npm run release:freeze` writes down what this release asks of its database: test/releases/VERSION.json. It runs the tests,
// listens to every process of theirs, and keeps the statements that stand in the sources of the store. One that is put
// together at run time and was not heard is an error: then a test is missing. `-- FOLDER` takes what an earlier run has heard.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrations } from "../src/store/schema/schema.ts";
import type { Engine } from "../test/support/relay.ts";
import { hashMigrations, releasesFolder, type Release } from "../test/support/releases.ts";
import { statementsInSource } from "../test/support/sourceStatements.ts";

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const folder = process.argv[2] ?? (await listenToTests());
const heard = heardIn(folder);
const source = statementsInSource();
const all = [...heard.postgres, ...heard.sqlite];
const silent = source.filter(({ isIn }) => !all.some(isIn));
// One into which nothing is put is known without being heard.
const whole = silent.filter(({ isWhole }) => isWhole).map(({ text }) => text);
const unheard = silent.filter(({ isWhole }) => !isWhole);
if (unheard.length) {
  for (const { file, text } of unheard) process.stderr.write(`not heard, ${file}: ${text}\n`);
  process.stderr.write(`Nothing was written. What was heard is in ${folder}.\n`);
  process.exit(1);
}
const { version } = JSON.parse(readFileSync(path("package.json"), "utf8")) as { version: string };
const schema = migrations.at(-1)?.version ?? 0;
const onBoth = [...heard.postgres.filter((text) => heard.sqlite.includes(text)), ...whole].toSorted();
const alone = (engine: Engine) => heard[engine].filter((text) => !onBoth.includes(text));
const release: Release = {
  release: version,
  schema,
  migrations: hashMigrations(migrations, schema),
  statements: { both: onBoth, postgres: alone("postgres"), sqlite: alone("sqlite") },
};
mkdirSync(releasesFolder, { recursive: true });
writeFileSync(join(releasesFolder, `${version}.json`), `${JSON.stringify(release, null, 2)}\n`);
process.stdout.write(
  `${version}, schema ${schema}: ${onBoth.length} statements, ${release.statements.postgres.length} of PostgreSQL alone, ${release.statements.sqlite.length} of SQLite alone.\n`,
);

async function listenToTests(): Promise<string> {
  const made = mkdtempSync(join(tmpdir(), "cleancast-statements-"));
  const now = new Date();
  // Relays of the tests run from the sources, where the driver can be listened to, when those are newer than what was built.
  utimesSync(path("src/cli.ts"), now, now);
  const env = {
    ...process.env,
    CLEANCAST_TEST_STATEMENTS: made,
    NODE_OPTIONS: `--import ${new URL("../test/support/recordStatements.ts", import.meta.url).href}`,
  };
  const args = [
    "run",
    "src",
    "test/contract",
    "test/api",
    "test/operations",
    "test/outbound",
    "test/platforms",
    "--testTimeout=120000",
    "--reporter=dot",
  ];
  const child = spawn("vitest", args, { stdio: "inherit", env });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) process.stderr.write("Some tests failed; what was heard counts all the same.\n");
  return made;
}

/** Of the statements of the store, each kind once: the same over 1 or 64 rows is one. */
function heardIn(from: string): Record<Engine, string[]> {
  const shapes = { postgres: new Map<string, string>(), sqlite: new Map<string, string>() };
  const stands = statementsInSource();
  const lines = readdirSync(from).flatMap((file) =>
    readFileSync(join(from, file), "utf8").trim().split("\n"),
  );
  for (const line of new Set(lines)) {
    const { engine, text } = JSON.parse(line) as { engine: Engine; text: string };
    if (!/^(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(text) || !stands.some(({ isIn }) => isIn(text)))
      continue;
    const known = shapes[engine].get(kindOf(text));
    if (known === undefined || text.length < known.length) shapes[engine].set(kindOf(text), text);
  }
  return { postgres: [...shapes.postgres.values()].toSorted(), sqlite: [...shapes.sqlite.values()].toSorted() }; // prettier-ignore
}

function kindOf(text: string): string {
  return text
    .replaceAll(/\$\d+/g, "$")
    .replaceAll(/\$(?:, ?\$)+/g, "$…")
    .replaceAll(/\(([^()]*)\)(?:, ?\(\1\))+/g, "($1)…")
    .replaceAll(/\(((?:[^()]|\([^()]*\))*)\)(?:, ?\(\1\))+/g, "($1)…");
}
