import type { Answer } from "../../contract/contract.ts";
import { defaultBackfillPace, maxBackfillDays, maxBackfillPace } from "../../kernel/backfill.ts";
import { countOf } from "../../kernel/text.ts";
import { platformOf } from "../../platforms/index.ts";
import { findConnection } from "../../sites/connect.ts";
import type { Connection } from "../../sites/directory.ts";
import { paramsOf, type Params } from "./savedConnection.ts";
import { findSites, readNumber, table, timeText, type CliCommand, type CommandContext } from "../context.ts";
import { confirm } from "../terminal/confirm.ts";

type StartOptions = { days: string; perMinute: string; yes?: boolean };
type Count = Answer<"POST /sites/:site/connections/:connection/backfill/count">;
type Target = Pick<Connection, "id" | "platform" | "state">;

export function backfillCommands(program: CliCommand): void {
  const backfill = program.command("backfill").description("send past conversions to a new connection");

  backfill
    .command("start <connection>")
    .description("send past conversions that the platform can still take")
    .requiredOption("--days <n>", "length of the period that ends now")
    .option("--per-minute <n>", "maximum number of conversions per minute", String(defaultBackfillPace))
    .option("--yes", "start without asking")
    .run(async (context, id: string, options: StartOptions) => {
      const days = readNumber("days", options.days, maxBackfillDays);
      const perMinute = readNumber("per-minute", options.perMinute, maxBackfillPace);
      const params = paramsOf(context, id);
      const connection = findConnection(context.directory.sites(), id);
      const counted = await countPast(context, params, days);
      const found = countText(counted, days);
      if (counted.sendable === 0) return context.print({ counted, backfill: null }, found);
      await confirmBackfill(connection, found, options.yes);
      const started = await startCounted(context, connection, params, { counted, days, perMinute });
      context.print({ counted, backfill: started.backfill }, `${options.yes ? `${found}\n` : ""}${started.sentence}`);
    });

  backfill
    .command("list [site]")
    .description("show the last backfill of each connection, with its progress")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const items = [];
      for (const { id: site, connections } of findSites(directory, siteText))
        for (const { id: connection } of connections) {
          const params = { site, connection };
          const last = (await call("GET /sites/:site/connections/:connection/backfill", { params })).backfill;
          if (last) items.push({ ...params, backfill: last });
        }
      const rows = items.map(({ connection, backfill: one }) => [
        connection,
        one.state,
        `${one.queued} of ${one.total ?? "?"}`,
        countsText(one.outcomes) || "–",
        countsText(one.leftOut) || "–",
        timeText(one.startedAt),
      ]);
      const head = ["CONNECTION", "STATE", "SENT", "RESULTS", "LEFT OUT", "STARTED (UTC)"];
      print({ items }, table(head, rows, "No backfills yet."));
    });

  backfill
    .command("cancel <connection>")
    .description("stop a running backfill; what the platform has received stays there")
    .run(async (context, id: string) => {
      const params = paramsOf(context, id);
      const cancelled = await context.call("POST /sites/:site/connections/:connection/backfill/cancel", { params });
      context.print(cancelled, `Cancelled after ${countOf(cancelled.backfill.queued, "conversion")}.`);
    });
}

export const countPast = ({ call }: CommandContext, params: Params, days: number): Promise<Count> =>
  call("POST /sites/:site/connections/:connection/backfill/count", { params, body: { days } });

/** Returns when the backfill of the counted conversions is confirmed, and throws otherwise. */
export function confirmBackfill(
  { platform }: Pick<Target, "platform">,
  counted: string,
  yes: boolean | undefined,
): Promise<void> {
  return confirm({ what: `${counted} This sends them to ${platformOf(platform)?.name ?? platform}.`, yes });
}

/** Starts the backfill, and returns it with the text that says how to follow it. */
export async function startCounted(
  { call }: CommandContext,
  { id, state }: Target,
  params: Params,
  { counted, days, perMinute = defaultBackfillPace }: { counted: Count; days: number; perMinute?: number },
) {
  const body = { days, perMinute };
  const { backfill } = await call("POST /sites/:site/connections/:connection/backfill", { params, body });
  const minutes = Math.ceil(counted.sendable / perMinute);
  const waits = state === "active" ? "" : ` It waits while the connection is ${state}.`;
  const sentence =
    `The backfill runs with the relay and takes at least ${countOf(minutes, "minute")}.${waits}\n` +
    `'cleancast backfill list' shows its progress, 'cleancast backfill cancel ${id}' stops it.`;
  return { backfill, sentence };
}

export function countText({ found, sendable, leftOut }: Count, days: number): string {
  const period = days === 1 ? "the last day" : `the last ${days} days`;
  if (found === 0) return `No conversions in ${period}.`;
  const others = countsText(leftOut);
  return `${countOf(sendable, "conversion")} of ${period} can be sent${others ? `; left out: ${others}` : ""}.`;
}

const countsText = (counts: Partial<Record<string, number>>) =>
  Object.entries(counts)
    .map(([reason, n]) => `${n} ${reason}`)
    .join(", ");
