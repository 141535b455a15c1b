import { expect, test } from "vitest";
import { migrations } from "../../schema/schema.ts";
import { createStatementSites } from "./statementSite.ts";

const siteOf = createStatementSites(new Set(migrations.flatMap((one) => one.bySite)));

test.each([
  ["the condition of a read", "SELECT id FROM events WHERE site_id = $1 AND id = $2", ["s", "e"], "s"],
  ["a later parameter", "DELETE FROM leases WHERE owner = $1 AND site_id = $2", ["o", "s"], "s"],
  ["the empty site", "SELECT owner FROM nodes WHERE site_id = ''", [], ""],
  ["the first value of an insert", "INSERT INTO claims (site_id, id) VALUES ($2,$3)", [5, "s", "c"], null],
  ["the first value of an insert", "INSERT INTO events (site_id, id) VALUES ($2,$3),($4,$5)", [5, "s", "e"], "s"],
  ["an insert under the empty site", "INSERT INTO nodes (site_id, owner) VALUES ('', $2)", [1, "o"], ""],
  [
    "rows before an update",
    "WITH v AS (VALUES ($2,$3)) UPDATE deliveries SET a = 1 FROM v WHERE site_id = $1",
    ["s", "x", "y"],
    "s",
  ],
  ["a list of sites", "SELECT 1 FROM (SELECT id FROM webhooks WHERE site_id = ANY(CAST($1 AS text[]))) AS w", ["{a,b}"], "a"],
  ["configuration", "SELECT id FROM connections WHERE site_id = $1", ["s"], null],
  ["all sites", "SELECT site_id FROM deliveries WHERE due_at < $1", [5], null],
  ["no table", "SELECT 1", [], null],
] as const)("the site of a statement: %s", (_name, text, params, expected) => {
  expect(siteOf(text, params)).toBe(expected);
});
