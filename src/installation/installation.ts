// Opens the data of an installation, for the server and for every command. Faults name the variable that causes them.

import { existsSync, readFileSync } from "node:fs";
import { createKeyFile, missingKey } from "../maintenance/encryptionKeys.ts";
import { ConfigFaults, type Config } from "./config.ts";
import { ulid } from "../kernel/ids.ts";
import { packageFolder } from "../kernel/packageFolder.ts";
import { folderFault, hasDatabaseFile, makeDataFolder } from "./dataFolder.ts";
import { lockFolder } from "./lock.ts";
import { hasSealedValues } from "../store/maintenance/lostKey.ts";
import { NewerSchema, OlderNodes } from "../store/schema/compatibility.ts";
import { UnreleasedSchema } from "../store/schema/generation.ts";
import { SchemaBusy } from "../store/schema/migrate.ts";
import { DatabaseMoved } from "../store/engine/sqlite/moveLock.ts";
import { MoveUnfinished } from "../store/schema/moveMarker.ts";
import { WrongEncryptionKey } from "../store/maintenance/encryptionKeyCheck.ts";
import { sqlState } from "../store/engine/postgres/errors.ts";
import { createStore, type Store } from "../store/store.ts";
import { probeSchema } from "../store/schema/schemaProbe.ts";
import type { CommitObserver } from "../store/engine/timed.ts";
import { loadCountries, type Countries } from "../traffic/countries.ts";
import { loadNetworks } from "../traffic/networks/networks.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import { databaseName, explainDatabaseError, messageOf } from "./databaseErrors.ts";

/** The version of this package. */
export function readVersion(): string {
  const text = readFileSync(new URL("package.json", packageFolder), "utf8");
  return String(JSON.parse(text).version);
}

/** False where no relay or command has created a database yet. Changes nothing. */
export async function findInstallation(config: Config): Promise<boolean> {
  const { store, dataFolder } = config;
  if (store.engine === "sqlite") return hasDatabaseFile(dataFolder, store.file);
  return (await onDatabase(config, () => probeSchema(store))).found !== 0;
}

/** The place of an installation, without the password of its database. */
export function placeOf({ store, dataFolder }: Config): string {
  return store.engine === "postgres" ? databaseName(store.url) : dataFolder;
}

export function noInstallation(config: Config): Missing {
  const variable = config.store.engine === "postgres" ? "DATABASE_URL" : "CLEANCAST_DATA";
  return new Missing(
    "installation",
    `There is no installation in ${placeOf(config)} (${variable}). 'cleancast serve' creates one.`,
  );
}

export async function loadInstallation(config: Config, observer?: CommitObserver): Promise<Store> {
  // On PostgreSQL the folder is needed only for a key file, which creates it.
  if (config.store.engine === "sqlite") makeDataFolder(config);
  await makeFirstKey(config);
  const keys = config.encryptionKeys;
  // The keys are read now and not with the first secret: an unreadable key must stop the start.
  keys();
  try {
    return await createStore(config.store, keys, ulid, observer);
  } catch (error) {
    throw isOperatorError(error) ? error : databaseFault(config, error);
  }
}

const ownErrors = [NewerSchema, OlderNodes, UnreleasedSchema, SchemaBusy, DatabaseMoved, MoveUnfinished, WrongEncryptionKey];

/** True for errors of the store whose message tells the operator what to do. */
export const isOperatorError = (error: unknown): error is Error => ownErrors.some((one) => error instanceof one);

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
  if (store.engine === "sqlite") return folderFault(dataFolder, "whose database cannot be used", error);
  const { what, remedy } = explainDatabaseError(store.url, error, name);
  return new ConfigFaults([`${name}: ${what}. ${remedy}`]);
}

/** Runs `work` on the database. Errors of the engine or its driver become faults of the variable or option `name`. */
export async function onDatabase<T>(config: Config, work: () => Promise<T>, name?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const isEngineError = sqlState(error) !== "" || (error instanceof Error && "errcode" in error);
    throw isEngineError ? databaseFault(config, error, name) : error;
  }
}

/** Lets only one relay run on the embedded store. PostgreSQL needs no lock: its sessions show running relays. */
export const lockStore = ({ store, dataFolder }: Config) => (store.engine === "sqlite" ? lockFolder(dataFolder) : () => {});

/** Opens the operator's country file; null without one. */
export function loadCountryFile({ countryFile }: Config): Countries | null {
  if (!countryFile) return null;
  try {
    return loadCountries(countryFile);
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_COUNTRY_FILE: ${messageOf(error)}`]);
  }
}

/** Replaces the shipped list of networks with the operator's newer one. */
export function readNetworksFile({ networksFile }: Config): void {
  if (!networksFile) return;
  try {
    loadNetworks(networksFile);
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_NETWORKS_FILE: ${messageOf(error)}`]);
  }
}
