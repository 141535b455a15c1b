import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { platforms } from "../../src/platforms/index.ts";
import { kinds } from "../../src/sources/kinds/index.ts";

const marks = readFileSync(new URL("../../dashboard/common/platforms/marks.svg", import.meta.url), "utf8");

test("every platform and every sender has a mark, and no mark is left over", () => {
  const drawn = [...marks.matchAll(/<symbol id="(\w+)"/g)].map(([, id]) => id);
  const named = new Set([...platforms, ...kinds].map(({ id }) => id));
  expect(drawn).toEqual([...named].toSorted());
});

/** The contrast of white on a colour, as WCAG 2 defines it. */
function contrastOfWhite(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

test("every mark is one white drawing without letters, readable on its ground", () => {
  const symbols = [...marks.matchAll(/<symbol id="(\w+)".*?<\/symbol>/gs)];
  const faint = symbols.flatMap(([text, id]) => {
    const ground = /<rect width="24" height="24" rx="6" fill="#(\w{6})"\/>/.exec(text)?.[1] ?? "ffffff";
    return contrastOfWhite(ground) < 4.5 ? [`${id}: ${contrastOfWhite(ground).toFixed(2)}:1`] : [];
  });
  expect(faint).toEqual([]);
  expect(symbols.filter(([text]) => !/ stroke="#fff" stroke-width="2"/.test(text)).map(([, id]) => id)).toEqual([]);
  expect(marks).not.toContain("<text");
});
