// The format of a backup: lines of JSON, compressed with gzip, and at the very end the SHA-256 of all bytes before. All of it
// may be encrypted (backups/encryption.ts).
//
//   {"cleancast":"backup","format":1,"schema":10,…}           the header
//   {"table":"events","columns":["site_id","id",…]}           a table begins
//   ["s1","0198…",…]                                          its rows
//   {"end":"events","rows":2,"sha256":"…"}                    a table ends: the number of its rows, and the hash of their lines
//   {"end":"backup","tables":34,"rows":99}                    without this line, or the hash after it, the file is cut off

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, createGzip } from "node:zlib";
import { errorCode } from "../kernel/errorCode.ts";
import { Conflict, Refusal } from "../kernel/refusal.ts";
import type { Value } from "../store/engine/database.ts";
import { decryptBytes, encryptBytes, readBackupHeader, type BackupSecret } from "./backups/encryption.ts";

export type Header = {
  cleancast: "backup";
  format: 1;
  schema: number;
  engine: "sqlite" | "postgres";
  /** The version of Cleancast. */
  version: string;
  madeAt: string;
};

export type Part =
  | { part: "header"; header: Header }
  | { part: "table"; table: string; columns: readonly string[] }
  | { part: "rows"; table: string; columns: readonly string[]; rows: Value[][] };

export type Totals = { tables: number; rows: number };

const hashBytes = 32;
/** Rows per part. */
const batchSize = 500;

/** Writes lines to a new file that only its owner can read, and returns its size when it is on the disk. */
export async function writeLines(
  lines: AsyncIterable<string>,
  path: string,
  secret: BackupSecret | null = null,
  onWritten: (bytes: number) => void = () => {},
): Promise<number> {
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(
    Readable.from(lines),
    createGzip({ level: 4 }),
    async function* (source: AsyncIterable<Buffer>) {
      for await (const some of source) {
        hash.update(some);
        yield some;
      }
      yield hash.digest();
    },
    (source: AsyncIterable<Buffer>) => (secret ? encryptBytes(source, secret) : source),
    async function* (source: AsyncIterable<Buffer>) {
      for await (const some of source) {
        bytes += some.length;
        onWritten(bytes);
        yield some;
      }
    },
    createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }),
  );
  return bytes;
}

/** Reports how many of the bytes of a file were read. */
export type OnRead = (bytes: number, size: number) => void;

