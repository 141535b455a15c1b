// Builds pages with a cursor, and CSV files page by page, so that memory stays bounded for any length.

import type { RouteName } from "../contract/contract.ts";
import { createTurns } from "../kernel/concurrency.ts";
import { yieldToEventLoop } from "../kernel/deadline.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
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

export type Column<Row> = { title: string; cell: (row: Row) => Cell };

/** Writes a list whose cursor is the id of the last row. */
export const toCsvById = <Row extends { id: string }>(
  columns: readonly Column<Row>[],
  read: (limit: number, before: string | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<CsvText> =>
  toCsv<Row, string>(columns, async (cursor, limit) => {
    const { items, next } = pageOf(await read(limit + 1, cursor ?? undefined), limit);
    return { rows: items, next };
  });

const maxRows = 100_000;
/** A page takes about two milliseconds of the thread that accepts events. */
const pageRows = 25;
/** Of all exports that run, one at a time reads a page. */
const pages = createTurns();

type ReadPage<Row, Cursor> = (cursor: Cursor | null, limit: number) => Promise<{ rows: readonly Row[]; next: Cursor | null }>;

export async function* toCsv<Row, Cursor>(
  columns: readonly Column<Row>[],
  read: ReadPage<Row, Cursor>,
  limit: number = maxRows,
): AsyncGenerator<CsvText> {
  yield writeCsv([columns.map(({ title }) => title)]);
  let written = 0;
  for (let cursor: Cursor | null | undefined; cursor !== null;) {
    const from = cursor ?? null;
    const [page, text] = await pages.take("", async () => {
      const found = await read(from, Math.min(pageRows, limit - written));
      const cells = writeCsv(found.rows.map((row) => columns.map(({ cell }) => cell(row))));
      // The embedded store runs on the thread that accepts events.
      await yieldToEventLoop();
      return [found, cells] as const;
    });
    written += page.rows.length;
    cursor = page.next;
    if (page.rows.length) yield text;
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

export const timeCell = (at: number | null): Cell => (at === null ? null : new Date(at).toISOString());
