// Describes a file as a stream of rows: CSV with a header, or NDJSON. Only a few rows are in memory at a time.

export type Cells = Record<string, unknown>;

export type TableRow = {
  /** The line on which the row begins, from 1. No two rows share one. */
  line: number;
  /** The position in the file after this row. */
  bytes: number;
} & Content;

/** Cells by column name; `fault` explains an unreadable row. */
export type Content = { cells: Cells } | { fault: string };

export type Table = {
  format: "csv" | "ndjson";
  /** null in NDJSON. */
  delimiter: string | null;
  /** In CSV those of the header, in NDJSON those that the first rows have. */
  columns: string[];
  /** The lines up to the end of the header; 0 in NDJSON. */
  headerLines: number;
  rows: AsyncIterable<TableRow>;
  /** Ends the reading of a table whose rows are not read to the end. */
  close: () => void;
};

/** The same limit as the inbound endpoint has. Longer rows usually come from a quote that was left open. */
export const maxRowLength = 64 * 1024;

/** Far more than any list has; each row of a table is an object with so many names. */
export const maxColumns = 1000;
