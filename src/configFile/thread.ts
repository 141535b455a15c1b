// The program of the thread that parses one configuration file (readDocument.ts).

import { parentPort, workerData } from "node:worker_threads";
import { Refusal } from "../kernel/refusal.ts";
import { parseFile } from "./document.ts";
import type { FromThread } from "./readDocument.ts";

const { name, text } = workerData as { name: string; text: string };

function parse(): FromThread {
  try {
    return { parsed: parseFile(name, text) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { refused: { field: error.field, said: error.said, faults: error.faults ?? [] } };
  }
}

const port = parentPort;
if (!port) throw new Error("this is the program of a thread");
const send = (message: FromThread) => port.postMessage(message);
send(parse());
