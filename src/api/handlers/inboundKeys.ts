// Serves inbound keys and rejected requests.

import type { siteRoutes } from "../../contract/sites.ts";
import { describeKeys } from "../../sites/keyUses.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { addKey, findKey, revokeKey, rotateKey } from "../../sites/manage.ts";
import type { RejectedRequest } from "../../store/statistics/rejectedRequests.ts";
import { reloadSite, type Handlers } from "../call.ts";
import { listOf, setFileName, pageOf, readCursor, toCsvById } from "../lists.ts";
import type { ApiContext } from "../context.ts";

type Names = Extract<keyof typeof siteRoutes, `${string}/keys${string}` | `${string}/rejected-requests${string}`>;

function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt !== null && expiresAt <= now) throw new Refusal("expiresAt", say("expiry_date_past"));
}

export function keyHandlers(context: ApiContext): Handlers<Names> {
  const { store, directory, now } = context;

  return {
    async "GET /sites/:site/keys"({ site }) {
      return { items: await describeKeys(store, site, now()) };
    },

    async "POST /sites/:site/keys"({ site, body, by }) {
      checkExpiry(body.expiresAt, by.now);
      return addKey(context, await reloadSite(directory, site), body, by);
    },

    async "POST /sites/:site/keys/:key/rotate"({ site, params, body, by }) {
      const key = findKey([await reloadSite(directory, site)], params.key);
      checkExpiry(body.expiresAt, by.now);
      return rotateKey(context, key, body.expiresAt, by);
    },

    async "DELETE /sites/:site/keys/:key"({ site, params, by }) {
      await revokeKey(context, findKey([await reloadSite(directory, site)], params.key), by);
      return {};
    },

    async "GET /sites/:site/rejected-requests"({ site, query: { cursor, limit } }) {
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

    async "GET /sites/:site/rejected-requests.csv"({ site, reply }) {
      setFileName(reply, "rejected-requests", site.hosts[0], now());
      const keyName = (id: string | null) => site.keys.find((key) => key.id === id)?.name ?? null;
      return toCsvById<RejectedRequest>(
        [
          { title: "time", at: ({ at }) => at },
          { title: "status", cell: ({ status }) => status },
          { title: "why", cell: ({ error }) => error },
          { title: "key", cell: ({ keyId }) => keyName(keyId) },
          { title: "host", cell: ({ host }) => host },
          { title: "from", cell: ({ address }) => address },
          { title: "id", cell: ({ id }) => id },
        ],
        listOf(site),
        (limit, before) => store.rejectedRequests.list(site.id, { limit, ...(before === undefined ? {} : { before }) }),
      );
    },
  };
}
