// From a row to the fields that its columns stand for.

import type { Mapping } from "./columns.ts";
import type { Cells } from "./table.ts";
import type { ValueRules } from "./values.ts";

export type Reading = {
  mapping: Mapping;
  /** What stands where a cell is blank, or where there is no column. */
  defaults: Record<string, string>;
  rules: ValueRules;
  /** What separates the cells of the file; null where nothing does. */
  delimiter: string | null;
};

/** A cell as it is; undefined where nothing stands in it. Lists and objects of NDJSON are left for the door to refuse. */
export function cellOf(cells: Cells, field: string, { mapping, defaults }: Reading): unknown {
  const column = mapping[field];
  const cell = column !== undefined && Object.hasOwn(cells, column) ? cells[column] : undefined;
  const isBlank = cell === undefined || cell === null || (typeof cell === "string" && cell.trim() === "");
  return isBlank ? defaults[field] : cell;
}

/** A cell as text; blank for what is none. */
export function textIn(cells: Cells, field: string, reading: Reading): string {
  const cell = cellOf(cells, field, reading);
  return typeof cell === "string" ? cell.trim() : "";
}
