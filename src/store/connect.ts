import type { Database } from "./engine/database.ts";
import { connectPostgres } from "./engine/postgres/engine.ts";
import { connectSqlite } from "./engine/sqlite/engine.ts";
import { sessionName } from "./schema/compatibility.ts";
import { latestVersion } from "./schema/migrate.ts";
import { migrations } from "./schema/schema.ts";

export const shardedTables = new Set(migrations.flatMap((one) => one.bySite));

export type StoreLocation = { engine: "sqlite"; file: string } | { engine: "postgres"; url: string; connections: number };

/** Opens the database as it is, whatever its schema. `onDefect` is called when its log cannot be checkpointed. */
export function connectDatabase(location: StoreLocation, onDefect?: (error: Error) => void): Database {
  if (location.engine === "sqlite") return connectSqlite(location.file, { onDefect });
  const { url, connections } = location;
  return connectPostgres(url, { connections, sessionName: sessionName(latestVersion), shardedTables });
}
