// Prints the notes of a release from CHANGELOG.md, for .github/workflows/release.yml. Fails unless the tag, package.json and a
// dated section name the same version, and that version is frozen (`npm run release:freeze`).
//
//   node scripts/releaseNotes.ts v0.2.0

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path: string) => readFileSync(pathOf(path), "utf8");

/** Throws an error that says what to correct. */
export function notesOf(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`The tag is "${tag}", but package.json has version ${version}.`);
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  const [title = "", ...lines] = section.split("\n");
  if (!/^\S+ - \d{4}-\d{2}-\d{2}$/.test(title))
    throw new Error(`CHANGELOG.md: "## ${title}" has no date: write "## ${version} - YYYY-MM-DD".`);
  return lines.join("\n").trim();
}

/**
 * Throws unless the statements of this version are recorded. Without them no test would see that a later migration breaks nodes of
 * this release.
 */
export function checkFrozen(version: string, fileExists: (path: string) => boolean): void {
  const file = `test/releases/${version}.json`;
  if (!fileExists(file)) throw new Error(`${file} is missing: run "npm run release:freeze", commit it, and move the tag.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  try {
    const notes = notesOf(process.argv[2] ?? "", version, read("CHANGELOG.md"));
    checkFrozen(version, (path) => existsSync(pathOf(path)));
    console.log(notes);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
