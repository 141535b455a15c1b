// Columns that the code lists, against the tables. A column that a newer node adds must not affect running code.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freshFolder } from "../../../test/support/databases.ts";
import { describedRows } from "../../../test/support/schema/describedRows.ts";
import { columns } from "./columns.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./schema.ts";
import { connectDatabase } from "../connect.ts";
import { columnsOf } from "./tables.ts";

/** Columns that only the statements name that need them. */
const unlisted: Record<string, readonly string[]> = { source_requests: ["waiting"] };

test("listed columns are those of the schema, and a described insert begins with the site", async () => {
  const db = connectDatabase({ engine: "sqlite", file: `${freshFolder()}/store.db` });
  try {
    await migrate(db);
    for (const [table, text] of Object.entries(columns)) expect(text.split(", "), table).toEqual(await columnsOf(db, table));
    for (const [table, row] of Object.entries(describedRows)) {
      const all = new Set([...row.columns, ...row.inserted, ...(unlisted[table] ?? [])]);
      expect([...all].toSorted(), table).toEqual((await columnsOf(db, table)).toSorted());
      if (migrations.some(({ bySite }) => bySite.includes(table))) expect(row.inserted[0], table).toBe("site_id");
    }
  } finally {
    await db.close();
  }
});

test("no statement selects all columns, and every insert names its columns", () => {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const wide = /(?:SELECT|RETURNING|,) (?:\w+\.)?\*(?! FROM \()|SELECT \*(?! FROM \()|INSERT INTO (?:\w+|\$\{[^}]+\}) VALUES/;
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.ts$/.test(file))
    .filter((file) => wide.test(readFileSync(`${folder}/${file}`, "utf8").replaceAll(/^ *(?:\/\/|\*|\/\*).*$/gm, "")));
  expect(found).toEqual([]);
  for (const text of ["SELECT * FROM x", "RETURNING *`", "a, b.* FROM", "INSERT INTO x VALUES (1)"]) expect(text).toMatch(wide);
});
