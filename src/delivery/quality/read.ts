// Reads the match quality of a site's connections from its newest conversions. The work is bounded: some hundred events, and some
// requests that are built for each and never sent.

import { threadShare } from "../../kernel/concurrency.ts";
import { say } from "../../kernel/messages/message.ts";
import { dayMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import type { Platform } from "../../platforms/platform.ts";
import { fullSample } from "../../platforms/shared/sample.ts";
import type { MatchKey } from "../../kernel/quality.ts";
import type { Connection, Site } from "../../sites/directory.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { QualitySnapshot } from "../../store/confirmations/snapshots.ts";
import type { Store } from "../../store/store.ts";
import { toConversion } from "../conversion.ts";
import { sentKeys } from "./matchKeys.ts";
import { scoreMatch, type Improvement, type MatchScore, type ScoredConversion } from "./score.ts";

type ConnectionQuality = MatchScore & {
  connection: Connection;
  platform: Platform;
  /** The newest report of the platform itself. */
  snapshot: QualitySnapshot | null;
};

const periodMs = 7 * dayMs;
const pageSize = 50;
const maxEvents = 1000;
/** Conversions of each connection. Twice as many change the shares by less than the shares change from day to day. */
const maxConversions = 200;

export const qualityPeriodDays = periodMs / dayMs;

export async function readQuality(
  store: Pick<Store, "deliveries" | "events" | "snapshots">,
  site: Site,
  now: number,
): Promise<ConnectionQuality[]> {
  const connections = site.connections.flatMap((connection) => {
    const platform = platformOf(connection.platform);
    if (!platform || connection.unreadable) return [];
    const scored: ScoredConversion[] = [];
    return [{ connection, platform, scored }];
  });
  let before: string | undefined;
  for (let read = 0; read < maxEvents; read += pageSize) {
    const filter = { mode: "live", status: "accepted", from: now - periodMs, limit: pageSize } as const;
    const events = await store.events.list(site.id, before === undefined ? filter : { ...filter, before });
    const deliveries = await store.deliveries.listByEvents(
      site.id,
      events.map(({ id }) => id),
    );
    for (const event of events) {
      const sentTo = new Set(
        (deliveries.get(event.id) ?? []).filter(({ state }) => state === "sent").map(({ connectionId }) => connectionId),
      );
      for (const one of connections) {
        if (!sentTo.has(one.connection.id) || one.scored.length >= maxConversions) continue;
        await threadShare.rest(site.id);
        one.scored.push(scoreOf(one.platform, one.connection, event));
      }
    }
    before = events.at(-1)?.id;
    if (events.length < pageSize || connections.every(({ scored }) => scored.length >= maxConversions)) break;
  }
  return Promise.all(
    connections.map(async ({ connection, platform, scored }) => {
      const key = { siteId: site.id, connectionId: connection.id };
      const [snapshot = null] = platform.quality ? await store.snapshots.list(key, 1) : [];
      await threadShare.rest(site.id);
      const score = scoreMatch(supportedKeys(platform, connection, now), scored);
      return { connection, platform, snapshot, ...score };
    }),
  );
}

function scoreOf(platform: Platform, { settings }: Connection, event: StoredEvent): ScoredConversion {
  const conversion = toConversion(event, event.platformEventId, event.attribution);
  return { event, sent: sentKeys(platform, settings, conversion, event.receivedAt) };
}

function supportedKeys(platform: Platform, { settings }: Connection, now: number): Set<MatchKey> {
  return sentKeys(platform, settings, fullSample({ time: now, receivedAt: now }), now);
}

/** One sentence that says what to change. `senderOf` names an inbound key. */
export function describeImprovement({ kind, key, keyId, gain }: Improvement, senderOf: (keyId: string) => string): string {
  const percent = Math.round(100 * gain);
  if (kind === "send" && keyId !== null)
    return say("improve_by_sending", { fields: wordsOf(key), sender: senderOf(keyId), percent, key: articleOf(key) });
  return say("improve_by_tag", { percent, key: articleOf(key) });
}

const wordsOf = (key: MatchKey) => (key === "name" ? "firstName and lastName" : key);
const articleOf = (key: MatchKey) => `${/^[aeiou]/.test(key) ? "an" : "a"} ${key}`;
