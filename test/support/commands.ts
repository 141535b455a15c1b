// Runs commands without a process each: one process is kept and runs them for all installations and all test files of a
// worker, one after the other. Loading the command line takes as long as a hundred commands.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { CommandRequest } from "./commandLine.ts";
import { checkSentences } from "./sentences.ts";

export type Printed = { out: string; err: string; code: number };

const program = fileURLToPath(new URL("./commandLine.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

type CommandLine = { child: ChildProcess; ended: Promise<never>; last: Promise<unknown> };
const kept = new Map<string, CommandLine>();

/** Variables that Node or the relay reads once per process cannot change between commands. */
const readOnce = ["NODE_EXTRA_CA_CERTS", "CLEANCAST_NETWORKS_FILE"];

type Asked = Omit<CommandRequest, "folder" | "isStreamed"> & {
  folder?: string;
  /** Gets what the command prints to standard error while it runs. Such commands wait, so they have a process to themselves. */
  onError?: (text: string) => void;
};

/** Runs a command with this environment and no other; in the project's folder unless another is given. */
export function commandIn({ folder = root, onError, ...asked }: Asked): Promise<Printed> {
  const kind = [onError ? "waits" : "", ...readOnce.map((name) => asked.env[name] ?? "")].join("\0");
  let line = kept.get(kind);
  if (!line?.child.connected) {
    line = start(asked.env);
    kept.set(kind, line);
  }
  return next(line, { ...asked, folder, isStreamed: onError !== undefined }, onError);
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

function next(line: CommandLine, asked: CommandRequest, onError: Asked["onError"]): Promise<Printed> {
  const printed = line.last.then(async () => {
    // Several messages may arrive at once, so the listener stays until the last one.
    const result = new Promise<Printed>((resolve) => {
      const read = (message: Printed | { part: string }) => {
        if ("part" in message) return onError?.(message.part);
        line.child.off("message", read);
        resolve(message);
      };
      line.child.on("message", read);
    });
    line.child.send(asked);
    const whole = await Promise.race([result, line.ended]);
    checkSentences(whole.out + whole.err);
    return whole;
  });
  line.last = printed.catch(() => {});
  return printed;
}
