// Serves the corrections of refunded conversions.

import type { correctionRoutes } from "../../contract/corrections.ts";
import { correctOrder } from "../../delivery/corrections/correctOrder.ts";
import { toCorrection } from "../../delivery/corrections/describe.ts";
import { lastId } from "../../kernel/ids.ts";
import type { NewCorrection } from "../../store/corrections/corrections.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { checkTimes, readCursor } from "../lists.ts";

export function correctionHandlers({ store, directory }: ApiContext): Handlers<keyof typeof correctionRoutes> {
  const toLine = (row: NewCorrection) => ({
    ...toCorrection(row),
    event: row.eventId,
    connection: row.connectionId,
    platform: directory.connection(row.siteId, row.connectionId)?.platform ?? "",
  });

  return {
    async "GET /sites/:site/corrections"({ site, query }) {
      const { event, from, to } = query;
      checkTimes(from, to);
      const cursor = readCursor(query.cursor);
      const before = { eventId: cursor?.id ?? lastId, connectionId: cursor?.connectionId ?? "" };
      const rows = await store.corrections.list(site.id, before, query.limit + 1, { name: event, from, to });
      const items = rows.slice(0, query.limit).map(toLine);
      const last = items.at(-1);
      return { items, next: rows.length > query.limit && last ? `${last.event}/${last.connection}` : null };
    },
    async "POST /sites/:site/corrections"({ site, body, by }) {
      const found = await correctOrder({ store }, site, body, by);
      return { items: found.map(toLine) };
    },
  };
}
