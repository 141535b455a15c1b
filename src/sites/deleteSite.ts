// Deletes a site for good: its keys, connections and webhooks at once, its data in the background.

import type { By } from "../kernel/refusal.ts";
import type { SiteContents } from "../store/maintenance/deletions.ts";
import type { Site } from "./directory.ts";
import { auditLine, type SiteContext } from "./manage.ts";

type DeletedContents = SiteContents & {
  hosts: number;
  keys: number;
  connections: number;
  webhooks: number;
};

/** Counts what a deletion would remove. */
export async function countContents({ store }: Pick<SiteContext, "store">, site: Site): Promise<DeletedContents> {
  return {
    hosts: site.hosts.length,
    keys: site.keys.filter(({ revokedAt }) => revokedAt === null).length,
    connections: site.connections.length,
    webhooks: (await store.webhooks.list(site.id)).length,
    ...(await store.deletions.contentsOf(site.id)),
  };
}

/** The audit line belongs to the installation, because the site's own audit log is deleted too. */
export async function deleteSite(context: SiteContext, site: Site, by: By): Promise<DeletedContents> {
  const { store, directory } = context;
  const contents = await countContents(context, site);
  const { hosts: _count, ...counts } = contents;
  const detail = { id: site.id, hosts: site.hosts, ...counts };
  await store.deletedSites.delete(auditLine("", "site deleted", detail, by), site.id);
  await store.deletions.add("site");
  await directory.refresh();
  return contents;
}
