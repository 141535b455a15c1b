// Opens stores of either engine, with a second node, and runs SQL on their databases directly.

import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { ulid } from "../../src/kernel/ids.ts";
import type { StoreLocation } from "../../src/store/connect.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import { freshFolder, migratedDatabase } from "./databases.ts";
import { withClient } from "./postgres/postgres.ts";
import type { Engine } from "./relay.ts";

export const encryptionKey = Buffer.alloc(32, 7);

export async function newLocation(engine: Engine, makeDatabase = migratedDatabase): Promise<StoreLocation> {
  return engine === "sqlite"
    ? { engine, file: `${freshFolder()}/store.db` }
    : { engine, url: await makeDatabase(), connections: 8 };
}

export const createAt = (location: StoreLocation) => createStore(location, encryptionKey, ulid);

/** Opens a new store and a second node on it; with SQLite, which allows one node, `other` is the same store. */
export async function createNodes(
  engine: Engine,
  makeDatabase = migratedDatabase,
): Promise<{ store: Store; other: Store; location: StoreLocation; close: () => Promise<void> }> {
  const location = await newLocation(engine, makeDatabase);
  const store = await createAt(location);
  const other = engine === "postgres" ? await createAt(location) : store;
  return {
    store,
    other,
    location,
    close: async () => {
      if (other !== store) await other.close();
      await store.close();
    },
  };
}

/** Runs SQL on the database directly, as another program would. */
export async function sql(location: StoreLocation, text: string): Promise<Record<string, unknown>[]> {
  if (location.engine === "sqlite") {
    const db = new DatabaseSync(location.file, { timeout: 60_000 });
    // The store reads one snapshot per iteration of the event loop; another program never runs within the same one.
    await yieldToEventLoop();
    try {
      return db.prepare(text).all();
    } finally {
      db.close();
    }
  }
  return withClient(location.url, async (client) => (await client.query<Record<string, unknown>>(text)).rows);
}
