// The file of a backup: lines of JSON, compressed with gzip, and at its very end the SHA-256 of all bytes before.
//
//   {"cleancast":"backup","format":1,"schema":10,…}           what it is
//   {"table":"events","columns":["site_id","id",…]}           a table begins
//   ["s1","0198…",…]                                          its rows
//   {"end":"events","rows":2,"sha256":"…"}                    a table ends: how many there were, and the hash of their lines
//   {"end":"backup","tables":34,"rows":99}                    without this line, or the hash after it, the file is cut off

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, createGzip } from "node:zlib";
import { Refusal } from "../kernel/refusal.ts";
import type { Value } from "../store/engine/database.ts";

export type Header = {
  cleancast: "backup";
  format: 1;
  schema: number;
  engine: "sqlite" | "postgres";
  /** Of Cleancast. */
  version: string;
  madeAt: string;
};

export type Part =
  | { part: "header"; header: Header }
  | { part: "table"; table: string; columns: readonly string[] }
  | { part: "rows"; table: string; columns: readonly string[]; rows: Value[][] };

export type Totals = { tables: number; rows: number };

const hashBytes = 32;
/** Rows that are handed over together. */
const portion = 500;

/** Writes lines to a new file that is its owner's alone, and returns its size when it is safely on the disk. */
export async function writeLines(lines: AsyncIterable<string>, path: string): Promise<number> {
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(
    Readable.from(lines),
    createGzip({ level: 4 }),
    async function* (source: AsyncIterable<Buffer>) {
      for await (const some of source) {
        hash.update(some);
        bytes += some.length;
        yield some;
      }
      yield hash.digest();
    },
    createWriteStream(path, { flags: "wx", mode: 0o600, flush: true }),
  );
  return bytes + hashBytes;
}

/** JSON has no word for a number without end, and would write null; but what is larger than any number reads as one. */
export function rowLine(values: readonly Value[]): string {
  if (values.every((value) => typeof value !== "number" || Number.isFinite(value)))
    return `${JSON.stringify(values)}\n`;
  const texts = values.map((value) => {
    if (typeof value !== "number" || Number.isFinite(value)) return JSON.stringify(value);
    if (Number.isNaN(value)) throw new Refusal("database", "The database holds a number that is none (NaN).");
    return value > 0 ? "1e999" : "-1e999";
  });
  return `[${texts.join(",")}]\n`;
}

/** The parts of a backup in their order. Throws where the file is not, to its last byte, what was written. */
export async function* readBackup(path: string): AsyncGenerator<Part, Totals> {
  const { size } = await stat(path).catch(() => {
    throw new Refusal("file", `The file ${path} cannot be read.`);
  });
  const reader = partsOf(path);
  let rest = "";
  const decoder = new StringDecoder("utf8");
  const hash = createHash("sha256");
  try {
    if (size <= hashBytes) throw new Refusal("file", `${path} is not a Cleancast backup.`);
    const bytes = createReadStream(path, { end: size - hashBytes - 1 });
    const plain = createGunzip();
    const fed = pipeline(
      bytes,
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
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "Z_BUF_ERROR") throw reader.cutOff();
    if (!code.startsWith("Z_")) throw error;
    throw reader.isBegun() ? reader.damaged() : new Refusal("file", `${path} is not a Cleancast backup.`);
  }
  const totals = reader.end();
  if (rest !== "" || !hash.digest().equals(await lastBytes(path, size))) throw reader.damaged();
  return totals;
}

async function lastBytes(path: string, size: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(hashBytes), 0, hashBytes, size - hashBytes);
    return buffer;
  } finally {
    await file.close();
  }
}

/** Takes the lines one by one, and knows what may come next. */
function partsOf(path: string) {
  let isBegun = false;
  let opened: { table: string; columns: readonly string[] } | null = null;
  let last: string | null = null;
  let rows: Value[][] = [];
  let hash = createHash("sha256");
  let inTable = 0;
  const totals: Totals = { tables: 0, rows: 0 };
  let ended: Totals | null = null;

  const damaged = () =>
    new Refusal("file", `${path} is damaged${last ? ` after the table ${last}` : ""}; it is not restored.`);
  const cutOff = () =>
    new Refusal(
      "file",
      `${path} is cut off ${last ? `after the table ${last}` : "before its first table"}; it is not a whole backup.`,
    );

  function* handOver(): Generator<Part> {
    if (opened && rows.length) yield { part: "rows", ...opened, rows };
    rows = [];
  }

  function* take(line: string): Generator<Part> {
    const value = parse(line);
    if (!isBegun) {
      const header = value as Header | null;
      if (header?.cleancast !== "backup") throw new Refusal("file", `${path} is not a Cleancast backup.`);
      if (header.format !== 1)
        throw new Refusal(
          "file",
          `${path} is a backup of a newer version of Cleancast; restore it with that.`,
        );
      isBegun = true;
      yield { part: "header", header };
      return;
    }
    if (ended || typeof value !== "object" || value === null) throw damaged();
    if (Array.isArray(value)) {
      if (!opened || value.length !== opened.columns.length) throw damaged();
      hash.update(line).update("\n");
      rows.push(value as Value[]);
      inTable += 1;
      if (rows.length >= portion) yield* handOver();
      return;
    }
    const said = value as Record<string, unknown>;
    if (typeof said.table === "string" && !opened) {
      opened = { table: said.table, columns: said.columns as string[] };
      yield { part: "table", ...opened };
    } else if (opened && said.end === opened.table) {
      yield* handOver();
      if (said.rows !== inTable || said.sha256 !== hash.digest("hex")) throw damaged();
      totals.tables += 1;
      totals.rows += inTable;
      last = opened.table;
      opened = null;
      inTable = 0;
      hash = createHash("sha256");
    } else if (!opened && said.end === "backup") {
      if (said.tables !== totals.tables || said.rows !== totals.rows) throw damaged();
      ended = totals;
    } else throw damaged();
  }

  function end(): Totals {
    if (!ended) throw isBegun ? cutOff() : new Refusal("file", `${path} is not a Cleancast backup.`);
    return ended;
  }

  return { take, end, damaged, cutOff, isBegun: () => isBegun };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
