// Copies tables from one database to another in passes, while rows are written to the first one. A pass reads every page and writes the
// rows that differ from the copy. Its pages are remembered by their hashes, so that the next pass compares them without asking the other
// database. A process that continues an earlier one has no hashes: it compares every page with the copy once.
//
// After a pass over a table the copy has all rows that the pass has seen. So where it has as many rows, it has no others; where it has
// more, some are gone here and are removed there. After a pass during which nothing could be written, both are equal.

import { hash } from "node:crypto";
import { errorCode } from "../../kernel/errorCode.ts";
import { Conflict } from "../../kernel/refusal.ts";
import type { Database, Query, Row } from "../engine/database.ts";
import {
  addRows,
  countRows,
  deleteByKeys,
  keyOf,
  keyText,
  lineOf,
  putRows,
  readByKeys,
  readPage,
  readPages,
  UnfitRow,
  type Key,
  type Side,
  type Table,
} from "./rows.ts";

/** The size of a page. One that has grown to more than twice this size is cut. */
export type PageSize = { rows: number; bytes: number };

type CopyPlan = {
  from: Side;
  to: Side<Database>;
  tables: readonly Table[];
  /** Runs first in every transaction that writes there. */
  beforeWrite: (tx: Query) => Promise<unknown>;
  size?: PageSize;
};

type PassOptions = {
  /** Called for each page; `seen` is the number of rows so far. */
  onPage?: (seen: number, table: string) => void;
  /** Nothing can be written here meanwhile: a conflict will not go away by itself. */
  isLocked?: boolean;
};

type Pass = {
  copied: number;
  total: number;
  /** Tables that have another number of rows there: another program changes them or, unless the pass is locked, this relay. */
  differing: { table: string; here: number; there: number }[];
};

export type Copy = {
  /** Makes one pass over all tables. */
  pass(options?: PassOptions): Promise<Pass>;
  /** Makes the next pass compare every page with the copy. */
  forget(): void;
};

type Page = { end: Key | null; hash: string };
/** What is known of the copy of a table: its pages, and the keys of rows that were removed there. */
type KnownTable = { pages: Page[]; removed: Row[] };

const maxWrites = 4;
/** Keys are small, and are read for the whole table. */
const keysPerPage = 2000;
const maxRemoved = 20_000;
/** Four pages are written at once: at most some hundred megabytes. */
const defaultSize: PageSize = { rows: 1000, bytes: 2_000_000 };

/** A unique value exists there already: in another row, which may be about to be changed or removed. */
class UniqueConflict extends Conflict {
  constructor(reason: string) {
    super("database", `A value that must be unique occurs twice (${reason}).`);
  }
}

