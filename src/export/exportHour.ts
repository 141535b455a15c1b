// Exports the events of one site and hour with their deliveries and attempts. A row belongs to the hour of its event's id, and so
// to exactly one file. The manifest comes last: an hour without one was not exported, and is written again from the beginning. An
// hour with one is never written again. One export at a time runs, so that none replaces a file that the manifest of another lists.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { yieldToEventLoop } from "../kernel/deadline.ts";
import { Refusal } from "../kernel/refusal.ts";
import { hourMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";
import { createTableFile, removeFile, type Format } from "./file.ts";
import { exportTables, type Table } from "./tables.ts";
import type { Target } from "./target.ts";

const pageRows = 1000;
/** A part stays small enough to be sent in one request from memory. */
const maxPartRows = 200_000;

type ManifestFile = { key: string; table: Table["name"]; rows: number; bytes: number; sha256: string };
export type ExportedHour = { hour: number; files: ManifestFile[] };

type ExportOptions = {
  store: Store;
  siteId: string;
  /** The beginning of the hour. */
  hour: number;
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
export async function exportHour(options: ExportOptions): Promise<ExportedHour | null> {
  const { store, siteId, hour, format, withPeople, target, folder, mayContinue } = options;
  const time = new Date(hour).toISOString();
  const placeOf = (part: string) => `v1/site=${siteId}/${part}/date=${time.slice(0, 10)}/hour=${time.slice(11, 13)}`;
  const manifestKey = `${placeOf("manifests")}/manifest.json`;
  if (await target.has(manifestKey)) return null;

  const written: ManifestFile[] = [];
  const open = exportTables(withPeople).map((table) => ({ table, part: 0, rows: 0, file: newFile(table, 0) }));

  function newFile(table: Table, part: number) {
    return createTableFile(join(folder, `${siteId}-${hour}-${table.name}-${part}`), table.columns, format);
  }

  async function put(key: string, path: string): Promise<void> {
    try {
      if (!(await mayContinue())) throw new Refusal("", "Another export runs. Wait until it has ended.");
      await target.put(key, path);
    } finally {
      removeFile(path);
    }
  }

  async function finish(one: (typeof open)[number]): Promise<void> {
    const closed = await one.file.close();
    if (!closed) return;
    const { path, ...facts } = closed;
    const key = `${placeOf(`table=${one.table.name}`)}/part-${String(one.part).padStart(4, "0")}.${format}`;
    await put(key, path);
    written.push({ key, table: one.table.name, ...facts });
  }

  for (let after: string | null = null; ;) {
    const events = await store.exportRows.listHour(siteId, { from: hour, to: hour + hourMs, after }, pageRows);
    for (const event of events)
      for (const one of open)
        for (const row of one.table.rowsOf(event)) {
          one.file.add(row);
          one.rows += 1;
        }
    for (const one of open) {
      if (one.rows < maxPartRows) continue;
      await finish(one);
      one.part += 1;
      one.rows = 0;
      one.file = newFile(one.table, one.part);
    }
    after = events.at(-1)?.id ?? null;
    if (events.length < pageRows) break;
    await yieldToEventLoop();
  }
  for (const one of open) await finish(one);
  const manifest = join(folder, `${siteId}-${hour}-manifest`);
  writeFileSync(
    manifest,
    `${JSON.stringify({ schema: 1, site: siteId, from: hour, to: hour + hourMs, files: written }, null, 2)}\n`,
  );
  await put(manifestKey, manifest);
  return { hour, files: written };
}
