// Runs many commands of the real command line in one process: a process each would take most of the time of a test run.
// Every command has its own arguments, environment and folder, and its output goes back to the test.

import { runCommand } from "../../src/commands/terminal/runCommand.ts";

export type CommandRequest = {
  args: string[];
  env: Record<string, string>;
  folder: string;
  /** Sends what the command prints to standard error at once, too. */
  isStreamed?: boolean;
};

process.on("message", (asked: CommandRequest) => void run(asked));

async function run({ args, env, folder, isStreamed }: CommandRequest): Promise<void> {
  const printed = { out: "", err: "" };
  process.stdout.write = (text: string | Uint8Array) => Boolean((printed.out += String(text)));
  process.stderr.write = (text: string | Uint8Array) => {
    if (isStreamed) process.send?.({ part: String(text) });
    return Boolean((printed.err += String(text)));
  };
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder);
  process.argv = [process.execPath, "cleancast", ...args];
  process.exitCode = 0;
  process.umask(0o077);
  await runCommand();
  process.send?.({ ...printed, code: process.exitCode });
}
