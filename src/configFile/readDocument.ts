// Parses a configuration file in a thread of its own: a large one must not delay conversions.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Late, within } from "../kernel/deadline.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, Refusal, type PlacedFault } from "../kernel/refusal.ts";
import { BadFile, toDocument, type FileDocument, type ParsedFile } from "./document.ts";

export type FromThread = { parsed: ParsedFile } | { refused: { field: string; said: string; faults: readonly PlacedFault[] } };

const maxMs = 20_000;
const maxHeapMb = 512;
const maxIdleMs = 5000;
/** Files are parsed one after the other, so that many at once take neither the memory nor the processors. */
const maxWaiting = 8;
// In the bundle the program is next to this file.
const program = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./documentThread.js", import.meta.url);

const tooSlow = `The file could not be read: it took longer than ${maxMs / 1000} seconds.`;

function toRefusal(error: unknown): never {
  throw error instanceof Late ? new Refusal("file", error.message) : error;
}

let turn: Promise<unknown> = Promise.resolve();
let waiting = 0;

export async function readDocument(name: string, text: string): Promise<FileDocument> {
  if (waiting >= maxWaiting) throw new Denied("too_many", say("too_many_requests"), 5);
  waiting += 1;
  const own = turn.then(() => readInThread(name, text)).finally(() => (waiting -= 1));
  turn = own.catch(() => {});
  return own;
}

/** A thread that waits for the next file, because starting one takes longer than parsing most files. */
let idle: { worker: Worker; timer: NodeJS.Timeout } | null = null;

function takeThread(): Worker {
  if (!idle) return new Worker(program, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
  const { worker, timer } = idle;
  idle = null;
  clearTimeout(timer);
  worker.ref();
  return worker;
}

function keepThread(worker: Worker): void {
  worker.unref();
  const timer = setTimeout(() => {
    idle = null;
    void worker.terminate();
  }, maxIdleMs);
  timer.unref();
  idle = { worker, timer };
}

async function readInThread(name: string, text: string): Promise<FileDocument> {
  const worker = takeThread();
  let message: FromThread;
  try {
    worker.postMessage({ name, text }, []);
    [message] = (await within(maxMs, once(worker, "message"), tooSlow, Late).catch(toRefusal)) as [FromThread];
  } catch (error) {
    void worker.terminate();
    throw error;
  }
  keepThread(worker);
  if ("parsed" in message) return toDocument(message.parsed);
  const { field, said, faults } = message.refused;
  throw faults.length ? new BadFile(name, faults) : new Refusal(field, said);
}
