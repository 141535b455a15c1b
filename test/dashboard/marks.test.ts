import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { platforms } from "../../src/platforms/index.ts";
import { kinds } from "../../src/sources/kinds/index.ts";

test("every platform and every sender has a mark, and no mark is left over", () => {
  const text = readFileSync(new URL("../../dashboard/common/platforms/marks.svg", import.meta.url), "utf8");
  const drawn = [...text.matchAll(/<symbol id="(\w+)"/g)].map(([, id]) => id);
  const named = new Set([...platforms, ...kinds].map(({ id }) => id));
  expect(drawn).toEqual([...named].toSorted());
});
