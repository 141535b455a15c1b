// Reads the items of a row: a list in NDJSON, the same list as JSON in a cell of CSV.

import { isJsonObject } from "../http/body.ts";
import { parseExact } from "../tables/ndjson.ts";
import { ValueFault } from "../tables/values.ts";

/** The numbers of an item, which are texts after `parseExact`. */
const numberFields = ["price", "quantity"];

/** Returns a list for `readFields`, which checks it; anything else is left as it is. */
export function readItemsCell(cell: unknown): unknown {
  const given = typeof cell === "string" ? parseCell(cell) : cell;
  return Array.isArray(given) ? given.map(withNumbers) : given;
}

function parseCell(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return new ValueFault(
      'items is not a JSON list like [{"id":"SKU-1","price":9.9,"quantity":2}]; correct it, or leave the column out',
    );
  }
}

function withNumbers(item: unknown): unknown {
  if (!isJsonObject(item)) return item;
  const read = { ...item };
  for (const name of numberFields) {
    const text = read[name];
    if (typeof text === "string" && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) read[name] = Number(text);
  }
  return read;
}
