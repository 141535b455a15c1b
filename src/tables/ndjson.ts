// Reads NDJSON, one JSON object per line. The columns are the names that the first rows have.

import { say } from "../kernel/messages/message.ts";
import { isJsonObject } from "../http/body.ts";
import { maxColumns, maxRowLength, type Content, type Table, type TableRow } from "./table.ts";

const sampledRows = 100;

export async function createNdjsonTable(text: AsyncIterable<string>): Promise<Table> {
  const rows = readRows(text);
  const first: TableRow[] = [];
  while (first.length < sampledRows) {
    const next = await rows.next();
    if (next.done) break;
    first.push(next.value);
  }
  const columns = [...new Set(first.flatMap((row) => ("cells" in row ? Object.keys(row.cells) : [])))].slice(0, maxColumns);
  return {
    format: "ndjson",
    headerLines: 0,
    delimiter: null,
    columns,
    rows: (async function* () {
      yield* first;
      yield* rows;
    })(),
    close: () => void rows.return(undefined),
  };
}

async function* readRows(text: AsyncIterable<string>): AsyncGenerator<TableRow> {
  let line = 0;
  let bytes = 0;
  for await (const one of splitLines(text)) {
    line += 1;
    bytes += Buffer.byteLength(one) + 1;
    if (one.trim() !== "") yield { line, bytes, ...parseLine(one) };
  }
}

async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    // A line without end would fill the memory: it is cut here and refused as too long.
    if (rest.length > 2 * maxRowLength) rest = rest.slice(0, 2 * maxRowLength);
  }
  if (rest !== "") yield rest;
}

/** Parses JSON with its numbers as texts: two order ids could be equal after rounding. Throws for invalid JSON. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, one: unknown, context?: { source?: string }) =>
    typeof one === "number" ? (context?.source ?? one) : one,
  );
}

function parseLine(line: string): Content {
  if (line.length > maxRowLength) return { fault: say("row_longer", { kib: maxRowLength / 1024 }) };
  try {
    const value = parseExact(line);
    if (!isJsonObject(value)) return { fault: "the row is not a JSON object" };
    if (Object.keys(value).length > maxColumns) return { fault: say("row_too_wide", { max: maxColumns }) };
    return { cells: value };
  } catch {
    return { fault: "the row is not valid JSON" };
  }
}
