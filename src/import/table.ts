// A file as rows, one at a time: CSV with a header, or NDJSON. Never more of it in memory than a few rows.

export type Cells = Record<string, unknown>;

export type TableRow = {
  /** Where it begins, counted from 1. No two rows share one. */
  line: number;
  /** How much of the file was read when it was. */
  bytes: number;
} & Content;

/** By the names of the columns; a sentence where the row cannot be read. */
export type Content = { cells: Cells } | { fault: string };

export type Table = {
  format: "csv" | "ndjson";
  /** What separates the cells; null in NDJSON. */
  delimiter: string | null;
  /** In CSV those of the header, in NDJSON those that the first rows have. */
  columns: string[];
  rows: AsyncIterable<TableRow>;
};

/** A row longer than this is no row: a quote was left open, say. As much as the endpoint takes. */
export const maxRowLength = 64 * 1024;
