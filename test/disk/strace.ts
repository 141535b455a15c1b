// Records what a relay does to its files with strace, every call of every thread: so a recording has the files of the first
// start, the checkpoints and the folder, too. strace can also let a call fail, as on a full or a broken disk.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { basename, dirname } from "node:path";
import { createInterface } from "node:readline";
import { afterFile, takeAll } from "../support/afterFile.ts";
import { command } from "../support/relay.ts";
import type { DiskCall } from "./diskModel.ts";
import { isRecorded } from "./powerCut.ts";

export function hasStrace(): boolean {
  try {
    return execFileSync("strace", ["-f", "-o", "/dev/null", "true"]).length === 0;
  } catch {
    return false;
  }
}

const traced =
  "openat,write,writev,pwrite64,pwritev,ftruncate,fsync,fdatasync,link,linkat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,sendto,sendmsg";

export type TracedRelay = {
  process: ChildProcess;
  url: string;
  output: () => string;
  /** Resolves when the relay has ended. */
  end: (signal: NodeJS.Signals) => Promise<void>;
};

/** The relays under strace, by process id: they outlive a strace that is killed. */
const running = new Set<number>();

afterFile(() => {
  for (const pid of takeAll(running)) process.kill(pid, "SIGKILL");
});

/** `inject` is a fault such as `fdatasync:error=EIO:when=3`. Null when the relay did not start. */
export async function startTraced(
  env: Record<string, string>,
  trace: string,
  inject: readonly string[] = [],
): Promise<TracedRelay | null> {
  const faults = inject.flatMap((fault) => ["-e", `inject=${fault}`]);
  const options = ["-f", "-y", "-xx", "-s", "2000000", "-e", `trace=${traced}`, "-e", "signal=none", ...faults, "-o", trace];
  const child = spawn("strace", [...options, process.execPath, command, "serve"], { env });
  let output = "";
  const started = new Promise<boolean>((resolve) => {
    child.on("close", () => resolve(false));
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (/is running on https?:/.test(output)) resolve(true);
      });
  });
  const isStarted = await started;
  if (!isStarted) return null;
  const url = (/is running on (https?:\S+)/.exec(output)?.[1] ?? "").replace("localhost", "127.0.0.1");
  // The signal is for the relay: strace itself ends with it.
  const pid = Number(
    execFileSync("pgrep", ["-P", String(child.pid)], { encoding: "utf8" })
      .trim()
      .split("\n")[0],
  );
  running.add(pid);
  child.on("close", () => running.delete(pid));
  return {
    process: child,
    url,
    output: () => output,
    async end(signal) {
      const closed = once(child, "close");
      process.kill(pid, signal);
      await closed;
    },
  };
}

type Line = { thread: string; text: string };

