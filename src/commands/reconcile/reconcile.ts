import { writeFileSync, appendFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Answer, QueryIn } from "../../contract/contract.ts";
import { confirmationReasons } from "../../kernel/confirmation.ts";
import { formatAmount } from "../terminal/progress.ts";
import { given } from "../../http/given.ts";
import {
  defaultReconciledDays,
  defaultReconciledEvent,
  defaultSettleHours,
  maxTolerance,
  noReason,
  rowClasses,
  rowConfirmations,
  rowStates,
} from "../../kernel/reconciliation.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { writeCsv } from "../../tables/formulas.ts";
import { findRun as findStoredRun } from "../../reconcile/manage.ts";
import { missingCells, missingColumns, readMissing, type MissingOrder } from "../../reconcile/missing.ts";
import { createStep } from "../../reconcile/worker.ts";
import type { Site } from "../../sites/directory.ts";
import type { Run } from "../../store/reconciliation/runs.ts";
import { findSiteOrOnly, table, timeText, type CliCommand, type CommandContext } from "../context.ts";
import { withFileOptions } from "../import.ts";
import { fillPage, moreText, readPaging, withPaging, type Ask, type PagingOptions } from "../lists.ts";
import { feedCommands } from "./feed.ts";
import { repairCommands } from "./repair.ts";
import { dayText, reportText } from "./reportText.ts";
import { findRun } from "./runOptions.ts";

type RowQuery = QueryIn<"GET /sites/:site/reconciliations/:run/rows.csv">;
type Row = Answer<"GET /sites/:site/reconciliations/:run/rows">["items"][number];
type StartOptions = { from?: string; to?: string; event: string; tolerance: string; wait?: boolean };
type RowOptions = PagingOptions & {
  class?: string;
  filtered?: string;
  connection?: string;
  state?: string;
  reason?: string;
  attributed?: string;
  confirmation?: string;
  confirmationReason?: string;
};

