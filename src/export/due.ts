// Writes the hours of scheduled exports that are due. Each site gets one hour at a time, so that one with a long past keeps no
// other waiting.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { codeOf, say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { isWorking, type Directory } from "../sites/directory.ts";
import type { DataExport, ExportRun } from "../store/export/dataExports.ts";
import type { Store } from "../store/store.ts";
import { completeAt, completeUntil, exportHour } from "./exportHour.ts";
import { bucketTarget, folderTarget, type Target } from "./target.ts";
import type { Uploader } from "./upload.ts";

type DueOptions = {
  store: Pick<Store, "dataExports" | "exportRows">;
  directory: Pick<Directory, "site">;
  exportFolder: string | null;
  uploader: Uploader;
  /** True while no other export can run. */
  mayContinue: () => Promise<boolean>;
  now: () => number;
};

/** An export that failed is tried again after this time. */
const retryMs = 10 * minuteMs;

/** What was done for a site. */
export type Done = { site: string; hours: number; files: number; rows: number; error: string | null };

export async function exportDue(options: DueOptions): Promise<Done[]> {
  const { store, directory, mayContinue, now } = options;
  const folder = mkdtempSync(join(tmpdir(), "cleancast-export-"));
  const done = new Map<string, Done>();
  try {
    for (;;) {
      const due = (await store.dataExports.listDue(now())).filter(({ siteId }) => {
        const site = directory.site(siteId);
        return site !== undefined && isWorking(site);
      });
      if (due.length === 0) break;
      for (const one of due) {
        if (!(await mayContinue())) throw new Refusal("", say("export_running"));
        const tally = done.get(one.siteId) ?? { site: one.siteId, hours: 0, files: 0, rows: 0, error: null };
        done.set(one.siteId, tally);
        await exportNext({ ...options, folder }, one, tally);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [...done.values()];
}

async function exportNext(options: DueOptions & { folder: string }, one: DataExport, tally: Done): Promise<void> {
  const { store, folder, mayContinue, now } = options;
  const { siteId, nextHour: hour, liveHour } = one;
  const presentHour = Math.floor(now() / hourMs) * hourMs;
  // The clock was set back, and events come into hours that were written. An hour may have ended before this was noticed.
  if (hour > presentHour) return store.dataExports.reopen(siteId, presentHour - hourMs);
  if (hour >= completeUntil(now())) return store.dataExports.wait(one, completeAt(hour));
  const startedAt = now();
  try {
    const target = openTarget(options, one);
    if (!(await store.dataExports.begin(one))) return;
    const { format, people: withPeople } = one.options;
    const isRedone = hour < one.redoUntil;
    const at = { store, siteId, hour, liveHour, isRedone, isBegun: one.isBegun || isRedone, format, withPeople };
    const files = await exportHour({ ...at, target, folder, mayContinue });
    const run = files && runOf(hour, files, startedAt, now());
    if (!(await store.dataExports.advance(one, run, completeAt(hour + hourMs)))) return;
    tally.hours += run ? 1 : 0;
    tally.files += run?.files ?? 0;
    tally.rows += run?.rows ?? 0;
  } catch (error) {
    // An export that another process has taken over has not failed.
    if (!(error instanceof Refusal) || codeOf(error.said) === "export_running") throw error;
    tally.error = error.message;
    await store.dataExports.fail(one, error.said, now() + retryMs, now());
  }
}

const runOf = (hour: number, files: readonly { rows: number; bytes: number }[], startedAt: number, at: number): ExportRun => ({
  hour,
  at,
  ms: Math.max(0, at - startedAt),
  files: files.length,
  rows: files.reduce((sum, { rows }) => sum + rows, 0),
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
});

function openTarget({ exportFolder, uploader, now }: DueOptions, { target }: DataExport): Target {
  if (!target) throw new Refusal("to", say("export_target_unreadable"));
  if (target.kind === "folder") {
    if (exportFolder === null) throw new Refusal("to", say("export_folder_missing"));
    return folderTarget(resolve(exportFolder));
  }
  const { endpoint, bucket, prefix, ...credentials } = target;
  return bucketTarget({ endpoint: new URL(endpoint), bucket, prefix, credentials }, uploader, now);
}
