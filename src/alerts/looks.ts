// Remembers what the last look at a site found, for checks whose rows change slowly: a monitor checks each minute.

import type { Finding } from "../store/statistics/alerts.ts";

/** By site. */
export type LookMemory = Map<string, { at: number; findings: Finding[] }>;

/** Null where a new look is due. A clock that was set back makes one due. */
function lastFindings(memory: LookMemory, siteId: string, everyMs: number, now: number): Finding[] | null {
  const known = memory.get(siteId);
  return known && known.at <= now && now - known.at < everyMs ? known.findings : null;
}

/**
 * Returns what was found about `connections` within `everyMs`; null where a new look is due. Others were removed or paused since
 * then.
 */
export function recentFindings(
  memory: LookMemory,
  siteId: string,
  connections: readonly { id: string }[],
  everyMs: number,
  now: number,
): Finding[] | null {
  const ids = new Set(connections.map(({ id }) => id));
  return lastFindings(memory, siteId, everyMs, now)?.filter(({ subject }) => ids.has(subject)) ?? null;
}

/** True where a site has to be checked: a look is due, or the last one found something. */
export function mayFind(memory: LookMemory, siteId: string, everyMs: number, now: number): boolean {
  const found = lastFindings(memory, siteId, everyMs, now);
  return found === null || found.length > 0;
}
