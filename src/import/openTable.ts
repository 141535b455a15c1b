// Opens a file. What it is, is seen from how it begins: a JSON object, or a header.

import { Refusal } from "../kernel/refusal.ts";
import { openCsv } from "./csv.ts";
import { openNdjson } from "./ndjson.ts";
import { maxRowLength, type Table } from "./table.ts";
import { textOf } from "./text.ts";

export async function openTable(bytes: AsyncIterable<Buffer>, name: string): Promise<Table> {
  const text = textOf(bytes)[Symbol.asyncIterator]();
  let start = "";
  let isWhole = false;
  // A header is decided on by its whole first line.
  while (!isWhole && !/\S[^\n]*\n/.test(start) && start.length < maxRowLength) {
    const next = await text.next();
    if (next.done) isWhole = true;
    else start += next.value;
  }
  if (start.trim() === "") throw new Refusal("file", `${name} is empty.`);
  const whole = (async function* () {
    yield start;
    for (let next = await text.next(); !next.done; next = await text.next()) yield next.value;
  })();
  return start.trimStart().startsWith("{") ? openNdjson(whole) : openCsv(whole, start);
}
