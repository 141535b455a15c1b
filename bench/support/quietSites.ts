// An installation with one busy site and ninety-nine quiet ones.

import { standinConnections } from "../../scripts/standinConnections.ts";
import { connect } from "../../src/sites/connect.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { addKey, addSite, findSite } from "../../src/sites/manage.ts";
import { connectStoreOf, install, type Engine, type Installation } from "./relay.ts";
import type { StubPlatform, StubState } from "./stub.ts";

export const quietSites = 99;

/** Creates the sites without the command line: three hundred commands would take longer than the measurement. */
export async function installSites(
  engine: Engine,
  stub: StubState,
  failingUrls: readonly string[],
  connected: readonly StubPlatform[] = [],
): Promise<Installation & { quietKeys: string[] }> {
  const installation = await install(engine, connected, stub);
  installation.env.CLEANCAST_ALLOW_PRIVATE = "127.0.0.0/8";
  const store = await connectStoreOf(installation);
  const directory = createDirectory(store);
  await directory.refresh();
  const context = { store, directory };
  const by = { actor: "bench", now: Date.now(), checkAddress: () => null };
  const site = (id: string) => findSite(context, id);
  for (const url of failingUrls) {
    const { connection } = await connect(context, site(installation.siteId), "webhook", { url }, by);
    installation.connectionIds.push(connection.id);
  }
  const quietKeys: string[] = [];
  for (let n = 1; n <= quietSites; n++) {
    const { id } = await addSite(context, `quiet-${n}.example.com`, by);
    quietKeys.push((await addKey(context, site(id), { name: "bench", mode: "live", expiresAt: null }, by)).key);
    await connect(context, site(id), "meta", standinConnections.meta, by);
  }
  await store.close();
  return { ...installation, quietKeys };
}
