// Backups with unusual rows, with stray files next to the database, and with other processes at the wrong moment.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freshDatabase, freshFolder, migratedDatabase } from "../../test/support/databases.ts";
import { engines, type Engine } from "../../test/support/relay.ts";
import { representativeRows, rowsAt, rowsKey } from "../../test/support/schema/rows.ts";
import { ulid } from "../kernel/ids.ts";
import type { Row } from "../store/engine/database.ts";
import { latestVersion, migrate } from "../store/schema/migrate.ts";
import { tablesAt } from "../store/schema/tables.ts";
import { packRecord } from "../store/people/personCodec.ts";
import { createSnapshot, type Snapshot } from "../store/maintenance/snapshot.ts";
import { connectDatabase, type StoreLocation } from "../store/connect.ts";
import { createStore } from "../store/store.ts";
import { fillTable } from "../store/copy/rows.ts";
import { createRestoreTarget } from "../store/maintenance/restoreTarget.ts";
import { takeBackup } from "./backup.ts";
import { writeLines } from "./backupFile.ts";
import { checkLocation } from "./check.ts";
import { restoreBackup, verifyBackup } from "./restore.ts";
import { sha256 } from "../../test/support/sha256.ts";

const keys = () => [rowsKey];
const visit = { visitorId: "v2", seenAt: rowsAt, browser: null, clickIds: {}, browserIds: {}, utm: {} };
const options = { version: "1", now: rowsAt, replace: true };

const place = async (engine: Engine, database = freshDatabase): Promise<StoreLocation> =>
  engine === "sqlite" ? { engine, file: join(freshFolder(), "store.db") } : { engine, url: await database(), connections: 4 };

/** A database with a row or two in every table. */
async function filled(engine: Engine): Promise<StoreLocation> {
  const location = await place(engine, migratedDatabase);
  const db = connectDatabase(location);
  await migrate(db);
  for (const [table, rows] of Object.entries(representativeRows())) {
    const columns = Object.keys(rows[0] as Row);
    await fillTable(
      db,
      table,
      columns,
      rows.map((row) => columns.map((column) => row[column] ?? null)),
    );
  }
  await db.close();
  await (await createStore(location, rowsKey, ulid)).close();
  return location;
}

async function change(location: StoreLocation, ...statements: string[]): Promise<void> {
  const db = connectDatabase(location);
  await db.write(async (tx) => {
    for (const statement of statements) await tx.all(statement);
  });
  await db.close();
}

async function withSnapshot<T>(location: StoreLocation, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const snapshot = (await createSnapshot(location)) as Snapshot;
  try {
    return await work(snapshot);
  } finally {
    await snapshot.close();
  }
}

const backUp = async (location: StoreLocation, file = join(freshFolder(), "backup")) =>
  (await withSnapshot(location, (snapshot) => takeBackup(snapshot, file, options))).file;

const restore = (file: string, location: StoreLocation, force = false) =>
  restoreBackup(file, location, keys, { force, now: rowsAt });

