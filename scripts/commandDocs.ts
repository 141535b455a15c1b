// `npm run docs:commands` writes docs/reference/commands/: a page for each command, from the commands' own declarations.
// test/docs.test.ts fails if the pages differ from them.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Argument, Command, Option } from "commander";
import { createProgram } from "../src/commands/program.ts";
import { settingLabels } from "../src/sites/settings.ts";
import { before, notes } from "./docs/commands/notes.ts";
import { code, page, table } from "./docs/markdown.ts";

const folder = new URL("../docs/reference/commands/", import.meta.url);

type Leaf = { name: string; command: Command };

/** Commands that end things come last, so that the examples of a page can be run in its order. */
const isLast = ({ name }: Leaf) => /(?:delete|remove|revoke|erase|cancel|resume|enable)$/.test(name);

function leavesOf(command: Command, path = command.name()): Leaf[] {
  if (command.commands.length === 0) return [{ name: path, command }];
  const all = command.commands.flatMap((one) => leavesOf(one, `${path} ${one.name()}`));
  return [...all.filter((one) => !isLast(one)), ...all.filter(isLast)];
}

/** Returns the text of each page by its file name. */
export async function commandPages(): Promise<Map<string, string>> {
  const families = (await createProgram()).commands;
  const pages = new Map(families.map((family) => [`${family.name()}.md`, pageOf(family)]));
  return pages.set("README.md", overview(families));
}

/** Lists the commands without an example, and the notes without a command. */
export async function unmatchedNotes(): Promise<string[]> {
  const families = (await createProgram()).commands;
  const names = families.flatMap((family) => leavesOf(family)).map(({ name }) => name);
  return [...names.filter((name) => !notes[name]), ...Object.keys(notes).filter((name) => !names.includes(name))];
}

function overview(families: readonly Command[]): string {
  const rowsOf = (family: Command) =>
    leavesOf(family).map(({ name, command }) => [
      `[\`${name}\`](${family.name()}.md${name === family.name() ? "" : `#${anchorOf(name)}`})`,
      command.description(),
    ]);
  return page([
    "# Commands",
    "Every command with its arguments, options and an example. [Command line](../cli.md) explains what holds for all of them: the environment, exit codes, `--json`. The pages are generated from the commands' own code (`npm run docs:commands`), and `--help` shows the same.",
    ...[...Map.groupBy(families, (family) => family.helpGroup())].flatMap(([title, some]) => [
      `## ${title}`,
      table(["command", "effect"], some.flatMap(rowsOf)),
    ]),
  ]);
}

const anchorOf = (name: string) => name.replaceAll(" ", "-");

function pageOf(family: Command): string {
  const leaves = leavesOf(family);
  const isGroup = family.commands.length > 0;
  const needed = before[family.name()];
  return page([
    `# ${family.name()}`,
    sentence(family.description()),
    ...(needed ? [`The ${isGroup ? "examples need" : "example needs"} this first:`, code("sh run", needed)] : []),
    ...leaves.flatMap(({ name, command }) => [
      ...(isGroup ? [`## ${name}`, sentence(command.description())] : []),
      code("text", usageOf(name, command)),
      ...argumentsText(name, command.registeredArguments),
      ...optionsText(command.options.filter(({ long }) => long !== "--json")),
      ...noteText(name),
    ]),
    "Every command also has `--json` and `--help`. [Exit codes](../cli.md#exit-codes).",
  ]);
}

const usageOf = (name: string, command: Command) =>
  `cleancast ${name} ${command.usage().replace("[options] [command]", "[options]")}`.trim();

function argumentsText(name: string, given: readonly Argument[]): string[] {
  const rows = given.map((one) => {
    const known = knownArguments[`${name} ${one.name()}`] ?? knownArguments[one.name()] ?? one.description;
    const choices = one.argChoices?.map((choice) => `\`${choice}\``).join(", ");
    return [`\`${one.name()}\``, one.required ? "required" : "optional", choices ?? known];
  });
  const settings =
    name === "site set"
      ? [
          "Settings:",
          table(
            ["setting", ""],
            settingLabels.map(({ label, help }) => [`\`${label}\``, help]),
          ),
        ]
      : [];
  return [...(rows.length ? [table(["argument", "", ""], rows)] : []), ...settings];
}

/** The meaning of arguments that many commands share, by the name that the usage shows, after the command where it differs. */
const knownArguments: Readonly<Record<string, string>> = {
  site: "the id of a site, or one of its hosts",
  host: "a host name, such as shop.example.com",
  id: "the id that the list shows",
  name: "a name of your choice, shown in lists",
  event: "the id of an event",
  connection: "the id of a connection",
  platform: "the id of a platform, such as `meta`: `platform list`",
  setting: "the name of a setting of the platform: `platform show`",
  "name=value": "one or more; `name=@file` reads the value from a file, `name=@@…` is a value that begins with `@`",
  "connection values name=value": "rules by the name of the event, or `*`, such as `purchase=20%`; without any, the saved ones",
  "identity put name=value": "one or more, such as `gclid=…`; a value cannot come from a file",
  email: "the email address of the member",
  file: "the path of the file",
  visit: "the id of a bot visit: `traffic bots`",
  url: "an HTTPS address",
  order: "an order id",
  run: "the id of a reconciliation; the last one if left out",
  place: "`folder`, or s3://BUCKET/PREFIX",
  "why order": "an order id in any spelling, an event id or a platform event id",
  kind: "the kind of source, such as `stripe`: `source kinds`",
  decision: "`granted` or `denied`",
};

function optionsText(options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  const rows = options.map((option) => [
    `\`${option.flags}\``,
    [
      option.description,
      option.argChoices ? `one of ${option.argChoices.map((one) => `\`${one}\``).join(", ")}` : "",
      option.mandatory ? "required" : "",
      typeof option.defaultValue === "string" ? `default \`${option.defaultValue}\`` : "",
    ]
      .filter(Boolean)
      .join("; "),
  ]);
  return [table(["option", ""], rows)];
}

function noteText(name: string): string[] {
  const note = notes[name];
  if (!note) return [];
  const mark = note.by ? `sh by ${note.by}` : `sh run${note.after ? ` after ${note.after}` : ""}`;
  return [code(mark, `npx cleancast ${note.example}`), ...(note.more ? [note.more] : [])];
}

/** Descriptions are written for the list that `--help` shows: without capital and full stop. */
const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? "" : "."}`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of await commandPages()) writeFileSync(new URL(name, folder), text);
}