/** Reads the calls of a trace that concern the files of `folder`, and the answers that left the process. */
export async function readTrace(trace: string, folder: string): Promise<DiskCall[]> {
  const reader = new TraceReader(folder);
  const unfinished = new Map<string, { text: string; began: number }>();
  for await (const raw of createInterface({ input: createReadStream(trace) })) {
    const line = readLine(raw);
    if (!line) continue;
    const { thread, text } = line;
    if (text.endsWith("<unfinished ...>")) {
      const begun = text.slice(0, -"<unfinished ...>".length).trimEnd();
      unfinished.set(thread, { text: begun, began: reader.calls.length });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(text);
    const begun = resumed && unfinished.get(thread);
    unfinished.delete(thread);
    if (resumed) reader.read((begun?.text ?? "") + text.slice(resumed[0].length), begun?.began ?? reader.calls.length);
    else reader.read(text, reader.calls.length);
  }
  return reader.calls;
}

function readLine(raw: string): Line | null {
  const match = /^(\d+)\s+(.*)$/s.exec(raw);
  return match ? { thread: match[1] as string, text: match[2] as string } : null;
}

const fromHex = (text: string) => Buffer.from(text.replaceAll("\\x", ""), "hex");
/** Older versions of strace write the paths of descriptors as they are. */
const toPath = (text = "") => (text.startsWith("\\x") ? fromHex(text).toString() : text);

class TraceReader {
  readonly calls: DiskCall[] = [];
  readonly #folder: string;
  /** For calls of write(), which go on where the last one ended. */
  readonly #ends = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(text: string, began: number): void {
    const result = / = (-?\d+)[^=]*$/.exec(text)?.[1];
    const name = /^(\w+)\(/.exec(text)?.[1] ?? "";
    if (result === undefined || Number(result) < 0) return;
    const path = toPath(/^\w+\(\d+<([^>]*)>/.exec(text)?.[1]);
    const file = this.#fileAt(path);
    switch (name) {
      case "openat":
        return this.#open(text);
      case "pwrite64": {
        const [, data = "", at] = /, "([^"]*)", \d+, (\d+)\)/.exec(text) ?? [];
        if (file && at === undefined) throw new Error(`not understood: ${text.slice(-200)}`);
        if (file) this.#write(file, Number(at), fromHex(data), Number(result));
        return;
      }
      case "write": {
        const [, data = ""] = /, "([^"]*)"/.exec(text) ?? [];
        if (file) this.#write(file, this.#ends.get(file) ?? 0, fromHex(data), Number(result));
        else this.#answer(fromHex(data));
        return;
      }
      case "writev":
      case "sendto":
      case "sendmsg":
        if (file) throw new Error(`${name} to ${path} is not expected`);
        return this.#answer(Buffer.concat([...text.matchAll(/"([^"]*)"/g)].map(([, data = ""]) => fromHex(data))));
      case "ftruncate":
        if (file) this.calls.push({ kind: "truncate", file, size: Number(/, (\d+)\)/.exec(text)?.[1]) });
        return;
      case "fsync":
      case "fdatasync":
        if (file) this.calls.push({ kind: "sync", file, began });
        else if (path === this.#folder) this.calls.push({ kind: "sync folder", began });
        else if (path === dirname(this.#folder)) this.calls.push({ kind: "sync parent of folder", began });
        return;
      case "mkdir":
      case "mkdirat":
        if (pathsIn(text).includes(this.#folder)) this.calls.push({ kind: "create folder" });
        return;
      case "unlink":
      case "unlinkat":
        return this.#remove(text);
      default:
        return this.#rename(text, name.startsWith("link") ? "link" : "rename");
    }
  }

  /** The name of a recorded file; null for other files. */
  #fileAt(path: string): string | null {
    const name = basename(path);
    return dirname(path) === this.#folder && isRecorded(name) ? name : null;
  }

  #open(text: string): void {
    const path = toPath(/ = \d+<([^>]*)>/.exec(text)?.[1]);
    const file = this.#fileAt(path.replace(/ \(deleted\)$/, ""));
    if (!file) return;
    this.#ends.set(file, 0);
    if (!text.includes("O_CREAT") || this.#known.has(file)) return;
    this.#known.add(file);
    this.calls.push({ kind: "create", file });
  }

  #write(file: string, at: number, data: Buffer, written: number): void {
    this.#ends.set(file, at + written);
    this.calls.push({ kind: "write", file, at, data: data.subarray(0, written) });
  }

  /** Events are answered with their names, and keys are shown when they are made. */
  #answer(data: Buffer): void {
    const text = data.toString("latin1");
    if (text.includes("HTTP/1.1 200"))
      for (const [, promise = ""] of text.matchAll(/"event":"([^"]*)"/g)) this.calls.push({ kind: "answer", promise });
    for (const [promise] of text.matchAll(/\bcc_[0-9A-Za-z]{38}\b/g)) this.calls.push({ kind: "answer", promise });
  }

  #remove(text: string): void {
    for (const path of pathsIn(text)) {
      const file = this.#fileAt(path);
      if (!file || !this.#known.delete(file)) continue;
      this.calls.push({ kind: "remove", file });
    }
  }

  #rename(text: string, kind: "link" | "rename"): void {
    const [from = "", to = ""] = pathsIn(text);
    const [file, target] = [this.#fileAt(from), this.#fileAt(to)];
    if (!file || !target) return;
    if (kind === "rename") this.#known.delete(file);
    this.#known.add(target);
    this.calls.push({ kind, file, to: target });
  }
}

const pathsIn = (text: string) => [...text.matchAll(/"((?:\\x[0-9a-f]{2})+)"/g)].map(([, path = ""]) => fromHex(path).toString());
