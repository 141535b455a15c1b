// Runs commands without a process each: one process is kept and runs them for all installations and all test files of a
// worker, one after the other. Loading the command line takes as long as a hundred commands.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { CommandRequest } from "./commandLine.ts";

export type Printed = { out: string; err: string; code: number };

const program = fileURLToPath(new URL("./commandLine.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

type CommandLine = { child: ChildProcess; ended: Promise<never>; last: Promise<unknown> };
const kept = new Map<string, CommandLine>();

/** Variables that Node or the relay reads once per process cannot change between commands. */
const readOnce = ["NODE_EXTRA_CA_CERTS", "CLEANCAST_NETWORKS_FILE"];

/** Runs a command with this environment and no other; in the project's folder unless another is given. */
export function commandIn({
  folder = root,
  ...asked
}: Omit<CommandRequest, "folder"> & { folder?: string }): Promise<Printed> {
  const kind = readOnce.map((name) => asked.env[name] ?? "").join("\0");
  let line = kept.get(kind);
  if (!line?.child.connected) {
    line = start(asked.env);
    kept.set(kind, line);
  }
  return next(line, { ...asked, folder });
}

function start(env: Record<string, string>): CommandLine {
  const child = fork(program, { env, execArgv: [] });
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the command line has ended")));
  ended.catch(() => {});
  // The process ends with the worker, and does not keep the worker running.
  child.unref();
  child.channel?.unref();
  return { child, ended, last: Promise.resolve() };
}

function next(line: CommandLine, asked: CommandRequest): Promise<Printed> {
  const printed = line.last.then(async () => {
    const message = once(line.child, "message");
    line.child.send(asked);
    const [result] = (await Promise.race([message, line.ended])) as [Printed];
    return result;
  });
  line.last = printed.catch(() => {});
  return printed;
}
