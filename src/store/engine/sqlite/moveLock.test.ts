import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freshFolder } from "../../../../test/support/databases.ts";
import { ulid } from "../../../kernel/ids.ts";
import type { Database } from "../database.ts";
import { DatabaseMoved, createMoveLock, type MoveLock } from "./moveLock.ts";
import { createSnapshot } from "../../maintenance/snapshot.ts";
import { connectDatabase } from "../../connect.ts";
import { createStore } from "../../store.ts";

describe("the move lock", () => {
  let file: string;
  let db: Database;
  let mover: DatabaseSync;
  let lock: MoveLock;

  beforeEach(async () => {
    file = `${freshFolder()}/store.db`;
    await (await createStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid)).close();
    db = connectDatabase({ engine: "sqlite", file });
    mover = new DatabaseSync(file, { timeout: 1000 });
    lock = createMoveLock(mover);
  });
  afterEach(async () => {
    mover.close();
    await db.close();
  });

  const to = { move: "m1", target: "db/cc" };
  const write = () => db.write((tx) => tx.all(`UPDATE settings SET value = value WHERE name = 'revision'`));
  const read = () => db.all(`SELECT value FROM settings WHERE name = 'revision'`);

  test("a locked database is read and not written, and written again after the release", async () => {
    await write();
    expect(lock.hold(Date.now() + 60_000, Date.now())).toBe(true);
    await expect(write()).rejects.toThrow(/for a moment nothing can be changed/);
    await expect(Promise.all([write(), write()])).rejects.toBeInstanceOf(DatabaseMoved);
    expect(await read()).toEqual([{ value: "0" }]);
    lock.release();
    await write();
  });

  test("the lock of a move that died expires", async () => {
    const now = Date.now();
    expect(lock.hold(now - 2000, now - 9000)).toBe(true);
    await write();
    // Rows may have been written since the lock expired, so it can no longer be renewed.
    expect(lock.hold(now + 60_000, now)).toBe(false);
    expect(lock.hold(now + 60_000, now)).toBe(false);
    expect(lock.finish(now, to)).toBe(false);
    await write();
    lock.release();
    expect(lock.hold(now + 60_000, now)).toBe(true);
    expect(lock.hold(now + 90_000, now)).toBe(true);
  });

  test("a moved database is never written again, and no relay starts on it", async () => {
    const now = Date.now();
    expect(lock.finish(now, to), "without being held").toBe(false);
    expect(lock.hold(now + 60_000, now)).toBe(true);
    expect(lock.finish(now, to)).toBe(true);
    lock.release();
    expect(lock.movedTo()).toEqual(to);
    expect(lock.hold(now + 60_000, now)).toBe(false);
    await expect(write()).rejects.toThrow(/was moved to PostgreSQL.*set DATABASE_URL/);
    expect(await read()).toEqual([{ value: "0" }]);
    await expect(createStore({ engine: "sqlite", file }, Buffer.alloc(32, 7), ulid)).rejects.toBeInstanceOf(DatabaseMoved);
  });

  test("a lock that cannot be renewed during a long write of another process is lost, without an error in a timer", async () => {
    const now = Date.now();
    const impatient = new DatabaseSync(file, { timeout: 0 });
    const held = createMoveLock(impatient);
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

  test("a moved database is neither backed up nor checked, because its data is old", async () => {
    const now = Date.now();
    lock.hold(now + 60_000, now);
    await (await createSnapshot({ engine: "sqlite", file }))?.close();
    lock.finish(now, to);
    await expect(createSnapshot({ engine: "sqlite", file })).rejects.toBeInstanceOf(DatabaseMoved);
  });
});