/** Yields the parts of a backup in their order. Throws if the file differs in any byte from what was written. */
export async function* readBackup(
  path: string,
  secret: BackupSecret | null = null,
  onRead: OnRead = () => {},
): AsyncGenerator<Part, Totals> {
  const { size } = await stat(path).catch(() => {
    throw new Refusal("file", `The file ${path} cannot be read.`);
  });
  const reader = createPartReader(path);
  let rest = "";
  const decoder = new StringDecoder("utf8");
  const hash = createHash("sha256");
  const tail = { bytes: Buffer.alloc(0) };
  try {
    if (size <= hashBytes) throw notABackup(path);
    const encrypted = await readBackupHeader(path, secret);
    const bytes = countRead(path, encrypted?.length ?? 0, (read) => onRead(read, size));
    const damaged = () => (reader.hasHeader() ? reader.cutOffOrDamaged() : notWhole(path));
    const plain = createGunzip();
    const fed = pipeline(
      withoutTail(encrypted ? decryptBytes(bytes, encrypted, damaged) : bytes, tail),
      async function* (source: AsyncIterable<Buffer>) {
        for await (const some of source) {
          hash.update(some);
          yield some;
        }
      },
      plain,
    );
    fed.catch(() => {});
    for await (const some of plain as AsyncIterable<Buffer>) {
      const lines = (rest + decoder.write(some)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield* reader.take(line);
    }
    await fed;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const code = errorCode(error);
    if (code === "Z_BUF_ERROR") throw reader.cutOff();
    if (!code.startsWith("Z_")) throw error;
    throw reader.hasHeader() ? reader.damaged() : notABackup(path);
  }
  const totals = reader.end();
  if (rest !== "" || !hash.digest().equals(tail.bytes)) throw reader.damaged();
  return totals;
}

const notABackup = (path: string) => new Conflict("file", `${path} is not a Cleancast backup.`);
const notWhole = (path: string) =>
  new Conflict("file", `${path} is encrypted, and damaged or cut off near its beginning; it is not restored.`);

async function* countRead(path: string, start: number, onRead: (bytes: number) => void) {
  let read = start;
  for await (const some of createReadStream(path, { start }) as AsyncIterable<Buffer>) {
    read += some.length;
    onRead(read);
    yield some;
  }
}

/** Yields all bytes but the hash at the end, which it puts into `tail`. */
async function* withoutTail(source: AsyncIterable<Buffer>, tail: { bytes: Buffer }): AsyncGenerator<Buffer> {
  for await (const some of source) {
    const bytes = tail.bytes.length ? Buffer.concat([tail.bytes, some]) : some;
    const end = Math.max(0, bytes.length - hashBytes);
    tail.bytes = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
  }
}

/** Reads line by line, and checks that each line may come next. */
function createPartReader(path: string) {
  let hasHeader = false;
  let opened: { table: string; columns: readonly string[] } | null = null;
  let last: string | null = null;
  let rows: Value[][] = [];
  let hash = createHash("sha256");
  let rowsInTable = 0;
  const totals: Totals = { tables: 0, rows: 0 };
  let ended: Totals | null = null;

  const damaged = () => new Conflict("file", `${path} is damaged${last ? ` after the table ${last}` : ""}; it is not restored.`);
  const cutOff = () =>
    new Conflict(
      "file",
      `${path} is cut off ${last ? `after the table ${last}` : "before its first table"}; it is not a whole backup.`,
    );

  /** An encrypted file does not show which of the two it is. */
  const cutOffOrDamaged = () =>
    new Conflict("file", `${path} is damaged or cut off${last ? ` after the table ${last}` : ""}; it is not restored.`);

  function* flushRows(): Generator<Part> {
    if (opened && rows.length) yield { part: "rows", ...opened, rows };
    rows = [];
  }

  function* take(line: string): Generator<Part> {
    const value = parse(line);
    if (!hasHeader) {
      const header = value as Header | null;
      if (header?.cleancast !== "backup") throw notABackup(path);
      if (header.format !== 1)
        throw new Conflict("file", `${path} is a backup of a newer version of Cleancast; restore it with that.`);
      hasHeader = true;
      yield { part: "header", header };
      return;
    }
    if (ended || typeof value !== "object" || value === null) throw damaged();
    if (Array.isArray(value)) {
      if (!opened || value.length !== opened.columns.length) throw damaged();
      hash.update(line).update("\n");
      rows.push(value as Value[]);
      rowsInTable += 1;
      if (rows.length >= batchSize) yield* flushRows();
      return;
    }
    const entry = value as Record<string, unknown>;
    if (typeof entry.table === "string" && !opened) {
      opened = { table: entry.table, columns: entry.columns as string[] };
      yield { part: "table", ...opened };
    } else if (opened && entry.end === opened.table) {
      yield* flushRows();
      if (entry.rows !== rowsInTable || entry.sha256 !== hash.digest("hex")) throw damaged();
      totals.tables += 1;
      totals.rows += rowsInTable;
      last = opened.table;
      opened = null;
      rowsInTable = 0;
      hash = createHash("sha256");
    } else if (!opened && entry.end === "backup") {
      if (entry.tables !== totals.tables || entry.rows !== totals.rows) throw damaged();
      ended = totals;
    } else throw damaged();
  }

  function end(): Totals {
    if (!ended) throw hasHeader ? cutOff() : notABackup(path);
    return ended;
  }

  return { take, end, damaged, cutOff, cutOffOrDamaged, hasHeader: () => hasHeader };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
