// Reads a file of rows and cuts it into parts: a long file goes to the relay in several requests. CSV is cut between two rows, and
// each part begins with the header.

import { sha256Of } from "./format/hashEmail.ts";
import { ApiError } from "./api/api.ts";
import { importsText } from "../messages/imports.ts";

/** A proxy in front of the relay may refuse more than 1 MiB, and a character may take two bytes. */
const maxPartLength = 512 * 1024;
/** Larger files are for the command line, which does not need them in memory. */
const maxFileMiB = 200;

type Part = {
  text: string;
  /** Lines between the header and the first row of this part. */
  skippedLines: number;
};

export type TextFile = {
  name: string;
  text: string;
  /** Names the content. */
  sha256: string;
};

/** Only UTF-8 is read: guessing another encoding would change names and addresses. */
export async function readFile(file: File): Promise<TextFile> {
  if (file.size > maxFileMiB * 1024 * 1024) throw new ApiError(0, "invalid", importsText.files.tooLarge(String(maxFileMiB)));
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return {
      name: file.name,
      // Rows that end with \r alone could not be counted, and a long file of them not be cut.
      text: text.includes("\n") ? text : text.replaceAll("\r", "\n"),
      sha256: await sha256Of(bytes),
    };
  } catch {
    throw new ApiError(0, "invalid", importsText.files.notUtf8);
  }
}

export const isNdjson = (text: string) => text.trimStart().startsWith("{");

/** Cuts a text after whole rows. A line break inside quotes is part of a row. */
export function partsOf(text: string, maxLength = maxPartLength): Part[] {
  const ends = rowEnds(text);
  // Empty lines and lines of spaces may precede the header.
  const headerEnd = ends.find((end) => text.slice(0, end).trim() !== "") ?? text.length;
  const header = isNdjson(text) ? "" : text.slice(0, headerEnd);
  const parts: Part[] = [];
  let begin = header.length;
  let end = begin;
  let skippedLines = 0;
  const cut = () => {
    const rows = text.slice(begin, end);
    parts.push({ text: header + rows, skippedLines });
    skippedLines += countLines(rows);
    begin = end;
  };
  for (const next of [...ends.filter((at) => at > begin), text.length]) {
    if (next - begin > maxLength && end > begin) cut();
    end = next;
  }
  if (end > begin || parts.length === 0) cut();
  return parts;
}

const countLines = (text: string) => text.split("\n").length - 1;

/**
 * Yields each row that is not empty with the line on which it begins, without the line break at its end, which may
 * be `\r\r\n`. The relay skips empty lines too, and lines of spaces before the header, but refuses a later row of spaces or of
 * empty cells.
 */
export function* rowsOf(text: string): Generator<{ line: number; row: string }> {
  let begin = 0;
  let line = 1;
  let hasBegun = false;
  for (const end of [...rowEnds(text), text.length]) {
    const lines = text.slice(begin, end);
    const row = lines.replace(/[\r\n]+$/, "");
    hasBegun ||= row.trim() !== "";
    if (row !== "" && hasBegun) yield { line, row };
    line += countLines(lines);
    begin = end;
  }
}

function rowEnds(text: string): number[] {
  const mayQuote = !isNdjson(text);
  const ends: number[] = [];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"' && mayQuote) isQuoted = !isQuoted;
    else if (sign === "\n" && !isQuoted) ends.push(at + 1);
  }
  return ends;
}
