// Keeps every site with its hosts, keys and connections in memory. Requests are authenticated and routed without asking the
// store; a change made elsewhere (another node, the command line) arrives within about a second.

import { setTimeout as sleep } from "node:timers/promises";
import { defaultPollMs, poll } from "../background/poll.ts";
import { Late } from "../kernel/deadline.ts";
import type { ConnectionRow, KeyRow, SiteRow } from "../store/sites/configuration.ts";
import type { HostRow } from "../store/sites/hosts.ts";
import type { SourceRow } from "../store/sites/sources.ts";
import { allSettings } from "../store/sites/siteSettings.ts";
import type { Store } from "../store/store.ts";
import { isServed } from "./hosts.ts";
import { hashKey } from "./keys.ts";
import { withDefaults, type SiteSettings } from "./settings.ts";

export type Connection = ConnectionRow;
export type InboundKey = KeyRow;
export type Host = HostRow;
export type Source = SourceRow;
export type Site = Omit<SiteRow, "settings"> & {
  settings: SiteSettings;
  /** The hosts under which requests are answered. */
  servedHosts: readonly string[];
};

/** False where the row of the site is damaged: its events are refused for now, and nothing of it is sent or purged. */
export const hasSettings = ({ unreadable }: Pick<Site, "unreadable">) => unreadable?.includes(allSettings) !== true;

/** False where nothing of the site may be accepted, sent or computed here: it is damaged, or moved to another installation. */
export const isWorking = (site: Pick<Site, "unreadable" | "leaving">) => hasSettings(site) && site.leaving === null;

export type Directory = {
  /** Reads the changes since the last time. */
  refresh(): Promise<void>;
  /** Keeps reading, so that changes made elsewhere arrive. */
  follow(on: {
    /** The copy in memory was brought up to date. */
    refreshed: () => void;
    error: (error: unknown) => void;
    pollMs?: number;
  }): { stop(): Promise<void> };
  sites(): Iterable<Site>;
  site(id: string): Site | undefined;
  /** The site that is served under this host: the host is not paused, and verified to belong to the site. */
  siteOfHost(host: string): Site | undefined;
  /** A host of any site, served or not. */
  host(name: string): Host | undefined;
  key(text: string): InboundKey | undefined;
  /**
   * The same, but an unknown key is looked up in the store first: it may have been added elsewhere a moment ago. Fails where
   * that cannot be found out.
   */
  keyNow(text: string): Promise<InboundKey | undefined>;
  /** The source with this address, and until when the address is valid; null where it has no end. */
  source(token: string): { source: Source; until: number | null } | undefined;
  /** The same for an address that may have been made elsewhere a moment ago, as `keyNow`. */
  sourceNow(token: string): Promise<{ source: Source; until: number | null } | undefined>;
  connection(siteId: string, id: string): Connection | undefined;
  /**
   * The same, but a connection that seems gone or inactive is read again first: it may have been connected or resumed
   * elsewhere a moment ago, and its waiting deliveries must not end because of an outdated copy.
   */
  connectionNow(siteId: string, id: string): Promise<Connection | undefined>;
};

/** Bound what wrong keys cost: they share a reading, and few of them wait for it. */
const lookUpMs = 20;
const maxLookUps = 100;

/**
 * `ownHost` is the relay's own name, from CLEANCAST_URL. A site is served there only if an operator added the host: a check
 * would succeed for every site that claims it.
 */