export function reconcileCommands(program: CliCommand): void {
  const reconcile = program.command("reconcile").description("compare a list of orders with the events received");

  withFileOptions(reconcile.command("upload <site> <file>"), "orders").description(
    "add orders from CSV or NDJSON to the list; the last one with an id counts",
  );

  reconcile
    .command("start [site]")
    .description("compare the orders of a period with the events")
    .option("--from <day>", `first day, like 2026-11-01 (default: ${defaultReconciledDays} days before the end)`)
    .option("--to <day>", `last day (default: the last one that has been over for ${defaultSettleHours} hours)`)
    .option("--event <name>", "the event that stands for an order", defaultReconciledEvent)
    .option("--tolerance <percent>", "share by which values may differ", "0")
    .option("--wait", "do the work here, and print the report")
    .run(async (context, siteText: string | undefined, options: StartOptions) => {
      const { directory, call, print } = context;
      const site = findSiteOrOnly(directory, siteText);
      const { from, to, event } = options;
      const tolerance = Number(options.tolerance);
      if (options.tolerance.trim() === "" || !(tolerance >= 0 && tolerance <= maxTolerance))
        throw new Refusal("tolerance", `--tolerance must be a number from 0 to ${maxTolerance}, in percent.`);
      const body = { ...given({ from, to }), event, tolerance };
      const started = await call("POST /sites/:site/reconciliations", { params: { site: site.id }, body });
      const { reconciliation: run } = started;
      if (options.wait) {
        await finish(context, site.id, run.id);
        return printReport(context, { site, params: { site: site.id, run: run.id } });
      }
      print(
        started,
        `Reconciliation ${run.id} of ${dayText(run, site.settings.timeZone)} runs with the relay. 'cleancast reconcile show ${site.hosts[0] ?? site.id}' has its report.`,
      );
    });

  reconcile
    .command("list [site]")
    .description("list the reconciliations of a site, newest first")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id, settings } = findSiteOrOnly(directory, siteText);
      const listed = await call("GET /sites/:site/reconciliations", { params: { site: id } });
      const rows = listed.items.map((run) => [
        run.id,
        timeText(run.startedAt),
        run.state,
        dayText(run, settings.timeZone),
        String(run.orders),
        String(run.received),
        run.startedBy,
      ]);
      const head = ["ID", "STARTED (UTC)", "STATE", "PERIOD", "ORDERS", "RECEIVED", "STARTED BY"];
      print(listed, table(head, rows, "No reconciliations yet."));
    });

  reconcile
    .command("show [site] [run]")
    .description("show the report of a reconciliation; without an id, of the last one")
    .run(async (context, siteText: string | undefined, id: string | undefined) =>
      printReport(context, await findRun(context, siteText, id)),
    );

  withPaging(reconcile.command("rows [site] [run]"), "rows", "50")
    .description("list the orders behind a number of the report")
    .option("--class <class>", `one of ${rowClasses.join(", ")}`)
    .option("--filtered <reason>", "events that were filtered for this reason")
    .option("--connection <id>", "for --state, --reason, --attributed and --confirmation")
    .option("--state <state>", `at the connection: ${rowStates.join(", ")}`)
    .option("--reason <text>", "the reason of that state")
    .option("--attributed <yes|no>", "with or without a click id of the platform")
    .option("--confirmation <state>", `what the platform said later: ${rowConfirmations.join(", ")}`)
    .option("--confirmation-reason <reason>", `one of ${confirmationReasons.join(", ")}, ${noReason}`)
    .run(async (context, siteText: string | undefined, id: string | undefined, options: RowOptions) => {
      const query = readFilter(options);
      const { site, params } = await findRun(context, siteText, id);
      const ask: Ask<Row> = (_site, paging) =>
        context.call("GET /sites/:site/reconciliations/:run/rows", { params, query: { ...query, ...paging } });
      const page = await fillPage(site, readPaging(options), ask);
      const cells = page.items.map((row) => [
        timeText(row.time),
        row.orderId ?? "–",
        row.class,
        row.foundBy ?? "–",
        moneyText(row.orderValue, row.orderCurrency),
        moneyText(row.eventValue, row.eventCurrency),
        row.outcomes.map(outcomeText).join(", ") || row.filtered || "–",
        row.eventId ?? "–",
      ]);
      const head = ["TIME (UTC)", "ORDER", "CLASS", "FOUND BY", "LISTED", "RECEIVED", "DELIVERIES", "EVENT"];
      context.print(page, table(head, cells, "No rows.") + moreText(page));
    });

  reconcile
    .command("export [site] [run]")
    .description("write the orders that were never received, as CSV for the import")
    .option("--out <file>", "write to this file instead of the standard output")
    .run(async (context, siteText: string | undefined, id: string | undefined, options: { out?: string }) => {
      const { site, params } = await findRun(context, siteText, id);
      await exportMissing(context, site, await findStoredRun(context.store, params.site, params.run), options.out);
    });

  repairCommands(reconcile);

  reconcile
    .command("cancel [site] [run]")
    .description("stop a running reconciliation")
    .run(async (context, siteText: string | undefined, id: string | undefined) => {
      const { params } = await findRun(context, siteText, id);
      const cancelled = await context.call("POST /sites/:site/reconciliations/:run/cancel", { params });
      context.print(cancelled, `Cancelled reconciliation ${params.run}.`);
    });

  feedCommands(reconcile);
}

/** Does the steps here, also where no relay runs. A relay that does them too does no harm: each step counts once. */
async function finish({ store, directory }: CommandContext, siteId: string, id: string): Promise<void> {
  const step = createStep({
    store,
    directory,
    now: Date.now,
    onDefect(error) {
      throw error;
    },
  });
  for (;;) {
    const run = await findStoredRun(store, siteId, id);
    if (run.state !== "running") return;
    if (!(await step(run))) await wait(100);
  }
}

