// Builds the `cleancast` command with all its subcommands.

import type { Command } from "commander";
import { readVersion } from "../installation/installation.ts";
import { alertCommands } from "./alert.ts";
import { apiKeyCommands } from "./apiKey.ts";
import { backfillCommands } from "./connections/backfill.ts";
import { completionCommands } from "./completion/completion.ts";
import { configurationCommands } from "./configuration.ts";
import { connectionCommands } from "./connections/connection.ts";
import { CliCommand } from "./context.ts";
import { backupCommands } from "./database/backup.ts";
import { encryptionKeyCommands } from "./database/encryptionKey.ts";
import { moveCommands } from "./database/move.ts";
import { deliveryCommands } from "./delivery.ts";
import { eventCommands } from "./event.ts";
import { hostCommands } from "./host.ts";
import { importCommands } from "./import.ts";
import { keyCommands } from "./key.ts";
import { memberCommands } from "./member.ts";
import { operateCommands } from "./operate.ts";
import { personCommands } from "./person.ts";
import { platformCommands } from "./connections/platform.ts";
import { correctionCommands } from "./correction.ts";
import { qualityCommands } from "./quality.ts";
import { reconcileCommands } from "./reconcile/reconcile.ts";
import { signInCommands } from "./connections/signIn.ts";
import { siteCommands, tagCommands } from "./site.ts";
import { trafficCommands } from "./traffic.ts";
import { webhookCommands } from "./webhook.ts";

const all: readonly ((program: CliCommand) => void)[] = [
  operateCommands,
  backupCommands,
  moveCommands,
  encryptionKeyCommands,
  configurationCommands,
  siteCommands,
  hostCommands,
  keyCommands,
  memberCommands,
  apiKeyCommands,
  platformCommands,
  connectionCommands,
  personCommands,
  eventCommands,
  importCommands,
  deliveryCommands,
  qualityCommands,
  correctionCommands,
  backfillCommands,
  reconcileCommands,
  alertCommands,
  tagCommands,
  trafficCommands,
  signInCommands,
  webhookCommands,
  completionCommands,
];

/**
 * With `json`, errors of the arguments are not written by the parser: the caller prints them as JSON. For the command `serve`
 * the others are left out: they would take a tenth of the CPU time of a start.
 */
export function createProgram(json = false, command?: string): CliCommand {
  const program = new CliCommand("cleancast")
    .description("Clean conversions, cast everywhere.")
    .version(readVersion())
    .option("--json", "print JSON")
    .showHelpAfterError()
    .exitOverride();
  const added = command === "serve" ? [operateCommands] : all;
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
