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
import type { Store } from "../../store/store.ts";
import { findSites, readTime, type CliCommand } from "../context.ts";

/** For one file. */
const uploadMs = 5 * minuteMs;
/** Renewed before every file, when a third of it has passed. */
const leaseMs = 4 * uploadMs;
const maxHours = 24 * 400;

type DataOptions = { to: string; from?: string; until?: string; format: Format; people?: true };

export function exportDataCommand(parent: CliCommand): void {
  parent
    .command("data [site]")
    .description("write the events, deliveries and attempts of past hours to files")
    .requiredOption("--to <place>", "a folder, or s3://BUCKET/PREFIX with the settings CLEANCAST_EXPORT_S3_*")
    .option("--from <time>", "the first hour: a date, a time in ISO 8601, or a time ago (24h, 30d); 24h by default")
    .option("--until <time>", "the end, in the same form; by default the last hour that is complete")
    .addOption(new Option("--format <format>", "the form of the files").choices(["parquet", "ndjson"]).default("parquet"))
    .option("--people", "add the SHA-256 of the email; without it the files are about no person")
    .run(async ({ store, directory, config, by, print }, siteText: string | undefined, options: DataOptions) => {
      const { exportHour } = await import("../../export/exportHour.ts");
      const hours = await listHours(options, by.now);
      const { format, people: withPeople = false } = options;
      const items: { site: string; hours: number; files: number; rows: number; skipped: number }[] = [];
      const folder = mkdtempSync(join(tmpdir(), "cleancast-export-"));
      try {
        await withExportLease(store, config, async (mayContinue, uploader) => {
          const target = await targetOf(options.to, config, uploader);
          for (const { id: siteId } of findSites(directory, siteText)) {
            const tally = { site: siteId, hours: 0, files: 0, rows: 0, skipped: 0 };
            for (const hour of hours) {
              // Later changes are not followed: the files show how everything is now.
              const as = { store, siteId, hour, liveHour: Infinity, isBegun: true, isRedone: false, format, withPeople };
              const files = await exportHour({ ...as, target, folder, mayContinue });
              if (!files) tally.skipped += 1;
              else tally.hours += 1;
              for (const { rows } of files ?? []) {
                tally.files += 1;
                tally.rows += rows;
              }
            }
            items.push(tally);
            const detail = { from: hours[0], to: (hours.at(-1) ?? 0) + hourMs, hours: tally.hours, people: withPeople };
            if (tally.hours > 0) await store.audit.add(auditLine(siteId, "data exported", detail, by));
          }
        });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
      const text = items.map(({ site, hours: done, files, rows, skipped }) => {
        const before = skipped > 0 ? `; ${countOf(skipped, "hour")} exported before` : "";
        return `${site}: ${countOf(done, "hour")}, ${countOf(files, "file")}, ${countOf(rows, "row")}${before}.`;
      });
      print({ items }, text.join("\n") || "There are no sites.");
    });
}

/** Runs an export. One at a time does, on all machines. */
export async function withExportLease<T>(
  { leases }: Pick<Store, "leases">,
  { allowPrivate: allow, connectMs }: Config,
  work: (mayContinue: () => Promise<boolean>, uploader: Uploader) => Promise<T>,
): Promise<T> {
  const uploader = createUploader({ allow, connectMs, maxMs: uploadMs });
  const lease = createLease({
    leases,
    name: "export",
    owner: `command line ${shortId()}`,
    lengthMs: leaseMs,
    now: Date.now,
    elapsed: () => performance.now(),
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  });
  try {
    return await work(() => lease.hold(), uploader);
  } finally {
    await lease.release();
    await uploader.close();
  }
}

/** Lists the beginnings of complete hours. */
async function listHours({ from, until }: DataOptions, now: number): Promise<number[]> {
  const { completeUntil } = await import("../../export/exportHour.ts");
  const complete = completeUntil(now);
  const hourOf = (at: number) => Math.floor(at / hourMs) * hourMs;
  const first = hourOf(from === undefined ? now - dayMs : readTime("from", from, now));
  const end = Math.min(complete, until === undefined ? complete : hourOf(readTime("until", until, now)));
  if (first >= end)
    throw new Refusal("from", "There is no complete hour in this period. An hour is complete 15 minutes after its end.");
  const count = (end - first) / hourMs;
  if (count > maxHours) throw new Refusal("from", `A run exports at most ${maxHours / 24} days.`);
  return Array.from({ length: count }, (_, i) => first + i * hourMs);
}

async function targetOf(to: string, { exportBucket }: Config, uploader: Uploader) {
  const { bucketTarget, folderTarget, readBucketPlace } = await import("../../export/target.ts");
  if (!to.startsWith("s3:")) return folderTarget(resolve(to));
  const place = readBucketPlace(to);
  if (!place) throw new Refusal("to", "--to is not of the form s3://BUCKET/PREFIX.");
  if (!exportBucket) throw new Refusal("to", "A bucket needs the settings CLEANCAST_EXPORT_S3_*: .env.example has them.");
  return bucketTarget({ ...exportBucket, ...place }, uploader, Date.now);
}
