// Lists of one site or of all sites. For a named site, --json prints what the management API answers. Without one, the lists of
// all sites are joined, and each item also names its site.

import { given } from "../http/given.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { findSites, readNumber, readTime, type CliCommand } from "./context.ts";

/** The parameters of a route of one site. */
type OfSite = { site: string };
type Row<Item> = { site: Site; item: Item };
/** The value is printed as JSON; the rows become a table. */
type Listed<Value, Item> = { value: Value | { items: (Item & OfSite)[] }; rows: Row<Item>[] };

export async function listItems<Value extends { items: readonly object[] }>(
  directory: Directory,
  siteText: string | undefined,
  ask: (params: OfSite) => Promise<Value>,
): Promise<Listed<Value, Value["items"][number]>> {
  const answers: { site: Site; value: Value }[] = [];
  const { sites, isNamed } = selectSites(directory, siteText);
  for (const site of sites) answers.push({ site, value: await ask({ site: site.id }) });
  const rows = answers.flatMap(({ site, value }) => value.items.map((item) => ({ site, item })));
  const [only] = answers;
  return { value: only && isNamed ? only.value : { items: rows.map(withSite) }, rows };
}

export const withSite = <Item>({ site, item }: Row<Item>): Item & OfSite => ({ site: site.id, ...item });

type Page<Item> = { items: Item[]; next: string | null };
type Paging = { limit: number; cursor?: string };
export type Ask<Item> = (params: OfSite, paging: Paging) => Promise<Page<Item>>;
export type PagingOptions = { limit: string; cursor?: string };

const maxPage = 200;

export function withPaging(command: CliCommand, what: string, limit = "20"): CliCommand {
  return command
    .option("--limit <n>", `maximum number of ${what}, at most ${maxPage}`, limit)
    .option("--cursor <cursor>", "continue after a page: its `next`");
}

export const readPaging = ({ limit, cursor }: PagingOptions): Paging => ({
  limit: readNumber("limit", limit, maxPage),
  ...given({ cursor }),
});

export type PeriodOptions = { from?: string; to?: string };
export type EventOptions = PeriodOptions & { event?: string };

/** `what` names the rows: "changes", or "events received". */
export const withPeriod = (command: CliCommand, what: string): CliCommand =>
  command
    .option("--from <time>", `only ${what} since: 2026-11-15, 2026-11-15T08:00Z, or 2h, 7d ago`)
    .option("--to <time>", `only ${what} before`);

/** The filters of every list of events, or of what became of them. */
export const withEventFilters = (command: CliCommand): CliCommand =>
  withPeriod(command.option("--event <name>", "only events with this name"), "events received");

export const readEventFilters = ({ event, ...options }: EventOptions, now: number) => ({
  ...given({ event }),
  ...readPeriod(options, now),
});

export function readPeriod(options: PeriodOptions, now: number) {
  const read = (name: "from" | "to") => {
    const text = options[name];
    return text === undefined ? undefined : readTime(name, text, now);
  };
  const [from, to] = [read("from"), read("to")];
  if (from !== undefined && to !== undefined && from >= to) throw new Refusal("from", "--from must be before --to.");
  return given({ from, to });
}

/** The end of a text table that has more pages. */
export const moreText = ({ next }: { next: string | null }) => (next === null ? "" : `\nNext page: --cursor '${next}'`);

export type Sites = { sites: readonly Site[]; isNamed: boolean };

export const selectSites = (directory: Directory, siteText: string | undefined): Sites => ({
  sites: findSites(directory, siteText),
  isNamed: siteText !== undefined,
});

/** Lists a page, newest first. `cursorOf` is the cursor after an item; cursors are in the order of time across sites. */
export async function listPage<Item extends object>(
  { sites, isNamed }: Sites,
  paging: Paging,
  ask: Ask<Item>,
  cursorOf: (item: Item) => string,
): Promise<Listed<Page<Item>, Item> & { next: string | null }> {
  const pages: (Page<Item> & { site: Site })[] = [];
  for (const site of sites) pages.push({ site, ...(await fillPage(site, paging, ask)) });
  const all = pages.flatMap(({ site, items }) => items.map((item) => ({ site, item })));
  const [only] = pages;
  if (only && isNamed) {
    const { items, next } = only;
    return { value: { items, next }, rows: all, next };
  }
  const rows = all.toSorted((one, other) => (cursorOf(one.item) < cursorOf(other.item) ? 1 : -1)).slice(0, paging.limit);
  const last = rows.at(-1);
  const isMore = all.length > paging.limit || pages.some((page) => page.next !== null);
  const next = last && isMore ? cursorOf(last.item) : null;
  return { value: { items: rows.map(withSite), next }, rows, next };
}

/** An answer may hold fewer items than asked for where a filter matches little. The rest of the page is asked for then. */
export async function fillPage<Item>({ id }: Pick<Site, "id">, { limit, cursor }: Paging, ask: Ask<Item>): Promise<Page<Item>> {
  let page = await ask({ site: id }, { limit, ...given({ cursor }) });
  while (page.next !== null && page.items.length < limit) {
    const rest = await ask({ site: id }, { limit: limit - page.items.length, cursor: page.next });
    page = { items: [...page.items, ...rest.items], next: rest.next };
  }
  return page;
}
