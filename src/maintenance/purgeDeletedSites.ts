// Purges the rows of deleted sites. A node that had not heard of a deletion yet, or an import that was running, may have written
// after it: so a site counts as purged only when a pass finds nothing, an hour after the deletion or later.

import { hourMs } from "../kernel/time.ts";
import type { PurgeStep } from "../store/maintenance/purge.ts";
import type { Store } from "../store/store.ts";

const settledMs = hourMs;

type DeletedSitePurge = {
  store: Pick<Store, "deletedSites">;
  /** True for a site that this node purges. */
  isMine: (siteId: string) => boolean;
  now: () => number;
  /** Runs steps until there is no next one, or until the purge must stop. Returns how many records were removed. */
  inSteps: (step: (after: string, limit: number) => Promise<PurgeStep>) => Promise<number>;
  onPurged: (siteId: string, records: number) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

export async function purgeDeletedSites(options: DeletedSitePurge): Promise<void> {
  const { store, isMine, onDefect } = options;
  for (const site of await store.deletedSites.listUnpurged()) {
    if (!isMine(site.id)) continue;
    try {
      await purgeDeletedSite(options, site);
    } catch (error) {
      // One site whose rows cannot be deleted must not stop the others.
      onDefect(error, { worker: "purge", site: site.id });
    }
  }
}

async function purgeDeletedSite(
  { store, now, inSteps, onPurged }: DeletedSitePurge,
  { id, deletedAt }: { id: string; deletedAt: number },
): Promise<void> {
  let isComplete = false;
  const removed = await inSteps(async (after, limit) => {
    const step = await store.deletedSites.purge(id, after, limit);
    isComplete = step.next === null;
    return step;
  });
  if (removed > 0) onPurged(id, removed);
  else if (isComplete && now() - deletedAt >= settledMs) await store.deletedSites.markPurged(id, now());
}
