// Writes a list of orders from a table, a few rows at a time. Orders are written by their ids, so a list that was cut off, or
// is sent again, does no harm: what was written stays, and the rest follows with the next one.

import { setTimeout as wait } from "node:timers/promises";
import { threadShare } from "../kernel/concurrency.ts";
import type { Order } from "../store/reconciliation/orders.ts";
import type { Store } from "../store/store.ts";
import type { Mapping, RowFormat } from "../tables/columns.ts";
import type { Table, TableRow } from "../tables/table.ts";
import type { ValueRules } from "../tables/values.ts";
import { chooseOrderColumns, readOrder } from "./readOrder.ts";

export type UploadTally = {
  rows: number;
  written: number;
  refused: number;
  /** By reason: the count, and the lines of the first rows. */
  reasons: Record<string, { count: number; lines: number[] }>;
};

export const newUploadTally = (): UploadTally => ({ rows: 0, written: 0, refused: 0, reasons: {} });

const maxLines = 5;
const maxReasons = 50;
const otherReasons = "other reasons";

function countRow(tally: UploadTally, line: number, fault: string | null): void {
  tally.rows += 1;
  if (fault === null) {
    tally.written += 1;
    return;
  }
  tally.refused += 1;
  const isKnown = Object.hasOwn(tally.reasons, fault) || Object.keys(tally.reasons).length < maxReasons;
  const reason = (tally.reasons[isKnown ? fault : otherReasons] ??= { count: 0, lines: [] });
  reason.count += 1;
  if (reason.lines.length < maxLines) reason.lines.push(line);
}

/** The embedded store needs about two milliseconds of the thread that accepts events for a commit of this many. */
const maxCommitRows = 50;

type Target = { store: Pick<Store, "orders">; siteId: string; now: number };

/** Writes the rows that are orders. Returns what is wrong with each of the others, and null for those that were written. */
export async function writeOrderRows(
  { store, siteId, now }: Target,
  rows: readonly TableRow[],
  format: RowFormat,
): Promise<(string | null)[]> {
  const read = await threadShare.map(siteId, rows, (row) =>
    "fault" in row ? row.fault : readOrder(row.cells, format, { siteId, now }),
  );
  const orders = read.filter((one): one is Order => typeof one !== "string");
  for (let from = 0; from < orders.length; from += maxCommitRows) {
    await threadShare.nextSlice(siteId);
    await store.orders.write(orders.slice(from, from + maxCommitRows));
  }
  return read.map((one) => (typeof one === "string" ? one : null));
}

const chunkRows = 200;
const maxPauseMs = 200;

/** `requested` are the columns of fields that their names do not tell. */
export async function uploadOrders(
  target: Target,
  table: Table,
  { requested, rules }: { requested: Mapping; rules: ValueRules },
  mayGoOn: () => boolean = () => true,
): Promise<UploadTally> {
  const { mapping } = chooseOrderColumns(table.columns, requested, []);
  const format: RowFormat = { mapping, defaults: {}, rules, delimiter: table.delimiter };
  const tally = newUploadTally();
  let waiting: TableRow[] = [];
  const write = async () => {
    const startedAt = performance.now();
    const faults = await writeOrderRows(target, waiting, format);
    for (const [i, { line }] of waiting.entries()) countRow(tally, line, faults[i] ?? null);
    waiting = [];
    // Leaves the store to others for as long as the chunk took.
    await wait(Math.min(maxPauseMs, performance.now() - startedAt));
  };
  for await (const row of table.rows) {
    if (!mayGoOn()) return tally;
    waiting.push(row);
    if (waiting.length >= chunkRows) await write();
  }
  if (waiting.length) await write();
  return tally;
}

/** Writes orders that a program sent as JSON; `index` counts from 0. */
export async function writeListedOrders(
  target: Target,
  orders: readonly Readonly<Record<string, string | number | null | undefined>>[],
  timeZone: string,
): Promise<{ written: number; refused: { index: number; reason: string }[] }> {
  const names = [...new Set(orders.flatMap((order) => Object.keys(order)))];
  const format: RowFormat = {
    mapping: Object.fromEntries(names.map((name) => [name, name])),
    defaults: {},
    rules: { timeZone, dates: null, decimal: "point" },
    delimiter: null,
  };
  const rows = orders.map((order, i): TableRow => {
    const cells = Object.entries(order).map(([name, value]) => [name, value == null ? "" : String(value)]);
    return { line: i, bytes: 0, cells: Object.fromEntries(cells) };
  });
  const faults = await writeOrderRows(target, rows, format);
  const refused = faults.flatMap((reason, index) => (reason === null ? [] : [{ index, reason }]));
  return { written: rows.length - refused.length, refused };
}
