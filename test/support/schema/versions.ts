// Builds versions of the present code as a release is built, unchanged or with further migrations.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";
import { bundleRelay } from "../../../scripts/bundle.ts";
import type { Migration } from "../../../src/store/schema/migration.ts";
import { freshFolder } from "../databases.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Builds a version and returns the path of its program. A test may wrap the relay in a program of its own, `input`. */
export async function buildVersion(
  version: string,
  more: readonly Migration[],
  input = join(root, "src/cli.ts"),
): Promise<string> {
  const folder = freshFolder();
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...own, version }));
  mkdirSync(join(folder, "src/traffic/networks"), { recursive: true });
  symlinkSync(join(root, "src/traffic/networks/data"), join(folder, "src/traffic/networks/data"));
  symlinkSync(join(root, "dist"), join(folder, "dist"));
  await bundleRelay(join(folder, "relay"), [appendMigrations(more)], input);
  return join(folder, `relay/${basename(input, ".ts")}.js`);
}

/** Appends to the list at the end of schema.ts. */
const appendMigrations = (more: readonly Migration[]): Plugin => ({
  name: "append-migrations",
  transform: {
    filter: { id: /src\/store\/schema\/schema\.ts$/ },
    handler(code) {
      const end = /,?\s*\];\s*$/;
      if (!end.test(code)) throw new Error("schema.ts does not end with the list of migrations");
      return code.replace(end, () => `, ...${JSON.stringify(more)}];\n`);
    },
  },
});
