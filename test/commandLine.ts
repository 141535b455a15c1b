// The real command line, many commands in one process: a process each would cost most of the time of a test run.
// Every command runs cli.ts afresh, with its own arguments, and its output goes back to the test.

const cli = new URL("../src/cli.ts", import.meta.url).href;
let commands = 0;

process.on("message", (args: string[]) => void run(args));

async function run(args: string[]): Promise<void> {
  const printed = { out: "", err: "" };
  process.stdout.write = (text: string | Uint8Array) => Boolean((printed.out += String(text)));
  process.stderr.write = (text: string | Uint8Array) => Boolean((printed.err += String(text)));
  process.argv = [process.execPath, "cleancast", ...args];
  process.exitCode = 0;
  commands += 1;
  // Another query is another module to Node: its top level, which is the whole command, runs again.
  await import(`${cli}?${commands}`);
  process.send?.({ ...printed, code: process.exitCode });
}
