import { createInterface } from "node:readline/promises";
import {
  cancelBackfill,
  countBackfill,
  startBackfill,
  type BackfillCount,
} from "../delivery/backfill/backfill.ts";
import { defaultBackfillPace, maxBackfillDays, maxBackfillPace } from "../kernel/backfill.ts";
import { countOf } from "../kernel/text.ts";
import { findConnection } from "../sites/connect.ts";
import type { Connection } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import type { BackfillRow } from "../store/deliveries/backfills.ts";
import { findSites, readNumber, table, timeText, type CliCommand, type CommandContext } from "./context.ts";

type StartOptions = { days: string; perMinute: string; yes?: boolean };
type Wanted = { days: number; perMinute?: number; yes?: boolean | undefined };

export function backfillCommands(program: CliCommand): void {
  const backfill = program
    .command("backfill")
    .description("send past conversions to a connection that did not get them");

  backfill
    .command("start <connection>")
    .description(
      "count the conversions of the last days that the platform can still take, ask, and send them while the relay runs",
    )
    .requiredOption("--days <n>", "length of the period that ends now")
    .option("--per-minute <n>", "maximum number of conversions per minute", String(defaultBackfillPace))
    .option("--yes", "start without asking")
    .run(async (context, id: string, { days, perMinute, yes }: StartOptions) => {
      const wanted = {
        days: readNumber("days", days, maxBackfillDays),
        perMinute: readNumber("per-minute", perMinute, maxBackfillPace),
        yes,
      };
      const { value, text } = await runBackfill(
        context,
        findConnection(context.directory.sites(), id),
        wanted,
      );
      context.print(value, text);
    });

  backfill
    .command("list [site]")
    .description("show the last backfill of each connection, with its progress")
    .run(async ({ directory, store, print }, siteText: string | undefined) => {
      const backfills: BackfillRow[] = [];
      for (const site of findSites(directory, siteText))
        for (const { id } of site.connections) {
          const row = await store.backfills.find(site.id, id);
          if (row) backfills.push(row);
        }
      const rows = backfills.map((one) => [
        one.connectionId,
        one.state,
        `${one.tally.queued} of ${one.total ?? "?"}`,
        countsText(one.tally.outcomes) || "–",
        countsText(one.tally.leftOut) || "–",
        timeText(one.startedAt),
      ]);
      const head = ["CONNECTION", "STATE", "SENT", "RESULTS", "LEFT OUT", "STARTED (UTC)"];
      print({ backfills: backfills.map(toJson) }, table(head, rows, "No backfills yet."));
    });

  backfill
    .command("cancel <connection>")
    .description("stop a running backfill; what the platform has received stays there")
    .run(async (context, id: string) => {
      const connection = findConnection(context.directory.sites(), id);
      const row = await cancelBackfill(context.store, connection, context.by);
      context.print({ backfill: toJson(row) }, `Cancelled after ${countOf(row.tally.queued, "conversion")}.`);
    });
}

/**
 * Counts first. Without --yes it asks, and does nothing where there is no one to ask. `before` is printed first, at the latest
 * with the question; the returned text has it where it was not printed yet.
 */
export async function runBackfill(
  context: CommandContext,
  connection: Connection,
  { days, perMinute = defaultBackfillPace, yes }: Wanted,
  before = "",
): Promise<{ value: { counted: BackfillCount; started: boolean }; text: string }> {
  const { store, by } = context;
  const site = findSite(context, connection.siteId);
  const counted = await countBackfill(store, site, connection, days, { now: by.now, maxMs: Infinity });
  const found = `${before}${countText(counted, days)}\n`;
  const nothing = (text: string) => ({ value: { counted, started: false }, text: text.trimEnd() });
  if (counted.sendable === 0) return nothing(found);
  const canAsk = process.stdin.isTTY && !process.argv.includes("--json");
  if (!yes && !canAsk) return nothing(`${found}Nothing was sent. Add --yes to send them.`);
  if (!yes && !(await confirm(`${found}Send ${countOf(counted.sendable, "conversion")} now? [y/N] `)))
    return nothing("Nothing was sent.");
  await startBackfill(store, connection, { days, perMinute }, counted.sendable, by);
  const minutes = Math.ceil(counted.sendable / perMinute);
  const waits = connection.state === "active" ? "" : ` It waits while the connection is ${connection.state}.`;
  const text =
    `The backfill runs with the relay and takes at least ${countOf(minutes, "minute")}.${waits}\n` +
    `'cleancast backfill list' shows its progress, 'cleancast backfill cancel ${connection.id}' stops it.`;
  return { value: { counted, started: true }, text: yes ? `${found}${text}` : text };
}

async function confirm(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(question)).trim());
  } finally {
    prompt.close();
  }
}

function countText({ found, sendable, leftOut }: BackfillCount, days: number): string {
  const period = days === 1 ? "the last day" : `the last ${days} days`;
  if (found === 0) return `No conversions in ${period}.`;
  const others = countsText(leftOut);
  return `${countOf(sendable, "conversion")} of ${period} can be sent${others ? `; left out: ${others}` : ""}.`;
}

const countsText = (counts: Partial<Record<string, number>>) =>
  Object.entries(counts)
    .map(([reason, n]) => `${n} ${reason}`)
    .join(", ");

function toJson({
  siteId,
  connectionId,
  fromId: _from,
  toId: _to,
  chunk: _chunk,
  cursor: _cursor,
  ...row
}: BackfillRow) {
  return { site: siteId, connection: connectionId, ...row };
}
