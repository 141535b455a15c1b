import { expect, onTestFinished, test } from "vitest";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { unpaced } from "../background/pace.ts";
import { createPurgeJob, trustClock } from "./purge.ts";

const hour = 3_600_000;
const day = 24 * hour;
const today = Date.UTC(2026, 10, 15);

function testClock(newest: number | null, ahead = 0) {
  let elapsed = 5;
  let zero = today + ahead;
  const isTrusted = trustClock(
    () => zero + elapsed,
    () => elapsed,
    newest,
  );
  return {
    isTrusted,
    pass: (ms: number) => void (elapsed += ms),
    set: (ms: number) => void (zero += ms),
  };
}

test("a clock is trusted if it is near the stored times, if no time is stored, or if it was set back", () => {
  for (const newest of [today, today - day, today + 400 * day, null]) {
    const { isTrusted, pass, set } = testClock(newest);
    expect(isTrusted()).toBe(true);
    pass(10 * day);
    expect(isTrusted()).toBe(true);
    set(-400 * day);
    expect(isTrusted()).toBe(true);
  }
});

test("a clock that is days ahead of all stored times is trusted after an hour", () => {
  const { isTrusted, pass } = testClock(today, 400 * day);
  expect(isTrusted()).toBe(false);
  pass(hour - 1);
  expect(isTrusted()).toBe(false);
  pass(1);
  expect(isTrusted()).toBe(true);
});

test("a clock that is set days ahead at run time is trusted an hour later", () => {
  const { isTrusted, pass, set } = testClock(today);
  expect(isTrusted()).toBe(true);
  pass(5 * hour);
  set(3 * day);
  expect(isTrusted()).toBe(false);
  pass(hour / 2);
  set(3 * day);
  expect(isTrusted()).toBe(false);
  pass(hour - 1);
  expect(isTrusted()).toBe(false);
  pass(1);
  expect(isTrusted()).toBe(true);
});

test("a site whose rows cannot be purged keeps no other from it, of short-lived rows and of deleted sites", async () => {
  const store = await createAt(await newLocation("sqlite"));
  onTestFinished(() => store.close());
  const deletedAt = today - day;
  const purged: string[] = [];
  const marked: string[] = [];
  const unlessBad = (what: string, id: string) => {
    if (id === "bad") throw new Error(`${what} cannot be read`);
    purged.push(`${what} of ${id}`);
  };
  const defects: unknown[] = [];
  const runs: string[] = [];
  await createPurgeJob({
    store: {
      ...store,
      keyUse: { ...store.keyUse, purge: async (id) => unlessBad("uses", id) },
      purge: {
        ...store.purge,
        sitesOfShortLived: async () => ["bad", "good"],
        saveRun: async (owner) => void runs.push(owner),
      },
      deletedSites: {
        ...store.deletedSites,
        listUnpurged: async () => ["bad", "good"].map((id) => ({ id, deletedAt })),
        async purge(id) {
          unlessBad("rows", id);
          return { removed: 0, next: null };
        },
        markPurged: async (id) => void marked.push(id),
      },
    },
    sites: () => [],
    owner: "node",
    pace: unpaced,
    now: () => today,
    elapsed: () => 0,
    onDefect: (error, about) => defects.push([String(error), about]),
  }).run();
  expect(purged).toEqual(["uses of good", "rows of good"]);
  expect([marked, runs]).toEqual([["good"], ["node"]]);
  expect(defects).toEqual([
    ["Error: uses cannot be read", { worker: "purge", site: "bad" }],
    ["Error: rows cannot be read", { worker: "purge", site: "bad" }],
  ]);
});
