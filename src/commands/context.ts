// Provides every command with the configuration, an open store, the routes of the management API, readers of arguments, and one
// way to print.

import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { Access } from "../access/access.ts";
import { auditName, operator } from "../access/actor.ts";
import type { ApiContext } from "../api/context.ts";
import type { Caller } from "../api/inProcess.ts";
import { readEmailSha256 } from "../identity/person.ts";
import { readConfig, type Config } from "../installation/config.ts";
import { findInstallation, noInstallation, loadInstallation, placeOf } from "../installation/installation.ts";
import type { Sha256 } from "../kernel/event.ts";
import { english, toJson } from "../kernel/messages/message.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { didYouMean } from "../kernel/text.ts";
import { dayMs, hourMs, maxTime, minuteMs } from "../kernel/time.ts";
import { createDirectory, type Directory, type Site } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import type { Store } from "../store/store.ts";
import { asInvoked } from "./terminal/invocation.ts";
import { suggestCommand } from "./terminal/suggestion.ts";

export type CommandContext = {
  store: Store;
  directory: Directory;
  config: Config;
  by: By;
  /** Calls a route of the management API. With --json, commands print what it answers. */
  call: Caller;
  /** The services of the management API. */
  api: () => Promise<ApiContext>;
  access: () => Promise<Access>;
  /** The result is printed as one JSON value. */
  isJson: boolean;
  print: (value: unknown, text: string) => void;
};

/** Adds `run` to the commands of commander. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Replaces the parser's own, which suggests by spelling alone. */
  unknownCommand(): never {
    const [typed = ""] = this.args;
    const meant = suggestCommand(
      typed,
      this.commands.map((one) => one.name()),
    );
    this.error(`error: unknown command '${typed}'${meant === null ? "" : `\n(${didYouMean(meant)})`}`, {
      code: "commander.unknownCommand",
    });
  }

  /** Sets the action. It gets an open store before the arguments and options, also while a relay is running. */
  run<A extends unknown[]>(work: (context: CommandContext, ...given: A) => Promise<void>): this {
    return this.action((...given) => withContext(this, (context) => work(context, ...(given as unknown as A))));
  }

  /** The same for commands that begin to set up an installation: where there is none, it is created first. */
  runOrCreate<A extends unknown[]>(work: (context: CommandContext, ...given: A) => Promise<void>): this {
    return this.action((...given) => withNewInstallation(this, (context) => work(context, ...(given as unknown as A))));
  }
}

/** Runs a command on the installation, and creates it where there is none. */
export async function withNewInstallation<T>(command: Command, work: (context: CommandContext) => Promise<T>): Promise<T> {
  const config = readConfig();
  if (!(await findInstallation(config)) && !isJson(command))
    process.stderr.write(`Creating a new installation in ${placeOf(config)}.\n`);
  return loadContext(command, config, work);
}

/** Runs a command on the installation. There must be one: a command in a wrong folder must not create another. */
export async function withContext<T>(command: Command, work: (context: CommandContext) => Promise<T>): Promise<T> {
  const config = readConfig();
  if (!(await findInstallation(config))) throw noInstallation(config);
  return loadContext(command, config, work);
}

async function loadContext<T>(command: Command, config: Config, work: (context: CommandContext) => Promise<T>): Promise<T> {
  const store = await loadInstallation(config);
  const directory = createDirectory(store);
  const load = async () => (await import("./api.ts")).createCommandApi(config, store, directory);
  const loaded: { api?: ReturnType<typeof load> } = {};
  const api = () => (loaded.api ??= load());
  try {
    await directory.refresh();
    const by = { actor: auditName(operator), now: Date.now() };
    const print: CommandContext["print"] = (...shown) => printResult(command, ...shown);
    const call: Caller = async (...given) => (await api()).call(...given);
    const access = async () => (await api()).access();
    const context = async () => (await api()).context();
    return await work({ store, directory, config, by, call, api: context, access, isJson: isJson(command), print });
  } finally {
    if (loaded.api) await (await loaded.api).close();
    await store.close();
  }
}

const isJson = (command: Command) => command.optsWithGlobals().json === true;

/** Prints `value` as JSON with --json, otherwise the text. */
export function printResult(command: Command, value: unknown, text: string): void {
  process.stdout.write(`${isJson(command) ? toJson(value) : asInvoked(english(text))}\n`);
}

