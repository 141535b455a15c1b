// Opens the data of an installation, for the server and for every command. Faults name the variable that causes them.

import { existsSync, readFileSync } from "node:fs";
import { createKeyFile, missingKey } from "../maintenance/encryptionKeys.ts";
import { ConfigFaults, type Config } from "./config.ts";
import { ulid } from "../kernel/ids.ts";
import { packageFolder } from "../kernel/packageFolder.ts";
import { lockFolder } from "./lock.ts";
import { hasSealedValues } from "../store/maintenance/lostKey.ts";
import { NewerSchema, OlderNodes } from "../store/schema/compatibility.ts";
import { UnreleasedSchema } from "../store/schema/generation.ts";
import { SchemaBusy } from "../store/schema/migrate.ts";
import { DatabaseMoved } from "../store/engine/sqlite/moveLock.ts";
import { makeFolder } from "../store/maintenance/syncToDisk.ts";
import { MoveUnfinished } from "../store/schema/moveMarker.ts";
import { WrongEncryptionKey } from "../store/maintenance/encryptionKeyCheck.ts";
import { openStore, type Store } from "../store/store.ts";
import type { CommitObserver } from "../store/engine/timed.ts";
import { openCountries, type Countries } from "../traffic/countries.ts";
import { loadNetworks } from "../traffic/networks/networks.ts";
import { Refusal } from "../kernel/refusal.ts";

/** The version of this package. */
export function readVersion(): string {
  const text = readFileSync(new URL("package.json", packageFolder), "utf8");
  return String(JSON.parse(text).version);
}

export function makeDataFolder({ dataFolder }: Config): void {
  try {
    makeFolder(dataFolder);
  } catch (error) {
    throw new ConfigFaults([
      `CLEANCAST_DATA is ${dataFolder}, which cannot be created (${reasonOf(error)}).`,
    ]);
  }
}

export async function openInstallation(config: Config, observer?: CommitObserver): Promise<Store> {
  makeDataFolder(config);
  await makeFirstKey(config);
  const keys = config.encryptionKeys;
  // The keys are read now and not with the first secret: an unreadable key must stop the start.
  keys();
  try {
    return await openStore(config.store, keys, ulid, observer);
  } catch (error) {
    throw isOperatorError(error) ? error : databaseFault(config, error);
  }
}

const ownErrors = [
  NewerSchema,
  OlderNodes,
  UnreleasedSchema,
  SchemaBusy,
  DatabaseMoved,
  MoveUnfinished,
  WrongEncryptionKey,
];

/** True for errors of the store whose message tells the operator what to do. */
export const isOperatorError = (error: unknown): error is Error =>
  ownErrors.some((one) => error instanceof one);

/** Creates a key only where nothing is encrypted yet: the key of any other database must be found. */
async function makeFirstKey(config: Config): Promise<void> {
  const { keyFile, store } = config;
  if (keyFile === null || existsSync(keyFile)) return;
  const hasKey = await onDatabase(config, () => hasSealedValues(store));
  // Another process may have created both in the meantime, the key first.
  if (existsSync(keyFile)) return;
  if (hasKey) throw new ConfigFaults([missingKey(keyFile)]);
  createKeyFile(keyFile);
}

function databaseFault({ store, dataFolder }: Config, error: unknown, name = "DATABASE_URL"): ConfigFaults {
  const where =
    store.engine === "postgres"
      ? `${name} names a database that cannot be used`
      : `CLEANCAST_DATA is ${dataFolder}, whose database cannot be used`;
  return new ConfigFaults([`${where} (${reasonOf(error)}).`]);
}

/** Runs `work` on the database. Errors of the engine or its driver become faults of the variable or option `name`. */
export async function onDatabase<T>(config: Config, work: () => Promise<T>, name?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const isEngineError =
      error instanceof AggregateError || (error instanceof Error && ("errcode" in error || "code" in error));
    throw isEngineError ? databaseFault(config, error, name) : error;
  }
}

/** Lets only one relay run on the embedded store. PostgreSQL needs no lock: its sessions show running relays. */
export const lockStore = ({ store, dataFolder }: Config) =>
  store.engine === "sqlite" ? lockFolder(dataFolder) : () => {};

/** Opens the operator's country file; null without one. */
export function openCountryFile({ countryFile }: Config): Countries | null {
  if (!countryFile) return null;
  try {
    return openCountries(countryFile);
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_COUNTRY_FILE: ${reasonOf(error)}`]);
  }
}

/** Replaces the shipped list of networks with the operator's newer one. */
export function readNetworksFile({ networksFile }: Config): void {
  if (!networksFile) return;
  try {
    loadNetworks(networksFile);
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_NETWORKS_FILE: ${reasonOf(error)}`]);
  }
}

/** Of several failed addresses, reports the first. A driver's message never holds the password. */
function reasonOf(error: unknown): string {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  return cause instanceof Error ? cause.message || String((cause as { code?: string }).code) : String(cause);
}
