// Builds the `cleancast` command. A group of commands is loaded when one of them runs; for help and unknown names all are.

import { Help, type Argument, type Command } from "commander";
import { readVersion } from "../installation/installation.ts";
import { CliCommand } from "./context.ts";

type Add = (program: CliCommand) => void;
type Family = readonly [names: readonly string[], load: () => Promise<Add>];

/** By task, in the order of the help and the reference. */
const groups: Readonly<Record<string, readonly Family[]>> = {
  Server: [
    [["serve", "doctor", "migrate"], async () => (await import("./operate.ts")).operateCommands],
    // Completes all commands, and so needs all groups.
    [[], async () => (await import("./completion/completion.ts")).completionCommands],
  ],
  "Configuration and data as files": [
    [["apply", "export", "config-schema"], async () => (await import("./configuration.ts")).configurationCommands],
    [["import"], async () => (await import("./import.ts")).importCommands],
  ],
  Database: [
    [
      ["backup", "restore-drill", "restore", "check", "vacuum"],
      async () => (await import("./database/backup.ts")).backupCommands,
    ],
    [["move"], async () => (await import("./database/move.ts")).moveCommands],
    [["encryption-key"], async () => (await import("./database/encryptionKey.ts")).encryptionKeyCommands],
  ],
  "Sites and hosts": [
    [["site"], async () => (await import("./site.ts")).siteCommands],
    [["host"], async () => (await import("./host.ts")).hostCommands],
    [["tag"], async () => (await import("./site.ts")).tagCommands],
  ],
  "Keys and people with access": [
    [["key"], async () => (await import("./key.ts")).keyCommands],
    [["api-key"], async () => (await import("./access/apiKey.ts")).apiKeyCommands],
    [["member"], async () => (await import("./access/member.ts")).memberCommands],
    [["share"], async () => (await import("./access/share.ts")).shareCommands],
    [["mcp"], async () => (await import("./access/mcp.ts")).mcpCommands],
    [["audit"], async () => (await import("./operate.ts")).auditCommand],
  ],
  "Senders and platforms": [
    [["source"], async () => (await import("./connections/source.ts")).sourceCommands],
    [["platform"], async () => (await import("./connections/platform.ts")).platformCommands],
    [["connection"], async () => (await import("./connections/connection.ts")).connectionCommands],
    [["sign-in", "oauth"], async () => (await import("./connections/signIn.ts")).signInCommands],
  ],
  "Events and deliveries": [
    [["event", "why"], async () => (await import("./event.ts")).eventCommands],
    [["what-if"], async () => (await import("./whatIf.ts")).whatIfCommands],
    [["delivery"], async () => (await import("./delivery.ts")).deliveryCommands],
    [["quality"], async () => (await import("./quality.ts")).qualityCommands],
    [["correction"], async () => (await import("./correction.ts")).correctionCommands],
    [["backfill"], async () => (await import("./connections/backfill.ts")).backfillCommands],
    [["reconcile"], async () => (await import("./reconcile/reconcile.ts")).reconcileCommands],
  ],
  "People and consent": [[["identity", "person", "consent"], async () => (await import("./person.ts")).personCommands]],
  "Bots, alerts and totals": [
    [["traffic"], async () => (await import("./traffic.ts")).trafficCommands],
    [["alert"], async () => (await import("./alert.ts")).alertCommands],
    [["webhook"], async () => (await import("./webhook.ts")).webhookCommands],
  ],
};

const help: Partial<Help> = {
  /** Every command has options. */
  subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(argumentText)].join(" "),
  /** Without the quotation marks of the parser. */
  optionDescription: (option) => new Help().optionDescription(option).replace(/\(default: "(.*)"\)$/, "(default: $1)"),
};

const argumentText = (one: Argument) => {
  const name = `${one.name()}${one.variadic ? "..." : ""}`;
  return one.required ? `<${name}>` : `[${name}]`;
};

/**
 * With `json`, errors of the arguments are not written by the parser: the caller prints them as JSON. `command` is the name of
 * the command that runs, if it is known.
 */
export async function createProgram(json = false, command?: string): Promise<CliCommand> {
  const program = new CliCommand("cleancast")
    .description("Clean conversions, cast everywhere.")
    .version(readVersion())
    .option("--json", "print JSON")
    .configureHelp(help)
    .showHelpAfterError()
    .exitOverride();
  const all = Object.entries(groups).flatMap(([title, families]) => families.map(([names, load]) => ({ title, names, load })));
  const wanted = all.filter(({ names }) => command !== undefined && names.includes(command));
  const needed = command === "--version" ? [] : wanted.length ? wanted : all;
  const added = await Promise.all(needed.map(async ({ title, load }) => ({ title, add: await load() })));
  program.commandsGroup("Server").helpCommand("help [command]", "show the options of a command");
  for (const { title, add } of added) {
    program.commandsGroup(title);
    add(program);
  }
  for (const one of [program, ...listCommands(program)]) {
    if (one !== program) one.option("--json", "print JSON").exitOverride();
    if (json) one.configureOutput({ writeErr: () => {} }).showHelpAfterError(false);
  }
  return program;
}

/** Lists all commands below one, with their own subcommands after each. */
export function* listCommands(parent: Command): Generator<Command> {
  for (const command of parent.commands) {
    yield command;
    yield* listCommands(command);
  }
}
