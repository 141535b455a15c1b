// Decides which column is which field, by --map or by the column's name, and reads cells by field. Names match without regard
// to case, spaces and signs.

import { say, withoutMarks } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { unescapeFormula } from "./formulas.ts";
import type { Cells } from "./table.ts";
import type { ValueRules } from "./values.ts";

/** Field → column. */
export type Mapping = Record<string, string>;

/** Field → other names of its column. */
export type FieldAliases = Readonly<Record<string, readonly string[]>>;

const fold = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

export type Chosen = { mapping: Mapping; unused: string[] };

/**
 * `fields` are the fields with the other names of their columns, and `what` has them, in the plural. `requested` comes from
 * --map; an empty column leaves a field out. `constants` are fields with a value for every row.
 */
export function matchColumns(
  what: string,
  fields: FieldAliases,
  columns: readonly string[],
  requested: Mapping,
  constants: readonly string[],
): Chosen {
  for (const field of [...Object.keys(requested), ...constants]) {
    if (!Object.hasOwn(fields, field))
      throw new Refusal(field, say("unknown_file_field", { field, what, known: Object.keys(fields).join(", ") }));
  }
  const mapping: Mapping = {};
  for (const [field, aliases] of Object.entries(fields)) {
    const column = Object.hasOwn(requested, field)
      ? findRequested(field, requested, columns)
      : guessColumn(field, aliases, columns, requested);
    if (column) mapping[field] = column;
  }
  const used = new Set(Object.values(mapping));
  return { mapping, unused: columns.filter((name) => !used.has(name)) };
}

function findRequested(field: string, requested: Mapping, columns: readonly string[]): string | undefined {
  const name = requested[field] as string;
  if (name === "") return undefined;
  const found = columns.filter((one) => one === name);
  const similar = found.length ? found : columns.filter((one) => fold(one) === fold(name));
  if (similar.length === 1) return similar[0];
  const code = similar.length ? "column_ambiguous" : "column_missing";
  throw new Refusal(field, say(code, { name, field, columns: listColumns(columns) }));
}

/** Returns the columns that may be a field, by its name or else by its other names. */
function findCandidates(
  field: string,
  aliases: readonly string[],
  columns: readonly string[],
  taken: ReadonlySet<string>,
): string[] {
  const free = columns.filter((name) => !taken.has(name));
  const exact = free.filter((name) => fold(name) === fold(field));
  const folded = new Set(aliases.map(fold));
  return exact.length ? exact : free.filter((name) => folded.has(fold(name)));
}

/** Returns each field with the one column that may be it; null if there is none, or several. */
export function suggestColumns(fields: FieldAliases, columns: readonly string[]): { name: string; column: string | null }[] {
  return Object.entries(fields).map(([name, aliases]) => {
    const candidates = findCandidates(name, aliases, columns, new Set());
    return { name, column: candidates.length === 1 ? (candidates[0] ?? null) : null };
  });
}

function guessColumn(
  field: string,
  aliases: readonly string[],
  columns: readonly string[],
  requested: Mapping,
): string | undefined {
  const candidates = findCandidates(field, aliases, columns, new Set(Object.values(requested)));
  if (candidates.length > 1) {
    throw new Refusal(
      field,
      `More than one column could be ${field}: ${listColumns(candidates)}. Choose one with --map ${field}=COLUMN.`,
    );
  }
  return candidates[0];
}

/** Refuses a file without columns for these fields. */
export function refuseMissing(missing: readonly string[], columns: readonly string[]): void {
  if (missing.length === 0) return;
  throw new Refusal(
    "map",
    `No column was found for ${missing.join(", ")}. The file's columns: ${listColumns(columns)}. ` +
      `Name it with --map FIELD=COLUMN.`,
  );
}

/** Bounds the list: a file without a header has a row of data here. */
function listColumns(columns: readonly string[]): string {
  const shown = columns.slice(0, 40).map((name) => (name.length > 60 ? `${name.slice(0, 60)}…` : name));
  return shown.join(", ") + (columns.length > 40 ? " …" : "");
}

export type RowFormat = {
  mapping: Mapping;
  /** Values of --constant, for blank cells and missing columns. */
  defaults: Record<string, string>;
  rules: ValueRules;
  /** null in NDJSON. */
  delimiter: string | null;
};

/** Returns undefined for a blank cell. Lists and objects of NDJSON are left for the caller to refuse. */
export function readCell(cells: Cells, field: string, { mapping, defaults }: RowFormat): unknown {
  const column = mapping[field];
  const cell = column !== undefined && Object.hasOwn(cells, column) ? cells[column] : undefined;
  const isBlank = cell === undefined || cell === null || (typeof cell === "string" && cell.trim() === "");
  return isBlank ? defaults[field] : typeof cell === "string" ? unescapeFormula(cell) : cell;
}

/** Returns an empty text for a cell that is not text. */
export function readCellText(cells: Cells, field: string, format: RowFormat): string {
  const cell = readCell(cells, field, format);
  return typeof cell === "string" ? withoutMarks(cell).trim() : "";
}
