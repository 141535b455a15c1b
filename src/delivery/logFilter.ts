// What a filter of the sync log names must be there: where a name is mistyped, an empty list would say that nothing was sent.

import { platformOf, platforms } from "../platforms/index.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Desk } from "../sites/manage.ts";
import type { LogFilter } from "../store/deliveries/syncLog.ts";

/** A connection that was removed is known for as long as the log of its site tells of it. */
export async function checkFilter(
  { store, directory }: Desk,
  siteIds: readonly string[],
  { connectionId, platform }: LogFilter,
): Promise<void> {
  if (platform !== undefined && !platformOf(platform)) {
    const known = platforms.map((one) => one.id).join(", ");
    throw new Refusal("platform", `There is no platform ${platform}. Known: ${known}.`);
  }
  if (connectionId === undefined) return;
  for (const siteId of siteIds) if (await directory.connectionNow(siteId, connectionId)) return;
  for (const siteId of siteIds) {
    const { lines } = await store.syncLog.listPage(siteId, { connectionId }, { before: null, limit: 1 });
    if (lines.length > 0) return;
  }
  const sentence = `There is no connection ${connectionId}${siteIds.length === 1 ? " at this site" : ""}.`;
  throw new Refusal("connection", sentence, `${sentence} 'cleancast connection list' shows their ids.`);
}
