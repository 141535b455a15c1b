// Remembers what the last look at a site found, for checks whose rows change slowly: a monitor checks each minute.

import type { Finding } from "../store/statistics/alerts.ts";

/** By site. */
export type LookMemory = Map<string, { at: number; findings: Finding[] }>;

/** Returns what was found within `everyMs`; null where a new look is due. A clock that was set back makes one due. */
export function recentFindings(
  memory: LookMemory,
  siteId: string,
  everyMs: number,
  now: number,
): Finding[] | null {
  const known = memory.get(siteId);
  return known && known.at <= now && now - known.at < everyMs ? known.findings : null;
}

/** True where a site has to be checked: a look is due, or the last one found something. */
export function mayFind(memory: LookMemory, siteId: string, everyMs: number, now: number): boolean {
  const found = recentFindings(memory, siteId, everyMs, now);
  return found === null || found.length > 0;
}
