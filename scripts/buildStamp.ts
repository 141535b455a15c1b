// Lets `npm start` skip a build that would change nothing. `npm run build` begins and ends with this file; `--check` fails where
// a source has changed since the last build that was completed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Everything that the build reads. Documents link to files of the project, which are copied. */
const sources = [
  "src",
  "tag",
  "dashboard",
  "docs",
  "scripts",
  "ops",
  "package.json",
  "package-lock.json",
  "tsconfig.browser.json",
  "tsconfig.json",
  "tsconfig.node.json",
  "ARCHITECTURE.md",
  ".env.example",
];
const built = [
  "dist/tag.js",
  "dist/use.js",
  "dist/dashboard/index.html",
  "dist/docs/index.html",
  "dist/relay/cli.js",
  "dist/THIRD-PARTY-NOTICES.txt",
];

/** Returns a hash of the name, size and time of every source. Reading the contents would take as long as a start. */
function fingerprint(root: string): string {
  const hash = createHash("sha256");
  for (const path of sources.flatMap((one) => listFiles(root, one)).toSorted()) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

function listFiles(root: string, path: string): string[] {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found ? [path] : [];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

const stampOf = (root: string) => join(root, "dist/.stamp");

/** A build that fails, or whose sources change meanwhile, leaves no stamp that fits. */
export function beginBuild(root: string): void {
  mkdirSync(join(root, "dist"), { recursive: true });
  rmSync(stampOf(root), { force: true });
  writeFileSync(`${stampOf(root)}.next`, fingerprint(root));
}

export function endBuild(root: string): void {
  renameSync(`${stampOf(root)}.next`, stampOf(root));
}

export function isBuilt(root: string): boolean {
  const stamp = stampOf(root);
  return (
    existsSync(stamp) && built.every((path) => existsSync(join(root, path))) && readFileSync(stamp, "utf8") === fingerprint(root)
  );
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  if (process.argv.includes("--begin")) beginBuild(root);
  else if (process.argv.includes("--end")) endBuild(root);
  else process.exitCode = isBuilt(root) ? 0 : 1;
}
