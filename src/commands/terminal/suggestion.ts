// What was probably meant by a word that is no command.

import { findNearest } from "../../kernel/text.ts";

/** Words of other programs, and the commands that do the same. */
const meanings: Readonly<Record<string, string>> = {
  config: "apply",
  connect: "connection add",
  create: "add",
  delete: "remove",
  describe: "show",
  disconnect: "connection remove",
  domain: "host",
  edit: "set",
  get: "show",
  info: "show",
  log: "delivery",
  ls: "list",
  new: "add",
  revoke: "remove",
  rm: "remove",
  run: "serve",
  start: "serve",
  update: "set",
  user: "member",
};

/** A misspelling must not lead to one of these by chance: `remove` is near `move`. */
const consequential: ReadonlySet<string> = new Set(["remove", "erase", "lost", "restore", "move"]);

/** As in "restor": the beginning is no chance. */
const sharedLetters = 3;

/** Returns the command that was probably meant; null if there is none, or where a wrong guess would do harm. */
export function suggestCommand(typed: string, known: readonly string[]): string | null {
  const word = typed.toLowerCase();
  const meant = meanings[word];
  if (meant !== undefined && known.includes(meant.split(" ", 1)[0] ?? "")) return meant;
  const isSafe = (name: string) => !consequential.has(name) || name.startsWith(word.slice(0, sharedLetters));
  return findNearest(word, known.filter(isSafe));
}
