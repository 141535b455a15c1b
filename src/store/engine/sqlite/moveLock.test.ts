import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshFolder } from "../../../../test/support/databases.ts";
import { uuidv7 } from "../../../kernel/ids.ts";
import type { Database } from "../database.ts";
import { DatabaseMoved, openMoveLock, type MoveLock } from "./moveLock.ts";
import { openSnapshot } from "../../maintenance/snapshot.ts";
import { openDatabase } from "../../open.ts";
import { openStore } from "../../store.ts";

describe("an embedded database that moves", () => {
  let file: string;
  let db: Database;
  let mover: DatabaseSync;
  let marks: MoveLock;

  beforeEach(async () => {
    file = `${freshFolder()}/store.db`;
    await (await openStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), uuidv7)).close();
    db = openDatabase({ engine: "sqlite", file });
    mover = new DatabaseSync(file, { timeout: 1000 });
    marks = openMoveLock(mover);
  });
  afterEach(async () => {
    mover.close();
    await db.close();
  });

  const to = { move: "m1", target: "db/cc" };
  const write = () => db.write((tx) => tx.all(`UPDATE settings SET value = value WHERE name = 'revision'`));
  const read = () => db.all(`SELECT value FROM settings WHERE name = 'revision'`);

  test("is read and not written while it is held, and written again when it is let go", async () => {
    await write();
    expect(marks.hold(Date.now() + 60_000, Date.now())).toBe(true);
    await expect(write()).rejects.toThrow(/for a moment nothing can be changed/);
    await expect(Promise.all([write(), write()])).rejects.toBeInstanceOf(DatabaseMoved);
    expect(await read()).toEqual([{ value: "0" }]);
    marks.release();
    await write();
  });

  test("goes on by itself when whoever held it is gone", async () => {
    const now = Date.now();
    expect(marks.hold(now - 2000, now - 9000)).toBe(true);
    await write();
    // Somebody may have written since: this hold is worth nothing any more, however often it is renewed.
    expect(marks.hold(now + 60_000, now)).toBe(false);
    expect(marks.hold(now + 60_000, now)).toBe(false);
    expect(marks.finish(now, to)).toBe(false);
    await write();
    marks.release();
    expect(marks.hold(now + 60_000, now)).toBe(true);
    expect(marks.hold(now + 90_000, now)).toBe(true);
  });

  test("is never written again once it was moved, and nobody starts on it", async () => {
    const now = Date.now();
    expect(marks.finish(now, to), "without being held").toBe(false);
    expect(marks.hold(now + 60_000, now)).toBe(true);
    expect(marks.finish(now, to)).toBe(true);
    marks.release();
    expect(marks.movedTo()).toEqual(to);
    expect(marks.hold(now + 60_000, now)).toBe(false);
    await expect(write()).rejects.toThrow(/was moved to PostgreSQL.*set DATABASE_URL/);
    expect(await read()).toEqual([{ value: "0" }]);
    await expect(openStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), uuidv7)).rejects.toBeInstanceOf(
      DatabaseMoved,
    );
  });

  test("whose hold cannot be renewed, because somebody else writes for long, is lost, and nothing is thrown at a timer", async () => {
    const now = Date.now();
    const impatient = new DatabaseSync(file, { timeout: 0 });
    const held = openMoveLock(impatient);
    expect(held.hold(now + 60_000, now)).toBe(true);
    mover.exec("BEGIN IMMEDIATE");
    expect(held.hold(now + 70_000, now)).toBe(false);
    mover.exec("ROLLBACK");
    expect(held.hold(now + 70_000, now)).toBe(false);
    expect(held.finish(now, to)).toBe(false);
    held.release();
    impatient.close();
    await write();
  });

  test("cannot be backed up or checked once it was moved: what is there is old", async () => {
    const now = Date.now();
    marks.hold(now + 60_000, now);
    await (await openSnapshot({ engine: "sqlite", file }))?.close();
    marks.finish(now, to);
    await expect(openSnapshot({ engine: "sqlite", file })).rejects.toBeInstanceOf(DatabaseMoved);
  });
});
