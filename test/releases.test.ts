// The code of every release that may still run, or be started again, works on the present schema; and the present code
// on a schema that it has not brought up to date yet asks for nothing but how far it is.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { uuidv7 } from "../src/kernel/ids.ts";
import { oldestAt } from "../src/store/schema/compatibility.ts";
import { latestVersion, migrate } from "../src/store/schema/migrate.ts";
import type { Migration } from "../src/store/schema/migration.ts";
import { migrations } from "../src/store/schema/schema.ts";
import { openDatabase, openStore } from "../src/store/store.ts";
import { freshDatabase } from "./support/databases.ts";
import { listen } from "./support/hotStatements.ts";
import { engines } from "./support/relay.ts";
import { faultsBeside, faultsOfSteps, hashOfSteps, releases, type Release } from "./support/releases.ts";

const out = releases();
const newest = out.at(-1) as Release;
const beside = out.filter(({ schema }) => schema >= oldestAt(migrations, latestVersion));
const next = latestVersion + 1;
const step = (...statements: string[]): Migration => ({
  kind: "expand",
  version: next,
  name: "next",
  statements,
  configuration: [],
  bySite: [],
});

describe("the steps of the schema", () => {
  test("follow each other, and take nothing away that the last release uses", () => {
    expect(faultsOfSteps(migrations, out)).toEqual([]);
    expect(newest.schema).toBeGreaterThanOrEqual(oldestAt(migrations, latestVersion));
  });

  test("that were released stay as they were", () => {
    for (const { release, schema, migrations: then } of out)
      expect(hashOfSteps(migrations, schema), release).toBe(then);
  });

  test("of a contract come after a release that has stopped using it", () => {
    const removes = { ...step(`ALTER TABLE events DROP COLUMN released_at`), kind: "contract" } as const;
    const tooEarly = { ...removes, unusedSince: next };
    expect(faultsOfSteps([...migrations, tooEarly], out)).toEqual([
      `schema ${next} takes away what every release that is out still uses`,
    ]);
    const later = { ...removes, version: next + 1, unusedSince: next };
    const stopped = { ...newest, schema: next };
    expect(faultsOfSteps([...migrations, step(), later], [...out, stopped])).toEqual([]);
    expect(oldestAt([...migrations, step(), later], next + 1)).toBe(next);
  });

  test("a version that was frozen is the one that package.json names, until the next begins", () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }; // prettier-ignore
    const same = out.find(({ release }) => release === version);
    if (same) expect(same.schema).toBe(latestVersion);
  });
});

describe.each(engines)("on %s", { timeout: 60_000 }, (engine) => {
  test.each(beside.map((one) => [one.release, one] as const))("every statement of %s works on the present schema", async (_name, release) => {
    expect(release.statements.both.length + release.statements[engine].length).toBeGreaterThan(250);
    expect(await faultsBeside(release, engine, migrations)).toEqual([]);
  }); // prettier-ignore

  test("what only adds is nothing to it", async () => {
    const adds = step(
      `ALTER TABLE events ADD COLUMN note text`,
      `ALTER TABLE hosts ADD COLUMN rank integer NOT NULL DEFAULT 0`,
      `CREATE INDEX events_by_note ON events (site_id, note)`,
      `CREATE TABLE notes (site_id text NOT NULL, id text NOT NULL, PRIMARY KEY (site_id, id)) {COMPACT}`,
    );
    expect(await faultsBeside(newest, engine, [...migrations, adds])).toEqual([]);
  });

  test("every mistake of a step is found", async () => {
    const mistakes: [name: string, statements: string[], expected: RegExp][] = [
      ["a column that goes", [`ALTER TABLE events DROP COLUMN released_at`], /column:? "?released_at"?.*: .*FROM events/],
      ["a column with another name", [`ALTER TABLE hosts RENAME COLUMN seen TO saw`], /column:? "?seen"?.*: .*FROM hosts/],
      ["a table that goes", [`DROP TABLE purge_turns`], /purge_turns.*: INSERT INTO purge_turns/],
      ["something that must be unique", [`CREATE UNIQUE INDEX one_name ON imports (site_id, file)`], /imports now asks of every row: .*one_name/],
    ];
    // SQLite changes no column; there are no such mistakes to make.
    if (engine === "postgres")
      mistakes.push(
        ["a column that must be given", [`ALTER TABLE audit ADD COLUMN note text NOT NULL DEFAULT ''`, `ALTER TABLE audit ALTER COLUMN note DROP DEFAULT`], /audit now asks of every row: note/],
        ["a column of another type", [`ALTER TABLE webhooks ALTER COLUMN attempts TYPE bigint`], /bigint.*: SELECT .*FROM webhooks/],
        ["an upsert that lost its key", [`ALTER TABLE visit_counts DROP CONSTRAINT visit_counts_pkey`], /ON CONFLICT.*: INSERT INTO visit_counts/],
        ["a rule for values", [`ALTER TABLE alerts ADD CONSTRAINT short CHECK (LENGTH(text) < 9)`], /alerts now asks of every row: CHECK/],
      );
    const bad = step(...mistakes.flatMap(([, statements]) => statements));
    const faults = await faultsBeside(newest, engine, [...migrations, bad]);
    for (const [name, , expected] of mistakes)
      expect(faults.filter((fault) => expected.test(fault)).length, name).toBeGreaterThan(0);
  });
}); // prettier-ignore

test("until the schema is up to date, a node asks for nothing but how far it is", async () => {
  const location = { engine: "postgres", url: await freshDatabase(), connections: 2 } as const;
  const db = openDatabase(location);
  await migrate(db, { to: latestVersion - 1 });
  await db.close();
  const heard = listen();
  try {
    await (await openStore(location, Buffer.alloc(32, 7), uuidv7)).close();
  } finally {
    heard.stop();
  }
  const texts = heard.transactions.flat().map(({ text }) => text);
  const last = texts.findLastIndex((text) => text.startsWith("INSERT INTO migrations"));
  expect(last).toBeGreaterThan(0);
  const own = new Set(migrations.flatMap(({ statements }) => statements.map((one) => one.replaceAll(/\s+/g, " ").trim()))); // prettier-ignore
  const known =
    /information_schema|\bmigrations\b|pg_try_advisory|^SET LOCAL|^DO \$\$|oldest_schema|^INSERT INTO settings|pg_is_in_recovery|transaction_read_only|pg_walfile|pg_extension/;
  expect(texts.slice(0, last).filter((text) => !known.test(text) && !own.has(text))).toEqual([]);
});
