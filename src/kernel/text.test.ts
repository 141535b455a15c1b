import { expect, test } from "vitest";
import { percentText } from "./text.ts";

test.each([
  [1, 3, "33%"],
  [2, 3, "67%"],
  [120, 197, "61%"],
  [1, 2, "50%"],
  [1999, 2000, "99.9%"],
  [999_999, 1_000_000, "99.9%"],
  [996, 1000, "99.6%"],
  [994, 1000, "99.4%"],
  [99, 100, "99%"],
  [1, 1, "100%"],
  [0, 5, "0%"],
  [1, 40, "2.5%"],
  [1, 1_000_000, "0.1%"],
  [0, 0, "–"],
  [5, 2, "250%"],
])("%i of %i is shown as %s", (part, whole, text) => expect(percentText(part, whole, "en")).toBe(text));
