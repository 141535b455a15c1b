// Runs the command that the arguments of the process name, and prints its errors.

import { CommanderError } from "commander";
import { TagNotBuilt } from "../../identity/tagScript.ts";
import { ConfigFaults } from "../../installation/config.ts";
import { isOperatorError } from "../../installation/installation.ts";
import { toJson } from "../../kernel/messages/message.ts";
import { describeRefusal, Refusal, type RefusalCode } from "../../kernel/refusal.ts";
import { createProgram } from "../program.ts";
import { exitCodeOf } from "./exitCodes.ts";
import { asInvoked } from "./invocation.ts";

export async function runCommand(): Promise<void> {
  const json = process.argv.includes("--json");
  try {
    await (await createProgram(json, process.argv[2])).parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // The parser has written its own errors, unless they are printed as JSON.
    if (!(error instanceof CommanderError) || (json && error.exitCode !== 0)) printError(error, json);
  }
}

function printError(error: unknown, json: boolean): void {
  const message = textOf(error);
  const shown = error instanceof Refusal ? describeRefusal(error, message) : { error: { code: codeOf(error), message } };
  process.stderr.write(`${json ? toJson(shown) : asInvoked(message)}\n`);
}

const codeOf = (error: unknown): RefusalCode => (error instanceof CommanderError ? "invalid" : "internal");

/** Returns one sentence for errors that a person can correct; anything else is a defect, and shows its stack. */
function textOf(error: unknown): string {
  if (error instanceof CommanderError) return error.message.replace(/^error: /, "");
  if (error instanceof Refusal) return error.forOperator;
  // "Cleancast cannot start" would be wrong for the other commands.
  if (error instanceof ConfigFaults && !process.argv.includes("serve")) return error.faults.join("\n");
  if (error instanceof TagNotBuilt || error instanceof ConfigFaults || isOperatorError(error)) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
