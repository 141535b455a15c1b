// Installs the packages of comparable products in bench/node_modules and loads them by name at run time, so that neither the
// project nor its types depend on them.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("../", import.meta.url));
export const load = createRequire(`${here}package.json`);
const folderOf = (name: string) => `${here}node_modules/${name}`;

/** Install scripts are not run. `npm ci` fails on packages for other systems, so this uses `npm install`. */
export function installPeers(): void {
  const { dependencies } = JSON.parse(readFileSync(`${here}package.json`, "utf8"));
  if (Object.keys(dependencies).every((name) => existsSync(folderOf(name)))) return;
  execFileSync("npm", ["install", "--no-save", "--no-audit", "--ignore-scripts", "--prefix", here], {
    stdio: "inherit",
  });
}

export function versionOf(name: string): string {
  return JSON.parse(readFileSync(`${folderOf(name)}/package.json`, "utf8")).version;
}

export const fileOf = (name: string, path: string) => `${folderOf(name)}/${path}`;