async function printReport(
  { call, print }: CommandContext,
  { site, params }: Awaited<ReturnType<typeof findRun>>,
): Promise<void> {
  const report = await call("GET /sites/:site/reconciliations/:run", { params });
  print(report, reportText(report.reconciliation, site));
}

/** Reads options as people type them into the query of the API. */
function readFilter(options: RowOptions): RowQuery {
  const { filtered, connection, reason } = options;
  const state = readWord("state", options.state, rowStates);
  const attributed = readWord("attributed", options.attributed, ["yes", "no"]);
  const confirmation = readWord("confirmation", options.confirmation, rowConfirmations);
  const why = readWord("confirmation-reason", options.confirmationReason, [...confirmationReasons, noReason]);
  if (connection === undefined && (state ?? reason ?? attributed ?? confirmation) !== undefined)
    throw new Refusal("connection", "--state, --reason, --attributed and --confirmation need --connection.");
  if (why !== undefined && confirmation === undefined)
    throw new Refusal("confirmation", "--confirmation-reason needs --confirmation.");
  if (reason !== undefined && state === undefined) throw new Refusal("state", "--reason needs --state.");
  return given({
    class: readWord("class", options.class, rowClasses),
    filtered,
    connection,
    state,
    reason,
    attributed: attributed && (attributed === "yes" ? ("true" as const) : ("false" as const)),
    confirmation,
    confirmationReason: why,
  });
}

function readWord<Word extends string>(name: string, text: string | undefined, known: readonly Word[]): Word | undefined {
  const found = known.find((word) => word === text);
  if (text === undefined || found !== undefined) return found;
  throw new Refusal(name, `--${name} must be one of ${known.join(", ")}.`);
}

const outcomeText = ({ platform, state, confirmation }: Row["outcomes"][number]) =>
  `${platform} ${state}${confirmation ? ` (${confirmation.state})` : ""}`;

const moneyText = (value: number | null, currency: string | null) =>
  value === null ? "–" : `${currency === null ? value : formatAmount(value, currency)} ${currency ?? ""}`.trim();

async function exportMissing(
  { store, print }: CommandContext,
  { settings: { timeZone } }: Site,
  run: Run,
  file: string | undefined,
): Promise<void> {
  const isJson = process.argv.includes("--json") && file === undefined;
  const all: MissingOrder[] = [];
  let [written, withoutEmail, similar] = [0, 0, 0];
  const head = writeCsv([missingColumns]);
  if (file !== undefined) writeExport(() => writeFileSync(file, head, { mode: 0o600 }), file);
  else if (!isJson) process.stdout.write(head);
  for await (const page of readMissing({ store, timeZone }, run)) {
    const orders = [...page.orders.values()];
    written += orders.length;
    withoutEmail += page.withoutEmail;
    similar += page.similar;
    const lines = writeCsv(orders.map(missingCells));
    if (isJson) all.push(...orders);
    else if (file === undefined) process.stdout.write(lines);
    else writeExport(() => appendFileSync(file, lines), file);
  }
  const left = [
    leftOut(withoutEmail, "without an email", "an event needs one"),
    leftOut(similar, "", "an event of the same person, day and value is here"),
  ].join("");
  if (isJson) return print({ orders: all, withoutEmail, similar }, "");
  if (file === undefined) return void (left && process.stderr.write(`${left.trim()}\n`));
  const next = written ? ` Send them: cleancast import conversions ${file} --deliver all --yes` : "";
  print({ file, written, withoutEmail, similar }, `${countOf(written, "order")} written to ${file}.${left}${next}`);
}

function leftOut(count: number, which: string, why: string): string {
  if (count === 0) return "";
  return ` ${`${countOf(count, "order")} ${which}`.trim()} ${count === 1 ? "is" : "are"} left out: ${why}.`;
}

function writeExport(write: () => void, file: string): void {
  try {
    write();
  } catch {
    throw new Refusal("out", `${file} cannot be written.`);
  }
}
