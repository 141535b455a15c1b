// `npm run release:version -- 0.3.0` writes a version to every file that names it. With the variable REPOSITORY
// (https://github.com/OWNER/cleancast), also without a version, it writes the address of the repository to every manifest: until
// then they have a placeholder, with which nothing may be published (`--check`).

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (path: string) => readFileSync(pathOf(path), "utf8");

const placeholder = "https://example.com/cleancast";

/** Where the version is, as the text around it. Every match of a file is one. */
const manifest = /("version": ")\d+\.\d+\.\d+/;
const packed = /(cleancast(?:-client)?[-:])\d+\.\d+\.\d+(?=\.tgz| |$)/gm;
export const versionPlaces: readonly [file: string, place: RegExp][] = [
  ["package.json", manifest],
  ["package-lock.json", /((?:^\{\n {2}|"": \{\n {6})"name": "cleancast",\n +"version": ")\d+\.\d+\.\d+/gm],
  ["clients/node/package.json", manifest],
  ["plugins/n8n/package.json", manifest],
  ["plugins/zapier/package.json", manifest],
  ["clients/python/pyproject.toml", /(^version = ")\d+\.\d+\.\d+/m],
  ["clients/node/README.md", packed],
  ["clients/go/README.md", /(cleancast@v)\d+\.\d+\.\d+/],
  ["test/clients/drivers/go/go.mod", /(cleancast(?:\/clients\/go)? v)\d+\.\d+\.\d+/],
  ["plugins/n8n/README.md", packed],
  ["plugins/wordpress/cleancast/cleancast.php", /( \* Version: )\d+\.\d+\.\d+/],
  ["plugins/wordpress/cleancast/readme.txt", /(Stable tag: )\d+\.\d+\.\d+/],
  ["plugins/wordpress/cleancast/includes/tag.php", /(consent\.js', CLEANCAST_FILE\), \$after, ')\d+\.\d+\.\d+/],
  ["docs/how-to/install.md", packed],
  ["docs/how-to/run-on-one-machine.md", packed],
  ["docs/how-to/run-on-several-machines.md", packed],
  ["docs/how-to/kubernetes.md", /(cleancast:|newTag: ")\d+\.\d+\.\d+/g],
  ["docs/contributing/releases.md", /(release:version -- |`v)\d+\.\d+\.\d+/g],
  ["test/guides.test.ts", packed],
];

/** The files that name the repository. */
export const repositoryFiles: readonly string[] = [
  "package.json",
  "clients/node/package.json",
  "clients/python/pyproject.toml",
  "clients/php/composer.json",
  "plugins/n8n/package.json",
  "plugins/zapier/package.json",
  "plugins/wordpress/cleancast/cleancast.php",
];
/** The files that name the module of the Go client, whose name is its address. */
const moduleFiles: readonly string[] = [
  "clients/go/go.mod",
  "clients/go/README.md",
  "test/clients/drivers/go/go.mod",
  "test/clients/drivers/go/main.go",
];

export const withVersion = (text: string, place: RegExp, version: string): string => text.replace(place, `$1${version}`);

/** Returns the versions that a file names. */
export const versionsIn = (text: string, place: RegExp): string[] =>
  [...text.matchAll(new RegExp(place, `${place.flags.replace("g", "")}g`))].map(([all]) => /\d+\.\d+\.\d+$/.exec(all)?.[0] ?? "");

export const repositoryOf = (packageJson: string): string =>
  (JSON.parse(packageJson) as { repository: { url: string } }).repository.url.replace(/^git\+|\.git$/g, "");

/** The module of a repository is in the folder of the client. */
export const moduleOf = (repository: string): string =>
  repository === placeholder ? "example.com/cleancast" : `${repository.replace("https://", "")}/clients/go`;

/** Throws where the manifests still have the placeholder. */
export function checkRepository(packageJson: string): void {
  if (repositoryOf(packageJson) === placeholder)
    throw new Error("package.json names no repository: REPOSITORY=https://… npm run release:version");
}

function write(path: string, change: (text: string) => string): void {
  const before = read(path);
  const after = change(before);
  if (after === before) return;
  writeFileSync(pathOf(path), after);
  console.log(path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isCheck = process.argv[2] === "--check";
  if (isCheck) checkRepository(read("package.json"));
  const version = isCheck ? undefined : process.argv[2];
  const repository = process.env["REPOSITORY"]?.replace(/(?:\.git)?\/?$/, "");
  if (version !== undefined) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error(`"${version}" is no version: write it as 0.3.0`);
    for (const [path, place] of versionPlaces) write(path, (text) => withVersion(text, place, version));
  }
  if (repository !== undefined) {
    if (!/^https:\/\/[\w.-]+\/[\w./-]+$/.test(repository))
      throw new Error(`REPOSITORY is "${repository}", and must be an https address`);
    const known = repositoryOf(read("package.json"));
    for (const path of repositoryFiles) write(path, (text) => text.replaceAll(known, repository));
    for (const path of moduleFiles) write(path, (text) => text.replaceAll(moduleOf(known), moduleOf(repository)));
  }
}
