import { describe, expect, test } from "vitest";
import { openPostgres } from "./engine.ts";
import { readDialectFlags } from "./dialect.ts";

describe("what DATABASE_URL switches off", () => {
  test("nothing, unless it says so", () => {
    expect(readDialectFlags("postgres://u:p@h1:5432,h2:5432/db?sslmode=require")).toEqual({
      skipLocked: true,
      advisoryLocks: true,
      pipelining: true,
      asSharded: false,
    });
  });

  test("what it names, and nothing that there is not", async () => {
    const url = "postgres://127.0.0.1/db?sslmode=disable&cleancast=no-skip-locked,no-pipelining";
    expect(readDialectFlags(url)).toEqual({
      skipLocked: false,
      advisoryLocks: true,
      pipelining: false,
      asSharded: false,
    });
    expect(() => readDialectFlags("postgres://h/db?cleancast=fast")).toThrow(/"fast" is not one of/);
    const db = openPostgres(url, { connections: 2 });
    expect(db.skipLocked).toBe("");
    await db.close();
  });
});
