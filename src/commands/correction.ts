import { describeCorrection } from "../delivery/corrections/describe.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { findSiteOrOnly, table, timeText, type CliCommand } from "./context.ts";
import { moreText, readPaging, withPaging, type PagingOptions } from "./lists.ts";

export function correctionCommands(program: CliCommand): void {
  const correction = program.command("correction").description("corrections of conversions whose orders were refunded");

  correction
    .command("add <site> <order>")
    .description("correct the conversions of an order that was refunded or cancelled, without a refund event")
    .option("--value <amount>", "what is left of the value of the order", "0")
    .run(async ({ directory, call, print }, siteText: string, orderId: string, { value }: { value: string }) => {
      const { id } = findSite({ directory }, siteText);
      const body = { orderId, value: readAmount(value) };
      const corrected = await call("POST /sites/:site/corrections", { params: { site: id }, body });
      const lines = corrected.items.map((one) => `${one.platform} ${one.connection}: ${describeCorrection(one)}`);
      print(corrected, lines.join("\n"));
    });

  withPaging(correction.command("list [site]"), "corrections", "50")
    .description("list corrections, those of the newest conversions first")
    .run(async ({ directory, call, print }, siteText: string | undefined, options: PagingOptions) => {
      const { id, settings } = findSiteOrOnly(directory, siteText);
      const listed = await call("GET /sites/:site/corrections", { params: { site: id }, query: readPaging(options) });
      const lines = listed.items.map((one) => [
        timeText(one.updatedAt),
        one.event,
        `${one.platform || "removed"} ${one.connection}`,
        describeCorrection(one),
      ]);
      const nothing = settings.corrections
        ? "There are no corrections."
        : `There are no corrections. Turn them on: cleancast site set ${id} corrections=on`;
      const head = ["CHANGED (UTC)", "CONVERSION", "CONNECTION", "CORRECTION"];
      print(listed, table(head, lines, nothing) + moreText(listed));
    });
}

function readAmount(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1e12))
    throw new Refusal("value", "The value must be a number that is not negative, such as 12.50.");
  return value;
}
