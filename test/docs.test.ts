// Documents that are made from the code are as the code is, and links lead somewhere.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { platformPages } from "../scripts/platformDocs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

test("the pages of the platforms say what the platforms declare (npm run docs:platforms)", () => {
  const folder = join(root, "docs", "platforms");
  const pages = platformPages();
  expect(readdirSync(folder).toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
});

test.each(documents)("every link in %s to a file of ours leads to one", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const targets = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(
    ([, target]) => target as string,
  );
  for (const target of targets)
    expect(existsSync(resolve(root, dirname(document), target)), target).toBe(true);
});
