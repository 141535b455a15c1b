// Lists as tables, piece by piece: whatever their length, only a page of them is in memory.

import { stringify } from "csv-stringify/sync";
import type { FastifyReply } from "fastify";
import { yieldToEventLoop } from "../kernel/deadline.ts";
import { pageOf } from "./page.ts";

export type Cell = string | number | null;
export type Column<Row> = { title: string; cell: (row: Row) => Cell };

/** A table of a list whose store takes the last id of the page above. */
export const csvBelow = <Row extends { id: string }>(
  columns: readonly Column<Row>[],
  read: (limit: number, before: string | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<string> =>
  csvOf<Row, string>(columns, async (cursor, limit) => {
    const { items, next } = pageOf(await read(limit + 1, cursor ?? undefined), limit);
    return { rows: items, next };
  });

const maxRows = 100_000;
const pageRows = 200;

type ReadPage<Row, Cursor> = (
  cursor: Cursor | null,
  limit: number,
) => Promise<{ rows: readonly Row[]; next: Cursor | null }>;

export async function* csvOf<Row, Cursor>(
  columns: readonly Column<Row>[],
  read: ReadPage<Row, Cursor>,
  most: number = maxRows,
): AsyncGenerator<string> {
  yield stringify([columns.map(({ title }) => title)]);
  let written = 0;
  for (let cursor: Cursor | null | undefined; cursor !== null;) {
    const page: { rows: readonly Row[]; next: Cursor | null } = await read(
      cursor ?? null,
      Math.min(pageRows, most - written),
    );
    written += page.rows.length;
    cursor = page.next;
    if (page.rows.length)
      yield stringify(page.rows.map((row) => columns.map(({ cell }) => harmless(cell(row)))));
    if (written >= most && cursor !== null) {
      const count = most.toLocaleString("en-US");
      yield stringify([[`These are the newest ${count}. Choose a shorter time to see others.`]]);
      return;
    }
    // The embedded store works on the thread that takes events in.
    await yieldToEventLoop();
  }
}

/** A spreadsheet runs a text that begins like a formula; senders choose texts. */
function harmless(cell: Cell): string {
  if (cell === null) return "";
  return typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
}

/** A browser saves it under this name. */
export function asFile(reply: FastifyReply, name: string, host: string | undefined, now: number): void {
  const place = (host ?? "site").replace(/[^a-z0-9.-]/gi, "-");
  const day = new Date(now).toISOString().slice(0, 10);
  reply.header("content-disposition", `attachment; filename="${name}-${place}-${day}.csv"`);
}

export const timeCell = (at: number | null): Cell => (at === null ? null : new Date(at).toISOString());
