// Writes dist/THIRD-PARTY-NOTICES.txt: the licences of everything that the built files contain. Run by `npm run build`,
// after the bundles. Fails for a package that names no licence, or one that is not in the list below.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { listsFolder } from "./bundledPackages.ts";

const root = new URL("..", import.meta.url);
const target = new URL("dist/THIRD-PARTY-NOTICES.txt", root);
const allowedLicences = new Set([
  "MIT",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "0BSD",
  "MIT-0",
  "BlueOak-1.0.0",
  "Unlicense",
  "CC0-1.0",
]);

type Manifest = { name: string; version: string; license?: string; author?: string | { name?: string } };

const lists = readdirSync(listsFolder).map((name) => readFileSync(new URL(name, listsFolder), "utf8"));
const folders = new Set(lists.flatMap((text) => JSON.parse(text) as string[]));
const notices = new Map<string, string>();
const faults: string[] = [];

for (const path of folders) {
  const folder = new URL(`${path}/`, root);
  const { name, version, license = "", author } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as Manifest;
  // Of "(MIT OR Apache-2.0)" we may choose one.
  if (!license.split(/[()\s]+|\bOR\b/).some((one) => allowedLicences.has(one)))
    faults.push(`${name} ${version}: ${license || "no licence"}`);
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(new URL(file, folder), "utf8").trim());
  const by = typeof author === "object" ? author.name : author;
  if (texts.length === 0) texts.push(`Licence: ${license}${by ? `\nAuthor: ${by}` : ""}`);
  notices.set(`${name} ${version}`, `${name} ${version} (${license})\n\n${texts.join("\n\n")}`);
}

if (faults.length) {
  console.error(`These packages would be shipped; check their licences:\n  ${faults.join("\n  ")}`);
  process.exit(1);
}

const rule = `\n\n${"-".repeat(80)}\n\n`;
const networks = readFileSync(new URL("src/traffic/networks/data/NOTICE", root), "utf8").trim();
const sorted = [...notices].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
const intro = "Cleancast contains the following packages and data. Thank you to everyone who made them.";
writeFileSync(target, `${[intro, ...sorted, `Networks of hosting companies\n\n${networks}`].join(rule)}\n`);
