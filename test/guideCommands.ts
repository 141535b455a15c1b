// The real command line for the guides: as commandLine.ts, for many installations and folders, one command after the other.

const cli = new URL("../src/cli.ts", import.meta.url).href;
const isCli = (args: readonly string[]) => args[0] === "cleancast";
let commands = 0;

export type Asked = { args: string[]; env: Record<string, string>; folder: string };

process.on("message", (asked: Asked) => void run(asked));

async function run({ args, env, folder }: Asked): Promise<void> {
  const printed = { out: "", err: "" };
  process.stdout.write = (text: string | Uint8Array) => Boolean((printed.out += String(text)));
  process.stderr.write = (text: string | Uint8Array) => Boolean((printed.err += String(text)));
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder);
  process.argv = [process.execPath, "cleancast", ...args.slice(isCli(args) ? 1 : 0)];
  process.exitCode = 0;
  commands += 1;
  await import(`${cli}?${commands}`);
  process.send?.({ ...printed, code: process.exitCode });
}
