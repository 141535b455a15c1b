// A shorter retention deletes data: within minutes, in the background, for good. What it deletes is counted before.

import type { Store } from "../store/store.ts";
import { SettingFault } from "./settingForms.ts";
import type { Site } from "./directory.ts";
import { labelOf, readSettings, type SiteSettings } from "./settings.ts";

const retentions = {
  keepEventsMs: {
    count: "eventsBefore",
    what: ["event with its deliveries", "events with their deliveries"],
  },
  keepMs: {
    count: "peopleBefore",
    what: ["record of a person or browser, or a part of it", "records of people and browsers, or parts of them"],
  },
  keepLogMs: {
    count: "answersBefore",
    what: ["request with its response in the sync log", "requests with their responses in the sync log"],
  },
} as const;

type RetentionName = keyof typeof retentions;
const names = Object.keys(retentions) as RetentionName[];

/** Returns the retention settings that a change makes shorter. */
export function listShortened(before: SiteSettings, changed: Partial<SiteSettings>): RetentionName[] {
  return names.filter((name) => (changed[name] ?? Number.POSITIVE_INFINITY) < before[name]);
}

/** `label` is the setting, as people write it. */
export type RetentionLoss = { label: string; count: number; what: string };

/** Counts what a change of settings would delete. Settings that are not valid delete nothing. */
export async function countLosses(
  { deletions }: Pick<Store, "deletions">,
  site: Site,
  changes: Record<string, string>,
  now: number,
): Promise<RetentionLoss[]> {
  const changed = readSettings(changes);
  if (changed instanceof SettingFault) return [];
  const losses: RetentionLoss[] = [];
  for (const name of listShortened(site.settings, changed)) {
    const { what, count } = retentions[name];
    const rows = await deletions[count](site.id, now - (changed[name] ?? 0));
    if (rows > 0) losses.push({ label: labelOf(name), count: rows, what: rows === 1 ? what[0] : what[1] });
  }
  return losses;
}
