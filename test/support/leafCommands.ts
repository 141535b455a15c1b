// Lists the commands of the command line that do something, with the words that lead to each.

import type { Command } from "commander";
import { listCommands, createProgram } from "../../src/commands/program.ts";

type LeafCommand = { words: string[]; command: Command };

export async function leafCommands(): Promise<LeafCommand[]> {
  return [...listCommands(await createProgram())]
    .filter(({ commands }) => commands.length === 0)
    .map((command) => ({ words: wordsOf(command), command }));
}

function wordsOf(command: Command): string[] {
  return command.parent ? [...wordsOf(command.parent), command.name()] : [];
}
