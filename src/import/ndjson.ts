// NDJSON: one JSON object a line. Its columns are the names that the first rows have.

import { maxRowLength, type Cells, type Content, type Table, type TableRow } from "./table.ts";

const lookedAt = 100;

export async function openNdjson(text: AsyncIterable<string>): Promise<Table> {
  const rows = rowsOf(text);
  const first: TableRow[] = [];
  while (first.length < lookedAt) {
    const next = await rows.next();
    if (next.done) break;
    first.push(next.value);
  }
  const columns = [...new Set(first.flatMap((row) => ("cells" in row ? Object.keys(row.cells) : [])))];
  return {
    format: "ndjson",
    delimiter: null,
    columns,
    rows: (async function* () {
      yield* first;
      yield* rows;
    })(),
  };
}

async function* rowsOf(text: AsyncIterable<string>): AsyncGenerator<TableRow> {
  let line = 0;
  let bytes = 0;
  for await (const one of linesOf(text)) {
    line += 1;
    bytes += Buffer.byteLength(one) + 1;
    if (one.trim() !== "") yield { line, bytes, ...contentOf(one) };
  }
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    // Without end it would fill the memory: what is too long is cut, and refused as not being JSON.
    if (rest.length > 2 * maxRowLength) rest = rest.slice(0, 2 * maxRowLength);
  }
  if (rest !== "") yield rest;
}

function contentOf(line: string): Content {
  if (line.length > maxRowLength) return { fault: `the row is longer than ${maxRowLength / 1024} KiB` };
  try {
    // Numbers as they are written: rounded, two order ids could count as one.
    const value: unknown = JSON.parse(line, (_key, one: unknown, context?: { source?: string }) =>
      typeof one === "number" ? (context?.source ?? one) : one,
    );
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { cells: value as Cells };
    return { fault: "the row is not a JSON object" };
  } catch {
    return { fault: "the row is not valid JSON" };
  }
}
