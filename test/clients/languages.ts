// Runs a client in its own language: one process for each, which reads a call per line and prints its outcome.

import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterFile, takeAll } from "../support/afterFile.ts";
import { freshFolder } from "../support/databases.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const drivers = join(root, "test/clients/drivers");

type Language = {
  name: string;
  isInstalled: () => boolean;
  /** Returns the command that starts the driver, after building what has to be built. */
  prepare: () => string[];
};

const runs = (...command: string[]) => spawnSync(command[0] as string, command.slice(1)).status === 0;

export const languages: readonly Language[] = [
  {
    name: "Node",
    isInstalled: () => true,
    prepare: () => [process.execPath, join(drivers, "node.mjs"), buildNodeClient()],
  },
  {
    // The oldest Node that is supported is 18: the one on the path is often older than the project's own.
    name: "the Node on the path",
    isInstalled: () => runs("node", "-e", "process.exit(parseInt(process.versions.node) >= 18 ? 0 : 1)"),
    prepare: () => ["node", join(drivers, "node.mjs"), buildNodeClient()],
  },
  {
    name: "Deno",
    isInstalled: () => runs("deno", "--version"),
    prepare: () => ["deno", "run", "-A", join(drivers, "node.mjs"), buildNodeClient()],
  },
  {
    name: "Bun",
    isInstalled: () => runs("bun", "--version"),
    prepare: () => ["bun", join(drivers, "node.mjs"), buildNodeClient()],
  },
  {
    name: "Python",
    isInstalled: () => runs("python3", "--version"),
    prepare: () => ["python3", "-B", "-u", join(drivers, "driver.py"), join(root, "clients/python")],
  },
  {
    name: "PHP",
    isInstalled: () => runs("php", "--version"),
    prepare: () => ["php", join(drivers, "driver.php"), join(root, "clients/php/cleancast.php")],
  },
  {
    name: "Go",
    isInstalled: () => runs("go", "version"),
    prepare: () => [buildGoDriver()],
  },
];

let nodeClient: string | undefined;

afterFile(() => {
  // The folder ends with the file.
  nodeClient = undefined;
});

/** Compiles the Node client as its `prepack` does, and returns the folder. */
export function buildNodeClient(): string {
  if (nodeClient) return nodeClient;
  const folder = freshFolder();
  must("npx", "tsc", "-p", join(root, "clients/node"), "--outDir", folder);
  return (nodeClient = folder);
}

function buildGoDriver(): string {
  const folder = freshFolder();
  cpSync(join(root, "clients/go"), join(folder, "cleancast"), { recursive: true });
  cpSync(join(drivers, "go"), folder, { recursive: true });
  const built = join(folder, "driver");
  const { status, stderr } = spawnSync("go", ["build", "-o", built, "."], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`go build failed: ${stderr}`);
  return built;
}

function must(...command: string[]): void {
  const { status, stdout, stderr } = spawnSync(command[0] as string, command.slice(1), {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command.join(" ")} failed: ${stdout}${stderr}`);
}

type Call = {
  call: "send" | "sendBatch";
  options: Record<string, unknown>;
  conversions: readonly unknown[];
};
/** `dump` is all that the language prints of the client and of its error. */
export type Reply = { outcomes?: Record<string, unknown>[]; invalid?: string; dump: string };

export type Driver = {
  run(call: Call): Promise<Reply>;
  /** Everything that the process printed. */
  printed(): string;
};

const running = new Set<ChildProcessWithoutNullStreams>();

afterFile(async () => {
  for (const child of takeAll(running)) {
    if (child.exitCode !== null) continue;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
});

export function startDriver({ name, prepare }: Language): Driver {
  const [program = "", ...args] = prepare();
  const child = spawn(program, args);
  running.add(child);
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(call) {
      child.stdin.write(`${JSON.stringify(call)}\n`);
      const { done, value } = await lines.next();
      if (done) throw new Error(`the ${name} driver ended: ${printed}`);
      printed += `${value}\n`;
      return JSON.parse(value) as Reply;
    },
    printed: () => printed,
  };
}
