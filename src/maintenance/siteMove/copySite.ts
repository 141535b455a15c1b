// Copies the rows of one site from one database to another, in passes. A pass reads every page of the source and writes those that
// differ from the copy. The pages of a pass are remembered by their hashes, so that the next one compares them without asking the
// other database. A process that continues an earlier one has no hashes: it compares every page with the copy once.

import { Conflict } from "../../kernel/refusal.ts";
import type { Row } from "../../store/engine/database.ts";
import { setMoveState, type SiteMove } from "../../store/sites/siteMoves.ts";
import {
  countSiteRows,
  countTables,
  hashRows,
  keyOf,
  putRows,
  readPage,
  removeOthers,
  type Key,
  type Side,
  type SiteTable,
} from "../../store/maintenance/siteRows.ts";

const pageRows = 250;

type Page = { end: Key | null; hash: string };
type CopiedRows = { copied: number; total: number };

export type SiteCopy = {
  /** Makes one pass over all tables. */
  pass(onPage: (rows: number, table: string) => void): Promise<CopiedRows>;
  /** Compares the counts of all tables, and removes rows there that are gone here. Nothing may be written here meanwhile. */
  compareCounts(): Promise<void>;
};

export function createSiteCopy(
  { siteId, runId }: Pick<SiteMove, "siteId" | "runId">,
  from: Side,
  to: Side,
  tables: readonly SiteTable[],
  now: () => number,
): SiteCopy {
  const known = new Map<string, Page[]>();

  /** In one transaction with a check that no other process continues the move: it may be about to hand the site over. */
  const put = (table: SiteTable, rows: readonly Row[]) =>
    to.db.write(async (tx) => {
      await setMoveState(tx, { siteId, runId }, "arriving", now());
      return putRows(tx, to, table, siteId, rows);
    });

  async function passTable(table: SiteTable, onPage: (rows: number) => void): Promise<CopiedRows> {
    const before = known.get(table.name) ?? [];
    const pages: Page[] = [];
    const done = { copied: 0, total: 0 };
    let after: Key | null = null;
    for (let at = 0; ;) {
      const old = before[at];
      // A page that has grown to twice its size is cut.
      const rows = await readPage(from, table, siteId, { after, end: old?.end ?? null }, 2 * pageRows);
      const isWhole = rows.length < 2 * pageRows;
      const page = isWhole ? rows : rows.slice(0, pageRows);
      // An open end is closed, unless nothing follows: rows are appended behind the last page.
      const last = page.at(-1);
      const end = isWhole && old?.end ? old.end : last ? keyOf(table, last) : null;
      const hash = hashRows(table, page);
      onPage(page.length);
      if (page.length > 0 && hash !== old?.hash) done.copied += await put(table, page);
      done.total += page.length;
      if (page.length > 0 || old?.end) pages.push({ end, hash });
      if (isWhole && (table.key.length === 0 || !old?.end)) break;
      if (isWhole) at += 1;
      after = end;
    }
    known.set(table.name, pages);
    return done;
  }

  async function removeExtra(table: SiteTable): Promise<void> {
    for (let after: Key | null = null; ;) {
      const rows = await readPage(to, table, siteId, { after, end: null }, pageRows);
      await removeOthers(from, to, table, siteId, rows);
      const last = rows.at(-1);
      if (rows.length < pageRows || !last || table.key.length === 0) return;
      after = keyOf(table, last);
    }
  }

  return {
    async pass(onPage) {
      const done = { copied: 0, total: 0 };
      for (const table of tables) {
        const { copied, total } = await passTable(table, (rows) => onPage(rows, table.name));
        done.copied += copied;
        done.total += total;
      }
      return done;
    },
    async compareCounts() {
      for (const table of tables) {
        const counts = async () => [
          await countSiteRows(from.db, table.name, siteId),
          await countSiteRows(to.db, table.name, siteId),
        ];
        let [here, there] = await counts();
        if (here === there) continue;
        await removeExtra(table);
        [here, there] = await counts();
        // Nodes count requests all the time, also those that they refuse.
        if (here !== there && !countTables.includes(table.name))
          throw new Conflict(
            "to",
            `The table ${table.name} has ${here} rows here and ${there} there: another program changes them. Run the same command again.`,
          );
      }
    },
  };
}