export function createCopy({ from, to, tables, beforeWrite, size = defaultSize }: CopyPlan): Copy {
  const known = new Map<string, KnownTable>();

  /** Writes rows in one transaction. Where a row cannot be stored, the rows are written one by one to find it. */
  async function put(table: Table, rows: readonly Row[], isNew = false): Promise<number> {
    const [first, ...others] = rows;
    if (!first) return 0;
    try {
      return await to.db.write(async (tx) => {
        await beforeWrite(tx);
        if (!isNew) return putRows(tx, to, table, rows);
        await addRows(tx, to, table, rows);
        return rows.length;
      });
    } catch (error) {
      if (!to.db.isDataError(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      if (errorCode(error) === "23505" || reason.startsWith("UNIQUE constraint failed")) throw new UniqueConflict(reason);
      if (others.length === 0) throw new UnfitRow(table, first, reason);
    }
    let copied = 0;
    for (const row of rows) copied += await put(table, [row]);
    return copied;
  }

  /** Yields a table cut at the ends of the pages of the last pass, and where a page has grown too large. */
  async function* readTablePages(
    table: Table,
    before: readonly Page[],
  ): AsyncGenerator<{ page: Page; rows: Row[]; isKnown: boolean }> {
    let after: Key | null = null;
    const rest: Page = { end: null, hash: "" };
    for (const old of table.key.length > 0 ? [...before, rest] : [before[0] ?? rest])
      for (let isWhole = false; !isWhole;) {
        const limit: number = old.end ? 2 * size.rows : size.rows;
        const found: Row[] = await readPage(from, table, { after, end: old.end }, limit);
        const lines = found.map((row) => lineOf(table, row));
        const length = pageLength(lines, size);
        const rows = found.slice(0, length);
        isWhole = found.length < limit && rows.length === found.length;
        const last = rows.at(-1);
        // An open end is closed: what is added behind it will be a page of its own.
        after = isWhole && old.end ? old.end : last ? keyOf(table, last) : after;
        const digest = hash("sha256", lines.slice(0, length).join(""));
        if (last || old.end) yield { page: { end: after, hash: digest }, rows, isKnown: digest === old.hash };
      }
  }

  /** Removes rows there that are gone here. */
  async function removeExtra(table: Table, removed: Row[]): Promise<void> {
    const keys = { ...table, columns: table.key.length > 0 ? table.key : ["site_id"] };
    for await (const rows of readPages(to, keys, keysPerPage)) {
      const here = new Set((await readByKeys(from, keys, rows)).map((row) => keyText(table, row)));
      const extra = rows.filter((row) => !here.has(keyText(table, row)));
      if (extra.length === 0) continue;
      removed.push(...extra);
      await to.db.write(async (tx) => {
        await beforeWrite(tx);
        await deleteByKeys({ ...tx, engine: to.db.engine }, table, extra);
      });
    }
  }

  async function passTable(table: Table, pass: Pass, { onPage = () => {}, isLocked = false }: PassOptions): Promise<void> {
    const { pages: before, removed } = known.get(table.name) ?? { pages: [], removed: [] };
    const isNew = before.length === 0 && (await countThere(table)) === 0;
    const pages: Page[] = [];
    const conflicting: Row[] = [];
    const writes = new Set<Promise<void>>();
    let seen = 0;
    for await (const { page, rows, isKnown } of readTablePages(table, before)) {
      onPage(pass.total + seen, table.name);
      seen += rows.length;
      pages.push(page);
      if (isKnown) continue;
      const write = put(table, rows, isNew)
        .then(
          (copied) => void (pass.copied += copied),
          (error: unknown) => {
            if (!(error instanceof UniqueConflict)) throw error;
            conflicting.push(...rows);
            page.hash = "";
          },
        )
        .finally(() => writes.delete(write));
      // The first failure is reported; the others must not end the process.
      write.catch(() => {});
      writes.add(write);
      if (writes.size >= maxWrites) await Promise.race(writes);
    }
    await Promise.all(writes);
    if (conflicting.length > 0) {
      await removeExtra(table, removed);
      pass.copied += await putConflicting(table, conflicting, isLocked);
    }
    // What was removed there may have been written here again, as it was: the hash of its page does not show that.
    pass.copied += await put(table, await readByKeys(from, table, removed));

    let [here, there] = [seen, await countThere(table)];
    if (there > seen) {
      await removeExtra(table, removed);
      [here, there] = [await countRows(from.db, table), await countThere(table)];
    }
    if (here !== there) pass.differing.push({ table: table.name, here, there });
    pass.total += seen;
    if (removed.length > maxRemoved) known.delete(table.name);
    else known.set(table.name, { pages, removed });
  }

  /**
   * Writes rows that have a unique value of others there: of rows that are gone here, or of each other. While rows are written here they
   * may be of different moments; then the next pass copies them.
   */
  async function putConflicting(table: Table, rows: readonly Row[], isLocked: boolean): Promise<number> {
    try {
      return await put(table, rows);
    } catch (error) {
      if (isLocked || !(error instanceof UniqueConflict)) throw error;
      return rows.length;
    }
  }

  const countThere = (table: Table) =>
    to.db.write(async (tx) => {
      if (to.db.isServer) await tx.all(noStatementTimeout);
      return countRows(tx, table);
    });

  return {
    async pass(options = {}) {
      const pass: Pass = { copied: 0, total: 0, differing: [] };
      for (const table of tables) await passTable(table, pass, options);
      return pass;
    },
    forget: () => known.clear(),
  };
}

/** A statement over a full table may take longer than any statement of a relay. */
export const noStatementTimeout = `SET LOCAL statement_timeout = 0`;

/** Returns how many of the rows make a page: all of them, unless they are more than two pages. */
function pageLength(lines: readonly string[], size: PageSize): number {
  let [bytes, cut] = [0, 0];
  for (const [i, line] of lines.entries()) {
    bytes += line.length;
    if (cut === 0 && (i + 1 >= size.rows || bytes >= size.bytes)) cut = i + 1;
    if (cut > 0 && i >= cut && (i + 1 >= 2 * size.rows || bytes >= 2 * size.bytes)) return cut;
  }
  return lines.length;
}
