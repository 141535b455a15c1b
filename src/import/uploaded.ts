// Imports files that arrive over the management API. They may be sent in parts, and are read in memory and never written: they
// have plain addresses. The progress is that of the command's imports, so a file that was imported there is known here, too.

import { hash } from "node:crypto";
import type { Answer, Query } from "../contract/contract.ts";
import { isJsonObject } from "../http/body.ts";
import { ulid } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import type { Directory, Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import type { Mapping } from "../tables/columns.ts";
import { readTable } from "../tables/readTable.ts";
import type { Source } from "../tables/source.ts";
import type { Table, TableRow } from "../tables/table.ts";
import { isTimeZone } from "../tables/values.ts";
import { suggestFields } from "./columns.ts";
import { importFile, type ImportPart } from "./import.ts";
import { currentProcess } from "./importLease.ts";
import type { RefusedRow } from "./run.ts";

type ColumnsAnswer = Answer<"POST /sites/:site/imports/columns">;
type PartQuery = Query<"POST /sites/:site/imports/parts">;
type PartAnswer = Answer<"POST /sites/:site/imports/parts">;

const maxSamples = 3;
const maxSampleLength = 60;

/** Reads the columns with the cells of the first rows, and finds the fields that they may be. */
export async function readColumns(siteId: string, file: Buffer, kind: PartQuery["kind"]): Promise<ColumnsAnswer> {
  const { columns, delimiter, rows } = await readTable(siteId, piecesOf(file), "The file");
  const first: TableRow[] = [];
  for await (const row of rows) if (first.push(row) >= maxSamples) break;
  return {
    delimiter,
    columns: columns.map((name) => ({
      name,
      samples: first.flatMap((row) => ("cells" in row ? sampleOf(row.cells[name]) : [])),
    })),
    fields: suggestFields(kind, columns),
  };
}

function sampleOf(cell: unknown): string[] {
  const text = typeof cell === "string" ? cell.trim() : cell == null ? "" : JSON.stringify(cell);
  return text === "" ? [] : [text.length > maxSampleLength ? `${text.slice(0, maxSampleLength)}…` : text];
}

type UploadContext = { store: Store; directory: Directory; site: Site; by: By; now: () => number };

/** Less than proxies wait for a response. What is left is imported by the next request. */
const timeoutMs = 5000;

/** Imports the rows of a part that are not imported yet. */
export async function importPart(
  { store, directory, site, by, now }: UploadContext,
  { upload, query }: { upload: Buffer; query: PartQuery },
): Promise<PartAnswer> {
  const { kind, timeZone = site.settings.timeZone, dates = null, decimal = null } = query;
  if (!isTimeZone(timeZone)) throw new Refusal("timeZone", say("time_zone_invalid"));
  const requestedColumns = readPairs("mapping", query.mapping);
  const dryRun = query.dryRun === "true";
  const refusedRows: RefusedRow[] = [];
  let waitingFor: string | null = null;
  const stop = new AbortController();
  const timer = dryRun ? undefined : setTimeout(() => stop.abort(), timeoutMs);
  try {
    const { source, part } = await createPart(site.id, upload, query, requestedColumns);
    const report = await importFile(
      {
        kind,
        source,
        part,
        siteId: site.id,
        requestedColumns,
        defaults: readPairs("defaults", query.defaults),
        rules: { timeZone, dates, decimal },
        deliver: kind === "conversions" ? query.deliver : "none",
        dryRun,
      },
      {
        store,
        directory,
        by,
        process: currentProcess(ulid()),
        now,
        newId: ulid,
        stop: stop.signal,
        onRefused: (rows) => refusedRows.push(...rows),
        onStart: () => {},
        onProgress: (progress) => void ({ waitingFor } = progress),
      },
    );
    const { state, tally } = report;
    const isPartDone = state !== "stopped" || !stop.signal.aborted;
    return { state, isPartDone, waitingFor: isPartDone ? null : waitingFor, tally, refusedRows };
  } finally {
    clearTimeout(timer);
  }
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Opens a part as if it were the file: its lines count from the beginning of the file. */
async function createPart(
  siteId: string,
  upload: Buffer,
  query: PartQuery,
  requested: Mapping,
): Promise<{ source: Source; part: ImportPart }> {
  const { file: name, skippedLines, sha256 = hash("sha256", upload) } = query;
  const file = withNewlines(upload);
  const open = async (): Promise<Table> => {
    const table = await readTable(siteId, piecesOf(file), "The file");
    return { ...table, rows: withLines(table.rows, skippedLines) };
  };
  const { columns, format, headerLines, close } = await open();
  close();
  // Rows of NDJSON may lack columns that rows of other parts have.
  const all = format === "ndjson" ? [...new Set([...columns, ...Object.values(requested)])] : columns;
  return {
    source: { name, bytes: upload.length, rows: 0, columns: all, sha256, open, check: () => {} },
    part: {
      skippedLines,
      headerLines,
      endLine: skippedLines + countLines(file),
      hasMore: query.isLast === "false",
    },
  };
}

/** Lines are counted by \n: a file that has none may end its lines with \r. */
const withNewlines = (upload: Buffer): Buffer =>
  upload.includes("\n") ? upload : Buffer.from(upload.map((byte) => (byte === 0x0d ? 0x0a : byte)));

/** The last line may lack its line break. */
function countLines(upload: Buffer): number {
  let lines = upload.at(-1) === 0x0a ? 0 : 1;
  for (let at = upload.indexOf("\n"); at >= 0; at = upload.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

async function* withLines(rows: AsyncIterable<TableRow>, skipped: number): AsyncGenerator<TableRow> {
  for await (const row of rows) yield { ...row, line: row.line + skipped };
}

function readPairs(field: "mapping" | "defaults", text: string | undefined): Record<string, string> {
  if (text === undefined) return {};
  const read = parse(text);
  if (isJsonObject(read) && Object.values(read).every((value) => typeof value === "string"))
    return read as Record<string, string>;
  throw new Refusal(field, say("not_an_object_of_texts", { field }));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