export function createDirectory(store: Store, ownHost: string | null = null): Directory {
  const sites = new Map<string, Site>();
  const hosts = new Map<string, Host>();
  const served = new Map<string, Site>();
  const keys = new Map<string, InboundKey>();
  const sources = new Map<string, { source: Source; until: number | null }>();
  let seen = -1;
  let refreshing: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let lookUp: Promise<void> | null = null;
  let lookUps = 0;

  function remove(site: Site): void {
    for (const host of site.hosts) {
      // Another site may own the host by now.
      if (hosts.get(host)?.siteId === site.id) hosts.delete(host);
      if (served.get(host)?.id === site.id) served.delete(host);
    }
    for (const key of site.keys) keys.delete(key.hash);
    for (const source of site.sources) for (const { value } of source.tokenHashes) sources.delete(value);
  }

  function add(row: SiteRow): void {
    const known = sites.get(row.id);
    if (known) remove(known);
    const servedHosts = row.hostRows
      .filter((one) => isServed(one) && (one.isTrusted || one.host !== ownHost))
      .map(({ host }) => host);
    const site: Site = { ...row, settings: withDefaults(row.settings, known?.settings), servedHosts };
    sites.set(site.id, site);
    for (const host of site.hostRows) hosts.set(host.host, host);
    for (const host of servedHosts) served.set(host, site);
    for (const key of site.keys) keys.set(key.hash, key);
    for (const source of site.sources) for (const { value, until } of source.tokenHashes) sources.set(value, { source, until });
  }

  async function read(): Promise<void> {
    const revision = await store.configuration.readRevision();
    if (!Number.isInteger(revision)) throw new Error("the revision of the configuration cannot be read");
    if (revision === seen) return;
    // A standby that lacked the last changes was promoted, or a backup restored: our copy may hold changes that are gone.
    const isRolledBack = revision < seen;
    // A change that commits after `revision` was read is loaded twice, never missed.
    const rows = await store.configuration.listSitesSince(isRolledBack ? -1 : seen);
    if (isRolledBack) {
      for (const site of sites.values()) remove(site);
      sites.clear();
    }
    for (const row of rows) add(row);
    for (const id of await store.deletedSites.listSince(isRolledBack ? -1 : seen)) {
      const deleted = sites.get(id);
      if (deleted) remove(deleted);
      sites.delete(id);
    }
    seen = revision;
  }

  function start(): Promise<void> {
    readAt = performance.now();
    refreshing = read().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  /** A refresh that is under way may have started before the caller's change, so the caller gets the next one. */
  function refresh(): Promise<void> {
    if (!refreshing) return start();
    next ??= refreshing
      .catch(() => {})
      .then(() => {
        next = null;
        return start();
      });
    return next;
  }

  /** Starts a reading after the call, `lookUpMs` after the last one at the earliest. */
  function refreshSoon(): Promise<void> {
    lookUp ??= sleep(Math.max(0, readAt + lookUpMs - performance.now())).then(() => {
      lookUp = null;
      return refresh();
    });
    return lookUp;
  }

  const key = (text: string) => keys.get(hashKey(text));
  const source = (token: string) => sources.get(hashKey(token));

  /** Reads the changes of other nodes, unless what is looked for is known. */
  async function findNow<T>(find: () => T | undefined): Promise<T | undefined> {
    const known = find();
    if (known) return known;
    if (lookUps >= maxLookUps) throw new Late("too many keys are being looked up");
    lookUps += 1;
    try {
      await refreshSoon();
    } finally {
      lookUps -= 1;
    }
    return find();
  }
  const connection = (siteId: string, id: string) => sites.get(siteId)?.connections.find((one) => one.id === id);

  return {
    refresh,
    follow: (on) =>
      poll({
        everyMs: on.pollMs ?? defaultPollMs,
        firstMs: on.pollMs ?? defaultPollMs,
        work: () => refresh().then(on.refreshed),
        onError: on.error,
      }),
    sites: () => sites.values(),
    site: (id) => sites.get(id),
    siteOfHost: (host) => served.get(host),
    host: (name) => hosts.get(name),
    key,
    keyNow: (text) => findNow(() => key(text)),
    source,
    sourceNow: (token) => findNow(() => source(token)),
    connection,
    async connectionNow(siteId, id) {
      const known = connection(siteId, id);
      if (known?.state === "active") return known;
      await refresh();
      return connection(siteId, id);
    },
  };
}

export function isUsable(key: InboundKey, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}
