// The data of an installation: opened by the server and by every command, with faults in terms of the variables.

import { existsSync, mkdirSync } from "node:fs";
import { createKeyFile } from "../maintenance/encryptionKeyFile.ts";
import { missingKey } from "../maintenance/encryptionKeys.ts";
import { ConfigFaults, type Config } from "./config.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { lockFolder } from "./lock.ts";
import { hasSealedValues } from "../store/maintenance/lostKey.ts";
import { NewerSchema, OlderNodes } from "../store/schema/compatibility.ts";
import { SchemaBusy } from "../store/schema/migrate.ts";
import { DatabaseMoved } from "../store/engine/sqlite/moveLock.ts";
import { MoveUnfinished } from "../store/schema/moveMarker.ts";
import { WrongEncryptionKey } from "../store/maintenance/encryptionKeyCheck.ts";
import { openStore, type Store } from "../store/store.ts";
import type { CommitObserver } from "../store/engine/timed.ts";
import { openCountries, type Countries } from "../traffic/countries.ts";
import { loadNetworks } from "../traffic/networks/networks.ts";

export function makeDataFolder({ dataFolder }: Config): void {
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_DATA is ${dataFolder}, which cannot be made (${reasonOf(error)}).`]);
  }
}

export async function openInstallation(config: Config, watch?: CommitObserver): Promise<Store> {
  makeDataFolder(config);
  await makeFirstKey(config);
  const keys = config.encryptionKeys;
  // Now and not with the first secret: a key that cannot be read is a fault of the start.
  keys();
  try {
    return await openStore(config.store, keys, uuidv7, watch);
  } catch (error) {
    if (error instanceof NewerSchema || error instanceof OlderNodes || error instanceof SchemaBusy)
      throw error;
    if (error instanceof WrongEncryptionKey) throw error;
    if (error instanceof DatabaseMoved || error instanceof MoveUnfinished) throw error;
    throw databaseFault(config, error);
  }
}

/** A key is made where nothing was sealed yet; any other database has one, which must be found. */
async function makeFirstKey(config: Config): Promise<void> {
  const { keyFile, store } = config;
  if (keyFile === null || existsSync(keyFile)) return;
  const hasKey = await onDatabase(config, () => hasSealedValues(store));
  // Another process may have made both meanwhile, the key first.
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

/** For work on the database itself: what the engine or its driver threw is a fault of the configuration, or of the option `name`. */
export async function onDatabase<T>(config: Config, work: () => Promise<T>, name?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isEngines =
      error instanceof AggregateError || (error instanceof Error && ("errcode" in error || "code" in error));
    throw isEngines ? databaseFault(config, error, name) : error;
  }
}

/** Keeps a relay from starting on the embedded store. On PostgreSQL the sessions tell whether one runs. */
export const lockStore = ({ store, dataFolder }: Config) =>
  store.engine === "sqlite" ? lockFolder(dataFolder) : () => {};

/** The operator's country file; null without one. */
export function openCountryFile({ countryFile }: Config): Countries | null {
  if (!countryFile) return null;
  try {
    return openCountries(countryFile);
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_COUNTRY_FILE: ${reasonOf(error)}`]);
  }
}

/** The operator's newer list of networks in place of the one that came with this version. */
export function readNetworksFile({ networksFile }: Config): void {
  if (!networksFile) return;
  try {
    loadNetworks(networksFile);
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_NETWORKS_FILE: ${reasonOf(error)}`]);
  }
}

/** The first of several failed addresses tells enough. A driver's message never holds the password. */
function reasonOf(error: unknown): string {
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  return cause instanceof Error ? cause.message || String((cause as { code?: string }).code) : String(cause);
}
