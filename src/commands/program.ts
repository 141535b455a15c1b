// Builds the `cleancast` command. A group of commands is loaded when one of them runs; for help and unknown names all are.

import type { Command } from "commander";
import { readVersion } from "../installation/installation.ts";
import { CliCommand } from "./context.ts";

type Add = (program: CliCommand) => void;

/** In the order of the help. */
const groups: readonly (readonly [names: readonly string[], load: () => Promise<Add>])[] = [
  [["serve", "migrate", "audit", "doctor"], async () => (await import("./operate.ts")).operateCommands],
  [["backup", "restore-drill", "restore", "check", "vacuum"], async () => (await import("./database/backup.ts")).backupCommands],
  [["move"], async () => (await import("./database/move.ts")).moveCommands],
  [["encryption-key"], async () => (await import("./database/encryptionKey.ts")).encryptionKeyCommands],
  [["apply", "export", "config-schema"], async () => (await import("./configuration.ts")).configurationCommands],
  [["site"], async () => (await import("./site.ts")).siteCommands],
  [["host"], async () => (await import("./host.ts")).hostCommands],
  [["key"], async () => (await import("./key.ts")).keyCommands],
  [["member"], async () => (await import("./access/member.ts")).memberCommands],
  [["api-key"], async () => (await import("./access/apiKey.ts")).apiKeyCommands],
  [["platform"], async () => (await import("./connections/platform.ts")).platformCommands],
  [["connect", "disconnect", "connection"], async () => (await import("./connections/connection.ts")).connectionCommands],
  [["identity", "person", "consent"], async () => (await import("./person.ts")).personCommands],
  [["event", "why"], async () => (await import("./event.ts")).eventCommands],
  [["import"], async () => (await import("./import.ts")).importCommands],
  [["delivery"], async () => (await import("./delivery.ts")).deliveryCommands],
  [["quality"], async () => (await import("./quality.ts")).qualityCommands],
  [["correction"], async () => (await import("./correction.ts")).correctionCommands],
  [["backfill"], async () => (await import("./connections/backfill.ts")).backfillCommands],
  [["reconcile"], async () => (await import("./reconcile/reconcile.ts")).reconcileCommands],
  [["alert"], async () => (await import("./alert.ts")).alertCommands],
  [["tag"], async () => (await import("./site.ts")).tagCommands],
  [["traffic"], async () => (await import("./traffic.ts")).trafficCommands],
  [["sign-in", "oauth"], async () => (await import("./connections/signIn.ts")).signInCommands],
  [["source"], async () => (await import("./connections/source.ts")).sourceCommands],
  [["webhook"], async () => (await import("./webhook.ts")).webhookCommands],
  [["mcp"], async () => (await import("./access/mcp.ts")).mcpCommands],
  // Completes all commands, and so needs all groups.
  [[], async () => (await import("./completion/completion.ts")).completionCommands],
];

/**
 * With `json`, errors of the arguments are not written by the parser: the caller prints them as JSON. `command` is the name of
 * the command that runs, if it is known.
 */
export async function createProgram(json = false, command?: string): Promise<CliCommand> {
  const program = new CliCommand("cleancast")
    .description("Clean conversions, cast everywhere.")
    .version(readVersion())
    .option("--json", "print JSON")
    .showHelpAfterError()
    .exitOverride();
  const wanted = groups.filter(([names]) => command !== undefined && names.includes(command));
  const needed = command === "--version" ? [] : wanted.length ? wanted : groups;
  const added = await Promise.all(needed.map(([, load]) => load()));
  for (const add of added) add(program);
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
