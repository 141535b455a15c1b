// Changes that people make to the hosts of a site.

import type { Host, Site } from "./directory.ts";
import { isPublicName, readHost } from "./hosts.ts";
import { say } from "../kernel/messages/message.ts";
import { type By, Conflict, missing, Refusal } from "../kernel/refusal.ts";
import { auditLine, type SiteContext, findSite, readFreeHost, displacedLine, rethrowUnlessTaken } from "./manage.ts";

/** Checks look up and call each host: a limit on what one site can make us call. */
export const maxHosts = 200;

/** `isTrusted`: an operator of the installation adds it, so it is served before it is verified. */
export async function addHost(
  { store, directory }: SiteContext,
  site: Site,
  hostText: string,
  by: By & { isTrusted: boolean },
): Promise<Host> {
  const free = readFreeHost(directory, hostText, by);
  const { host } = free;
  // A proxy or a scraper may call this relay by such a name, and a check would reveal which internal names exist.
  if (!by.isTrusted && !isPublicName(host)) throw new Refusal("host", say("internal_host", { host }));
  if (site.hosts.length >= maxHosts) throw new Conflict("host", say("too_many_hosts", { max: maxHosts }));
  await store.hosts
    .add(auditLine(site.id, "host added", { host }, by), {
      host,
      isTrusted: by.isTrusted,
      displaces: displacedLine(free, by),
    })
    .catch((error: unknown) => rethrowUnlessTaken(directory, host, by, error));
  await directory.refresh();
  return findHost([findSite({ directory }, site.id)], host);
}

/** Finds a host of any of the given sites. */
export function findHost(sites: Iterable<Site>, text: string): Host {
  const name = readHost(text);
  for (const site of sites) {
    const host = site.hostRows.find((one) => one.host === name);
    if (host) return host;
  }
  throw missing("host", text, "them");
}

export async function pauseHost({ store, directory }: SiteContext, { siteId, host }: Host, by: By): Promise<void> {
  await store.hosts.setPaused(auditLine(siteId, "host paused", { host }, by), host, by.now);
  await directory.refresh();
}

export async function resumeHost({ store, directory }: SiteContext, { siteId, host }: Host, by: By): Promise<void> {
  await store.hosts.setPaused(auditLine(siteId, "host resumed", { host }, by), host, null);
  await directory.refresh();
}

/** A site needs at least one host: the last one can be paused, not removed. */
export async function removeHost({ store, directory }: SiteContext, { siteId, host }: Host, by: By): Promise<void> {
  const isGone = await store.hosts.remove(auditLine(siteId, "host removed", { host }, by), host);
  await directory.refresh();
  if (!isGone && directory.host(host)?.siteId === siteId) throw new Conflict("host", say("only_host", { host }));
}
