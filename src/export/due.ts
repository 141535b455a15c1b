// Writes the hours of scheduled exports that are due. Each site gets one hour at a time, so that one with a long past keeps no
// other waiting, and a few sites are worked on at once, so that a slow bucket hardly does. A site that fails stops no other.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { forEachConcurrently } from "../kernel/concurrency.ts";
import { codeOf, english, say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import { isWorking, type Directory } from "../sites/directory.ts";
import type { DataExport, ExportRun } from "../store/export/dataExports.ts";
import type { Store } from "../store/store.ts";
import { completeAt, completeUntil, exportHour } from "./exportHour.ts";
import { bucketTarget, folderTarget, type Target } from "./target.ts";
import { maxUploads, type Uploader } from "./upload.ts";

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
  const { store, directory, now } = options;
  const folder = mkdtempSync(join(tmpdir(), "cleancast-export-"));
  const done = new Map<string, Done>();
  const defects: Defects = new Map();
  const until = () => Math.min(...Array.from(defects.values(), ({ at }) => at + retryMs));
  try {
    // A defect is logged when the run ends, so a long one goes on in the next run.
    while (now() < until()) {
      const due = (await store.dataExports.listDue(now())).filter(({ siteId }) => {
        const site = directory.site(siteId);
        return site !== undefined && isWorking(site);
      });
      if (due.length === 0) break;
      await exportRound({ ...options, folder, defects }, due, done);
    }
  } catch (error) {
    refuseDefects(defects, error instanceof Error ? error : undefined);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  refuseDefects(defects);
  return [...done.values()];
}

/** The first one of each site. */
type Defects = Map<string, { error: unknown; at: number }>;
type RunOptions = DueOptions & { folder: string; defects: Defects };

/** Exports one hour of each site. An error that is about no site ends the run, after the sites that are under way. */
async function exportRound(options: RunOptions, due: readonly DataExport[], done: Map<string, Done>): Promise<void> {
  const ends: unknown[] = [];
  await forEachConcurrently(due, maxUploads, async (one) => {
    if (ends.length > 0) return;
    try {
      await requireLease(options);
      const tally = done.get(one.siteId) ?? { site: one.siteId, hours: 0, files: 0, rows: 0, error: null };
      done.set(one.siteId, tally);
      await exportNext(options, one, tally);
    } catch (error) {
      ends.push(error);
    }
  });
  if (ends.length > 0) throw ends[0];
}

/** The relay logs how its command ended. What the sites are told is stored with their exports. `end` is what ended the run early. */
function refuseDefects(defects: Defects, end?: Error): void {
  const [first] = defects;
  if (!first) return;
  const [siteId, { error }] = first;
  const stack = error instanceof Error ? error.stack : String(error);
  const early = end ? ` The run ended early: ${String(end)}.` : "";
  throw new Error(`${countOf(defects.size, "export")} failed because of a defect.${early} Site ${siteId}: ${stack}`, {
    cause: end ?? error,
  });
}

async function requireLease({ mayContinue }: DueOptions): Promise<void> {
  if (!(await mayContinue())) throw new Refusal("", say("export_running"));
}

async function exportNext(options: RunOptions, one: DataExport, tally: Done): Promise<void> {
  const { store, defects, now } = options;
  try {
    await exportNextHour(options, one, tally);
  } catch (error) {
    const isRefusal = error instanceof Refusal;
    // An export that another process has taken over has not failed.
    if (isRefusal && codeOf(error.said) === "export_running") throw error;
    // Nor has one of which only the lease could not be renewed.
    await requireLease(options);
    const said = isRefusal ? error.said : say("export_defect");
    if (!isRefusal && !defects.has(one.siteId)) defects.set(one.siteId, { error, at: now() });
    tally.error = english(said);
    await store.dataExports.fail(one, said, now() + retryMs, now());
  }
}

async function exportNextHour(options: RunOptions, one: DataExport, tally: Done): Promise<void> {
  const { store, folder, mayContinue, now } = options;
  const { siteId, nextHour: hour, liveHour } = one;
  const presentHour = Math.floor(now() / hourMs) * hourMs;
  // The clock was set back, and events come into hours that were written. An hour may have ended before this was noticed.
  if (hour > presentHour) return store.dataExports.reopen(siteId, presentHour - hourMs);
  if (hour >= completeUntil(now())) return store.dataExports.wait(one, completeAt(hour));
  const startedAt = now();
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
