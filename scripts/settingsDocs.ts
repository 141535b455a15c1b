// `npm run docs:settings` writes the reference page of the settings of an installation: names and texts from .env.example, types and
// defaults from the code that reads them. test/docs.test.ts fails if the page differs.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describeSettings } from "../src/installation/config.ts";

const example = new URL("../.env.example", import.meta.url);
const page = new URL("../docs/reference/settings.md", import.meta.url);

/** Settings that one comment explains. */
type Group = { text: string; settings: { name: string; value: string }[] };

export function settingsPage(): string {
  const known = describeSettings();
  const [intro = "", ...sections] = readFileSync(example, "utf8").split(/^# --- (?=\w)/m);
  const parts = sections.flatMap((section) => {
    const [, title = "", file, rest = ""] = /^(.+?)(?: \((docs\/[^)]+)\))? -+\n([^]*)$/.exec(section) ?? [];
    const more = file ? [`More about it: [${title.toLowerCase()}](${linkTo(file)}).`] : [];
    return [`## ${title}`, ...more, ...groupsIn(rest).map(describeGroup)];
  });
  return `${[
    "# Settings",
    `${textOf(intro).replace("Copy this file", "Copy [.env.example](../../.env.example)")} This page is generated (\`npm run docs:settings\`). Settings of a single site are in [the configuration file](configuration-file.md#settings-of-a-site).`,
    ...parts,
  ].join("\n\n")}\n`;

  function describeGroup({ text, settings }: Group): string {
    const lines = settings.map(({ name, value }) => {
      const setting = known.get(name);
      if (!setting) throw new Error(`${name} is in .env.example, and nothing reads it`);
      const { type, default: fallback } = setting;
      if (fallback !== null) return `- \`${name}\`: ${type}. Default: \`${fallback}\`.`;
      return `- \`${name}\`: ${type}.${value === "" ? "" : ` Example: \`${value}\`.`}`;
    });
    return [`### ${settings.map(({ name }) => name).join(", ")}`, text, lines.join("\n")].join("\n\n");
  }
}

function groupsIn(section: string): Group[] {
  return section
    .split(/\n{2,}/)
    .filter((block) => /\w/.test(block))
    .map((block) => {
      const settings = [...block.matchAll(/^# ([A-Z][A-Z0-9_]*)=(.*)$/gm)];
      const [first] = settings;
      return {
        text: textOf(block.slice(0, first?.index)),
        settings: settings.map(([, name = "", value = ""]) => ({ name, value })),
      };
    });
}

/** The sentences of a comment, with links to the pages that it names. */
const textOf = (comment: string) =>
  comment
    .replaceAll(/^# ?/gm, "")
    .trim()
    .replaceAll(/docs\/[\w/-]+\.md/g, (file) => `[${file.replace(/^.*\/|\.md$/g, "").replaceAll("-", " ")}](${linkTo(file)})`);

const linkTo = (file: string) => file.replace(/^docs\/(reference\/)?/, (_, isHere) => (isHere ? "" : "../"));

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, settingsPage());
