// What every command needs: the configuration, an open store, and one way to print.

import { readFileSync } from "node:fs";
import { Command } from "commander";
import { readConfig, type Config } from "../installation/config.ts";
import { openInstallation } from "../installation/installation.ts";
import { directoryOf, type Directory, type Site } from "../sites/directory.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import type { Store } from "../store/store.ts";

export type CommandContext = { store: Store; directory: Directory; config: Config; by: By };

/** Opens the store beside a running server, does the work, and closes it again. */
export async function withContext<T>(work: (desk: CommandContext) => Promise<T>): Promise<T> {
  const config = readConfig();
  const store = await openInstallation(config);
  try {
    const directory = directoryOf(store);
    await directory.refresh();
    return await work({ store, directory, config, by: { actor: "command line", now: Date.now() } });
  } finally {
    await store.close();
  }
}

/** Prints `value` as JSON with --json, else the sentence or table made for people. */
export function print(command: Command, value: unknown, text: string): void {
  const json = command.optsWithGlobals().json === true;
  process.stdout.write(`${json ? JSON.stringify(value) : text}\n`);
}

/** `url=https://… events=purchase` → an object. `name=@file` takes the value from a file, so that no secret is typed. */
export function readPairs(
  words: readonly string[],
  readFile: (path: string) => string = readValueFile,
): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0) throw new Refusal("arguments", `"${word}" is not of the form name=value.`);
    const value = word.slice(at + 1);
    pairs[word.slice(0, at)] = value.startsWith("@") ? readFile(value.slice(1)).trim() : value;
  }
  return pairs;
}

function readValueFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new Refusal("arguments", `The file ${path} cannot be read.`);
  }
}

/** The site that a command is about; may be left out while there is only one. */
export function findSiteOrOnly(directory: Directory, text: string | undefined): Site {
  if (text !== undefined) return findSite({ directory }, text);
  const [only, second] = [...directory.sites()];
  if (only && !second) return only;
  throw new Refusal("site", "Name the site: 'cleancast site list' shows them.");
}

/** Columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], empty: string): string {
  if (rows.length === 0) return empty;
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), ...rows.map(line)].join("\n");
}

export function timeText(ms: number | null): string {
  return ms === null ? "–" : new Date(ms).toISOString().replace("T", " ").slice(0, 19);
}
