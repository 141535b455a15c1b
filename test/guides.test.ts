// Every command of every page is run, here or by the test that the page names, in the order in which pages are read.
// docs/contributing/documentation.md explains the marks.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf, documents, isRun, placeOf, root, trailsOf, type Block } from "./support/documents/documents.ts";
import { createGuides, type Guides } from "./support/documents/guideRun.ts";

/** The accepted reasons for not running a block. Every other block is run. */
const reasons = new Set([
  "needs Docker",
  "needs a Kubernetes cluster",
  "needs a published release",
  "needs systemd",
  "needs root",
  "needs a public domain",
  "needs an account at the platform",
  "needs Next.js",
  "runs the tests themselves",
]);

/** The blocks that another test runs, with the reason why their page's installation does not. Every other block is run here. */
const elsewhere = new Map([
  ["npm ci && npm run demo", "the demo is an installation of its own, with weeks of data"],
  ["npx cleancast mcp", "needs an assistant at its input"],
  ["npx cleancast share remove shop.example.com ID", "would end the link that the page has made"],
  ["npx cleancast share send shop.example.com", "needs a mail server or a chat"],
  [
    "kubectl kustomize . | grep image:\nkubectl kustomize migrate | grep image:",
    "needs kubectl, and is run where it is installed",
  ],
  ["npm pack", "packs the project, which builds it under the other tests"],
  ["npm install --ignore-scripts ./cleancast-0.3.0.tgz\nnpx cleancast serve", "needs the package"],
  [
    "source <(cleancast completion zsh)\ncleancast completion fish | source",
    "needs zsh and fish, and is run where they are installed",
  ],
  [
    "npx cleancast site move shop.example.com --to postgres://cleancast:secret@other.internal:5432/cleancast --key-file other.key --abort",
    "needs a move that was killed halfway",
  ],
]);

const blocks = documents.flatMap(blocksOf);
const shellLanguages = ["sh", "bash", "shell", "console"];
const shellBlocks = blocks.filter(({ language }) => shellLanguages.includes(language));
const isInstalled = (program: string) => spawnSync("which", [program]).status === 0;

test("a block is run by another test only for a listed reason", () => {
  const others = shellBlocks.filter(({ mark }) => mark.startsWith("by "));
  expect(others.map(({ text }) => text).toSorted()).toEqual([...elsewhere.keys()].toSorted());
});

test.each(shellBlocks.map((block) => [placeOf(block), block] as const))(
  "the shell block %s is marked with how it is run",
  (_, block) => {
    const { mark } = block;
    if (mark.startsWith("by ")) {
      const files = mark.slice(3).split(/,\s*/);
      for (const file of files) expect(existsSync(join(root, file)), file).toBe(true);
      const code = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
      for (const words of commandsIn(block)) expect(code, `who runs ${words.join(" ")}?`).toMatch(calling(words));
    } else if (mark.startsWith("not run: ")) expect([...reasons]).toContain(mark.slice(9));
    else expect(isRun(block), mark).toBe(true);
  },
);

/**
 * Everything that a reader would copy. The pages of the platforms and of the kinds of sources are made from examples that tests run, and settings (ini) are
 * checked below.
 */
const isSample = ({ page, language }: Block) =>
  !["text", "mermaid", "ini"].includes(language) &&
  !shellLanguages.includes(language) &&
  !/^docs\/(?:platforms|sources|decisions)\//.test(page);

test.each(blocks.filter(isSample).map((block) => [placeOf(block), block] as const))(
  "the sample %s is marked with how it is tested",
  (_, { mark }) => {
    if (mark.startsWith("by ")) expect(existsSync(join(root, mark.slice(3))), mark).toBe(true);
    else if (mark.startsWith("not run: ")) expect([...reasons]).toContain(mark.slice(9));
    else expect(mark).toMatch(/^(?:examples\/.+|answer|sent)$/);
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
const calling = (words: readonly string[]) => new RegExp(words.map((word) => RegExp.escape(word)).join(`(?:"?,?\\s+"?)`));

test("every documented answer follows a block that is run", () => {
  const answers = blocks.filter(({ mark }) => mark === "answer");
  expect(answers.length).toBeGreaterThan(3);
  for (const answer of answers) {
    const before = blocks[blocks.indexOf(answer) - 1];
    expect(before?.page, placeOf(answer)).toBe(answer.page);
    expect(before && isRun(before), placeOf(answer)).toBe(true);
  }
});

test.each(blocks.filter(({ mark }) => mark.startsWith("examples/")).map((block) => [placeOf(block), block] as const))(
  "the block %s quotes its example file exactly",
  (_, { mark, text }) => {
    expect(`${text}\n`).toBe(readFileSync(join(root, "docs", mark), "utf8"));
  },
);

test("tutorials send to the relay on the reader's own machine: example names lead nowhere", () => {
  const lines = shellBlocks.filter(({ page }) => page.startsWith("docs/tutorials/")).flatMap(({ text }) => text.split("\n"));
  const calls = lines.filter((line) => line.startsWith("curl "));
  expect(calls.length).toBeGreaterThan(10);
  expect(calls.filter((line) => !line.includes("http://localhost:8080/"))).toEqual([]);
});

describe("the commands of the pages", () => {
  let guides: Guides;
  beforeAll(async () => void (guides = await createGuides()));
  afterAll(() => guides.close());

  // A page that names a data folder of its own begins with a new installation.
  const beginsAnew = (page: string) => blocksOf(page).some(({ text }) => /\bCLEANCAST_DATA=/.test(text));
  const trails = trailsOf(documents, beginsAnew)
    .map((pages) => pages.filter((page) => blocksOf(page).some(isRun)))
    .filter((pages) => pages.length > 0)
    // Some run at the same time, and the longest begin first.
    .toSorted((a, b) => b.length - a.length);

  test("every page with commands is on a trail, and the longest begins with the README and the quick start", () => {
    expect([...new Set(trails.flat())].toSorted()).toEqual(documents.filter((page) => blocksOf(page).some(isRun)));
    expect(trails.find(([first]) => first === "README.md")?.slice(0, 3)).toEqual([
      "README.md",
      "docs/tutorials/quick-start.md",
      "docs/how-to/read-a-trace.md",
    ]);
  });

  test.concurrent.each(trails.map((pages) => [pages.join(", "), pages] as const))(
    "one installation lives through the commands of %s, and they print the documented answers",
    async (_, pages) => {
      const trail = pages.flatMap(blocksOf);
      const opened = await guides.open(trail.filter(isRun));
      try {
        let printed: string | null = "";
        for (const block of trail) {
          if (block.mark === "answer" && printed !== null) expect(normal(printed), placeOf(block)).toMatch(patternOf(block));
          if (!isRun(block)) continue;
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
    // Ends a page that hangs; a starved machine takes many times as long as an idle one.
    1_800_000,
  );
});

const normal = (text: string) => text.replaceAll(/\s+/g, "");

/** `…` stands for anything; spaces and line ends do not matter. */
function patternOf({ text }: Block): RegExp {
  const parts = normal(text).split("…");
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join("[^]*")}$`);
}