describe.each(engines)("on %s", (engine) => {
  let location: StoreLocation;
  beforeEach(async () => {
    location = await filled(engine);
  });

  test("an infinite value and packed records are restored as they were, and pass the check", async () => {
    const infinite = engine === "sqlite" ? "9e999" : "'Infinity'";
    const [person, subject] = [representativeRows().identities?.[0]?.email_sha256, "b".repeat(64)];
    const packed = packRecord(
      { visits: [visit], firstUtm: { utm_source: "x" }, forms: { emailGoogleSha256: sha256(subject) } },
      subject,
    );
    // Has a character that stands for a phrase.
    expect(() => JSON.parse(packed)).toThrow();
    await change(
      location,
      `UPDATE statistics SET value = ${infinite}`,
      `UPDATE identities SET email_sha256 = '${subject}', record = '${packed}' WHERE email_sha256 = '${person}'`,
    );
    const elsewhere = await place(engine);
    expect((await restore(await backUp(location), elsewhere)).wrong).toEqual([]);
    const db = connectDatabase(elsewhere);
    expect(await db.all(`SELECT value FROM statistics`)).toEqual([{ value: Infinity }]);
    await db.close();
  });

  test("the check names what is damaged", async () => {
    const event = representativeRows().events?.[0] as Row;
    const [columns, other] = [Object.keys(event).join(", "), "01k6ghp40g0000000000000002"];
    const values = Object.values({
      ...event,
      id: other,
      name: " ",
      email_ref: 5,
      plan: '[["c1","segment","row"],["c2","sandbox"],["c3","sandbox","row"]]',
      owner: "nobody",
      extra: null,
    });
    const literals = values.map((one) => (one === null ? "NULL" : typeof one === "number" ? one : `'${one}'`));
    await change(
      location,
      `INSERT INTO events (${columns}) VALUES (${literals.join(", ")})`,
      `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
       VALUES ('s1', '${other}', 'gone', 'x', 'parked', 0, 0, '', 0),
         ('s1', '${other}', 'c1', 'x', 'queued', 0, 9000000000000000, '', 0)`,
      `DELETE FROM attempts`,
      `UPDATE connections SET settings = '{', events = '5', state = 'odd', platform = 'none'`,
      `UPDATE sites SET settings = 'nonsense'`,
      `UPDATE inbound_keys SET mode = 'both'`,
      `DELETE FROM consents`,
      `DELETE FROM period_heads`,
      `DELETE FROM hosts`,
      `DELETE FROM settings WHERE name = 'revision'`,
      `UPDATE identities SET record = '{"visits":[{"seenAt":5}]}'`,
      `UPDATE alerts SET notifications = ''`,
      `UPDATE statistics_hours SET due_at = ${Number.MAX_SAFE_INTEGER}`,
      `UPDATE statistics SET count = 7`,
    );
    const found = (await checkLocation(location, keys)).map(({ what }) => what);
    expect(found).toEqual(
      expect.arrayContaining([
        "deliveries with missing attempts",
        "deliveries that wait for a connection that does not exist",
        "deliveries that are due in more than a year",
        "events without a name",
        "events with another person's hash",
        "deliveries that no plan has",
        "plans without their delivery",
        "open events that no node owns",
        "connections whose settings cannot be read",
        "connections whose events cannot be read",
        "connections with an unknown state",
        "connections with an unknown platform",
        "sites whose settings cannot be read",
        "inbound_keys with an unknown mode",
        "agreements in the consent history without a decision",
        "webhooks of sites without periods",
        "sites in a database without a single host",
        "missing settings of the installation",
        "identities that cannot be read",
        "alerts whose notifications cannot be read",
        "hours whose statistics differ from their events",
      ]),
    );
    await change(location, `DELETE FROM events`, `DELETE FROM deliveries`);
    expect((await checkLocation(location, keys)).map(({ what }) => what)).toContain("outcomes without their event");
    const left = (await checkLocation(location, keys)).map(({ what }) => what);
    expect(left).toContain("hours whose statistics differ from their events");

    // A schema that this version does not know cannot be checked.
    await change(location, `INSERT INTO migrations (version, name, applied_at) VALUES (999, 'later', 0)`);
    await expect(backUp(location)).rejects.toThrow("take the backup with the newer version");
    await expect(checkLocation(location, keys)).rejects.toThrow("check it with the newer one");
  });
});

