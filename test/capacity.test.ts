import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { capacityPage, citusCost, costsOf, drainSeconds, planFor, withTables } from "../bench/capacity.ts";
import { readMeasured } from "../bench/measured.ts";

const measured = readMeasured();
const costs = costsOf(measured);
const planOf = (perSecond: number) => planFor({ perSecond, sites: perSecond / 10, standby: true }, costs);

test("docs/explanation/capacity-planning.md has the tables that follow from bench/measured.json", () => {
  expect(withTables(capacityPage())).toBe(capacityPage());
  expect(() => withTables("# A page without tables")).toThrow("has no place for the table plans");
});

test("a plan keeps nodes and database at most half busy", () => {
  for (const { nodes, databaseCores, busy } of [10, 1000, 10_000, 100_000].map(planOf)) {
    expect(busy.node).toBeLessThanOrEqual(nodes / 2);
    expect(busy.database).toBeLessThanOrEqual(databaseCores / 2);
  }
});

test("ten times the events need at least ten times the busy cores, and a backlog drains faster than it grew", () => {
  const [small, large] = [planOf(1000), planOf(10_000)];
  expect(large.busy.node).toBeGreaterThanOrEqual(10 * small.busy.node);
  expect(large.busy.database).toBeGreaterThanOrEqual(10 * small.busy.database);
  for (const plan of [small, large]) expect(drainSeconds(plan, measured)).toBeLessThan(3600);
});

test("a plan leaves one PostgreSQL for Citus when it would need more than 64 cores", () => {
  expect(planOf(10_000)).toMatchObject({ sharded: false, databaseCores: 64 });
  expect(planOf(100_000).sharded).toBe(true);
});

test("the cost of Citus is the one that docs/explanation/engines-measured.md names", () => {
  const page = readFileSync("docs/explanation/engines-measured.md", "utf8").replaceAll("\n", " ");
  expect(page).toContain(`**${citusCost.database} times** (64 senders`);
  expect(page).toContain(`${citusCost.node.toFixed(1)} times for the nodes`);
});
