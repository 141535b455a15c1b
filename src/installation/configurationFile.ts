// Reads the operator's configuration file, and applies it when the relay starts.

import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { FileText } from "../configFile/plan.ts";
import { lossText, summaryText } from "../configFile/diff.ts";
import { operatorRights, type Plan } from "../configFile/planning.ts";
import { createAccess } from "../access/access.ts";
import { ulid } from "../kernel/ids.ts";
import { Conflict, Fault, Refusal } from "../kernel/refusal.ts";
import type { Services } from "../server/services.ts";
import { createDirectory } from "../sites/directory.ts";
import { createStore, type Store } from "../store/store.ts";
import { readVariable, type Config } from "./config.ts";
import { findInstallation } from "./installation.ts";

/**
 * Reads the file. One whose syntax or fields have faults is refused with all its faults, and nothing is opened or created.
 * References are read from the environment, and from files whose paths are relative to the configuration file.
 */
export async function readConfigurationFile(config: Config, path: string): Promise<FileText> {
  const { readFile } = await import("../configFile/plan.ts");
  const text = readText(path);
  if (text === null) throw new Refusal("file", `The file ${path} cannot be read.`);
  const lookup = {
    variable: (name: string) => readVariable(name) || new Fault(`the variable ${name} is not set.`),
    file: (name: string) => readText(resolve(dirname(path), name)) ?? new Fault(`the file ${name} cannot be read.`),
  };
  const file = { name: path, text, lookup };
  const { faults } = await readFile(file);
  if (faults.length > 0) await planInEmpty(config, file, { prune: false, isOffline: true });
  return file;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/**
 * Plans the file for an installation that does not exist yet, and does not create it: a file that cannot be applied leaves
 * nothing behind. Null where there is an installation.
 */
export async function planForNew(config: Config, file: FileText, { prune }: { prune: boolean }): Promise<Plan | null> {
  return (await findInstallation(config)) ? null : planInEmpty(config, file, { prune });
}

async function planInEmpty(
  config: Config,
  file: FileText,
  { prune, isOffline }: { prune: boolean; isOffline?: true },
): Promise<Plan> {
  const { planFile } = await import("../configFile/plan.ts");
  const { publicUrl, transport, allowPrivate, exportFolder } = config;
  return withEmptyStore(config, async (store) => {
    const directory = createDirectory(store);
    const access = createAccess({
      store,
      directory,
      mailer: null,
      publicUrl,
      secret: store.accessSecret,
      trusted: transport.trusted,
      now: Date.now,
      onDefect: (error) => process.emitWarning(String(error)),
    });
    const by = { actor: "configuration file", now: Date.now() };
    const context = { store, directory, access, allowPrivate, exportFolder, by, rights: operatorRights, isOffline };
    try {
      return await planFile(context, file, { prune });
    } finally {
      await access.close();
    }
  });
}

/** Opens a new database in a folder of its own, and deletes it after the work. In a container, only the data folder may be writable. */
async function withEmptyStore<T>({ dataFolder }: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(existsSync(dataFolder) ? dataFolder : tmpdir(), "cleancast-"));
  try {
    const location = { engine: "sqlite", file: join(folder, "empty.db") } as const;
    const store = await createStore(location, randomBytes(32), ulid);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Started = Pick<Services, "store" | "directory" | "mailer" | "owner" | "now" | "elapsed" | "onDefect">;

/** Returns the text to print. The start fails where the file would delete data: there is no one to ask. */
export async function applyAtStart(
  { publicUrl, transport, allowPrivate, exportFolder }: Config,
  { owner, elapsed, ...services }: Started,
  file: FileText,
): Promise<string> {
  const { applyFile } = await import("../configFile/apply.ts");
  const { store, now } = services;
  const by = { actor: "configuration file", now: now() };
  // The one of the dashboard opens later, when the address of the server is known.
  const access = createAccess({
    ...services,
    publicUrl,
    secret: store.accessSecret,
    trusted: transport.trusted,
  });
  try {
    const { plan, notes } = await applyFile(
      { ...services, access, allowPrivate, exportFolder, by, rights: operatorRights },
      file,
      {
        prune: false,
        owner,
        now,
        elapsed,
        confirm: async (planned) => refuseLosses(planned, file),
      },
    );
    const summary = plan.changes.length === 0 ? "no differences." : summaryText(plan);
    return [`Configuration: ${file.name}, ${summary}`, ...notes].map((line) => `${line}\n`).join("");
  } finally {
    await access.close();
  }
}

function refuseLosses(plan: Plan, { name }: FileText): void {
  const losses = lossText(plan);
  if (losses === "") return;
  throw new Conflict("config", `${losses} A start deletes nothing: run 'cleancast apply ${name}' first, or change the file.`);
}
