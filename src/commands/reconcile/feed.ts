import { fetchSoon, findFeed, removeFeed, setFeed } from "../../reconcile/feed.ts";
import type { UploadTally } from "../../reconcile/uploadOrders.ts";
import type { Feed } from "../../store/reconciliation/feeds.ts";
import { collectValues, findSiteOrOnly, readPairs, timeText, type CliCommand } from "../context.ts";
import { readRules } from "../import.ts";

type OfSite = { site?: string };
type SetOptions = OfSite & {
  header?: string;
  map: string[];
  timeZone?: string;
  dates?: string;
  decimal?: string;
};

/** A list of orders that is fetched once a day. */
export function feedCommands(reconcile: CliCommand): void {
  const feed = reconcile.command("feed").description("fetch the list of orders from a URL once a day");
  const ofSite = (command: CliCommand) => command.option("--site <site>", "the site's id or one of its hosts");

  ofSite(feed.command("set <url>"))
    .description("fetch CSV or NDJSON from this URL, at once and then every day")
    .option("--header <name=value>", "a header of the request; name=@file reads the value from a file")
    .option("--map <field=column>", "the column of a field; may be repeated", collectValues, [])
    .option("--time-zone <zone>", "the zone of times without an offset (default: the site's)")
    .option("--dates <order>", "mdy or dmy: the order of 03/04/2026")
    .option("--decimal <sign>", "point or comma: the decimal separator")
    .run(async ({ store, directory, config, by, print }, url: string, options: SetOptions) => {
      const site = findSiteOrOnly(directory, options.site);
      const { dates, decimal } = await readRules(options, site.settings.timeZone);
      const [header] = Object.entries(readPairs(options.header === undefined ? [] : [options.header]));
      const wanted = {
        url,
        header: header ? { name: header[0], value: header[1] } : null,
        columns: readPairs(options.map, (text) => `@${text}`),
        timeZone: options.timeZone,
        dates,
        decimal,
      };
      const set = await setFeed(store, site, wanted, { ...by, allow: config.allowPrivate });
      print({ feed: toJson(set) }, `${originOf(set)} is fetched within a minute while the relay runs, then every day.`);
    });

  ofSite(feed.command("show"))
    .description("show the feed and its last fetch")
    .run(async ({ store, directory, print }, options: OfSite) => {
      const shown = await findFeed(store, findSiteOrOnly(directory, options.site).id);
      print({ feed: toJson(shown) }, feedText(shown));
    });

  ofSite(feed.command("fetch"))
    .description("fetch the list within a minute")
    .run(async ({ store, directory, print }, options: OfSite) => {
      const site = findSiteOrOnly(directory, options.site);
      await fetchSoon(store, site.id);
      print({ site: site.id }, "The list is fetched within a minute while the relay runs.");
    });

  ofSite(feed.command("remove"))
    .description("stop fetching the list; its orders stay")
    .run(async ({ store, directory, by, print }, options: OfSite) => {
      const site = findSiteOrOnly(directory, options.site);
      await removeFeed(store, site.id, by);
      print({ site: site.id }, "The list is no longer fetched.");
    });
}

/** The path may hold a token. */
const originOf = ({ address }: Feed) => (address ? `${new URL(address.url).origin}/…` : "(cannot be read)");

const toJson = (feed: Feed) => ({
  url: originOf(feed),
  header: feed.address?.header?.name ?? null,
  ...feed.options,
  dueAt: feed.dueAt,
  fetchedAt: feed.fetchedAt,
  error: feed.error,
  last: feed.tally,
});

function feedText(feed: Feed): string {
  const { rows = 0, written = 0, refused = 0, reasons = {} } = feed.tally as Partial<UploadTally>;
  const header = feed.address?.header ? `, with the header ${feed.address.header.name}` : "";
  const lines = [
    `${originOf(feed)}${header}`,
    feed.fetchedAt === null ? "Not fetched yet." : `Last fetch: ${timeText(feed.fetchedAt)} UTC`,
    ...(feed.error === null ? [] : [`It failed: ${feed.error}`]),
    ...(rows ? [`${rows} rows, ${written} written, ${refused} refused`] : []),
    ...Object.entries(reasons).map(([reason, { count, lines: where }]) => `  ${count} × ${reason} (line ${where.join(", ")})`),
    `Next fetch: ${feed.dueAt === 0 ? "within a minute" : `${timeText(feed.dueAt)} UTC`}`,
  ];
  return lines.join("\n");
}
