// The scheduled export of data: its commands, and the one with which the relay writes its files.

import { Option } from "commander";
import type { Answer } from "../../contract/contract.ts";
import { given } from "../../http/given.ts";
import { Missing } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { findSite } from "../../sites/manage.ts";
import { findSiteOrOnly, readTime, readValue, table, timeText, type CliCommand } from "../context.ts";
import { withExportLease } from "./exportData.ts";

type DataExport = Answer<"PUT /sites/:site/data-export">["export"];
type SetOptions = {
  endpoint?: string;
  region?: string;
  keyId?: string;
  secret?: string;
  format?: DataExport["format"];
  people?: boolean;
  since?: string;
};

export function exportScheduleCommands(parent: CliCommand): void {
  const schedule = parent.command("schedule").description("export the data of a site every hour");

  schedule
    .command("set <site> <place>")
    .description("write the files of every hour to `folder` or to s3://BUCKET/PREFIX")
    .option("--endpoint <url>", "the address of the store, like https://s3.eu-central-1.amazonaws.com")
    .option("--region <region>", "the region of the store (default: us-east-1)")
    .option("--key-id <id>", "the id of the store's key")
    .option("--secret <secret>", "its secret; @file reads it from a file")
    .addOption(new Option("--format <format>", "the form of the files (default: parquet)").choices(["parquet", "ndjson"]))
    .option("--people", "add the SHA-256 of the email; without it the files are about no person")
    .option("--no-people", "leave it out again")
    .option("--since <time>", "also export the past: a date, a time in ISO 8601, or a time ago (24h, 30d)")
    .run(async ({ directory, call, by, print }, siteText: string, to: string, options: SetOptions) => {
      const { id } = findSite({ directory }, siteText);
      const { endpoint, region, keyId, format, people } = options;
      const secret = options.secret === undefined ? undefined : readValue(options.secret);
      const since = options.since === undefined ? undefined : readTime("since", options.since, by.now);
      const body = { to, ...given({ endpoint, region, keyId, secret, format, people, since }) };
      const set = await call("PUT /sites/:site/data-export", { params: { site: id }, body });
      print(set, `The data goes to ${set.export.to} every hour while the relay runs, from ${timeText(set.export.from)} UTC on.`);
    });

  schedule
    .command("show [site]")
    .description("show the export, the hours that were written last, and a query for DuckDB")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id } = findSiteOrOnly(directory, siteText);
      const shown = await call("GET /sites/:site/data-export", { params: { site: id } });
      if (!shown.export) throw new Missing("export", "The site has no data export.");
      print(shown, exportText(shown.export));
    });

  schedule
    .command("retry [site]")
    .description("try again within a minute")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const params = { site: findSiteOrOnly(directory, siteText).id };
      const answer = await call("POST /sites/:site/data-export/retry", { params });
      print(answer, "The export is tried again within a minute while the relay runs.");
    });

  schedule
    .command("remove [site]")
    .description("stop exporting; the files stay")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const params = { site: findSiteOrOnly(directory, siteText).id };
      print(await call("DELETE /sites/:site/data-export", { params }), "The data is no longer exported. The files stay.");
    });

  parent
    .command("due")
    .description("write the hours of scheduled exports that are due")
    .run(async ({ store, directory, config, print }) => {
      const { exportDue } = await import("../../export/due.ts");
      const items = await withExportLease(store, config, (mayContinue, uploader) =>
        exportDue({ store, directory, exportFolder: config.exportFolder, uploader, mayContinue, now: Date.now }),
      );
      const lines = items.map(({ site, hours, files, rows, error }) =>
        error === null
          ? `${site}: ${countOf(hours, "hour")}, ${countOf(files, "file")}, ${countOf(rows, "row")}.`
          : `${site}: ${error}`,
      );
      print({ items }, lines.join("\n") || "No export is due.");
    });
}

function exportText(one: DataExport): string {
  const { to, endpoint, format, people, nextHour, nextAt, error, runs, query } = one;
  const rows = runs
    .slice(0, 10)
    .map(({ hour, at, files, rows: count, bytes }) => [
      timeText(hour),
      timeText(at),
      String(files),
      String(count),
      String(bytes),
    ]);
  return [
    `${to || "The place cannot be read."}${endpoint === null ? "" : ` at ${endpoint}`}: ${format}${people ? ", with the SHA-256 of emails" : ""}`,
    ...(error === null ? [] : [`The last try failed: ${error}`]),
    `Next hour: ${timeText(nextHour)} UTC, ${nextAt === null ? "due now" : `written after ${timeText(nextAt)} UTC`}`,
    "",
    table(["HOUR (UTC)", "WRITTEN (UTC)", "FILES", "ROWS", "BYTES"], rows, "No hour was written yet."),
    "",
    query,
  ].join("\n");
}
