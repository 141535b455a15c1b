import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import type { ImportContext, ImportRequest, Report } from "../import/import.ts";
import type { RefusedRow } from "../import/run.ts";
import { given } from "../http/given.ts";
import { ulid } from "../kernel/ids.ts";
import { english } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import type { ImportKind } from "../store/sites/imports.ts";
import {
  collectValues,
  findSiteOrOnly,
  printResult,
  readPairs,
  table,
  timeText,
  withContext,
  type CliCommand,
} from "./context.ts";
import { exitCodes } from "./terminal/exitCodes.ts";
import { createProgress, reportText } from "./terminal/importReport.ts";

type Options = {
  deliver?: string;
  yes?: boolean;
  dryRun?: boolean;
  map: string[];
  constant: string[];
  event?: string;
  timeZone?: string;
  dates?: string;
  decimal?: string;
  refused?: string;
  allowRefused?: boolean;
};

export function importCommands(program: CliCommand): void {
  const group = program.command("import").description("import past conversions and identity records");

  withFileOptions(group.command("conversions <site> <file>"), "conversions")
    .description("import past conversions from CSV or NDJSON")
    .option("--deliver <where>", "all, none, or platforms and connection ids: where to send them")
    .option("--yes", "send them; without it the command only reports what would be sent")
    .option("--event <name>", "the event name for rows without one");

  withFileOptions(group.command("identities <site> <file>"), "identities").description(
    "import click ids, UTM fields, browser ids and consent from CSV or NDJSON",
  );

  group
    .command("list [site]")
    .description("list imports with their progress")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id } = findSiteOrOnly(directory, siteText);
      const listed = await call("GET /sites/:site/imports", { params: { site: id } });
      const cells = listed.items.map(({ startedAt, kind, file, state, tally }) => [
        timeText(startedAt),
        kind,
        file,
        state,
        ...[tally.rows, tally.imported, tally.duplicates, tally.refused].map((count) => (count ?? 0).toLocaleString("en-US")),
      ]);
      const head = ["STARTED (UTC)", "KIND", "FILE", "STATE", "ROWS", "IMPORTED", "DUPLICATES", "REFUSED"];
      print(listed, table(head, cells, "Nothing was imported yet."));
    });
}

export function withFileOptions(command: CliCommand, kind: ImportKind): CliCommand {
  const zone = "the zone of times without an offset, such as Europe/Berlin";
  return command
    .option("--map <field=column>", "the column of a field; may be repeated", collectValues, [])
    .option("--constant <field=value>", "the value for blank cells; may be repeated", collectValues, [])
    .option("--time-zone <zone>", kind === "orders" ? `${zone} (default: the site's)` : `${zone} (default: UTC)`)
    .option("--dates <order>", "mdy or dmy: the order of 03/04/2026")
    .option("--decimal <sign>", "point or comma: the decimal separator")
    .option("--refused <file>", "write line numbers and reasons of refused rows to this file")
    .option("--allow-refused", "exit with 0 although rows were refused")
    .option("--dry-run", "read everything, write nothing, and report")
    .action((siteText: string, file: string, options: Options, self: CliCommand) =>
      runImport(kind, siteText, file, options, self),
    );
}

