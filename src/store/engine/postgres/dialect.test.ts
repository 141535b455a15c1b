import { describe, expect, test } from "vitest";
import { connectPostgres } from "./engine.ts";
import { readDialectFlags } from "./dialect.ts";

describe("dialect flags", () => {
  test("a DATABASE_URL without flags switches nothing off", () => {
    expect(readDialectFlags("postgres://u:p@h1:5432,h2:5432/db?sslmode=require")).toEqual({
      skipLocked: true,
      advisoryLocks: true,
      pipelining: true,
      asSharded: false,
      transactionPooler: false,
      citusPlanCache: false,
    });
  });

  test("each flag in DATABASE_URL switches its feature, and an unknown one is refused", async () => {
    const url =
      "postgres://127.0.0.1/db?sslmode=disable&cleancast=no-skip-locked,no-pipelining,transaction-pooler,citus-plan-cache";
    expect(readDialectFlags(url)).toEqual({
      skipLocked: false,
      advisoryLocks: true,
      pipelining: false,
      asSharded: false,
      transactionPooler: true,
      citusPlanCache: true,
    });
    expect(() => readDialectFlags("postgres://h/db?cleancast=fast")).toThrow(/"fast" is not one of/);
    const db = connectPostgres(url, { connections: 2 });
    expect(db.skipLocked).toBe("");
    await db.close();
  });
});
