// Remembers where the tag was seen, for the check of its installation. Kept in memory, because it must cost nothing per visit:
// a node knows the visits that it received since it started. Paths may name people, so they are never written.

import { dayMs } from "../kernel/time.ts";

const maxSites = 1000;
/** More pages say nothing more about the installation. */
const maxPages = 100;

/** `pages` counts those of the last day, up to `maxPages`. */
type TagSighting = { at: number; pages: number };

export type TagSightings = {
  add(siteId: string, page: string, now: number): void;
  read(siteId: string, now: number): TagSighting | null;
};

export function createTagSightings(): TagSightings {
  /** By site: the path of each page with its newest visit, the newest last. */
  const sites = new Map<string, Map<string, number>>();
  return {
    add(siteId, page, now) {
      const pages = sites.get(siteId) ?? new Map<string, number>();
      const path = pathOf(page);
      pages.delete(path);
      dropOldest(pages, maxPages);
      pages.set(path, now);
      sites.delete(siteId);
      dropOldest(sites, maxSites);
      sites.set(siteId, pages);
    },
    read(siteId, now) {
      const times = [...(sites.get(siteId)?.values() ?? [])];
      if (times.length === 0) return null;
      return { at: Math.max(...times), pages: times.filter((at) => at > now - dayMs).length };
    },
  };
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined) map.delete(oldest);
}

const pathOf = (page: string) => page.replace(/^https?:\/\/[^/]*|[?#].*$/g, "").slice(0, 200);
