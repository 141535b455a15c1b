// Planted bugs and recorded decisions are changes of literal texts of the source. A text that has changed, or occurs twice, would let
// them say something else than they seem to.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decisions, decisionsIn, watchDecisions } from "./decisions.ts";
import { mutations } from "./mutations.ts";
import { replaceOnce } from "./runtime/text.ts";

const source = (file: string) => readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");

test.each(Object.entries(mutations))("the text that a planted bug changes occurs once: %s", (_name, { file, find, replace }) => {
  const text = source(file);
  expect(replaceOnce(text, find, replace, file)).not.toBe(text);
});

test.each([...new Set(decisions.map(({ file }) => file))])("the decisions of src/%s occur once", (file) => {
  expect(watchDecisions(source(file), decisionsIn(file))).toContain("simulationDecided(");
});

test("each decision has its own name", () => {
  const names = decisions.map(({ what }) => what);
  expect(names).toEqual([...new Set(names)]);
});
