// Writes the files of one site and hour: its events with their deliveries and attempts, and what changed in it of earlier events
// (store/export/exportRows.ts says which row belongs to which hour). The manifest comes last: an hour without one was not exported,
// and is written again from the beginning. An hour with one is never written again, unless a clock was set back into it. One
// export at a time runs, so that none replaces a file that the manifest of another lists.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { yieldToEventLoop } from "../kernel/deadline.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { hourMs, minuteMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";
import { createTableFile, removeFile, type Format } from "./file.ts";
import { exportTables, type ExportTables, type Row } from "./tables.ts";
import type { Target } from "./target.ts";

/** Commits take minutes at most, and clocks differ by less: after this time an hour is complete. */
const settleMs = 15 * minuteMs;

/** The end of the last complete hour. */
export const completeUntil = (now: number) => Math.floor((now - settleMs) / hourMs) * hourMs;

/** The time at which an hour is complete. */
export const completeAt = (hour: number) => hour + hourMs + settleMs;

const pageRows = 1000;
/** A part stays small enough to be sent in one request from memory. */
const maxPartRows = 200_000;

type TableName = keyof ExportTables;
type ManifestFile = { key: string; table: TableName; rows: number; bytes: number; sha256: string };

type HourOptions = {
  store: Pick<Store, "exportRows">;
  siteId: string;
  /** The beginning of the hour. */
  hour: number;
  /** The first hour whose files have changes of earlier events. Earlier hours are exported as they are at its beginning. */
  liveHour: number;
  /** An interrupted export may have left more files than there are now. */
  isBegun: boolean;
  /** Rows came into the hour after its manifest. */
  isRedone: boolean;
  format: Format;
  /** Adds the hash of the email. */
  withPeople: boolean;
  target: Target;
  /** For files until they are complete. */
  folder: string;
  /** True while no other export can run. */
  mayContinue: () => Promise<boolean>;
};

/** Returns null for an hour that was exported before. */
export async function exportHour(options: HourOptions): Promise<ManifestFile[] | null> {
  const { store, siteId, hour, liveHour, isBegun, isRedone, format, withPeople, target, folder, mayContinue } = options;
  const period = { from: hour, to: hour + hourMs };
  const time = new Date(hour).toISOString();
  const placeOf = (part: string) => `v1/site=${siteId}/${part}/date=${time.slice(0, 10)}/hour=${time.slice(11, 13)}`;
  const manifestKey = `${placeOf("manifests")}/manifest.json`;
  if (!isRedone && (await target.has(manifestKey))) return null;

  const tables = exportTables(withPeople);
  const written: ManifestFile[] = [];
  const names = Object.keys(tables) as TableName[];
  const open = new Map(names.map((table) => [table, { table, part: 0, rows: 0, file: newFile(table, 0) }]));
  type Open = { table: TableName; part: number; rows: number; file: ReturnType<typeof newFile> };

  function newFile(table: TableName, part: number) {
    return createTableFile(join(folder, `${siteId}-${hour}-${table}-${part}`), tables[table].columns, format);
  }

  const keyOf = (table: TableName, part: number) =>
    `${placeOf(`table=${table}`)}/part-${String(part).padStart(4, "0")}.${format}`;

  async function put(key: string, path: string): Promise<void> {
    try {
      if (!(await mayContinue())) throw new Refusal("", say("export_running"));
      await target.put(key, path);
    } finally {
      removeFile(path);
    }
  }

  async function finish(one: Open, evenEmpty = false): Promise<void> {
    const closed = await one.file.close(evenEmpty);
    if (!closed) return;
    const { path, ...facts } = closed;
    const key = keyOf(one.table, one.part);
    await put(key, path);
    written.push({ key, table: one.table, ...facts });
    one.part += 1;
    one.rows = 0;
    one.file = newFile(one.table, one.part);
  }

  async function add(table: TableName, rows: readonly Row[]): Promise<void> {
    const one = open.get(table) as Open;
    for (const row of rows) one.file.add(row);
    one.rows += rows.length;
    if (one.rows >= maxPartRows) await finish(one);
  }

  const until = Math.max(period.to, liveHour);
  for (let after: string | null = null; ;) {
    const page = await store.exportRows.listHour(siteId, period, until, after, pageRows);
    await add(
      "events",
      page.map(({ event }) => tables.events.toRow(event)),
    );
    await add(
      "deliveries",
      page.flatMap(({ deliveries }) => deliveries.map(tables.deliveries.toRow)),
    );
    await add(
      "attempts",
      page.flatMap(({ attempts }) => attempts.map(tables.attempts.toRow)),
    );
    after = page.at(-1)?.event.id ?? null;
    if (page.length < pageRows) break;
    await yieldToEventLoop();
  }
  if (hour >= liveHour) await addChanges();
  for (const one of open.values()) {
    await finish(one);
    // A reader of all files must not find rows that this hour has no longer.
    while (isBegun && (await target.has(keyOf(one.table, one.part)))) await finish(one, true);
  }
  const manifest = join(folder, `${siteId}-${hour}-manifest`);
  writeFileSync(
    manifest,
    `${JSON.stringify({ schema: 1, site: siteId, from: hour, to: hour + hourMs, files: written }, null, 2)}\n`,
  );
  await put(manifestKey, manifest);
  return written;

  async function addChanges(): Promise<void> {
    const { exportRows } = store;
    for (let after: { at: number; id: string } | null = null; ;) {
      const page = await exportRows.listReleased(siteId, period, after, pageRows);
      await add(
        "event_changes",
        page.map(({ event }) => tables.event_changes.toRow(event)),
      );
      await add(
        "delivery_changes",
        page.flatMap(({ deliveries }) => deliveries.map(tables.delivery_changes.toRow)),
      );
      const last = page.at(-1)?.event;
      if (!last || page.length < pageRows) break;
      after = { at: last.releasedAt ?? hour, id: last.id };
    }
    for (const table of ["deliveries", "confirmations", "corrections"] as const)
      for (let after: Awaited<ReturnType<typeof exportRows.listChanges>>["next"] = null; ;) {
        const { deliveries, next } = await exportRows.listChanges(siteId, table, period, after, pageRows);
        await add("delivery_changes", deliveries.map(tables.delivery_changes.toRow));
        if (next === null) break;
        after = next;
        await yieldToEventLoop();
      }
    for (let after: Awaited<ReturnType<typeof exportRows.listAttempts>>[number] | null = null; ;) {
      const page = await exportRows.listAttempts(siteId, period, after, pageRows);
      await add("attempts", page.map(tables.attempts.toRow));
      after = page.at(-1) ?? null;
      if (page.length < pageRows) break;
      await yieldToEventLoop();
    }
  }
}
