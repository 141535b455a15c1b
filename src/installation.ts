// The data of an installation: opened by the server and by every command, with faults in terms of the variables.

import { mkdirSync } from "node:fs";
import { ConfigFaults, type Config } from "./config.ts";
import { uuidv7 } from "./ids.ts";
import { NewerSchema } from "./store/migrate.ts";
import { openStore, WrongEncryptionKey, type Store } from "./store/store.ts";
import { openCountries, type Countries } from "./traffic/countries.ts";
import { loadNetworks } from "./traffic/networks.ts";

export function makeDataFolder({ dataFolder }: Config): void {
  try {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigFaults([`CLEANCAST_DATA is ${dataFolder}, which cannot be made (${reasonOf(error)}).`]);
  }
}

export async function openInstallation(config: Config): Promise<Store> {
  makeDataFolder(config);
  const key = config.encryptionKey();
  try {
    return await openStore(config.store, key, uuidv7);
  } catch (error) {
    if (error instanceof NewerSchema || error instanceof WrongEncryptionKey) throw error;
    const where =
      config.store.engine === "postgres"
        ? "DATABASE_URL names a database that cannot be used"
        : `CLEANCAST_DATA is ${config.dataFolder}, whose database cannot be used`;
    throw new ConfigFaults([`${where} (${reasonOf(error)}).`]);
  }
}

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
