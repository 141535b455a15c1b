// Reads CSV with a header. The delimiter is the comma, semicolon or tab, whichever the header contains most often.

import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { CsvError, parse, type Info } from "csv-parse";
import { Refusal } from "../kernel/refusal.ts";
import { maxColumns, maxRowLength, type Table, type TableRow } from "./table.ts";
import { say } from "../kernel/messages/message.ts";

const delimiters = [",", ";", "\t"];

export async function createCsvTable(text: AsyncIterable<string>, start: string): Promise<Table> {
  const delimiter = detectDelimiter(start);
  const parser = parse({
    delimiter,
    // The first is written by programs that end rows with \r\n and then turn each \n into \r\n.
    record_delimiter: ["\r\r\n", "\r\n", "\n", "\r"],
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxRowLength,
  });
  // The reader of the parser gets the same error.
  pipeline(Readable.from(text), parser).catch(() => {});
  const records = withLines((parser as AsyncIterable<Parsed>)[Symbol.asyncIterator]());
  const head = await readHeader(records, delimiter);
  if ((head?.record.length ?? 0) > maxColumns) throw new Refusal("file", say("too_many_columns", { max: maxColumns }));
  const columns = (head?.record ?? []).map((name, i) => name.trim() || `column ${i + 1}`);
  const headerLines = head?.lastLine ?? 0;
  return { format: "csv", delimiter, columns, headerLines, rows: readRows(records, columns), close: () => parser.destroy() };
}

type Parsed = { record: string[]; info: Info };
type Located = { record: string[]; bytes: number; firstLine: number; lastLine: number };

/** Counts lines as senders of parts do, by \n. For the parser each \r in a cell begins a line, too. */
async function* withLines(records: AsyncIterator<Parsed>): AsyncGenerator<Located, undefined> {
  let returns = 0;
  for (let parsed = await readRecord(records); parsed; parsed = await readRecord(records)) {
    const { record, info } = parsed;
    returns += countIn(record, "\r");
    const lastLine = info.lines - returns;
    yield { record, bytes: info.bytes, firstLine: lastLine - countIn(record, "\n"), lastLine };
  }
}

/** A line of spaces is no header: the detection of the delimiter passes over it, too. */
async function readHeader(records: AsyncGenerator<Located, undefined>, delimiter: string): Promise<Located | undefined> {
  for (;;) {
    const { value: head } = await records.next();
    if (!head || head.record.join(delimiter).trim() !== "") return head;
  }
}

async function* readRows(records: AsyncIterable<Located>, columns: readonly string[]): AsyncGenerator<TableRow> {
  for await (const { record, bytes, firstLine } of records) {
    yield {
      line: firstLine,
      bytes,
      ...(record.length === columns.length
        ? { cells: Object.fromEntries(columns.map((name, i) => [name, record[i]])) }
        : { fault: say("row_cells", { cells: record.length, columns: columns.length }) }),
    };
  }
}

function countIn(record: readonly string[], sign: string): number {
  let count = 0;
  for (const cell of record) for (let at = cell.indexOf(sign); at >= 0; at = cell.indexOf(sign, at + 1)) count += 1;
  return count;
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
        ? say("quote_not_closed", { line })
        : error.code === "CSV_MAX_RECORD_SIZE"
          ? say("row_too_long", { line, kib: maxRowLength / 1024 })
          : say("line_invalid", { line });
    throw new Refusal("file", what);
  }
}

/** Ignores quoted names, which may contain delimiters and line breaks. A quote inside a name is a character. */
function withoutQuoted(start: string): string {
  const text = start.trimStart();
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    if (at > 0 && !",;\t\r\n".includes(text[at - 1] as string)) continue;
    kept.push(text.slice(from, at));
    at = endOfQuoted(text, at);
    from = at + 1;
  }
  return kept.join("") + text.slice(from);
}

/** Returns where the quote that begins at `at` ends. Two quotes are one that is meant. */
function endOfQuoted(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 2)) if (text[end + 1] !== '"') return end;
  return text.length;
}

/** True when the text has the whole header. */
export const hasHeader = (start: string) => /[\r\n]/.test(withoutQuoted(start).trimStart());

function detectDelimiter(start: string): string {
  const header = withoutQuoted(start).split(/\r?\n|\r/, 1)[0] ?? "";
  const counts = delimiters.map((one) => header.split(one).length);
  return delimiters[counts.indexOf(Math.max(...counts))] as string;
}
