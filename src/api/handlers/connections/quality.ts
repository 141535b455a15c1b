// Serves the match quality and the performance of a site's connections.

import type { qualityRoutes } from "../../../contract/quality.ts";
import type { performanceRoutes } from "../../../contract/statistics.ts";
import { describeImprovement, qualityPeriodDays, readQuality } from "../../../delivery/quality/read.ts";
import { hourMs } from "../../../kernel/time.ts";
import { sumConfirmations } from "../../../statistics/aggregate.ts";
import { sumAttempts } from "../../../statistics/performance.ts";
import { notFound, type Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";

type Names = keyof typeof performanceRoutes | keyof typeof qualityRoutes;

const maxSnapshots = 90;
/** Bounds the rows that one request reads. */
const maxAttempts = 5000;

export function qualityHandlers({ store, directory, now }: ApiContext): Handlers<Names> {
  return {
    async "GET /sites/:site/connections/:connection/performance"({ site, params, query }) {
      const connection = directory.connection(site.id, params.connection);
      if (!connection) throw notFound("connection");
      const days = Number(query.days);
      const step = days === 1 ? "hour" : "day";
      const toHour = Math.floor(now() / hourMs) + 1;
      const fromHour = toHour - days * 24;
      const from = fromHour * hourMs;
      const { timeZone } = site.settings;
      const { attempts, isComplete } = await store.health.listAttempts(site.id, connection.id, from, maxAttempts);
      const sums = sumAttempts(attempts, { fromHour, toHour, step, timeZone });
      return { from, to: toHour * hourMs, step, timeZone, isComplete, ...sums };
    },
    async "GET /sites/:site/connections/:connection/quality"({ site, params }) {
      const connection = directory.connection(site.id, params.connection);
      if (!connection) throw notFound("connection");
      const key = { siteId: site.id, connectionId: connection.id };
      return { items: await store.snapshots.list(key, maxSnapshots) };
    },
    async "GET /sites/:site/quality"({ site }) {
      const nameOf = (keyId: string) => [...site.keys, ...site.sources].find(({ id }) => id === keyId)?.name ?? keyId;
      const found = await readQuality(store, site, now());
      const hour = Math.floor(now() / hourMs);
      const counts = await store.confirmations.listCounts(site.id, hour - 24 * qualityPeriodDays, hour + 1);
      return {
        items: found.map(({ connection, platform, improvements, ...score }) => ({
          connection: connection.id,
          platform: platform.id,
          ...score,
          confirmations: platform.confirmations
            ? sumConfirmations(
                counts.filter((one) => one.connectionId === connection.id),
                null,
              )
            : null,
          improvements: improvements.map((one) => ({
            kind: one.kind,
            key: one.key,
            inboundKey: one.keyId,
            gain: one.gain,
            text: describeImprovement(one, nameOf),
          })),
        })),
      };
    },
  };
}
