// CSV with a header. Comma, semicolon or tab, whichever the header has most of; quoted cells may hold line breaks.

import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { CsvError, parse, type Info } from "csv-parse";
import { Refusal } from "../kernel/refusal.ts";
import { maxRowLength, type Table, type TableRow } from "./table.ts";

const delimiters = [",", ";", "\t"];

export async function openCsv(text: AsyncIterable<string>, start: string): Promise<Table> {
  const delimiter = delimiterOf(start);
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxRowLength,
  });
  // What goes wrong on the way arrives at whoever reads the parser.
  pipeline(Readable.from(text), parser).catch(() => {});
  const records = (parser as AsyncIterable<Parsed>)[Symbol.asyncIterator]();
  const head = await next(records);
  const columns = (head?.record ?? []).map((name, i) => name.trim() || `column ${i + 1}`);
  return { format: "csv", delimiter, columns, rows: rowsOf(records, columns) };
}

type Parsed = { record: string[]; info: Info };

async function* rowsOf(records: AsyncIterator<Parsed>, columns: readonly string[]): AsyncGenerator<TableRow> {
  for (let parsed = await next(records); parsed; parsed = await next(records)) {
    const { record, info } = parsed;
    const within = record.reduce((breaks, cell) => breaks + breaksIn(cell), 0);
    yield {
      line: info.lines - within,
      bytes: info.bytes,
      ...(record.length === columns.length
        ? { cells: Object.fromEntries(columns.map((name, i) => [name, record[i]])) }
        : { fault: `the row has ${record.length} cells, the header ${columns.length}` }),
    };
  }
}

function breaksIn(cell: string): number {
  let breaks = 0;
  for (let at = cell.indexOf("\n"); at >= 0; at = cell.indexOf("\n", at + 1)) breaks += 1;
  return breaks;
}

async function next(records: AsyncIterator<Parsed>): Promise<Parsed | null> {
  try {
    const { done, value } = await records.next();
    return done ? null : value;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error.lines === "number" ? error.lines : 0;
    const what =
      error.code === "CSV_QUOTE_NOT_CLOSED"
        ? `The quote that opens at line ${line} is never closed.`
        : error.code === "CSV_MAX_RECORD_SIZE"
          ? `The row at line ${line} is longer than ${maxRowLength / 1024} KiB; a quote before it may be left open.`
          : `Line ${line} is not valid CSV.`;
    throw new Refusal("file", what);
  }
}

/** Quoted names may hold any of them. */
function delimiterOf(start: string): string {
  const header = start.trimStart().split(/\r?\n|\r/, 1)[0] ?? "";
  const bare = header.replace(/"[^"]*"/g, "");
  const counts = delimiters.map((sign) => bare.split(sign).length);
  return delimiters[counts.indexOf(Math.max(...counts))] as string;
}
