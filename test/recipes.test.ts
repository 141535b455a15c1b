// The recipes of CONTRIBUTING.md and docs/contributing/ name every file. A recipe that misses one, or names one that has moved, fails here.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { platforms } from "../src/platforms/index.ts";
import { standins } from "../standins/index.ts";
import { documents, root } from "./support/documents/documents.ts";

const pages = documents
  .filter((path) => path === "CONTRIBUTING.md" || path.startsWith("docs/contributing/"))
  .map((path) => readFileSync(join(root, path), "utf8"));

const recipe = (title: string) =>
  pages.flatMap((page) => page.split(/^#{1,3} /m)).find((part) => part.startsWith(`${title}\n`)) ??
  expect.unreachable(`no recipe: ${title}`);
const pathsIn = (text: string) =>
  [...text.matchAll(/`((?:src|test|docs|standins|scripts|dashboard)\/[\w./<>-]+|[\w.]+\.md|\.env\.example)`/g)].map(
    ([, path]) => path as string,
  );

test.each([
  "Add a platform",
  "Add an inbound field",
  "Add an event column",
  "Add a dashboard page",
  "Add a text to the dashboard",
  "Add a site setting",
  "Add a command",
  "Add a step of a delivery",
  "Change the schema",
  "Write a page of documentation",
])("every file that the recipe %j names exists", (title) => {
  const fixed = pathsIn(recipe(title)).filter((path) => !path.includes("<"));
  expect(fixed.length).toBeGreaterThan(1);
  expect(fixed.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe("the recipe for a platform", () => {
  const named = pathsIn(recipe("Add a platform")).filter((path) => path.includes("<id>"));

  test.each(standins.map(({ id }) => id))("the platform %s consists of the files that the recipe names", (id) => {
    expect(named.length).toBeGreaterThan(4);
    const files = named.map((path) => path.replaceAll("<id>", id));
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test("the shared files that the recipe names list every platform", () => {
    for (const path of ["src/platforms/index.ts", "docs/README.md"]) {
      const text = readFileSync(join(root, path), "utf8");
      expect(
        platforms.filter(({ id }) => !text.includes(`/${id}`)).map(({ id }) => id),
        path,
      ).toEqual([]);
    }
  });
});
