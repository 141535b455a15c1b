// Prints the notes of a release from CHANGELOG.md, for .github/workflows/release.yml. Fails unless the tag, package.json and a
// dated section name the same version.
//
//   node scripts/releaseNotes.ts v0.2.0

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  try {
    console.log(notesOf(process.argv[2] ?? "", version, read("CHANGELOG.md")));
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
