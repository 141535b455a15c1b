// The present code as two versions: as it is, and with further steps of the schema. Built as a release is.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";
import { bundleRelay } from "../../scripts/bundle.ts";
import type { Migration } from "../../src/store/schema/migration.ts";
import { freshFolder } from "./databases.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Builds a version, and returns the program. */
export async function buildVersion(version: string, steps: readonly Migration[]): Promise<string> {
  const folder = freshFolder();
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...own, version }));
  mkdirSync(join(folder, "src/traffic/networks"), { recursive: true });
  symlinkSync(join(root, "src/traffic/networks/data"), join(folder, "src/traffic/networks/data"));
  symlinkSync(join(root, "dist"), join(folder, "dist"));
  await bundleRelay(join(folder, "relay"), [furtherSteps(steps)]);
  return join(folder, "relay/cli.js");
}

/** At the end of the list in schema.ts. */
const furtherSteps = (steps: readonly Migration[]): Plugin => ({
  name: "further-steps",
  transform: {
    filter: { id: /src\/store\/schema\/schema\.ts$/ },
    handler(code) {
      const end = code.lastIndexOf("];");
      if (end < 0) throw new Error("schema.ts does not end with a list");
      return `${code.slice(0, end)}...${JSON.stringify(steps)},\n${code.slice(end)}`;
    },
  },
});
