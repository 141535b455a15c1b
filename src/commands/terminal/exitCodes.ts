// The exit codes of all commands. docs/reference/cli.md explains them to the authors of scripts.

import { CommanderError } from "commander";
import { Conflict, Refusal, type RefusalCode } from "../../kernel/refusal.ts";

export const exitCodes = {
  ok: 0,
  /** Something broke, or a check found a problem. */
  failed: 1,
  /** The command line is wrong: a command, an option or a value that does not exist or is not valid. */
  usage: 2,
  /** The named site, key, event … does not exist. */
  notFound: 3,
  /** The command is valid, and was refused: it needs --yes, or the present state does not allow it. */
  refused: 4,
} as const;

/** All other refusals exit with `refused`. */
const ofRefusals: Partial<Record<RefusalCode, number>> = {
  invalid: exitCodes.usage,
  not_found: exitCodes.notFound,
  internal: exitCodes.failed,
  unavailable: exitCodes.failed,
};

export function exitCodeOf(error: unknown): number {
  // The parser also throws after --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (!(error instanceof Refusal)) return exitCodes.failed;
  if (error instanceof Conflict) return exitCodes.refused;
  return ofRefusals[error.code] ?? exitCodes.refused;
}
