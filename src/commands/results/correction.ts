import { describeCorrection, toCorrection } from "../../delivery/corrections/describe.ts";
import { correctOrder } from "../../delivery/corrections/correctOrder.ts";
import { Refusal } from "../../kernel/refusal.ts";
import type { Site } from "../../sites/directory.ts";
import { findSite } from "../../sites/manage.ts";
import type { NewCorrection } from "../../store/corrections/corrections.ts";
import { lastId } from "../../kernel/ids.ts";
import { findSiteOrOnly, readNumber, table, timeText, type CliCommand } from "../context.ts";

const maxListed = 1000;

export function correctionCommands(program: CliCommand): void {
  const correction = program
    .command("correction")
    .description("conversions that were restated or taken back because their orders were refunded");

  correction
    .command("add <site> <order>")
    .description("correct the conversions of an order that was refunded or cancelled, without a refund event")
    .option("--value <amount>", "what is left of the value of the order", "0")
    .run(async ({ store, directory, by, print }, siteText: string, orderId: string, { value }: { value: string }) => {
      const site = findSite({ directory }, siteText);
      const found = await correctOrder({ store }, site, { orderId, value: readAmount(value) }, by);
      const corrections = found.map((row) => toListed(row, site));
      const lines = corrections.map((one) => `${one.platform ?? ""} ${one.connection}: ${describeCorrection(one)}`);
      print({ corrections }, lines.join("\n"));
    });

  correction
    .command("list [site]")
    .description("list corrections, those of the newest conversions first")
    .option("--limit <n>", "maximum number of corrections", "50")
    .run(async ({ store, directory, print }, siteText: string | undefined, options: { limit: string }) => {
      const site = findSiteOrOnly(directory, siteText);
      const limit = readNumber("limit", options.limit, maxListed);
      const rows = await store.corrections.list(site.id, { eventId: lastId, connectionId: "" }, limit);
      const corrections = rows.map((row) => toListed(row, site));
      const lines = corrections.map((one) => [
        timeText(one.updatedAt),
        one.event,
        `${one.platform ?? "removed"} ${one.connection}`,
        describeCorrection(one),
      ]);
      const nothing = site.settings.corrections
        ? "There are no corrections."
        : `There are no corrections. Turn them on: cleancast site set ${site.id} corrections=on`;
      print({ corrections }, table(["CHANGED (UTC)", "CONVERSION", "CONNECTION", "CORRECTION"], lines, nothing));
    });
}

function toListed(row: NewCorrection, site: Site) {
  const platform = site.connections.find(({ id }) => id === row.connectionId)?.platform ?? null;
  return { ...toCorrection(row), event: row.eventId, connection: row.connectionId, platform };
}

function readAmount(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value <= 1e12))
    throw new Refusal("value", "The value must be a number that is not negative, such as 12.50.");
  return value;
}
