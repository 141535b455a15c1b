// Reads a table in a thread of its own: parsing a file of one site must not delay the conversions of others. Bytes go there
// and rows come back in small pieces, only as many as are wanted.

import { Worker } from "node:worker_threads";
import { say } from "../kernel/messages/message.ts";
import { Denied, Refusal } from "../kernel/refusal.ts";
import type { Table, TableRow } from "./table.ts";

export type FromThread =
  | { kind: "wants bytes" }
  | { kind: "head"; head: Omit<Table, "rows" | "close"> }
  | { kind: "rows"; rows: TableRow[]; isLast: boolean }
  | { kind: "refused"; field: string; said: string };

/** No piece is the end of the file. */
export type ToThread = { kind: "bytes"; piece: Uint8Array | null } | { kind: "wants rows" };

type Sent = Exclude<FromThread, { kind: "wants bytes" | "refused" }>;

/** Copying a piece takes microseconds. */
const pieceBytes = 64 * 1024;
/** How long a thread that has bytes may let its reader wait, which is far more than any file needs. */
const maxStepMs = 20_000;
const maxHeapMb = 256;
/** Of one site, at the same time. */
const maxThreads = 2;

const running = new Map<string, number>();
// In the bundle the program is next to this file.
const program = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./tableThread.js", import.meta.url);

/** Reads the file of a site, named in messages as `name`. The thread ends with the last row, or when no more are read. */
export async function readTable(siteId: string, bytes: AsyncIterable<Buffer>, name: string): Promise<Table> {
  const others = running.get(siteId) ?? 0;
  if (others >= maxThreads) throw new Denied("too_many", say("too_many_files"), 5);
  running.set(siteId, others + 1);
  const thread = startThread(bytes, name, () => {
    const left = (running.get(siteId) ?? 1) - 1;
    if (left > 0) running.set(siteId, left);
    else running.delete(siteId);
  });
  const first = await thread.receive();
  if (first.kind !== "head") throw new Error("the thread sent rows before the head");
  return { ...first.head, rows: rowsOf(thread), close: thread.end };
}

async function* rowsOf(thread: Thread): AsyncGenerator<TableRow> {
  try {
    for (;;) {
      const sent = await thread.receive();
      if (sent.kind !== "rows") throw new Error("the thread sent no rows");
      // It reads on while these are used.
      if (!sent.isLast) thread.wantRows();
      yield* sent.rows;
      if (sent.isLast) return;
    }
  } finally {
    thread.end();
  }
}

type Thread = { receive: () => Promise<Sent>; wantRows: () => void; end: () => void };

function startThread(bytes: AsyncIterable<Buffer>, name: string, onEnd: () => void): Thread {
  const pieces = piecesOf(bytes);
  const worker = new Worker(program, {
    workerData: { name },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  const received: (Sent | Error)[] = [];
  let waiting: PromiseWithResolvers<Sent> | null = null;
  let isFetching = false;
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
  /** Whatever a file holds, its reading ends. A slow source or a slow reader is no fault of the file. */
  const onStall = () => take(new Refusal("file", say("file_too_slow", { seconds: maxStepMs / 1000 })));
  const watch = () => {
    clearTimeout(timer);
    if (waiting && !isFetching && !isEnded) timer = setTimeout(onStall, maxStepMs);
  };
  const send = (message: ToThread, transferred: ArrayBuffer[] = []) => {
    if (!isEnded) worker.postMessage(message, transferred);
  };
  const sendPiece = (piece: Uint8Array<ArrayBuffer> | null) => {
    isFetching = false;
    watch();
    send({ kind: "bytes", piece }, piece ? [piece.buffer] : []);
  };
  const fetchPiece = () => {
    isFetching = true;
    watch();
    pieces.next().then(
      ({ done, value }) => sendPiece(done ? null : value),
      (error: unknown) => take(error as Error),
    );
  };

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    clearTimeout(timer);
    onEnd();
    void worker.terminate();
    void pieces.return(undefined);
  }

  function take(one: Sent | Error): void {
    if (one instanceof Error) end();
    if (!waiting) return void received.push(one);
    const { resolve, reject } = waiting;
    waiting = null;
    watch();
    if (one instanceof Error) reject(one);
    else resolve(one);
  }

  worker.on("message", (message: FromThread) => {
    if (message.kind === "refused") take(new Refusal(message.field, message.said));
    else if (message.kind === "wants bytes") fetchPiece();
    else take(message);
  });
  worker.on("error", (error) => take(error as Error));
  worker.on("exit", () => {
    if (!isEnded) take(new Error("the thread that reads a file has ended"));
  });

  return {
    end,
    wantRows: () => send({ kind: "wants rows" }),
    receive() {
      const first = received.shift();
      if (first instanceof Error) return Promise.reject(first);
      if (first) return Promise.resolve(first);
      waiting = Promise.withResolvers<Sent>();
      watch();
      return waiting.promise;
    },
  };
}

/** Copies the bytes in pieces, which are then handed over: a message with a part of a buffer would copy all of the buffer. */
async function* piecesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const buffer of bytes)
    for (let at = 0; at < buffer.length; at += pieceBytes) yield new Uint8Array(buffer.subarray(at, at + pieceBytes));
}
