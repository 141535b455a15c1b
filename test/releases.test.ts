// The code of every release that may still run, or be started again, works on the present schema. The same is tested for a
// release of the present code, which is the only one until the first release is out.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ulid } from "../src/kernel/ids.ts";
import { oldestCompatible } from "../src/store/schema/compatibility.ts";
import { latestVersion, migrate } from "../src/store/schema/migrate.ts";
import type { Migration } from "../src/store/schema/migration.ts";
import { migrations } from "../src/store/schema/schema.ts";
import { connectDatabase } from "../src/store/connect.ts";
import { createStore } from "../src/store/store.ts";
import { freshDatabase } from "./support/databases.ts";
import { recordTransactions } from "./support/schema/hotStatements.ts";
import { engines } from "./support/relay.ts";
import {
  hashMigrations,
  migrationFaults,
  readReleases,
  releaseFaults,
  releaseOf,
  statementFaults,
  unusedColumns,
  type Release,
} from "./support/schema/releases.ts";

const out = readReleases();
const present = releaseOf("the present code");
const next = latestVersion + 1;
const adding = (...statements: string[]): Migration => ({
  kind: "expand",
  version: next,
  name: "next",
  statements,
  configuration: [],
  bySite: [],
});

describe("migrations and releases", () => {
  test("migrations are numbered, remove nothing that the last release uses, and stay as released", () => {
    expect(migrationFaults(migrations, out)).toEqual([]);
    for (const { schema } of out.slice(-1)) expect(schema).toBeGreaterThanOrEqual(oldestCompatible(migrations, latestVersion));
  });

  test("a migration edited after its release is detected", () => {
    const edited = migrations.map((one) => ({ ...one, statements: [...one.statements, "SELECT 1"] }));
    expect(migrationFaults(migrations, [present])).toEqual([]);
    expect(migrationFaults(edited, [present])).toEqual([
      `a migration up to schema ${latestVersion} was edited after release ${present.release}`,
    ]);
  });

  test("a contracting migration needs a release that no longer uses what it removes", () => {
    const removes = { ...adding(`ALTER TABLE events DROP COLUMN order_event_id`), kind: "contract" } as const;
    const tooEarly = { ...removes, unusedSince: next };
    expect(migrationFaults([...migrations, tooEarly], [present])).toEqual([
      `schema ${next} removes what every release that is out still uses`,
    ]);
    const later = { ...removes, version: next + 1, unusedSince: next };
    const stopped = { ...present, schema: next, migrations: hashMigrations([...migrations, adding()], next) };
    expect(migrationFaults([...migrations, adding(), later], [present, stopped])).toEqual([]);
    expect(oldestCompatible([...migrations, adding(), later], next + 1)).toBe(next);
  });

  test("a schema that changed after its version was frozen needs the next version in package.json", () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    const outdated = (all: readonly Release[]) =>
      all.filter(({ release, schema }) => release === version && schema !== latestVersion);
    expect(outdated(out)).toEqual([]);
    const frozenEarlier = { ...present, release: version, schema: latestVersion - 1 };
    expect(outdated([{ ...present, release: version }, frozenEarlier])).toEqual([frozenEarlier]);
  });
});

