// The `export data` command: hourly files of events, deliveries and attempts, for a folder or a bucket.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Option } from "commander";
import { createLease } from "../../background/lease.ts";
import { createUploader, type Uploader } from "../../export/upload.ts";
import type { Format } from "../../export/file.ts";
import type { Config } from "../../installation/config.ts";
import { shortId } from "../../kernel/ids.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import { auditLine } from "../../sites/manage.ts";
import { findSites, readDuration, type CliCommand } from "../context.ts";

/** An event may be stored a little later than it was received; after this time its hour is complete. */
const settleMs = 15 * minuteMs;
/** For one file. */
const uploadMs = 5 * minuteMs;
/** Renewed before every file, when a third of it has passed. */
const leaseMs = 4 * uploadMs;
const maxHours = 24 * 400;

type DataOptions = { to: string; from?: string; until?: string; format: Format; people?: true };

export function exportDataCommand(parent: CliCommand): void {
  parent
    .command("data [site]")
    .description("write events, deliveries and attempts of past hours to a folder or an S3-compatible bucket")
    .requiredOption("--to <place>", "a folder, or s3://BUCKET/PREFIX with the settings CLEANCAST_EXPORT_S3_*")
    .option("--from <time>", "the first hour: a date, a time in ISO 8601, or a time ago (24h, 30d); 24h by default")
    .option("--until <time>", "the end, in the same form; by default the last hour that is complete")
    .addOption(new Option("--format <format>", "the form of the files").choices(["parquet", "ndjson"]).default("parquet"))
    .option("--people", "add the SHA-256 of the email; without it the files are about no person")
    .run(async ({ store, directory, config, by, print }, siteText: string | undefined, options: DataOptions) => {
      const { exportHour } = await import("../../export/exportHour.ts");
      const hours = listHours(options, by.now);
      const uploader = createUploader({ allow: config.allowPrivate, connectMs: config.connectMs, maxMs: uploadMs });
      const lease = createLease({
        leases: store.leases,
        name: "export",
        owner: `command line ${shortId()}`,
        lengthMs: leaseMs,
        now: Date.now,
        elapsed: () => performance.now(),
        onError: (error) => process.stderr.write(`${String(error)}\n`),
      });
      const mayContinue = () => lease.hold();
      const folder = mkdtempSync(join(tmpdir(), "cleancast-export-"));
      const items: { site: string; hours: number; files: number; rows: number; skipped: number }[] = [];
      try {
        const target = await targetOf(options.to, config, uploader);
        const { format, people: withPeople = false } = options;
        for (const site of findSites(directory, siteText)) {
          const tally = { site: site.id, hours: 0, files: 0, rows: 0, skipped: 0 };
          for (const hour of hours) {
            const done = await exportHour({ store, siteId: site.id, hour, format, withPeople, target, folder, mayContinue });
            if (!done) tally.skipped += 1;
            else tally.hours += 1;
            for (const { rows } of done?.files ?? []) {
              tally.files += 1;
              tally.rows += rows;
            }
          }
          items.push(tally);
          const detail = { from: hours[0], to: (hours.at(-1) ?? 0) + hourMs, hours: tally.hours, people: withPeople };
          if (tally.hours > 0) await store.audit.add(auditLine(site.id, "data exported", detail, by));
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
        await lease.release();
        await uploader.close();
      }
      const text = items.map(({ site, hours: done, files, rows, skipped }) => {
        const before = skipped > 0 ? `; ${countOf(skipped, "hour")} exported before` : "";
        return `${site}: ${countOf(done, "hour")}, ${countOf(files, "file")}, ${countOf(rows, "row")}${before}.`;
      });
      print({ items }, text.join("\n") || "There are no sites.");
    });
}

/** Lists the beginnings of complete hours. */
function listHours({ from, until }: DataOptions, now: number): number[] {
  const complete = Math.floor((now - settleMs) / hourMs) * hourMs;
  const first = Math.floor((from === undefined ? now - dayMs : readTime("from", from, now)) / hourMs) * hourMs;
  const end = Math.min(complete, until === undefined ? complete : Math.floor(readTime("until", until, now) / hourMs) * hourMs);
  if (first >= end)
    throw new Refusal("from", "There is no complete hour in this period. An hour is complete 15 minutes after its end.");
  const count = (end - first) / hourMs;
  if (count > maxHours) throw new Refusal("from", `A run exports at most ${maxHours / 24} days.`);
  return Array.from({ length: count }, (_, i) => first + i * hourMs);
}

function readTime(name: string, text: string, now: number): number {
  const ago = readDuration(text);
  const at = ago === null ? Date.parse(text) : now - ago;
  if (Number.isNaN(at)) throw new Refusal(name, `--${name} "${text}" is neither a date like 2026-11-01 nor a time ago like 30d.`);
  return at;
}

async function targetOf(to: string, { exportBucket }: Config, uploader: Uploader) {
  const { bucketTarget, folderTarget } = await import("../../export/target.ts");
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(to) ?? [];
  if (bucket === undefined && to.startsWith("s3:")) throw new Refusal("to", "--to is not of the form s3://BUCKET/PREFIX.");
  if (bucket === undefined) return folderTarget(resolve(to));
  if (!exportBucket) throw new Refusal("to", "A bucket needs the settings CLEANCAST_EXPORT_S3_*: .env.example has them.");
  const folder = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return bucketTarget({ ...exportBucket, bucket, prefix: folder }, uploader, Date.now);
}
