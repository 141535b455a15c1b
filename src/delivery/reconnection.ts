// A platform no longer takes a connection's credentials: nothing is sent there until somebody connects it again.

import type { Connection, Directory } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

export function askForReconnection(
  store: Pick<Store, "configuration">,
  directory: Pick<Directory, "refresh" | "connection">,
  now: () => number,
) {
  return async ({ siteId, id, platform, settings }: Connection, reason: string): Promise<void> => {
    // What was refused may be yesterday's credentials: somebody has just connected it anew.
    await directory.refresh();
    const current = directory.connection(siteId, id);
    if (current?.state !== "active" || JSON.stringify(current.settings) !== JSON.stringify(settings)) return;
    const detail = { id, platform, reason };
    const change = { siteId, actor: "relay", action: "connection needs reconnection", detail, at: now() };
    await store.configuration.setConnectionState(change, id, "needs reconnection", reason);
    await directory.refresh();
  };
}
