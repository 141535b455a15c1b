// Opens the source of an import. A file is read once to its end before the first row is imported, so that an open quote or
// a wrong encoding is found in time; piped input is not. Only UTF-8 is read: guessing another encoding would change names
// and addresses.

import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Refusal } from "../kernel/refusal.ts";
import { hasHeader, createCsvTable } from "./csv.ts";
import { createNdjsonTable } from "./ndjson.ts";
import { maxRowLength, type Table } from "./table.ts";

export type Source = {
  /** The file name without its folder; "-" for piped input. */
  name: string;
  bytes: number;
  rows: number;
  columns: string[];
  /** SHA-256 of the content; null for piped input, which can be read only once. */
  sha256: string | null;
  /** Starts from the beginning; piped input can be opened once. */
  open(): Promise<Table>;
  /** Throws when the file has changed since. */
  check(): void;
};

export async function createSource(path: string, piped: () => AsyncIterable<Buffer>): Promise<Source> {
  return path === "-" ? createPipeSource(piped()) : createFileSource(path);
}

async function createPipeSource(piped: AsyncIterable<Buffer>): Promise<Source> {
  const table = await createTable(piped, "The input");
  const { columns } = table;
  return { name: "-", bytes: 0, rows: 0, columns, sha256: null, open: async () => table, check: () => {} };
}

async function createFileSource(path: string): Promise<Source> {
  const before = readStat(path);
  const hash = createHash("sha256");
  const table = await createTable(tap(createReadStream(path), hash.update.bind(hash)), basename(path));
  let rows = 0;
  for await (const _row of table.rows) rows += 1;
  const check = () => {
    const now = readStat(path);
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size)
      throw new Refusal("file", `${basename(path)} changed while it was read. Import a file that stays as it is.`);
  };
  check();
  return {
    name: basename(path),
    bytes: before.size,
    rows,
    columns: table.columns,
    sha256: hash.digest("hex"),
    open: () => createTable(createReadStream(path), basename(path)),
    check,
  };
}

async function* tap(bytes: AsyncIterable<Buffer>, onPiece: (piece: Buffer) => unknown): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    onPiece(piece);
    yield piece;
  }
}

function readStat(path: string) {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return stat;
  } catch {
    // Refused below, like a folder.
  }
  throw new Refusal("file", `${path} is not a file that can be read.`);
}

export async function createTable(bytes: AsyncIterable<Buffer>, name: string): Promise<Table> {
  const text = decode(bytes)[Symbol.asyncIterator]();
  let start = "";
  let isAtEnd = false;
  // Detecting the format needs the whole first line; in CSV this is the header, which may have line breaks.
  const isEnough = () => (isNdjson(start) ? start.trimStart().includes("\n") : hasHeader(start));
  while (!isAtEnd && !isEnough() && start.length < maxRowLength) {
    const next = await text.next();
    if (next.done) isAtEnd = true;
    else start += next.value;
  }
  if (start.trim() === "") throw new Refusal("file", `${name} is empty.`);
  const whole = (async function* () {
    yield start;
    for (let next = await text.next(); !next.done; next = await text.next()) yield next.value;
  })();
  return isNdjson(start) ? createNdjsonTable(whole) : createCsvTable(whole, start);
}

const isNdjson = (start: string) => start.trimStart().startsWith("{");

/** Yields the text piece by piece, without its byte order mark. */
async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let read = 0;
  for await (const piece of bytes) {
    if (read === 0 && isUtf16(piece)) throw new Refusal("file", "The file is UTF-16. Save it as UTF-8 (in Excel: “CSV UTF-8”).");
    yield decodePiece(decoder, piece, read);
    read += piece.length;
  }
  const rest = decodePiece(decoder, undefined, read);
  if (rest) yield rest;
}

function decodePiece(decoder: InstanceType<typeof TextDecoder>, piece: Buffer | undefined, read: number): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch {
    const kib = Math.floor((read + (piece?.length ?? 0)) / 1024) + 1;
    throw new Refusal(
      "file",
      `The file is not UTF-8: there is an invalid byte in its first ${kib} KiB. Save it as UTF-8 (in Excel: “CSV UTF-8”).`,
    );
  }
}

function isUtf16(piece: Buffer): boolean {
  const [first, second] = piece;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
