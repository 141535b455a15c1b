// Loads the tools at run time, so that neither the project nor its types depend on them.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

export const here = fileURLToPath(new URL("./", import.meta.url));
const require = createRequire(`${here}package.json`);

// oxlint-disable-next-line typescript/no-explicit-any -- the tools have types of their own, which the project does not install
export type Tool = any;

export function installTools(): void {
  if (existsSync(`${here}node_modules/puppeteer-core`)) return;
  execFileSync("npm", ["install", "--no-save", "--no-audit", "--ignore-scripts", "--prefix", here], { stdio: "inherit" });
}

export const load = async (name: string): Promise<Tool> => import(pathToFileURL(require.resolve(name)).href);

export const versionOf = (name: string): string =>
  JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`, "utf8")).version;
