// Writes the rows of a table as a Parquet or NDJSON file, a group of rows at a time, so that memory does not grow with the file.

import { createHash } from "node:crypto";
import { appendFileSync, createReadStream, rmSync, statSync, writeFileSync } from "node:fs";
import { zstdCompressSync } from "node:zlib";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import type { Column, Row } from "./tables.ts";

export type Format = "parquet" | "ndjson";

const maxGroupRows = 10_000;

type TableFile = {
  add(row: Row): void;
  /** Returns null if there was no row: there is no file then, unless one without rows is wanted. */
  close(evenEmpty: boolean): Promise<{ path: string; rows: number; bytes: number; sha256: string } | null>;
};

type Encoder = { write(rows: readonly Row[]): void; finish(): void };

export function createTableFile(path: string, columns: readonly Column[], format: Format): TableFile {
  let encoder: Encoder | null = null;
  let waiting: Row[] = [];
  let rows = 0;
  const flush = () => {
    encoder ??= format === "parquet" ? parquetEncoder(path, columns) : ndjsonEncoder(path, columns);
    encoder.write(waiting);
    waiting = [];
  };
  return {
    add(row) {
      rows += 1;
      if (waiting.push(row) === maxGroupRows) flush();
    },
    async close(evenEmpty) {
      if (rows === 0 && !evenEmpty) return null;
      if (waiting.length || rows === 0) flush();
      encoder?.finish();
      const hash = createHash("sha256");
      for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
      return { path, rows, bytes: statSync(path).size, sha256: hash.digest("hex") };
    },
  };
}

/** Amounts are whole numbers of ten-thousandths: some currencies have four digits. */
const amountDigits = 4;
const toAmount = (value: number) => BigInt(value.toFixed(amountDigits).replace(".", ""));

const elements = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  integer: { type: "INT64" },
  time: { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" } },
  amount: { type: "INT64", converted_type: "DECIMAL", precision: 18, scale: amountDigits },
} as const;

function parquetEncoder(path: string, columns: readonly Column[]): Encoder {
  const schema = [
    { name: "root", num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, repetition_type: "OPTIONAL" as const, ...elements[kind] })),
  ];
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema,
    codec: "ZSTD",
    compressors: { ZSTD: (bytes) => new Uint8Array(zstdCompressSync(bytes)) },
    createdBy: "cleancast",
  });
  const cellOf = (kind: Column["kind"], cell: Row[number]) => {
    if (cell === null || typeof cell === "string") return cell;
    if (kind === "amount") return toAmount(cell);
    return kind === "time" ? new Date(cell) : BigInt(cell);
  };
  return {
    write(rows) {
      const columnData = columns.map(({ name, kind }, at) => ({ name, data: rows.map((row) => cellOf(kind, row[at] ?? null)) }));
      void writer.write({ columnData, rowGroupSize: maxGroupRows });
    },
    finish: () => void writer.finish(),
  };
}

function ndjsonEncoder(path: string, columns: readonly Column[]): Encoder {
  writeFileSync(path, "");
  const cellOf = (kind: Column["kind"], cell: Row[number]) =>
    kind === "time" && typeof cell === "number" ? new Date(cell).toISOString() : cell;
  return {
    write(rows) {
      const lines = rows.map((row) =>
        JSON.stringify(Object.fromEntries(columns.map(({ name, kind }, at) => [name, cellOf(kind, row[at] ?? null)]))),
      );
      appendFileSync(path, lines.map((line) => `${line}\n`).join(""));
    },
    finish() {},
  };
}

export const removeFile = (path: string) => rmSync(path, { force: true });
