// Runs the commands of the clients' and plugins' pages as a reader would type them, with a real relay.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf, placeOf, root, type Block } from "../support/documents/documents.ts";
import { createGuides, type Guides } from "../support/documents/guideRun.ts";

const copyTo = (folder: string, file: string) => `mkdir -p ${folder} && cp -r '${root}clients/${file}' ${folder}`;

/** The pages of a group share a folder and a relay. */
const groups = [
  { pages: ["clients/node/README.md"], program: "npm", prepare: "true" },
  { pages: ["clients/python/README.md"], program: "python3", prepare: copyTo(".", "python/cleancast") },
  { pages: ["clients/php/README.md"], program: "php", prepare: copyTo(".", "php/cleancast.php") },
  {
    pages: ["clients/go/README.md"],
    program: "go",
    // Go keeps what it has compiled in the home folder.
    prepare: `${copyTo("cleancast", "go/.")} && export HOME='${homedir()}'`,
  },
  {
    pages: readdirSync(`${root}plugins`, { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => `plugins/${name}/README.md`),
    program: "npm",
    // The commands must not write into the home folder of the test's user.
    prepare: 'export HOME="$PWD"',
  },
];

describe("the pages of the clients and plugins", () => {
  let guides: Guides;
  beforeAll(async () => void (guides = await createGuides()));
  afterAll(() => guides.close());

  for (const { pages, program, prepare } of groups) {
    const installed = spawnSync("which", [program]).status === 0;
    if (!installed) console.log(`${program} is not installed here: ${pages.join(", ")} is not run.`);
    test.skipIf(!installed)(`the commands of ${pages.join(", ")} print the documented answers`, async () => {
      const blocks = pages.flatMap(blocksOf);
      const opened = await guides.open(blocks.filter(({ mark }) => mark === "run"));
      try {
        await opened.run(script(prepare));
        let printed = "";
        for (const block of blocks) {
          if (block.mark === "run") printed = await opened.run(inCheckout(block));
          else if (block.mark === "answer") expect(printed.trim(), placeOf(block)).toBe(block.text.trim());
          // A block that is marked with a file's name is that file.
          else if (!block.mark.startsWith("not run: "))
            await opened.run(script(`cat >'${block.mark}' <<'END OF FILE'\n${block.text}\nEND OF FILE`));
        }
      } finally {
        await opened.close();
      }
    });
  }

  test("each page has a command that is run", () => {
    const pages = groups.flatMap((group) => group.pages);
    expect(pages.filter((page) => !blocksOf(page).some(({ mark }) => mark === "run"))).toEqual([]);
  });
});

/** The page's folder is the reader's project, not a checkout. */
const inCheckout = (block: Block): Block => ({
  ...block,
  text: block.text.replaceAll(/\.\/(clients|plugins)\//g, `${root}$1/`),
});

const script = (text: string): Block => ({ page: "", line: 0, language: "sh", mark: "run", text });
