import type { Answer } from "../../contract/contract.ts";
import { given } from "../../http/given.ts";
import { Missing } from "../../kernel/refusal.ts";
import { findSite } from "../../sites/manage.ts";
import { collectValues, findSiteOrOnly, readPairs, timeText, type CliCommand } from "../context.ts";
import { readRules } from "../import.ts";

type Feed = Answer<"PUT /sites/:site/order-feed">["feed"];
type SetOptions = {
  header?: string;
  map: string[];
  timeZone?: string;
  dates?: string;
  decimal?: string;
};

/** A list of orders that is fetched once a day. */
export function feedCommands(reconcile: CliCommand): void {
  const feed = reconcile.command("feed").description("fetch the list of orders from a URL once a day");

  feed
    .command("set <site> <url>")
    .description("fetch CSV or NDJSON from this URL, at once and then every day")
    .option("--header <name=value>", "a header of the request; name=@file reads the value from a file")
    .option("--map <field=column>", "the column of a field; may be repeated", collectValues, [])
    .option("--time-zone <zone>", "the zone of times without an offset (default: the site's)")
    .option("--dates <order>", "mdy or dmy: the order of 03/04/2026")
    .option("--decimal <sign>", "point or comma: the decimal separator")
    .run(async ({ directory, call, print }, siteText: string, url: string, options: SetOptions) => {
      const { id, settings } = findSite({ directory }, siteText);
      const { dates, decimal } = await readRules(options, settings.timeZone);
      const [header] = Object.entries(readPairs(options.header === undefined ? [] : [options.header]));
      const body = {
        url,
        header: header ? { name: header[0], value: header[1] } : null,
        columns: readPairs(options.map, (text) => `@${text}`),
        ...given({ timeZone: options.timeZone, dates: dates ?? undefined, decimal: decimal ?? undefined }),
      };
      const set = await call("PUT /sites/:site/order-feed", { params: { site: id }, body });
      print(set, `${set.feed.url} is fetched within a minute while the relay runs, then every day.`);
    });

  feed
    .command("show [site]")
    .description("show the feed and its last fetch")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id } = findSiteOrOnly(directory, siteText);
      const orders = await call("GET /sites/:site/orders", { params: { site: id } });
      if (!orders.feed) throw new Missing("feed", "The site has no order feed.");
      print(orders, feedText(orders.feed));
    });

  feed
    .command("fetch [site]")
    .description("fetch the list within a minute")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const params = { site: findSiteOrOnly(directory, siteText).id };
      print(
        await call("POST /sites/:site/order-feed/fetch", { params }),
        "The list is fetched within a minute while the relay runs.",
      );
    });

  feed
    .command("remove [site]")
    .description("stop fetching the list; its orders stay")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const params = { site: findSiteOrOnly(directory, siteText).id };
      print(await call("DELETE /sites/:site/order-feed", { params }), "The list is no longer fetched.");
    });
}

function feedText({ url, header, nextAt, fetchedAt, error, last }: Feed): string {
  const { rows = 0, written = 0, refused = 0, reasons = {} } = last ?? {};
  const lines = [
    `${url}${header === null ? "" : `, with the header ${header}`}`,
    fetchedAt === null ? "Not fetched yet." : `Last fetch: ${timeText(fetchedAt)} UTC`,
    ...(error === null ? [] : [`It failed: ${error}`]),
    ...(rows ? [`${rows} rows, ${written} written, ${refused} refused`] : []),
    ...Object.entries(reasons).map(([reason, { count, lines: where }]) => `  ${count} × ${reason} (line ${where.join(", ")})`),
    `Next fetch: ${nextAt === null ? "within a minute" : `${timeText(nextAt)} UTC`}`,
  ];
  return lines.join("\n");
}