async function runImport(kind: ImportKind, siteText: string, path: string, options: Options, command: CliCommand): Promise<void> {
  // Loaded on demand: a relay that starts needs no CSV parser.
  const { importFile } = await import("../import/import.ts");
  const { currentProcess } = await import("../import/importLease.ts");
  const { createSource } = await import("../tables/source.ts");
  await withContext(command, async ({ store, directory, by }) => {
    const site = findSite({ directory }, siteText);
    const rules = await readRules(options, kind === "orders" ? site.settings.timeZone : "UTC");
    const deliver = kind === "conversions" ? readDeliver(options) : "none";
    const dryRun = options.dryRun === true || (deliver !== "none" && options.yes !== true);
    const request: ImportRequest = {
      kind,
      source: await createSource(path, () => process.stdin),
      siteId: site.id,
      requestedColumns: readPairs(options.map, keepAtSign),
      defaults: {
        ...readPairs(options.constant, keepAtSign),
        ...given({ event: options.event }),
      },
      rules,
      deliver,
      dryRun,
    };
    const json = command.optsWithGlobals().json === true;
    const progress = createProgress(request.source, {
      json,
      dryRun,
      out: process.stderr,
      clock: () => performance.now(),
    });
    const refused = createRefusedFile(options.refused);
    const stop = stopOnSignal();
    const context: ImportContext = {
      store,
      directory,
      by,
      process: currentProcess(ulid()),
      now: Date.now,
      newId: ulid,
      stop: stop.signal,
      onRefused: (rows) => refused.add(rows),
      onStart(resumedAfter) {
        refused.start(resumedAfter);
        progress.start(resumedAfter);
      },
      onProgress: (at) => progress.show(at),
    };
    let report: Report;
    try {
      report = await importFile(request, context);
    } finally {
      progress.end();
      refused.end();
      stop.end();
    }
    const needsYes = dryRun && options.dryRun !== true;
    printResult(
      command,
      { ...report, deliver },
      reportText(report, { deliver, needsYes, piped: request.source.sha256 === null }),
    );
    if (report.state === "stopped") process.exitCode = 130;
    else if (report.tally.refused > 0 && options.allowRefused !== true) process.exitCode = exitCodes.refused;
  });
}

function readDeliver({ deliver, dryRun }: Options): string {
  if (deliver !== undefined) return deliver;
  if (dryRun) return "all";
  throw new Refusal(
    "deliver",
    "Choose where the conversions go: --deliver none stores them without sending anything (they were reported before), " +
      "--deliver all sends them to every connection, --deliver meta,ga4 to those.",
  );
}

type RuleOptions = { timeZone?: string; dates?: string; decimal?: string };

export async function readRules(
  { timeZone: wanted, dates, decimal }: RuleOptions,
  defaultZone: string,
): Promise<ImportRequest["rules"]> {
  const { isTimeZone } = await import("../tables/values.ts");
  const timeZone = wanted ?? defaultZone;
  if (!isTimeZone(timeZone)) throw new Refusal("time-zone", `${timeZone} is not a time zone. Write it like Europe/Berlin.`);
  if (dates !== undefined && dates !== "mdy" && dates !== "dmy")
    throw new Refusal("dates", "--dates is mdy (month first) or dmy (day first).");
  if (decimal !== undefined && decimal !== "point" && decimal !== "comma")
    throw new Refusal("decimal", "--decimal is point or comma.");
  return { timeZone, dates: dates ?? null, decimal: decimal ?? null };
}

/** Column names may start with "@", which elsewhere names a file. */
const keepAtSign = (text: string) => `@${text}`;

/** The first signal stops the import after the current chunk; the second ends the process. */
function stopOnSignal(): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const stop = () => {
    end();
    controller.abort();
  };
  const end = () => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, stop);
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, stop);
  return { signal: controller.signal, end };
}

const refusedHead = "line,reason\n";

/** Writes the line number and reason of each refused row, never its content. */
function createRefusedFile(path: string | undefined) {
  let file: number | null = null;

  return {
    /** Keeps an earlier run's entries up to `resumedAfter`; later rows are imported again. */
    start(resumedAfter: number): void {
      if (path === undefined) return;
      try {
        const known = resumedAfter && existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(1) : [];
        const kept = known.filter((line) => Number.parseInt(line, 10) <= resumedAfter);
        writeFileSync(path, refusedHead + kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
        file = openSync(path, "a");
      } catch {
        throw new Refusal("refused", `${path} cannot be written.`);
      }
    },
    add(rows: readonly RefusedRow[]): void {
      const lines = rows.map(({ line, reason }) => `${line},"${english(reason).replaceAll('"', '""')}"\n`);
      if (file !== null && lines.length) writeSync(file, lines.join(""));
    },
    end(): void {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
