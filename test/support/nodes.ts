import type { StoreLocation } from "../../src/store/open.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { freshFolder, migratedDatabase } from "./databases.ts";
import type { Engine } from "./relay.ts";

/** A new store, and a second node on it where the engine allows one; the same store where it does not. */
export async function openNodes(
  engine: Engine,
  makeDatabase = migratedDatabase,
): Promise<{ store: Store; other: Store; close: () => Promise<void> }> {
  const location: StoreLocation =
    engine === "sqlite"
      ? { engine, file: `${freshFolder()}/store.db` }
      : { engine, url: await makeDatabase(), connections: 8 };
  const open = () => openStore(location, Buffer.alloc(32, 7), uuidv7);
  const store = await open();
  const other = engine === "postgres" ? await open() : store;
  return {
    store,
    other,
    close: async () => {
      if (other !== store) await other.close();
      await store.close();
    },
  };
}
