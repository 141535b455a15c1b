import { expect, test } from "vitest";
import { leafCommands } from "../../../test/support/leafCommands.ts";
import { suggestCommand } from "./suggestion.ts";

test.each([
  ["delete", ["add", "list", "remove", "move"], "remove"],
  ["removve", ["add", "remove", "move"], "remove"],
  ["remove", ["add", "list", "move"], null],
  ["restor", ["serve", "restore"], "restore"],
  ["connect", ["connection", "serve"], "connection add"],
  ["lisst", ["list"], "list"],
  ["unlike", ["list", "add"], null],
])("for %j of %j it suggests %j", (typed, known, meant) => {
  expect(suggestCommand(typed, known)).toBe(meant);
});

test("SITE is the first argument wherever a command has one, and removing has one verb", async () => {
  const commands = await leafCommands();
  const later = commands.filter(({ command }) => command.registeredArguments.slice(1).some((one) => one.name() === "site"));
  expect(later.map(({ words }) => words.join(" "))).toEqual([]);
  const verbs = new Set(commands.map(({ words }) => words.at(-1)));
  for (const verb of ["delete", "revoke", "disconnect", "connect", "create"]) expect(verbs).not.toContain(verb);
  const filtered = commands.filter(({ words }) => ["event list", "delivery list"].includes(words.join(" ")));
  for (const { command } of filtered)
    expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining(["--event", "--from", "--to"]));
});
