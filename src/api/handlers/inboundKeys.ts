// Inbound keys, and the calls that were refused.

import type { siteRoutes } from "../../contract/sites.ts";
import { describeKeys } from "../../sites/keyUses.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { addKey, findKey, revokeKey, rotateKey } from "../../sites/manage.ts";
import type { RejectedRequest } from "../../store/statistics/rejectedRequests.ts";
import type { Handlers } from "../call.ts";
import { asFile, csvBelow, timeCell } from "../csv.ts";
import { pageOf } from "../page.ts";
import type { ApiParts } from "../context.ts";
import { readCursor } from "./search.ts";
import { siteNow } from "./siteNow.ts";

type Names = Extract<keyof typeof siteRoutes, `${string}/keys${string}` | `${string}/refused-calls${string}`>;

function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt !== null && expiresAt <= now) throw new Refusal("expiresAt", "The expiry is in the past.");
}

export function keyHandlers({ store, directory, now }: ApiParts): Handlers<Names> {
  const desk = { store, directory };

  return {
    async "GET /sites/:site/keys"({ site }) {
      return { items: await describeKeys(store, site, now()) };
    },

    async "POST /sites/:site/keys"({ site, body, by }) {
      checkExpiry(body.expiresAt, by.now);
      return addKey(desk, await siteNow(directory, site), body, by);
    },

    async "POST /sites/:site/keys/:key/rotate"({ site, params, body, by }) {
      const key = findKey([await siteNow(directory, site)], params.key);
      checkExpiry(body.expiresAt, by.now);
      return rotateKey(desk, key, body.expiresAt, by);
    },

    async "DELETE /sites/:site/keys/:key"({ site, params, by }) {
      await revokeKey(desk, findKey([await siteNow(directory, site)], params.key), by);
      return {};
    },

    async "GET /sites/:site/refused-calls"({ site, query: { cursor, limit } }) {
      const [calls, lockouts] = await Promise.all([
        store.rejectedRequests.list(site.id, {
          limit: limit + 1,
          ...(cursor === undefined ? {} : { before: readCursor(cursor)?.id as string }),
        }),
        store.keyUse.listLockouts(site.id, now()),
      ]);
      const { items, next } = pageOf(calls, limit);
      return {
        items: items.map(({ id, at, status, error, host, keyId, address }) => {
          const key = site.keys.find((one) => one.id === keyId);
          return { id, at, status, error, host, key: key ? { id: key.id, name: key.name } : null, address };
        }),
        next,
        lockouts: lockouts.map(({ host, startedAt, lockedUntil }) => ({ host, startedAt, lockedUntil })),
      };
    },

    async "GET /sites/:site/refused-calls.csv"({ site, reply }) {
      asFile(reply, "refused-calls", site.hosts[0], now());
      const keyName = (id: string | null) => site.keys.find((key) => key.id === id)?.name ?? null;
      return csvBelow<RejectedRequest>(
        [
          { title: "time (UTC)", cell: ({ at }) => timeCell(at) },
          { title: "status", cell: ({ status }) => status },
          { title: "why", cell: ({ error }) => error },
          { title: "key", cell: ({ keyId }) => keyName(keyId) },
          { title: "host", cell: ({ host }) => host },
          { title: "from", cell: ({ address }) => address },
          { title: "id", cell: ({ id }) => id },
        ],
        (limit, before) =>
          store.rejectedRequests.list(site.id, { limit, ...(before === undefined ? {} : { before }) }),
      );
    },
  };
}
