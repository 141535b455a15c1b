import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { capacityPage, citusCost, costsOf, drainSeconds, planFor, withTables } from "../bench/capacity.ts";
import { simulateDay } from "../bench/day.ts";
import { readMeasured } from "../bench/measured.ts";

const measured = readMeasured();
const costs = costsOf(measured);
const planOf = (perSecond: number) => planFor({ perSecond, sites: perSecond / 10, standby: true }, costs);

test("docs/explanation/capacity-planning.md has the tables that follow from bench/measured.json", async () => {
  expect(await withTables(capacityPage())).toBe(capacityPage());
  await expect(withTables("# A page without tables")).rejects.toThrow("has no place for the table plans");
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

test("a day in which a node counts as fast as events come is counted in time, and one in which it does not is said to fall behind", async () => {
  const rate = measured.upkeep.counting;
  const dayOf = (perSecond: number, nodes: number, isUneven = false) =>
    simulateDay({ perSecond, sites: 5000, nodes, isUneven }, measured);
  const calm = await dayOf(rate / 2, 1);
  expect(calm.keepsUp).toBe(true);
  expect(calm.busiestNode).toBeCloseTo(rate / 2);
  expect(calm.countedAfter).toBeLessThan(60);
  expect((await dayOf(rate * 1.1, 1)).keepsUp).toBe(false);
  expect((await dayOf(rate * 1.1, 2)).keepsUp).toBe(true);
  // A large site stays with one node, however many there are.
  const uneven = await dayOf(rate * 12, 1000, true);
  expect(uneven.busiestNode).toBeGreaterThan(uneven.largestSite * rate * 12);
  expect(uneven.keepsUp).toBe(false);
});
