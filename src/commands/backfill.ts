import { cancelBackfill, countBackfill, startBackfill, type BackfillCount } from "../delivery/backfill/backfill.ts";
import { defaultBackfillPace, maxBackfillDays, maxBackfillPace } from "../kernel/backfill.ts";
import { countOf } from "../kernel/text.ts";
import { platformOf } from "../platforms/index.ts";
import { findConnection } from "../sites/connect.ts";
import type { Connection } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import type { BackfillRow } from "../store/deliveries/backfills.ts";
import { findSites, readNumber, table, timeText, type CliCommand, type CommandContext } from "./context.ts";
import { confirm } from "./terminal/confirm.ts";

type StartOptions = { days: string; perMinute: string; yes?: boolean };

export function backfillCommands(program: CliCommand): void {
  const backfill = program.command("backfill").description("send past conversions to a connection that did not get them");

  backfill
    .command("start <connection>")
    .description(
      "count the conversions of the last days that the platform can still take, ask, and send them while the relay runs",
    )
    .requiredOption("--days <n>", "length of the period that ends now")
    .option("--per-minute <n>", "maximum number of conversions per minute", String(defaultBackfillPace))
    .option("--yes", "start without asking")
    .run(async (context, id: string, options: StartOptions) => {
      const days = readNumber("days", options.days, maxBackfillDays);
      const perMinute = readNumber("per-minute", options.perMinute, maxBackfillPace);
      const connection = findConnection(context.directory.sites(), id);
      const counted = await countPast(context, connection, days);
      const sentence = countText(counted, days);
      if (counted.sendable === 0) return context.print({ counted, started: false }, sentence);
      await confirmBackfill(connection, sentence, options.yes);
      const started = await startCounted(context, connection, counted, { days, perMinute });
      context.print({ counted, started: true }, `${options.yes ? `${sentence}\n` : ""}${started}`);
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

export function countPast(context: CommandContext, connection: Connection, days: number): Promise<BackfillCount> {
  const site = findSite(context, connection.siteId);
  return countBackfill(context.store, site, connection, { days, now: context.by.now, maxMs: Infinity });
}

/** Returns when the backfill of the counted conversions is confirmed, and throws otherwise. */
export function confirmBackfill({ platform }: Connection, counted: string, yes: boolean | undefined): Promise<void> {
  return confirm({ what: `${counted} This sends them to ${platformOf(platform)?.name ?? platform}.`, yes });
}

/** Starts the backfill, and returns the text that says how to follow it. */
export async function startCounted(
  { store, by }: CommandContext,
  connection: Connection,
  { sendable }: BackfillCount,
  { days, perMinute = defaultBackfillPace }: { days: number; perMinute?: number },
): Promise<string> {
  await startBackfill(store, connection, { days, perMinute, total: sendable }, by);
  const minutes = Math.ceil(sendable / perMinute);
  const waits = connection.state === "active" ? "" : ` It waits while the connection is ${connection.state}.`;
  return (
    `The backfill runs with the relay and takes at least ${countOf(minutes, "minute")}.${waits}\n` +
    `'cleancast backfill list' shows its progress, 'cleancast backfill cancel ${connection.id}' stops it.`
  );
}

export function countText({ found, sendable, leftOut }: BackfillCount, days: number): string {
  const period = days === 1 ? "the last day" : `the last ${days} days`;
  if (found === 0) return `No conversions in ${period}.`;
  const others = countsText(leftOut);
  return `${countOf(sendable, "conversion")} of ${period} can be sent${others ? `; left out: ${others}` : ""}.`;
}

const countsText = (counts: Partial<Record<string, number>>) =>
  Object.entries(counts)
    .map(([reason, n]) => `${n} ${reason}`)
    .join(", ");

function toJson({ siteId, connectionId, fromId: _from, toId: _to, chunk: _chunk, cursor: _cursor, ...row }: BackfillRow) {
  return { site: siteId, connection: connectionId, ...row };
}