describe("the embedded database", () => {
  type Embedded = StoreLocation & { engine: "sqlite" };
  let sound: Embedded;
  let backup: string;
  let location: Embedded;
  beforeAll(async () => {
    sound = (await filled("sqlite")) as Embedded;
    backup = await backUp(sound);
  });
  beforeEach(() => {
    location = { engine: "sqlite", file: join(freshFolder(), "store.db") };
    copyFileSync(sound.file, location.file);
  });
  /** Lists the files next to a database, without its own log and the backup. */
  const otherFiles = (file: string) =>
    readdirSync(dirname(file))
      .filter((name) => !/^(?:store\.db(?:-wal|-shm)?|backup)$/.test(name))
      .toSorted();

  test("the check finds a text in a number column", async () => {
    await change(location, `UPDATE events SET value = 'much'`, `UPDATE dedup_claims SET expires_at = 'late'`);
    expect((await checkLocation(location, keys)).map(({ what }) => what)).toEqual([
      "events with something other than a number",
      "dedup_claims with something other than a number",
    ]);
  });

  test("the check finds damaged secrets of two-factor sign-in", async () => {
    await change(location, `UPDATE two_factors SET backup_codes = '00' || SUBSTR(backup_codes, 3)`);
    expect(await checkLocation(location, keys)).toEqual([
      {
        what: "secrets of two-factor sign-in that cannot be decrypted",
        count: 1,
        example: "ada@example.com",
        advice: "Reset these members with 'cleancast member reset EMAIL', or restore a backup.",
      },
    ]);
  });

  test("a write-ahead log that was left behind is not replayed into the restored database", async () => {
    const { file } = location;
    const db = connectDatabase(location);
    await db.write((tx) => tx.all(`UPDATE sites SET name = 'written since'`));
    copyFileSync(`${file}-wal`, `${file}.log`);
    await db.close();
    renameSync(file, `${file}.away`);
    renameSync(`${file}.log`, `${file}-wal`);
    const { wrong, aside } = await restore(backup, location);
    expect(wrong).toEqual([]);
    expect(otherFiles(file)).toEqual(["store.db.away", `${basename(aside ?? "")}-wal`]);
    expect(await withSnapshot(location, (snapshot) => snapshot.all(`SELECT name FROM sites`))).toEqual([{ name: "Shop" }]);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["whose head is overwritten", (bytes) => bytes.fill(0xff, 0, 100)],
    ["that is cut off", (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2))],
  ])("a database %s is put aside only with --force", async (_what, damage) => {
    const { file } = location;
    const damaged = damage(readFileSync(file));
    writeFileSync(file, damaged);
    await expect(restore(backup, location)).rejects.toThrow(/--force/);
    expect(readFileSync(file).equals(damaged)).toBe(true);
    const { wrong, aside } = await restore(backup, location, true);
    expect(wrong).toEqual([]);
    expect(readFileSync(aside ?? "").equals(damaged)).toBe(true);
  });

  test("no process reads or writes the database during a restore, and a process that waited writes nothing", async () => {
    const { file } = location;
    const target = await createRestoreTarget(location, true, rowsAt);
    if (typeof target === "string") throw new Error(target);
    await migrate(target.db);
    const late = new DatabaseSync(file, { timeout: 0 });
    expect(() => late.exec("PRAGMA journal_mode = WAL")).toThrow("locked");
    expect(() => late.prepare("SELECT 1 FROM sites").all()).toThrow("locked");
    // A restore that is given up changes nothing.
    const given = await createRestoreTarget(sound, true, rowsAt);
    if (typeof given === "string") throw new Error(given);
    await given.abandon();
    expect(await checkLocation(sound, keys)).toEqual([]);
    await target.finish();
    expect(() => late.exec("PRAGMA journal_mode = WAL; UPDATE sites SET name = 'lost'")).toThrow("readonly");
    expect(() => late.exec("UPDATE sites SET name = 'lost'")).toThrow("readonly");
    late.close();
    expect(readdirSync(dirname(file))).toEqual(["store.db"]);
  });

  test("two concurrent backups with one name never write to the same file, nor to an existing file", async () => {
    const file = join(freshFolder(), "backup");
    writeFileSync(`${file}.part`, "", { mode: 0o666 });
    await Promise.all([backUp(location, file), backUp(location, file)]);
    expect((await verifyBackup(file, keys)).header.schema).toBe(latestVersion);
    expect(otherFiles(file)).toEqual(["backup.part"]);
  });

  async function writeEmptyBackup(tables: readonly string[]): Promise<string> {
    const emptyHash = createHash("sha256").digest("hex");
    const lines = [
      { cleancast: "backup", format: 1, schema: latestVersion, engine: "sqlite", version: "1" },
      ...tables.flatMap((table) => [
        { table, columns: ["site_id"] },
        { end: table, rows: 0, sha256: emptyHash },
      ]),
      { end: "backup", tables: tables.length, rows: 0 },
    ];
    const file = join(freshFolder(), "backup");
    await writeLines(Readable.from(lines.map((line) => `${JSON.stringify(line)}\n`)), file);
    return file;
  }

  test("a backup without one of its tables is not restored", async () => {
    const file = await writeEmptyBackup(["sites"]);
    await expect(verifyBackup(file, keys)).rejects.toThrow("The table settings is missing in the backup");
    expect(existsSync(file)).toBe(true);
  });

  test("a backup of an unreleased version is not restored", async () => {
    const file = await writeEmptyBackup(tablesAt(latestVersion));
    await expect(verifyBackup(file, keys)).rejects.toThrow("was made by an unreleased version of Cleancast");
    // One of the tables has another name since.
    const other = await writeEmptyBackup(tablesAt(latestVersion).with(0, "heads"));
    await expect(verifyBackup(other, keys)).rejects.toThrow("was made by an unreleased version of Cleancast");
    const twice = await writeEmptyBackup([...tablesAt(latestVersion), "sites"]);
    await expect(verifyBackup(twice, keys)).rejects.toThrow("has the table sites twice");
  });
});
