// The program of the thread that parses configuration files (readDocument.ts).

import { parentPort } from "node:worker_threads";
import { Refusal } from "../kernel/refusal.ts";
import { lowerThreadPriority } from "../background/threadPriority.ts";
import { BadFile, parseFile } from "./document.ts";
import type { FromThread } from "./readDocument.ts";

function parse({ name, text }: { name: string; text: string }): FromThread {
  try {
    return { parsed: parseFile(name, text) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: { field: error.field, said: error.said, faults: error instanceof BadFile ? error.faults : [] } };
  }
}

const port = parentPort;
if (!port) throw new Error("this is the program of a thread");
lowerThreadPriority();
// The parser makes an error for each fault of the syntax: stacks of hundreds of thousands would fill the memory.
Error.stackTraceLimit = 1;
port.on("message", (file: { name: string; text: string }) => port.postMessage(parse(file)));
