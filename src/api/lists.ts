// Builds pages with a cursor, and CSV files page by page, so that memory stays bounded for any length.

import type { RouteName } from "../contract/contract.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Site } from "../sites/directory.ts";
import { writeCsv, type Cell, type CsvText } from "../tables/formulas.ts";
import type { Call } from "./call.ts";

/** Cuts a page from a list that was read with one extra row, which shows whether there is a next page. */
export function pageOf<Item extends { id: string }>(
  rows: readonly Item[],
  limit: number,
): { items: Item[]; next: string | null } {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

export function checkTimes(from: number | undefined, to: number | undefined): void {
  if (from !== undefined && to !== undefined && from >= to) throw new Refusal("from", say("start_after_end"));
}

const cursorForm = /^([0-9a-z]{26})(?:\/([0-9a-z]{1,40})?)?$/;

/** Reads an event id, or EVENT/CONNECTION in the sync log. */
export function readCursor(text: string | undefined): { id: string; connectionId: string } | null {
  if (text === undefined) return null;
  const [, id, connectionId = ""] = cursorForm.exec(text) ?? [];
  if (id === undefined) throw new Refusal("cursor", say("cursor_invalid"), "--cursor must be the `next` of a page.");
  return { id, connectionId };
}

/** A column of times has `at`. Its title names the time zone of the file. */
export type Column<Row> = { title: string } & ({ cell: (row: Row) => Cell } | { at: (row: Row) => number | null });

/** The site whose list a file has; the empty one for the installation. Its times are in the time zone. */
type ListOf = { siteId: string; timeZone: string };
export const listOf = ({ id, settings }: Site): ListOf => ({ siteId: id, timeZone: settings.timeZone });

/** Writes a list whose cursor is the id of the last row. */
export const toCsvById = <Row extends { id: string }>(
  columns: readonly Column<Row>[],
  of: ListOf,
  read: (limit: number, before: string | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<CsvText> =>
  toCsv<Row, string>(columns, of, async (cursor, limit) => {
    const { items, next } = pageOf(await read(limit + 1, cursor ?? undefined), limit);
    return { rows: items, next };
  });

const maxRows = 100_000;
/** A page takes about two milliseconds of the thread that accepts events. */
const pageRows = 25;

type ReadPage<Row, Cursor> = (cursor: Cursor | null, limit: number) => Promise<{ rows: readonly Row[]; next: Cursor | null }>;

export async function* toCsv<Row, Cursor>(
  columns: readonly Column<Row>[],
  { siteId, timeZone }: ListOf,
  read: ReadPage<Row, Cursor>,
  limit: number = maxRows,
): AsyncGenerator<CsvText> {
  const timeText = timesIn(timeZone);
  const cellOf = (column: Column<Row>, row: Row) => ("at" in column ? timeText(column.at(row)) : column.cell(row));
  yield writeCsv([columns.map((column) => ("at" in column ? `${column.title} (${timeZone})` : column.title))]);
  let written = 0;
  for (let cursor: Cursor | null | undefined; cursor !== null;) {
    const from = cursor ?? null;
    // The embedded store runs on the thread that accepts events.
    await threadShare.nextSlice(siteId);
    const page = await read(from, Math.min(pageRows, limit - written));
    written += page.rows.length;
    cursor = page.next;
    if (page.rows.length) yield writeCsv(page.rows.map((row) => columns.map((column) => cellOf(column, row))));
    if (written >= limit && cursor !== null) {
      const count = limit.toLocaleString("en-US");
      yield writeCsv([[`Only the newest ${count} rows are listed. Choose a shorter period to see others.`]]);
      return;
    }
  }
}

/** Names the file that a browser saves. */
export function setFileName(reply: Call<RouteName>["reply"], name: string, host: string | undefined, now: number): void {
  const place = (host ?? "site").replace(/[^a-z0-9.-]/gi, "-");
  const day = new Date(now).toISOString().slice(0, 10);
  reply.header("content-disposition", `attachment; filename="${name}-${place}-${day}.csv"`);
}

/** Writes times as spreadsheets read them. The Swedish order is the one of ISO 8601. */
function timesIn(timeZone: string): (at: number | null) => Cell {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return (at) => (at === null ? null : format.format(at));
}
