// Commands in messages, mails and remedies work as they are printed: each names an existing command with its arguments.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Command } from "commander";
import { createProgram } from "../src/commands/program.ts";
import { blocksOf, documents, placeOf, root } from "./support/documents/documents.ts";

type Hint = { file: string; text: string };

/** Finds the commands in the texts of a source file; `X` stands for a value that is filled in. */
function hintsIn(file: string): Hint[] {
  const source = readFileSync(join(root, "src", file), "utf8")
    .replaceAll(/^\s*(?:\/\/|\*|\/\*\*).*$/gm, "")
    .replaceAll(/\$\{[^}]*\}/g, "X");
  return [...source.matchAll(/(?<![\w./@-])cleancast ([a-zX](?:[^'"`;,.)(:\\\n]|"[\w =]+")*)/g)].map(([, words = ""]) => ({
    file,
    text: words.trim(),
  }));
}

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  // Names of database sessions, keys and formats; code that builds commands from words; descriptions of the API.
  .filter(
    (file) =>
      file.endsWith(".ts") &&
      !file.endsWith(".test.ts") &&
      !/^store\/|^commands\/completion\/|^contract\/|\/(?:probe|networkList|connectionHints)\.ts$/.test(file),
  );

const program = await createProgram();

/** Says what is wrong with a command; null when it can be run. Words after a complete command are part of its sentence. */
function faultOf(text: string): string | null {
  const words = text.split(/\s+/);
  let command: Command = program;
  while (command.commands.length > 0) {
    const word = words.shift();
    if (word === undefined) return "it is not complete";
    // The name of a list, such as `cleancast X list`.
    if (word === "X" || word === "--version") return null;
    const next = command.commands.find((one) => one.name() === word);
    if (!next) return `there is no command ${word}`;
    command = next;
  }
  if (words.includes("--help")) return null;
  const required = command.registeredArguments.filter((one) => one.required).length;
  const values = words.filter((word) => !word.startsWith("--"));
  if (values.length < required) return "an argument is missing";
  const left = command.options.find(({ mandatory, long }) => mandatory && !words.includes(long ?? ""));
  if (left) return `the option ${left.long} is missing`;
  // Only the reader knows a value: `client_id=…`, or an address.
  if (words.some((word) => (word.includes("…") && !/^(?:\w+=)?(?:https:\/\/)?…$/.test(word)) || word === "…"))
    return "a part is left out";
  const unknown = words.find((word) => word.startsWith("--") && !command.options.some(({ long }) => long === word));
  return unknown === undefined ? null : `there is no option ${unknown}`;
}

describe("hints", () => {
  const hints = files.flatMap(hintsIn);

  test("hints are found", () => expect(hints.length).toBeGreaterThan(40));

  test("every hint is a command that works as it is printed", () => {
    const wrong = hints.flatMap(({ file, text }) => {
      const fault = faultOf(text);
      return fault === null ? [] : [`${file}: cleancast ${text}: ${fault}`];
    });
    expect(wrong).toEqual([]);
  });

  test("every command in the text of a page exists and is complete", () => {
    const pages = documents.filter((page) => !page.startsWith("docs/decisions/"));
    const inPages = pages.flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/`npx cleancast ([^`]+)`/g)].map(([, text = ""]) => ({
        page,
        // A page may leave settings out; a hint of the program may not.
        text: text.replaceAll(" …", " name=…").replaceAll(/[\w.]+=…/g, "name=…"),
      })),
    );
    expect(inPages.length).toBeGreaterThan(60);
    const wrong = inPages
      .filter(({ text }) => text !== "…")
      .flatMap(({ page, text }) => {
        const fault = faultOf(text);
        return fault === null ? [] : [`${page}: cleancast ${text}: ${fault}`];
      });
    expect(wrong).toEqual([]);
  });

  test("every command in a block that is not run exists and is complete", () => {
    const started = /(?:\bnpx|--|\bexec \S+|PATH=\S+|:8080) cleancast ((?:serve|[a-z-]+ )[^\n]*)/g;
    const found = documents
      .flatMap(blocksOf)
      .filter(({ mark }) => mark.startsWith("not run: "))
      .flatMap((block) => [...block.text.matchAll(started)].map(([, text = ""]) => ({ place: placeOf(block), text })));
    expect(found.length).toBeGreaterThan(3);
    const wrong = found.flatMap(({ place, text }) => {
      const fault = faultOf(text);
      return fault === null ? [] : [`${place}: cleancast ${text}: ${fault}`];
    });
    expect(wrong).toEqual([]);
  });

  test.each([
    ["site", "it is not complete"],
    ["sites list", "there is no command sites"],
    ["connection add shop.example.com", "an argument is missing"],
    ["member add ada@example.com owner", "the option --role is missing"],
    ["connection add X meta … with fresh credentials", "a part is left out"],
    ["site list --all", "there is no option --all"],
    ["key list X", null],
  ])("the hint %j: %j", (text, fault) => expect(faultOf(text)).toBe(fault));
});
