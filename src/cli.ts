// The `cleancast` command.

import { CommanderError, type Command } from "commander";
import { alertCommands } from "./commands/alert.ts";
import { backfillCommands } from "./commands/backfill.ts";
import { backupCommands } from "./commands/backup.ts";
import { connectionCommands, signInCommands } from "./commands/connection.ts";
import { CliCommand } from "./commands/context.ts";
import { deliveryCommands } from "./commands/delivery.ts";
import { encryptionKeyCommands } from "./commands/encryptionKey.ts";
import { eventCommands } from "./commands/event.ts";
import { hostCommands } from "./commands/host.ts";
import { importCommands } from "./commands/import.ts";
import { keyCommands } from "./commands/key.ts";
import { memberCommands } from "./commands/member.ts";
import { moveCommands } from "./commands/move.ts";
import { operateCommands } from "./commands/operate.ts";
import { personCommands } from "./commands/person.ts";
import { siteCommands, tagCommands } from "./commands/site.ts";
import { trafficCommands } from "./commands/traffic.ts";
import { webhookCommands } from "./commands/webhook.ts";
import { TagNotBuilt } from "./identity/tagScript.ts";
import { ConfigFaults } from "./installation/config.ts";
import { isOperatorError, readVersion } from "./installation/installation.ts";
import { Refusal } from "./kernel/refusal.ts";

// Files that commands create are readable only by their owner.
process.umask(0o077);

const program = new CliCommand("cleancast")
  .description("Clean conversions, cast everywhere.")
  .version(readVersion())
  .option("--json", "print JSON")
  .showHelpAfterError()
  .exitOverride();

operateCommands(program);
backupCommands(program);
moveCommands(program);
encryptionKeyCommands(program);
siteCommands(program);
hostCommands(program);
keyCommands(program);
memberCommands(program);
connectionCommands(program);
personCommands(program);
eventCommands(program);
importCommands(program);
deliveryCommands(program);
backfillCommands(program);
alertCommands(program);
tagCommands(program);
trafficCommands(program);
signInCommands(program);
webhookCommands(program);
const json = process.argv.includes("--json");
for (const command of [program, ...allCommands(program)]) {
  if (command !== program) command.option("--json", "print JSON").exitOverride();
  if (json) command.configureOutput({ writeErr: () => {} }).showHelpAfterError(false);
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) fail(error);
  else {
    if (json && error.exitCode !== 0) {
      const message = error.message.replace(/^error: /, "");
      process.stderr.write(`${JSON.stringify({ ok: false, error: message })}\n`);
    }
    process.exitCode = error.exitCode;
  }
}

function* allCommands(parent: Command): Generator<Command> {
  for (const command of parent.commands) {
    yield command;
    yield* allCommands(command);
  }
}

/** Prints one sentence for errors that a person can correct; anything else is a defect, and shows its stack. */
function fail(error: unknown): void {
  const message = textOf(error);
  const field = error instanceof Refusal && error.field ? { field: error.field } : {};
  process.stderr.write(`${json ? JSON.stringify({ ok: false, error: message, ...field }) : message}\n`);
  process.exitCode = 1;
}

function textOf(error: unknown): string {
  if (error instanceof Refusal) return error.forOperator;
  if (error instanceof TagNotBuilt || error instanceof ConfigFaults || isOperatorError(error))
    return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
