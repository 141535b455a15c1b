// ⌘K finds names by what is typed of them.

import { expect, test } from "vitest";
import { matchPoints } from "../../dashboard/scenes/frame/fuzzy.ts";

const best = (names: string[], typed: string) =>
  names
    .map((name) => ({ name, points: matchPoints(name, typed) }))
    .filter(({ points }) => points > 0)
    .toSorted((one, other) => other.points - one.points)
    .map(({ name }) => name);

test("every typed word must be in the name, in any order and without accents", () => {
  expect(best(["Pause Meta", "Resume Meta", "Pause TikTok"], "meta pause")).toEqual(["Pause Meta"]);
  expect(best(["Schlüssel", "Schnee"], "schlussel")).toEqual(["Schlüssel"]);
  expect(best(["Events"], "zzz")).toEqual([]);
});

test("the name itself comes first, then beginnings, then middles, then letters in order", () => {
  expect(best(["Sync log", "Logins", "Catalogue", "log", "Lng road of g"], "log")).toEqual([
    "log",
    "Logins",
    "Sync log",
    "Catalogue",
  ]);
  expect(best(["Reconciliation", "Overview"], "recn")).toEqual(["Reconciliation"]);
});
