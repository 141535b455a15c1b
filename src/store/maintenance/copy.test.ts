import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { readTable } from "./copy.ts";
import { createSource, SourceFault } from "./copySource.ts";

function filled(rows: number, bytes: number) {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (id integer NOT NULL PRIMARY KEY, extra text)");
  const put = db.prepare("INSERT INTO t VALUES (?, ?)");
  for (let id = 1; id <= rows; id += 1) put.run(id, "x".repeat(bytes));
  return { db, table: readTable(db, "t") };
}

describe("the pieces of a table", () => {
  test.each([
    ["by their rows", 10, 10],
    ["by their bytes", 100_000, 4],
  ])("the pieces of a table are bounded %s, and have all of its rows", (_how, rowBytes, maxRows) => {
    const { db, table } = filled(50, rowBytes);
    const source = createSource(db, { rows: 5, bytes: 200_000 });
    const pieces = [...source.pieces(table, [null])];
    expect(Math.max(...pieces.map(({ rows }) => rows.length))).toBeLessThanOrEqual(maxRows);
    expect(pieces.flatMap(({ rows }) => rows.map(([id]) => id))).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
    // An unchanged table is cut at the same places again.
    const ends = pieces.map(({ range }) => range.end);
    expect([...source.pieces(table, ends)].map(({ range }) => range)).toEqual(pieces.map(({ range }) => range));
    expect(ends.at(-1)).toBeNull();
  });

  test("a row that is larger than a piece is a piece of its own", () => {
    const { db, table } = filled(4, 1000);
    const source = createSource(db, { rows: 10, bytes: 100 });
    expect([...source.pieces(table, [null])].map(({ rows }) => rows.length)).toEqual([1, 1, 1, 1]);
  });

  test("an unreadable table is reported as a fault of the embedded database, with its name", () => {
    const { db, table } = filled(1, 1);
    db.exec("INSERT INTO t VALUES (9007199254740993, '')");
    const source = createSource(db, { rows: 10, bytes: 100 });
    expect(() => [...source.pieces(table, [null])]).toThrow(SourceFault);
    expect(() => [...source.pieces(table, [null])]).toThrow(/cannot be read in t .*cleancast check/);
  });
});
