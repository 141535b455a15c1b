import { writeFileSync, appendFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { stringify } from "csv-stringify/sync";
import { confirmationReasons } from "../../kernel/confirmation.ts";
import {
  defaultReconciledDays,
  defaultReconciledEvent,
  defaultSettleHours,
  maxTolerance,
  noReason,
  rowClasses,
  rowConfirmations,
  rowStates,
  type RowClass,
  type RowConfirmation,
  type RowState,
} from "../../kernel/reconciliation.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { cancelRun, findRun, startRun } from "../../reconcile/manage.ts";
import { missingColumns, readMissing, type MissingOrder } from "../../reconcile/missing.ts";
import { makeReport } from "../../reconcile/report.ts";
import { listRows, type RowFilter } from "../../reconcile/rows.ts";
import { createStep } from "../../reconcile/worker.ts";
import type { Site } from "../../sites/directory.ts";
import { orderIdOf } from "../../store/reconciliation/orders.ts";
import type { RowOutcome, Run } from "../../store/reconciliation/runs.ts";
import { findSiteOrOnly, readNumber, table, timeText, type CliCommand, type CommandContext } from "../context.ts";
import { withFileOptions } from "../import.ts";
import { feedCommands } from "./feed.ts";
import { repairCommands } from "./repair.ts";
import { dayText, reportText, toJson } from "./reportText.ts";
import { findRunOrLast, ofSite, type OfSite } from "./runOptions.ts";

type StartOptions = OfSite & { from?: string; to?: string; event: string; tolerance: string; wait?: boolean };
type RowOptions = OfSite & {
  class?: string;
  filtered?: string;
  connection?: string;
  state?: string;
  reason?: string;
  attributed?: string;
  confirmation?: string;
  confirmationReason?: string;
  after?: string;
  limit: string;
};

export function reconcileCommands(program: CliCommand): void {
  const reconcile = program
    .command("reconcile")
    .description("compare a list of orders with the events and their deliveries (docs/how-to/reconcile.md)");

  withFileOptions(reconcile.command("upload <file>"), "orders").description(
    "add orders from CSV or NDJSON to the list; the last one with an id counts",
  );

  ofSite(reconcile.command("start"))
    .description("compare the orders of a period with the events; it runs with the relay")
    .option("--from <day>", `first day, like 2026-11-01 (default: ${defaultReconciledDays} days before the end)`)
    .option("--to <day>", `last day (default: the last one that has been over for ${defaultSettleHours} hours)`)
    .option("--event <name>", "the event that stands for an order", defaultReconciledEvent)
    .option("--tolerance <percent>", "share by which values may differ", "0")
    .option("--wait", "do the work here, and print the report")
    .run(async (context, options: StartOptions) => {
      const site = findSiteOrOnly(context.directory, options.site);
      const { from, to, event } = options;
      const tolerance = Number(options.tolerance);
      if (options.tolerance.trim() === "" || !Number.isFinite(tolerance))
        throw new Refusal("tolerance", `--tolerance must be a number from 0 to ${maxTolerance}, in percent.`);
      const run = await startRun(context.store, site, { from, to, event, tolerance }, context.by);
      if (options.wait) return printReport(context, site, await finish(context, run));
      const { timeZone } = site.settings;
      context.print(
        { reconciliation: toJson(run) },
        `Reconciliation ${run.id} of ${dayText(run, timeZone)} runs with the relay. 'cleancast reconcile show' has its report.`,
      );
    });

  ofSite(reconcile.command("list"))
    .description("list the reconciliations of a site, newest first")
    .run(async ({ store, directory, print }, options: OfSite) => {
      const site = findSiteOrOnly(directory, options.site);
      const runs = await store.reconciliations.list(site.id);
      const rows = runs.map((run) => {
        const { orders, received } = toJson(run);
        const { startedAt, state, startedBy } = run;
        return [
          run.id,
          timeText(startedAt),
          state,
          dayText(run, site.settings.timeZone),
          String(orders),
          String(received),
          startedBy,
        ];
      });
      const head = ["ID", "STARTED (UTC)", "STATE", "PERIOD", "ORDERS", "RECEIVED", "STARTED BY"];
      print({ reconciliations: runs.map(toJson) }, table(head, rows, "No reconciliations yet."));
    });

  ofSite(reconcile.command("show [run]"))
    .description("show the report of a reconciliation; without an id, of the last one")
    .run(async (context, id: string | undefined, options: OfSite) => {
      const site = findSiteOrOnly(context.directory, options.site);
      printReport(context, site, await findRunOrLast(context, site, id));
    });

  ofSite(reconcile.command("rows [run]"))
    .description("list the orders behind a number of the report")
    .option("--class <class>", `one of ${rowClasses.join(", ")}`)
    .option("--filtered <reason>", "events that were filtered for this reason")
    .option("--connection <id>", "for --state, --reason, --attributed and --confirmation")
    .option("--state <state>", `at the connection: ${rowStates.join(", ")}`)
    .option("--reason <text>", "the reason of that state")
    .option("--attributed <yes|no>", "with or without a click id of the platform")
    .option("--confirmation <state>", `what the platform said later: ${rowConfirmations.join(", ")}`)
    .option("--confirmation-reason <reason>", `one of ${confirmationReasons.join(", ")}, ${noReason}`)
    .option("--after <row>", "continue after this row")
    .option("--limit <n>", "maximum number of rows", "50")
    .run(async (context, id: string | undefined, options: RowOptions) => {
      const site = findSiteOrOnly(context.directory, options.site);
      const run = await findRunOrLast(context, site, id);
      const limit = readNumber("limit", options.limit, 1000);
      const at = { after: options.after ?? "", limit };
      const { rows, next } = await listRows(context.store, run, readFilter(options), at);
      const cells = rows.map((row) => [
        timeText(row.time),
        orderIdOf(row) ?? "–",
        row.class,
        row.foundBy ?? "–",
        moneyText(row.orderValue, row.orderCurrency),
        moneyText(row.eventValue, row.eventCurrency),
        row.outcomes.map(outcomeText).join(", ") || row.filtered || "–",
        row.eventId ?? "–",
      ]);
      const head = ["TIME (UTC)", "ORDER", "CLASS", "FOUND BY", "LISTED", "RECEIVED", "DELIVERIES", "EVENT"];
      const more = next === null ? "" : `\nMore: add --after '${next}'`;
      const items = rows.map(({ siteId: _site, runId: _run, ...row }) => ({
        ...row,
        orderId: orderIdOf(row),
      }));
      context.print({ rows: items, next }, table(head, cells, "No rows.") + more);
    });

  ofSite(reconcile.command("export [run]"))
    .description("write the orders that were never received as CSV, as the import of conversions reads it")
    .option("--out <file>", "write to this file instead of the standard output")
    .run(async (context, id: string | undefined, options: OfSite & { out?: string }) => {
      const site = findSiteOrOnly(context.directory, options.site);
      await exportMissing(context, await findRunOrLast(context, site, id), options.out);
    });

  repairCommands(reconcile);

  ofSite(reconcile.command("cancel [run]"))
    .description("stop a running reconciliation")
    .run(async (context, id: string | undefined, options: OfSite) => {
      const site = findSiteOrOnly(context.directory, options.site);
      const run = await cancelRun(context.store, await findRunOrLast(context, site, id), context.by);
      context.print({ reconciliation: toJson(run) }, `Cancelled reconciliation ${run.id}.`);
    });

  feedCommands(reconcile);
}

/** Does the steps here, also where no relay runs. A relay that does them too does no harm: each step counts once. */
async function finish({ store, directory }: CommandContext, started: Run): Promise<Run> {
  const step = createStep({
    store,
    directory,
    now: Date.now,
    onDefect(error) {
      throw error;
    },
  });
  let run = started;
  while (run.state === "running") {
    const next = await step(run);
    if (!next) await wait(100);
    run = next ?? (await findRun(store, run.siteId, run.id));
  }
  return run;
}

function printReport({ print }: CommandContext, site: Site, run: Run): void {
  const report = makeReport(run, site.connections);
  print({ reconciliation: { ...toJson(run), ...report } }, reportText(run, report, site));
}

function readFilter(options: RowOptions): RowFilter {
  const { filtered, connection, reason } = options;
  const rowClass = readWord("class", options.class, rowClasses) as RowClass | undefined;
  const state = readWord("state", options.state, rowStates) as RowState | undefined;
  const attributed = readWord("attributed", options.attributed, ["yes", "no"]);
  const confirmation = readWord("confirmation", options.confirmation, rowConfirmations) as RowConfirmation | undefined;
  const why = readWord("confirmation-reason", options.confirmationReason, [...confirmationReasons, noReason]);
  if (connection === undefined && (state ?? reason ?? attributed ?? confirmation) !== undefined)
    throw new Refusal("connection", "--state, --reason, --attributed and --confirmation need --connection.");
  if (why !== undefined && confirmation === undefined)
    throw new Refusal("confirmation", "--confirmation-reason needs --confirmation.");
  if (reason !== undefined && state === undefined) throw new Refusal("state", "--reason needs --state.");
  return {
    class: rowClass,
    filtered,
    connection,
    state,
    reason,
    attributed: attributed === undefined ? undefined : attributed === "yes",
    confirmation,
    confirmationReason: why as RowFilter["confirmationReason"],
  };
}

function readWord(name: string, text: string | undefined, known: readonly string[]): string | undefined {
  if (text === undefined || known.includes(text)) return text;
  throw new Refusal(name, `--${name} must be one of ${known.join(", ")}.`);
}

const outcomeText = ({ platform, state, confirmation }: RowOutcome) =>
  `${platform} ${state}${confirmation ? ` (${confirmation.state})` : ""}`;

const moneyText = (value: number | null, currency: string | null) => (value === null ? "–" : `${value} ${currency ?? ""}`.trim());

async function exportMissing({ store, print }: CommandContext, run: Run, file: string | undefined): Promise<void> {
  const isJson = process.argv.includes("--json") && file === undefined;
  const all: MissingOrder[] = [];
  let [written, withoutEmail] = [0, 0];
  const head = stringify([missingColumns]);
  if (file !== undefined) writeExport(() => writeFileSync(file, head, { mode: 0o600 }), file);
  else if (!isJson) process.stdout.write(head);
  for await (const page of readMissing(store, run)) {
    const orders = [...page.orders.values()];
    written += orders.length;
    withoutEmail += page.withoutEmail;
    const lines = stringify(orders.map((order) => missingColumns.map((name) => order[name])));
    if (isJson) all.push(...orders);
    else if (file === undefined) process.stdout.write(lines);
    else writeExport(() => appendFileSync(file, lines), file);
  }
  const left = withoutEmail
    ? ` ${countOf(withoutEmail, "order")} without an email ${withoutEmail === 1 ? "is" : "are"} left out: an event needs one.`
    : "";
  if (isJson) return print({ orders: all, withoutEmail }, "");
  if (file === undefined) return void (left && process.stderr.write(`${left.trim()}\n`));
  const next = written ? ` Send them: cleancast import conversions ${file} --deliver all --yes` : "";
  print({ file, written, withoutEmail }, `${countOf(written, "order")} written to ${file}.${left}${next}`);
}

function writeExport(write: () => void, file: string): void {
  try {
    write();
  } catch {
    throw new Refusal("out", `${file} cannot be written.`);
  }
}
