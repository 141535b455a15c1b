import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { commandOf } from "./ownProcess.ts";

function run(program: string, signal = new AbortController().signal): Promise<string | null> {
  const path = join(freshFolder(), "program.mjs");
  writeFileSync(path, program);
  return commandOf([], path)(signal);
}

test.each([
  [
    "an error as commands write it",
    `console.error('{"error":{"code":"invalid","message":"The disk is full."}}'); process.exit(1)`,
    "The disk is full.",
  ],
  ["a result whose hook failed", `console.log('{"hook":{"ok":false,"reason":"exit code 3"}}'); process.exit(1)`, "exit code 3"],
  ["another text", `console.error("one"); console.error("two"); process.exit(1)`, "two"],
  ["nothing", `process.exit(4)`, "it ended with exit code 4"],
  ["no failure", ``, null],
])("the reason of a command that ends with %s", async (_title, program, reason) => {
  expect(await run(program)).toBe(reason);
});
