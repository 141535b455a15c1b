import { mkdirSync, utimesSync, writeFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "./support/databases.ts";
import { beginBuild, endBuild, isBuilt } from "../scripts/buildStamp.ts";

const outputs = [
  "dist/tag.js",
  "dist/use.js",
  "dist/dashboard/index.html",
  "dist/docs/index.html",
  "dist/relay/cli.js",
  "dist/THIRD-PARTY-NOTICES.txt",
];

function write(root: string, path: string, text = ""): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function newProject(): string {
  const root = `${freshFolder()}/`;
  for (const path of ["src/main.ts", "src/deep/er.ts", "docs/README.md", "package.json"]) write(root, path, path);
  return root;
}

function build(root: string): void {
  beginBuild(root);
  for (const path of outputs) write(root, path);
  endBuild(root);
}

test("nothing is built again while no source has changed", () => {
  const root = newProject();
  expect(isBuilt(root)).toBe(false);
  build(root);
  expect(isBuilt(root)).toBe(true);
  // Files that the build does not read do not matter.
  write(root, "test/new.test.ts");
  write(root, "data/cleancast.db");
  expect(isBuilt(root)).toBe(true);
});

test.each<[string, (root: string) => void]>([
  ["a changed source", (root) => write(root, "src/deep/er.ts", "changed")],
  ["a new source", (root) => write(root, "src/new.ts")],
  ["a removed source", (root) => rmSync(join(root, "src/main.ts"))],
  ["a source that was saved again", (root) => utimesSync(join(root, "src/main.ts"), 1, 1)],
  ["a changed document", (root) => write(root, "docs/README.md", "changed")],
  ["a changed list of packages", (root) => write(root, "package.json", "changed")],
  ["a missing file of the build", (root) => rmSync(join(root, "dist/relay/cli.js"))],
])("%s makes another build necessary", (_what, change) => {
  const root = newProject();
  build(root);
  change(root);
  expect(isBuilt(root)).toBe(false);
});

test("a build that did not end, or during which a source changed, is made again", () => {
  const root = newProject();
  build(root);
  beginBuild(root);
  expect(isBuilt(root)).toBe(false);
  write(root, "src/main.ts", "changed");
  endBuild(root);
  expect(isBuilt(root)).toBe(false);
});
