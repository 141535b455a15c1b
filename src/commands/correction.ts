import { describeCorrection } from "../delivery/corrections/describe.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { siteName, table, timeText, type CliCommand } from "./context.ts";
import {
  listPage,
  moreText,
  readEventFilters,
  readPaging,
  selectSites,
  withEventFilters,
  withPaging,
  type EventOptions,
  type PagingOptions,
} from "./lists.ts";

type ListOptions = PagingOptions & EventOptions;

export function correctionCommands(program: CliCommand): void {
  const correction = program.command("correction").description("corrections of conversions whose orders were refunded");

  correction
    .command("add <site> <order>")
    .description("correct the conversions of an order without a refund event")
    .option("--value <amount>", "what is left of the value of the order", "0")
    .run(async ({ directory, call, print }, siteText: string, orderId: string, { value }: { value: string }) => {
      const { id } = findSite({ directory }, siteText);
      const body = { orderId, value: readAmount(value) };
      const corrected = await call("POST /sites/:site/corrections", { params: { site: id }, body });
      const lines = corrected.items.map((one) => `${one.platform} ${one.connection}: ${describeCorrection(one)}`);
      print(corrected, lines.join("\n"));
    });

  withPaging(withEventFilters(correction.command("list [site]")), "corrections", "50")
    .description("list corrections, those of the newest conversions first")
    .run(async ({ directory, call, by, print }, siteText: string | undefined, options: ListOptions) => {
      const filter = readEventFilters(options, by.now);
      const selected = selectSites(directory, siteText);
      const { value, rows, next } = await listPage(
        selected,
        readPaging(options),
        (params, paging) => call("GET /sites/:site/corrections", { params, query: { ...filter, ...paging } }),
        ({ event, connection }) => `${event}/${connection}`,
      );
      const lines = rows.map(({ site, item }) => [
        item.event,
        siteName(site),
        `${item.platform || "removed"} ${item.connection}`,
        describeCorrection(item),
        timeText(item.updatedAt),
      ]);
      const off = selected.sites.find(({ settings }) => !settings.corrections);
      const nothing = off
        ? `There are no corrections. Turn them on: cleancast site set ${siteName(off)} corrections=on`
        : "There are no corrections.";
      const head = ["CONVERSION", "SITE", "CONNECTION", "CORRECTION", "CHANGED (UTC)"];
      print(value, table(head, lines, nothing) + moreText({ next }));
    });
}

function readAmount(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1e12))
    throw new Refusal("value", "The value must be a number that is not negative, such as 12.50.");
  return value;
}
