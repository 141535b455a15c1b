// Reduces the commands to what a shell completes: words, and options with their values.

import type { Command, Option } from "commander";
import { platforms } from "../../platforms/index.ts";
import { settingLabels } from "../../sites/settings.ts";

export type Completed = {
  /** The words that lead to the command, without `cleancast` itself: "site set". */
  path: string;
  description: string;
  subcommands: { name: string; description: string }[];
  options: CompletedOption[];
  arguments: CompletedArgument[];
};

/** `choices` are the possible values; empty where it can be anything. `isVariadic`: it may be repeated. */
type CompletedArgument = { choices: readonly string[]; isVariadic: boolean };

type CompletedOption = {
  flag: string;
  description: string;
  takesValue: boolean;
  /** The possible values; empty where it can be anything, such as a file. */
  choices: readonly string[];
};

const platformIds = platforms.map(({ id }) => id);

/** The arguments whose values are known without an installation, by the name that the help shows. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  platform: platformIds,
  decision: ["granted", "denied"],
  shell: ["bash", "zsh", "fish"],
};

export function listCompleted(program: Command): Completed[] {
  return [...walk(program, "")];
}

function* walk(command: Command, path: string): Generator<Completed> {
  yield {
    path,
    description: command.description(),
    subcommands: command.commands.map((one) => ({ name: one.name(), description: one.description() })),
    options: command.options.map(describeOption),
    arguments: command.registeredArguments.map((one) => ({
      choices: valuesOf(path, one.name()),
      isVariadic: one.variadic,
    })),
  };
  for (const one of command.commands) yield* walk(one, path === "" ? one.name() : `${path} ${one.name()}`);
}

function valuesOf(path: string, argument: string): readonly string[] {
  if (path === "site set" && argument === "name=value") return settingLabels.map(({ label }) => `${label}=`);
  return knownValues[argument] ?? [];
}

function describeOption(option: Option): CompletedOption {
  return {
    flag: option.long ?? option.short ?? option.flags,
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  };
}
