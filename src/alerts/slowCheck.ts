// A check of connections or sources whose rows change slowly. The monitor checks each minute; a slow check reads rows less often,
// and in between remembers what it found about each site.

import type { AlertKind } from "../kernel/event.ts";
import type { Site } from "../sites/directory.ts";
import type { Alert, Finding } from "../store/statistics/alerts.ts";

type SlowCheckOptions<Facts, Subject> = {
  kind: AlertKind;
  /** The time between two reads. */
  everyMs: number;
  /** The connections or sources of a site that are checked. */
  subjects: (site: Site) => readonly Subject[];
  find: (facts: Facts, question: Question<Subject>) => Promise<Finding[]>;
};

type Question<Subject> = {
  site: Site;
  subjects: readonly Subject[];
  /** The open alert about a subject. */
  openOf: (subject: Subject) => Alert | undefined;
  now: number;
};

export type SlowCheck<Facts> = {
  /** True where a site has to be checked: a read is due, or the last one found something. */
  mayFind(site: Site, now: number): boolean;
  check(facts: Facts, site: Site, open: readonly Alert[], now: number): Promise<Finding[]>;
};

export function createSlowCheck<Facts, Subject extends { id: string }>(
  options: SlowCheckOptions<Facts, Subject>,
): SlowCheck<Facts> {
  const { kind, everyMs, find } = options;
  const found = new Map<string, { at: number; findings: Finding[] }>();

  /** Null where a read is due. A clock that was set back makes one due. */
  function recall(siteId: string, now: number): Finding[] | null {
    const last = found.get(siteId);
    return last && last.at <= now && now - last.at < everyMs ? last.findings : null;
  }

  return {
    mayFind: (site, now) => options.subjects(site).length > 0 && recall(site.id, now)?.length !== 0,
    async check(facts, site, open, now) {
      const subjects = options.subjects(site);
      if (subjects.length === 0) return [];
      const recent = recall(site.id, now);
      // Others were removed or paused since then.
      if (recent) return recent.filter(({ subject }) => subjects.some(({ id }) => id === subject));
      const openOf = ({ id }: Subject) => open.find((alert) => alert.kind === kind && alert.subject === id);
      const findings = await find(facts, { site, subjects, openOf, now });
      found.set(site.id, { at: now, findings });
      return findings;
    },
  };
}
