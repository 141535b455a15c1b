// Runs many commands of the real command line in one process: a process each would take most of the time of a test run.
// Every command runs cli.ts again, with its own arguments, environment and folder, and its output goes back to the test.

const cli = new URL("../../src/cli.ts", import.meta.url).href;
let commands = 0;

export type CommandRequest = { args: string[]; env: Record<string, string>; folder: string };

process.on("message", (asked: CommandRequest) => void run(asked));

async function run({ args, env, folder }: CommandRequest): Promise<void> {
  const printed = { out: "", err: "" };
  process.stdout.write = (text: string | Uint8Array) => Boolean((printed.out += String(text)));
  process.stderr.write = (text: string | Uint8Array) => Boolean((printed.err += String(text)));
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder);
  process.argv = [process.execPath, "cleancast", ...args];
  process.exitCode = 0;
  commands += 1;
  // A different query string makes Node load the module again; its top level is the whole command.
  await import(`${cli}?${commands}`);
  process.send?.({ ...printed, code: process.exitCode });
}
