// The product's own check of the data, on the rows at the end of a seed.

import { checkRows } from "../../../src/maintenance/check.ts";
import { postgresDialect } from "../../../src/store/engine/postgres/dialect.ts";
import { sealWith } from "../../../src/store/engine/seal.ts";
import type { Snapshot } from "../../../src/store/maintenance/snapshot.ts";
import { latestVersion } from "../../../src/store/schema/migrate.ts";
import type { Tables } from "../database/tables.ts";
import { sqliteConfig } from "../relay/config.ts";

/** Returns the first inconsistency; null where there is none. */
export async function findInconsistency(tables: Tables, now: number): Promise<string | null> {
  const all = async (sql: string, params: readonly (string | number | null)[] = []) => tables.all(sql, params);
  const snapshot: Snapshot = {
    // The parts for SQLite alone check its file, which a simulated database does not have.
    ...postgresDialect,
    version: latestVersion,
    all,
    async *stream(sql, params) {
      yield await all(sql, params);
    },
    close: async () => {},
  };
  const seal = sealWith(sqliteConfig.encryptionKeys);
  const [found] = await checkRows(snapshot, seal, now);
  return found ? `${found.count} ${found.what}, for example ${found.example}` : null;
}
