import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../documents/documents.ts";
import { freshFolder } from "../databases.ts";

/** Runs one test file with our reporter, and returns the last line. */
async function closingLineOf(body: string): Promise<string> {
  const folder = freshFolder();
  writeFileSync(join(folder, "one.test.mjs"), body);
  const reporter = join(root, "test/support/runner/closingLine.ts");
  const args = ["run", "--root", folder, "--globals", "--reporter", reporter];
  // The counts of this run are not those of the run that it is part of.
  const env = { ...process.env, TEST_COUNTS: "" };
  return new Promise((resolve) => {
    execFile(join(root, "node_modules/.bin/vitest"), args, { env }, (_error, stdout) =>
      resolve(stdout.trim().split("\n").at(-1) ?? ""),
    );
  });
}

test.each([
  ["tests that pass and fail", `test("a", () => {}); test("b", () => { expect(1).toBe(2); });`, "1 passed, 1 failed, 0 skipped"],
  [
    "a hook that fails before its tests",
    `describe("x", () => { beforeAll(() => { throw new Error("no"); }); test("a", () => {}); }); test("b", () => {});`,
    /^1 passed, 1 failed, 1 skipped$/,
  ],
  [
    "a hook that fails after its tests",
    `describe("x", () => { afterAll(() => { throw new Error("no"); }); test("a", () => {}); });`,
    /^1 passed, 1 failed, 0 skipped$/,
  ],
  [
    "a hook of the file that fails",
    `beforeAll(() => { throw new Error("no"); }); test("a", () => {});`,
    /^0 passed, 1 failed, 1 skipped$/,
  ],
  ["a file that cannot be loaded", `import "./missing.mjs"; test("a", () => {});`, /^0 passed, 1 failed, 0 skipped$/],
  [
    "an error outside of every test",
    `test("a", () => { setTimeout(() => { throw new Error("later"); }); }); test("b", () => new Promise((done) => setTimeout(done, 50)));`,
    /^2 passed, 1 failed, 0 skipped$/,
  ],
])("the closing line counts %s", async (_what, body, expected) => {
  expect(await closingLineOf(body)).toMatch(expected);
});
