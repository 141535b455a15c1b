// Starts the processes of a benchmark (the relay under test, senders, stubs), ends them with it, and reads their CPU and memory.

import { fork, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

export function keep<Process extends ChildProcess>(child: Process): Process {
  running.add(child);
  child.on("exit", () => running.delete(child));
  return child;
}

export async function end(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

/** A file of this folder that runs as a child process and answers messages. */
export type Child = {
  pid: number;
  ask<Answer>(question: unknown): Promise<Answer>;
  stop: () => Promise<void>;
};

export function startChild(file: string, env: Record<string, string> = {}): Child {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = keep(fork(path, { execArgv: [], env: { ...process.env, ...env } }));
  const died = once(child, "exit").then(() => Promise.reject(new Error(`${file} has ended`)));
  died.catch(() => {});
  let last: Promise<unknown> = Promise.resolve();
  return {
    pid: child.pid as number,
    ask<Answer>(question: unknown) {
      const answered = last.then(async () => {
        const answer = once(child, "message");
        child.send(question as object);
        return (await Promise.race([answer, died]))[0] as Answer;
      });
      last = answered;
      return answered;
    },
    stop: () => end(child),
  };
}

/** Answers the messages of `ask`, in the child process. */
export function answerWith<Question, Answer>(answer: (question: Question) => Promise<Answer> | Answer): void {
  process.on("message", (question: Question) => {
    void Promise.resolve(answer(question)).then((result) => process.send?.(result as object));
  });
  // The parent process has ended.
  process.on("disconnect", () => process.exit(0));
}

/** Keeps all threads of a process on one core. */
export function pinToCore(pid: number, core: number): void {
  const { status, stderr } = spawnSync("taskset", ["-acp", String(core % cpus().length), String(pid)]);
  if (status !== 0) throw new Error(`taskset failed, which is in the package util-linux: ${String(stderr)}`);
}

/** Returns the CPU microseconds that a process has used: all threads, user and system. */
export function cpuOf(pid: number): number {
  const [, , , , , , , , , , , user = 0, system = 0] = statOf(pid);
  return (Number(user) + Number(system)) * tickUs;
}

/** Returns the milliseconds in which the main thread of a process was ready to run and had to wait for a processor. */
export const threadDelay = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ", 2)[1]) / 1e6;

/** Returns the fields after the program's name, which may contain spaces and brackets. */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/** USER_HZ is 100 on every Linux that Node runs on. */
const tickUs = 10_000;

/** Includes child processes, also those that have ended; for a PostgreSQL server. */
export function cpuOfFamily(pid: number): number {
  const [, , , , , , , , , , , user, system, childUser, childSystem] = statOf(pid).map(Number);
  const own = ((user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)) * tickUs;
  return childrenOf(pid).reduce((sum, child) => sum + (ifAlive(() => cpuOf(child)) ?? 0), own);
}

/** Includes all processes of the machine. */
export function cpuOfMachine(): number {
  const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "utf8").split(/\s+/).map(Number);
  return ((user ?? 0) + (nice ?? 0) + (system ?? 0) + (irq ?? 0) + (softirq ?? 0)) * tickUs;
}

export const parentOf = (pid: number) => Number(statOf(pid)[1]);

export function childrenOf(parent: number): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => ifAlive(() => parentOf(pid)) === parent);
}

/** Returns undefined when the process has ended meanwhile. */
export function ifAlive<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function memoryOf(pid: number, field: "VmRSS" | "VmHWM" | "RssAnon" = "VmRSS"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** Runs a command to its end. */
export async function run(command: string, args: string[], cwd: string): Promise<void> {
  const child = keep(spawn(command, args, { cwd, stdio: "inherit" }));
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`);
}

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