describe.each(engines)("releases and schemas on %s", (engine) => {
  const running = out.filter(({ schema }) => schema >= oldestCompatible(migrations, latestVersion));

  test("every release that may run finds what it uses on the present schema", async () => {
    for (const release of running) expect(await releaseFaults(release, engine, migrations), release.release).toEqual([]);
  });

  test("every statement of the present code works on the present schema", async () => {
    expect(await statementFaults(engine, migrations)).toEqual([]);
  });

  test("a migration that only adds breaks no release and no statement", async () => {
    const adds = adding(
      `ALTER TABLE events ADD COLUMN note text`,
      `ALTER TABLE hosts ADD COLUMN rank integer NOT NULL DEFAULT 0`,
      `CREATE INDEX events_by_note ON events (site_id, note)`,
      `CREATE TABLE notes (site_id text NOT NULL, id text NOT NULL, PRIMARY KEY (site_id, id)) {COMPACT}`,
    );
    for (const release of [...out.slice(-1), present])
      expect(await releaseFaults(release, engine, [...migrations, adds])).toEqual([]);
    expect(await statementFaults(engine, [...migrations, adds])).toEqual([]);
  });

  test("a migration that breaks a release is detected, whatever it breaks", async () => {
    const mistakes: [name: string, statements: string[], inRelease: RegExp, inStatement?: RegExp][] = [
      [
        "a removed column",
        [`ALTER TABLE events DROP COLUMN order_event_id`],
        /^events\.order_event_id was .*, and is gone/,
        /column:? "?order_event_id"?.*: .*FROM events/,
      ],
      [
        "a renamed column",
        [`ALTER TABLE hosts RENAME COLUMN seen TO saw`],
        /^hosts\.seen was .*, and is gone/,
        /column:? "?seen"?.*: .*FROM hosts/,
      ],
      ["a removed table", [`DROP TABLE leases`], /^leases\.\w+ was .*, and is gone/, /leases.*: INSERT INTO leases/],
      [
        "a new unique index",
        [`CREATE UNIQUE INDEX one_name ON imports (site_id, file)`],
        /imports now requires of every row: .*one_name/,
      ],
    ];
    // SQLite cannot change a column, so these mistakes cannot be made there.
    if (engine === "postgres")
      mistakes.push(
        [
          "a column that must be given",
          [`ALTER TABLE audit ADD COLUMN note text NOT NULL DEFAULT ''`, `ALTER TABLE audit ALTER COLUMN note DROP DEFAULT`],
          /audit now requires of every row: note/,
        ],
        [
          "a column of another type",
          [`ALTER TABLE webhooks ALTER COLUMN attempts TYPE bigint`],
          /^webhooks\.attempts was integer, and is bigint/,
          /bigint.*: SELECT .*FROM webhooks/,
        ],
        [
          "an upsert that lost its key",
          [`ALTER TABLE visit_counts DROP CONSTRAINT visit_counts_pkey`],
          /^visit_counts has no longer .*visit_counts_pkey/,
          /ON CONFLICT.*: INSERT INTO visit_counts/,
        ],
        [
          "a new check of values",
          [`ALTER TABLE alerts ADD CONSTRAINT short CHECK (LENGTH(text) < 9)`],
          /alerts now requires of every row: CHECK/,
        ],
      );
    const bad = adding(...mistakes.flatMap(([, statements]) => statements));
    const found = await releaseFaults(present, engine, [...migrations, bad]);
    const statements = await statementFaults(engine, [...migrations, bad]);
    for (const [name, , inRelease, inStatement] of mistakes) {
      expect(found.filter((fault) => inRelease.test(fault)).length, name).toBeGreaterThan(0);
      if (inStatement) expect(statements.filter((fault) => inStatement.test(fault)).length, name).toBeGreaterThan(0);
    }
  });

  test("a release does not miss a column or a table that it no longer uses", async () => {
    const removes = adding(`ALTER TABLE events DROP COLUMN order_event_id`, `DROP TABLE leases`);
    const unused = (await releaseFaults(present, engine, [...migrations, removes])).flatMap(
      (fault) => /^\w+\.\w+/.exec(fault) ?? [],
    );
    expect(unused).toContain("events.order_event_id");
    expect(await releaseFaults(releaseOf("later", unused), engine, [...migrations, removes])).toEqual([]);
  });
});

test("the present code uses every column of its schema", async () => {
  expect(await unusedColumns()).toEqual([]);
});

test("a node on an older schema reads nothing but its version before it has migrated", async () => {
  const location = { engine: "postgres", url: await freshDatabase(), connections: 2 } as const;
  const db = connectDatabase(location);
  await migrate(db, { to: latestVersion - 1 });
  await db.close();
  const recording = recordTransactions();
  try {
    await (await createStore(location, Buffer.alloc(32, 7), ulid)).close();
  } finally {
    recording.stop();
  }
  const texts = recording.transactions.flat().map(({ text }) => text);
  const last = texts.findLastIndex((text) => text.startsWith("INSERT INTO migrations"));
  expect(last).toBeGreaterThan(0);
  const own = new Set(
    migrations.flatMap(({ statements }) => statements.map((one) => one.replace("{COMPACT}", "").replaceAll(/\s+/g, " ").trim())),
  );
  const known =
    /pg_attribute|\bmigrations\b|pg_try_advisory|^SET LOCAL|^DO \$\$|oldest_schema|FROM settings WHERE name = \$1|^INSERT INTO settings|pg_is_in_recovery|transaction_read_only|pg_walfile|pg_extension/;
  expect(texts.slice(0, last).filter((text) => !known.test(text) && !own.has(text))).toEqual([]);
});
