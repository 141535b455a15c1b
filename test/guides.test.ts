// Every command of every page is run, here or by the test that the page names. CONTRIBUTING.md explains the marks.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf, documents, placeOf, root, type Block } from "./support/documents/documents.ts";
import { openGuides, type Guides } from "./support/documents/guideRun.ts";

/** The accepted reasons for not running a block. Every other block is run. */
const reasons = new Set([
  "needs Docker",
  "needs systemd",
  "needs root",
  "needs a public domain",
  "needs an account at the platform",
  "runs the tests themselves",
]);

const blocks = documents.flatMap(blocksOf);
const shellBlocks = blocks.filter(({ language }) => ["sh", "bash", "shell", "console"].includes(language));
const isInstalled = (program: string) => spawnSync("which", [program]).status === 0;

test.each(shellBlocks.map((block) => [placeOf(block), block] as const))(
  "the shell block %s is marked with how it is run",
  (_, block) => {
    const { mark } = block;
    if (mark.startsWith("by ")) {
      const files = mark.slice(3).split(/,\s*/);
      for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
      const code = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
      for (const words of commandsIn(block))
        expect(code, `who runs ${words.join(" ")}?`).toMatch(calling(words));
    } else if (mark.startsWith("not run: ")) expect([...reasons]).toContain(mark.slice(9));
    else expect(mark).toBe("run");
  },
);

/** Returns the words of each command in a block: `npx cleancast webhook test ID` gives webhook, test. */
function commandsIn({ text }: Block): string[][] {
  return [...text.matchAll(/^npx cleancast (.+)$/gm)].map(([, rest = ""]) => {
    const words = rest.split(" ");
    const end = words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith("-"));
    return words.slice(0, Math.min(2, end < 0 ? words.length : end));
  });
}

/** Matches the command in a test's code: "webhook", "test"; or in one piece. */
const calling = (words: readonly string[]) =>
  new RegExp(words.map((word) => RegExp.escape(word)).join(`(?:"?,?\\s+"?)`));

test("every documented answer follows a block that is run", () => {
  const answers = blocks.filter(({ mark }) => mark === "answer");
  expect(answers.length).toBeGreaterThan(3);
  for (const answer of answers) {
    const before = blocks[blocks.indexOf(answer) - 1];
    expect([before?.page, before?.mark], placeOf(answer)).toEqual([answer.page, "run"]);
  }
});

test.each(
  blocks.filter(({ mark }) => mark.startsWith("examples/")).map((block) => [placeOf(block), block] as const),
)("the block %s quotes its example file exactly", (_, { mark, text }) => {
  expect(`${text}\n`).toBe(readFileSync(join(root, "docs", mark), "utf8"));
});

describe("the commands of the pages", () => {
  let guides: Guides;
  beforeAll(async () => void (guides = await openGuides()));
  afterAll(() => guides.close());

  const pages = documents.filter((page) =>
    shellBlocks.some((block) => block.page === page && block.mark === "run"),
  );
  test.concurrent.each(pages)(
    "the commands of %s print the documented answers",
    async (page) => {
      const own = blocks.filter((block) => block.page === page);
      const opened = await guides.open(own.filter(({ mark }) => mark === "run"));
      try {
        let printed: string | null = "";
        for (const block of own) {
          if (block.mark === "answer" && printed !== null)
            expect(normal(printed), placeOf(block)).toMatch(patternOf(block));
          if (block.mark !== "run") continue;
          const missing = ["php", "python3", "jq"].find(
            (program) => new RegExp(`^${program}\\b`, "m").test(block.text) && !isInstalled(program),
          );
          if (missing) console.log(`${missing} is not installed here: ${placeOf(block)} is not run.`);
          printed = missing ? null : await opened.run(block);
        }
      } finally {
        await opened.close();
      }
    },
    120_000,
  );
});

const normal = (text: string) => text.replaceAll(/\s+/g, "");

/** `…` stands for anything; spaces and line ends do not matter. */
function patternOf({ text }: Block): RegExp {
  const parts = normal(text).split("…");
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join("[^]*")}$`);
}
