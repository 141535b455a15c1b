// The file: read once to know it whole, before anything of it is taken in.

import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Refusal } from "../kernel/refusal.ts";
import { openTable } from "./openTable.ts";
import type { Table } from "./table.ts";

export type Source = {
  /** Its name, without the folder; "-" for what is piped in. */
  name: string;
  bytes: number;
  rows: number;
  columns: string[];
  /** SHA-256 of its content; null for what is piped in and can be read only once. */
  hash: string | null;
  /** From its beginning; once only where it is piped in. */
  open(): Promise<Table>;
  /** Throws when the file is no longer the one that was read. */
  check(): void;
};

export async function openSource(path: string, piped: () => AsyncIterable<Buffer>): Promise<Source> {
  return path === "-" ? openPipe(piped()) : openFile(path);
}

async function openPipe(piped: AsyncIterable<Buffer>): Promise<Source> {
  const table = await openTable(piped, "The input");
  const { columns } = table;
  return { name: "-", bytes: 0, rows: 0, columns, hash: null, open: async () => table, check: () => {} };
}

async function openFile(path: string): Promise<Source> {
  const before = statOf(path);
  const sum = createHash("sha256");
  const table = await openTable(watched(createReadStream(path), sum.update.bind(sum)), basename(path));
  let rows = 0;
  // To its end, so that a quote left open or a wrong encoding is found before the first row is taken in.
  for await (const _row of table.rows) rows += 1;
  const check = () => {
    const now = statOf(path);
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size)
      throw new Refusal(
        "file",
        `${basename(path)} changed while it was read. Import a file that stays as it is.`,
      );
  };
  check();
  return {
    name: basename(path),
    bytes: before.size,
    rows,
    columns: table.columns,
    hash: sum.digest("hex"),
    open: () => openTable(createReadStream(path), basename(path)),
    check,
  };
}

async function* watched(
  bytes: AsyncIterable<Buffer>,
  see: (piece: Buffer) => unknown,
): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    see(piece);
    yield piece;
  }
}

function statOf(path: string) {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return stat;
  } catch {
    // Said below, as for a folder.
  }
  throw new Refusal("file", `${path} is not a file that can be read.`);
}
