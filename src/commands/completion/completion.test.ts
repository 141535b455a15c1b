// The completion scripts, run by the shells themselves where they are installed.

import { execFileSync, spawnSync } from "node:child_process";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { leafCommands } from "../../../test/support/leafCommands.ts";
import { platforms } from "../../platforms/index.ts";
import { createProgram } from "../program.ts";
import { listCompleted } from "./commandTree.ts";
import { completionScript, shells, type Shell } from "./scripts.ts";

const commands = listCompleted(await createProgram());

const isInstalled = (shell: Shell) => spawnSync(shell, ["--version"]).status === 0;

/** Returns what bash offers after these words; the last one is being typed. */
function completeInBash(...words: string[]): string[] {
  const line = ["cleancast", ...words].map((word) => `'${word}'`).join(" ");
  const program = `${completionScript("bash", commands)}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _cleancast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", program], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  });
  expect(stderr).toBe("");
  return stdout.split("\n").filter(Boolean);
}

describe("completion in bash", () => {
  test("every command and every option is offered", async () => {
    const paths = commands.map(({ path }) => path);
    for (const { words } of await leafCommands()) expect(paths).toContain(words.join(" "));
    expect(completeInBash("")).toEqual(expect.arrayContaining(["serve", "site", "api-key", "completion"]));
    expect(completeInBash("site", "")).toEqual(["add", "list", "show", "remove", "move", "set"]);
    expect(completeInBash("oauth", "app", "")).toEqual(["set", "list", "remove"]);
  });

  test.each([
    [["si"], ["sign-in", "site"]],
    [["site", "re"], ["remove"]],
    [["site", "remove", "shop.example.com", "--y"], ["--yes"]],
    [["--json", "site", "sh"], ["show"]],
    [
      ["api-key", "add", "x", "--scope", ""],
      ["read", "write", "keys", "people"],
    ],
    [["api-key", "add", "x", "--scope", "read", "--ex"], ["--expires"]],
    [["member", "add", "--role", "o"], ["owner"]],
    [["consent", "set", "shop.example.com", "d"], ["denied"]],
    [
      ["site", "set", "shop.example.com", "keep_"],
      ["keep_events=", "keep_log="],
    ],
    [["site", "set", "shop.example.com", "keep=30d", "inb"], ["inbound="]],
    [["completion", "z"], ["zsh"]],
  ])("after %j, it offers %j", (words, offered) => {
    expect(completeInBash(...words).toSorted()).toEqual(offered.toSorted());
  });

  test("platforms are offered where a platform is expected", () => {
    const ids = platforms.map(({ id }) => id);
    expect(completeInBash("platform", "show", "")).toEqual(ids);
    expect(completeInBash("connection", "add", "shop.example.com", "")).toEqual(ids);
    expect(completeInBash("oauth", "app", "set", "me")).toEqual(["meta"]);
  });

  test("files are offered where anything can follow", () => {
    expect(completeInBash("backup", "comp").toSorted()).toEqual(["completion.test.ts", "completion.ts"]);
    expect(completeInBash("import", "conversions", "x.csv", "--refused", "script")).toEqual(["scripts.ts"]);
  });
});

describe.each(shells)("the script for %s", (shell) => {
  test.skipIf(!isInstalled(shell))("it is valid", () => {
    execFileSync(shell, ["-n"], { input: completionScript(shell, commands) });
  });

  test("it names every command", () => {
    const script = completionScript(shell, commands);
    for (const { subcommands } of commands) for (const { name } of subcommands) expect(script).toContain(name);
  });
});

test("each command runs with its own group alone", async () => {
  for (const { words, command } of await leafCommands()) {
    const alone = await createProgram(false, words[0]);
    const found = words.reduce<Command | undefined>((group, word) => group?.commands.find((one) => one.name() === word), alone);
    expect(found?.helpInformation(), words.join(" ")).toBe(command.helpInformation());
  }
  expect((await createProgram(false, "site")).commands.map((one) => one.name())).toEqual(["site"]);
});
