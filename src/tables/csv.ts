// Reads CSV with a header. The delimiter is the comma, semicolon or tab, whichever the header contains most often.

import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { CsvError, parse, type Info } from "csv-parse";
import { Refusal } from "../kernel/refusal.ts";
import { maxRowLength, type Table, type TableRow } from "./table.ts";

const delimiters = [",", ";", "\t"];

export async function openCsv(text: AsyncIterable<string>, start: string): Promise<Table> {
  const delimiter = detectDelimiter(start);
  const parser = parse({
    delimiter,
    record_delimiter: ["\r\n", "\n", "\r"],
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxRowLength,
  });
  // The reader of the parser gets the same error.
  pipeline(Readable.from(text), parser).catch(() => {});
  const records = (parser as AsyncIterable<Parsed>)[Symbol.asyncIterator]();
  const head = await readRecord(records);
  const columns = (head?.record ?? []).map((name, i) => name.trim() || `column ${i + 1}`);
  const headerLines = head?.info.lines ?? 0;
  return { format: "csv", delimiter, columns, headerLines, rows: readRows(records, columns) };
}

type Parsed = { record: string[]; info: Info };

async function* readRows(
  records: AsyncIterator<Parsed>,
  columns: readonly string[],
): AsyncGenerator<TableRow> {
  for (let parsed = await readRecord(records); parsed; parsed = await readRecord(records)) {
    const { record, info } = parsed;
    const lineBreaks = record.reduce((sum, cell) => sum + countLineBreaks(cell), 0);
    yield {
      line: info.lines - lineBreaks,
      bytes: info.bytes,
      ...(record.length === columns.length
        ? { cells: Object.fromEntries(columns.map((name, i) => [name, record[i]])) }
        : { fault: `the row has ${record.length} cells, the header ${columns.length}` }),
    };
  }
}

function countLineBreaks(cell: string): number {
  let breaks = 0;
  for (let at = cell.indexOf("\n"); at >= 0; at = cell.indexOf("\n", at + 1)) breaks += 1;
  return breaks;
}

async function readRecord(records: AsyncIterator<Parsed>): Promise<Parsed | null> {
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

/** Ignores quoted names, which may contain delimiters and line breaks. A quote inside a name is a character. */
const withoutQuoted = (start: string) =>
  start.trimStart().replace(/(^|[,;\t\r\n])"[^"]*(?:""[^"]*)*(?:"|$)/g, "$1");

/** True when the text has the whole header. */
export const hasHeader = (start: string) => /\S[^\r\n]*[\r\n]/.test(withoutQuoted(start));

function detectDelimiter(start: string): string {
  const header = withoutQuoted(start).split(/\r?\n|\r/, 1)[0] ?? "";
  const counts = delimiters.map((one) => header.split(one).length);
  return delimiters[counts.indexOf(Math.max(...counts))] as string;
}
