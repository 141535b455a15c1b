import { constants, DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { toSqliteParams } from "./dialect.ts";

test("a statement is compiled once, whatever its limit is", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(`CREATE TABLE lines (n integer NOT NULL PRIMARY KEY)`);
  for (let n = 1; n <= 5; n++) db.exec(`INSERT INTO lines (n) VALUES (${n})`);
  let asked = 0;
  // SQLite asks while it compiles a statement.
  db.setAuthorizer(() => {
    asked += 1;
    return constants.SQLITE_OK;
  });
  const statement = db.prepare(toSqliteParams(`SELECT n FROM lines WHERE n > $1 ORDER BY n LIMIT $2`));
  expect(asked).toBeGreaterThan(0);
  asked = 0;
  expect(statement.all(1, 2)).toEqual([{ n: 2 }, { n: 3 }]);
  expect(statement.all(3, 1)).toEqual([{ n: 4 }]);
  expect(statement.all(1, 0)).toEqual([]);
  expect(asked).toBe(0);
});
