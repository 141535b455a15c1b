// A relay that records what becomes durable, on any machine and without any rights: what its log has that it had not before,
// whenever the relay begins to sync it; the end of each sync; and each answer with the header `x-test-event`. The calls are
// lines of JSON in the folder CLEANCAST_TEST_RECORD, which has the data as they were when the log was opened, too. Syncs are
// slow, so that events arrive during one. With CLEANCAST_TEST_FAIL_SYNC=5 the fifth sync fails, as on a broken disk.
//
// SQLite syncs by itself only when it checkpoints or begins its log anew, which no short test of a running relay reaches.

import fs, { appendFileSync, cpSync } from "node:fs";
import { ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import type { DiskCall } from "./diskModel.ts";

const record = process.env["CLEANCAST_TEST_RECORD"] ?? "";
const failing = Number(process.env["CLEANCAST_TEST_FAIL_SYNC"] ?? 0);
const pageBytes = 4096;
const syncMs = 4;
let calls = 0;
let syncs = 0;

export type RecordedCall = Exclude<DiskCall, { data: Buffer }> | { kind: "write"; file: string; at: number; data: string };

function note(call: RecordedCall): void {
  appendFileSync(join(record, "calls"), `${JSON.stringify(call)}\n`);
  calls += 1;
}

/** What each file had when it was opened, or when its last sync began. */
const known = new Map<string, Buffer>();

/** Notes the parts of a file that have changed since it was opened, or since its last sync began. */
function noteWrites(path: string): void {
  const now = fs.readFileSync(path);
  const before = known.get(path);
  known.set(path, now);
  if (!before) return cpSync(dirname(path), join(record, "start"), { recursive: true });
  for (let at = 0; at < now.length; at += pageBytes) {
    const part = now.subarray(at, at + pageBytes);
    if (part.equals(before.subarray(at, at + pageBytes))) continue;
    note({ kind: "write", file: basename(path), at, data: part.toString("base64") });
  }
}

const { open, fdatasync } = fs;

/** The paths of the logs that are open, by descriptor. */
const paths = new Map<number, string>();

function recordOpen(path: string, ...rest: [...unknown[], (error: unknown, fd: number) => void]): void {
  const callback = rest.pop() as (error: unknown, fd: number) => void;
  const onOpen = (error: unknown, fd: number) => {
    if (!error && path.endsWith("-wal")) {
      paths.set(fd, path);
      noteWrites(path);
    }
    callback(error, fd);
  };
  Reflect.apply(open, fs, [path, ...rest, onOpen]);
}

function recordSync(fd: number, callback: (error: NodeJS.ErrnoException | null) => void): void {
  const path = paths.get(fd);
  if (path === undefined) throw new Error("a file is synced that is not known as a log");
  noteWrites(path);
  const began = calls;
  syncs += 1;
  if (syncs === failing) {
    callback(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO", syscall: "fdatasync" }));
    return;
  }
  const sync = () =>
    fdatasync(fd, (error) => {
      if (!error) note({ kind: "sync", file: basename(path), began });
      callback(error);
    });
  setTimeout(sync, syncMs);
}
Object.assign(fs, { open: recordOpen, fdatasync: recordSync });
syncBuiltinESMExports();

// oxlint-disable-next-line typescript/unbound-method -- called on the object that it was taken from
const { end } = ServerResponse.prototype;
ServerResponse.prototype.end = function (this: ServerResponse, ...args: unknown[]) {
  const name = this.req.headers["x-test-event"];
  if (typeof name === "string" && this.statusCode === 200) note({ kind: "answer", promise: name });
  return Reflect.apply(end, this, args) as ServerResponse;
} as typeof end;

await import("../../src/cli.ts");
