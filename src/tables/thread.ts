// The program of the thread that reads one table (readTable.ts). It asks for the bytes piece by piece, and sends rows in groups,
// at most one more than was asked for.

import { parentPort, workerData } from "node:worker_threads";
import { Refusal } from "../kernel/refusal.ts";
import { lowerThreadPriority } from "../background/threadPriority.ts";
import { createTable } from "./source.ts";
import type { TableRow } from "./table.ts";
import type { FromThread, ToThread } from "./readTable.ts";

/** Taking a group over in the other thread takes about a millisecond. */
const maxGroupRows = 200;
const maxGroupBytes = 128 * 1024;

const port = parentPort;
if (!port) throw new Error("this is the program of a thread");
lowerThreadPriority();
const send = (message: FromThread) => port.postMessage(message);

let onPiece: (piece: Uint8Array | null) => void = () => {};
let onWanted: () => void = () => {};
port.on("message", (message: ToThread) => {
  if (message.kind === "bytes") onPiece(message.piece);
  else onWanted();
});

async function* pieces(): AsyncGenerator<Buffer> {
  for (;;) {
    const piece = await new Promise<Uint8Array | null>((resolve) => {
      onPiece = resolve;
      send({ kind: "wants bytes" });
    });
    if (!piece) return;
    yield Buffer.from(piece);
  }
}

const sendRows = (rows: TableRow[]) =>
  new Promise<void>((resolve) => {
    onWanted = resolve;
    send({ kind: "rows", rows, isLast: false });
  });

try {
  const { rows, close: _close, ...head } = await createTable(pieces(), (workerData as { name: string }).name);
  send({ kind: "head", head });
  let group: TableRow[] = [];
  let began = 0;
  for await (const row of rows) {
    group.push(row);
    if (group.length < maxGroupRows && row.bytes - began < maxGroupBytes) continue;
    await sendRows(group);
    group = [];
    began = row.bytes;
  }
  send({ kind: "rows", rows: group, isLast: true });
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  send({ kind: "refused", field: error.field, said: error.said });
} finally {
  port.close();
}
