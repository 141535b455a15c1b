// The rows of a long list that are rendered.

import { expect, test } from "vitest";
import { rangeAt } from "../../dashboard/common/lists/visibleRows.ts";

test("a list that begins on the screen renders its first rows, and some below the screen", () => {
  expect(rangeAt(400, 900, 49)).toEqual({ first: 0, last: 20, height: 49 });
  // The list is still below the screen.
  expect(rangeAt(2000, 900, 49)).toEqual({ first: 0, last: 4, height: 49 });
});

test("a long list renders a few rows wherever it is scrolled to, and all that are on the screen", () => {
  for (let top = 400; top > -490_000; top -= 333) {
    const { first, last } = rangeAt(top, 900, 49);
    expect(last - first).toBeLessThanOrEqual(44);
    expect(first * 49 + top).toBeLessThanOrEqual(0 + Math.max(0, top));
    expect(last * 49 + top).toBeGreaterThanOrEqual(900);
  }
});
