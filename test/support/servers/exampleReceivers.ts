// Runs the example receivers of docs/examples, in every language that is installed here.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterFile, takeAll } from "../afterFile.ts";
import { freshFolder } from "../databases.ts";
import { call, eventually } from "../relay.ts";

const examples = fileURLToPath(new URL("../../../docs/examples", import.meta.url));

type Language = { name: string; program: string; ending: string };

const languages: Language[] = [
  { name: "Node", program: process.execPath, ending: "mjs" },
  { name: "Python", program: "python3", ending: "py" },
  { name: "PHP", program: "php", ending: "php" },
];

export const installedLanguages = languages.filter(({ name, program }) => {
  const isInstalled = spawnSync(program, ["--version"]).status === 0;
  if (!isInstalled) console.log(`${name} is not installed here: its receivers are not run.`);
  return isInstalled;
});

const running = new Set<ChildProcess>();

afterFile(async () => {
  for (const child of takeAll(running)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
});

/** Starts an example with the given secrets, and returns its output so far. `example` is the file's name without its ending. */
export async function startExample(
  { name, program, ending }: Language,
  example: string,
  { port, secrets }: { port: number; secrets: string },
): Promise<() => string> {
  let output = "";
  const folder = freshFolder();
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    PORT: String(port),
    WEBHOOK_SECRET: secrets,
    TOTALS_FILE: join(folder, "totals.json"),
    SEEN_FILE: join(folder, "seen.json"),
  };
  const file = join(examples, `${example}.${ending}`);
  const child = spawn(program, ending === "php" ? ["-S", `127.0.0.1:${port}`, file] : [file], { env });
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  await eventually(`the receiver in ${name} answers`, () =>
    call(`http://127.0.0.1:${port}`, { path: "/" }).then(
      () => true,
      () => false,
    ),
  );
  return () => output;
}
