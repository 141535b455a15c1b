// A check of connections whose rows change slowly. The monitor checks each minute; a slow check reads rows less often, and in
// between remembers what it found about each site.

import type { AlertKind } from "../kernel/event.ts";
import type { Connection, Site } from "../sites/directory.ts";
import type { Alert, Finding } from "../store/statistics/alerts.ts";

type SlowCheckOptions<Facts> = {
  kind: AlertKind;
  /** The time between two reads. */
  everyMs: number;
  concerns: (connection: Connection) => boolean;
  find: (facts: Facts, question: Question) => Promise<Finding[]>;
};

type Question = {
  site: Site;
  connections: readonly Connection[];
  /** True for a connection with an open alert. */
  isOpen: (connection: Connection) => boolean;
  now: number;
};

export type SlowCheck<Facts> = {
  /** True where a site has to be checked: a read is due, or the last one found something. */
  mayFind(site: Site, now: number): boolean;
  check(facts: Facts, site: Site, open: readonly Alert[], now: number): Promise<Finding[]>;
};

export function createSlowCheck<Facts>({ kind, everyMs, concerns, find }: SlowCheckOptions<Facts>): SlowCheck<Facts> {
  const found = new Map<string, { at: number; findings: Finding[] }>();

  /** Null where a read is due. A clock that was set back makes one due. */
  function recall(siteId: string, now: number): Finding[] | null {
    const last = found.get(siteId);
    return last && last.at <= now && now - last.at < everyMs ? last.findings : null;
  }

  return {
    mayFind: (site, now) => site.connections.some(concerns) && recall(site.id, now)?.length !== 0,
    async check(facts, site, open, now) {
      const connections = site.connections.filter(concerns);
      if (connections.length === 0) return [];
      const recent = recall(site.id, now);
      // Others were removed or paused since then.
      if (recent) return recent.filter(({ subject }) => connections.some(({ id }) => id === subject));
      const isOpen = ({ id }: Connection) => open.some((alert) => alert.kind === kind && alert.subject === id);
      const findings = await find(facts, { site, connections, isOpen, now });
      found.set(site.id, { at: now, findings });
      return findings;
    },
  };
}