/**
 * Reads pairs like `url=https://…`. `name=@file` reads the value from a file, so that no secret is typed, and `name=@@text` is a
 * value that begins with @, as in a configuration file.
 */
export function readPairs(words: readonly string[], readFile: (path: string) => string = readValueFile): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const word of words) {
    const at = word.indexOf("=");
    if (at <= 0) throw new Refusal("arguments", `"${word}" is not of the form name=value.`);
    const value = word.slice(at + 1);
    pairs[word.slice(0, at)] = readValue(value, readFile);
  }
  return pairs;
}

/** Reads one value of this form. */
export const readValue = (value: string, readFile: (path: string) => string = readValueFile): string =>
  value.startsWith("@") ? readFile(value.slice(1)).trim() : value;

const readValueFile = (path: string): string =>
  path.startsWith("@") ? path : readTextFile(path, " Write @@ for a value that begins with @ and is not a file.");

/** `hint` follows the sentence that says that the file cannot be read. */
export function readTextFile(path: string, hint = ""): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new Refusal("arguments", `The file ${path} cannot be read.${hint}`);
  }
}

/** Reads --email, an address or its SHA-256; only the hash goes on. */
export function readPersonOption(text: string | undefined): Sha256 | undefined {
  const emailSha256 = text === undefined ? undefined : readEmailSha256(text);
  if (emailSha256 === null) throw new Refusal("email", "--email is not an email address.");
  return emailSha256;
}

/** Reads the name of a key. */
export function readName(kind: string, text: string): string {
  const name = text.trim();
  if (name && name.length <= 100) return name;
  throw new Refusal("name", `${kind} needs a name of at most 100 characters.`);
}

/** Collects the values of an option that may be repeated. */
export const collectValues = (value: string, known: string[]) => [...known, value];

/** Reads a whole number from 1 to `max`. */
export function readNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Refusal(name, `--${name} must be 1 to ${max}.`);
}

const units: Record<string, number> = { m: minuteMs, h: hourMs, d: dayMs };

/** Reads a duration such as 30m, 12h or 7d in milliseconds; null for any other text. */
function readDuration(text: string): number | null {
  const [, count, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (units[unit] ?? 0);
}

/** Reads a time as people type it: a date, a time in ISO 8601, or a time ago. */
export function readTime(name: string, text: string, now: number): number {
  const ago = readDuration(text);
  const at = ago === null ? Date.parse(text) : now - ago;
  if (Number.isNaN(at) || at < 0)
    throw new Refusal(name, `--${name} must be a time like 2026-11-15, 2026-11-15T08:00Z, 2h or 7d.`);
  return at;
}

/** Reads when a key expires: a date, or a time from now; null for never. */
export function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const fromNow = readDuration(text);
  const at = fromNow === null ? Date.parse(text) : now + fromNow;
  if (Number.isNaN(at))
    throw new Refusal("expires", `--expires "${text}" is neither a date like 2027-01-31 nor a time like 30d.`);
  if (at <= now) throw new Refusal("expires", "The expiry is in the past.");
  if (at > maxTime) throw new Refusal("expires", `--expires "${text}" is later than ${new Date(maxTime).getUTCFullYear()}.`);
  return at;
}

/** Names where a role or an API key is valid. */
export const whereText = (directory: Directory, site: string | null) =>
  site === null ? "all sites" : (directory.site(site)?.hosts[0] ?? site);

/** A site as tables and hints name it. */
export const siteName = ({ hosts, id }: Pick<Site, "hosts" | "id">) => hosts[0] ?? id;

/** Finds the named site; without a name, all sites. */
export function findSites(directory: Directory, text: string | undefined): Site[] {
  return text === undefined ? [...directory.sites()] : [findSite({ directory }, text)];
}

/** Finds the named site; the name may be left out while there is only one site. */
export function findSiteOrOnly(directory: Directory, text: string | undefined): Site {
  const [only, second] = findSites(directory, text);
  if (only && !second) return only;
  throw new Refusal("site", "Name the site: 'cleancast site list' shows them.");
}

/** Makes each column as wide as its widest cell. */
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

/** Replaces control characters, so that foreign text cannot control the terminal. */
export function toPrintableLines(text: string): string[] {
  return text === ""
    ? []
    : english(text)
        .split("\n")
        .map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, "·"));
}
