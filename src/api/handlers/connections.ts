// Connections: what people change about them, and how they do.

import { dayMs } from "../../kernel/time.ts";
import type { Answer } from "../../contract/contract.ts";
import type { integrationRoutes } from "../../contract/integrations.ts";
import { urlFault } from "../../delivery/addresses.ts";
import {
  changeConnection,
  connectPlatform,
  disconnect,
  findConnection,
  knownPlatform,
  pause,
  resume,
} from "../../sites/connect.ts";
import { describeConnection } from "../../sites/connectionSettings.ts";
import type { Connection } from "../../sites/directory.ts";
import type { Handlers } from "../call.ts";
import type { ApiParts } from "../context.ts";
import { tokensFor, wantedOf } from "./signInTokens.ts";
import { waitingFor } from "./siteHealth.ts";
import { siteNow } from "./siteNow.ts";
import { tryOutHandlers } from "./connectionTests.ts";

type Names = Extract<keyof typeof integrationRoutes, `${string} /sites/:site/connections${string}`>;
type Described = Answer<"GET /sites/:site/connections">["items"][number];

async function describe({ store, now }: ApiParts, connection: Connection): Promise<Described> {
  const { siteId, id } = connection;
  const [waiting, attempts, lastSentAt] = await Promise.all([
    waitingFor(store, siteId, id),
    store.alerts.countAttempts(siteId, id, now() - dayMs),
    store.health.lastSentAt(siteId, id),
  ]);
  const { sent = 0, ...others } = attempts;
  const failed = Object.values(others).reduce((sum, count) => sum + count, 0);
  return {
    ...describeConnection(connection),
    waiting,
    attempts24h: { sent, others: failed },
    lastSentAt,
  };
}

export function connectionHandlers(parts: ApiParts): Handlers<Names> {
  const { store, directory, allowPrivate } = parts;
  const desk = { store, directory };
  const checkAddress = (url: string) => urlFault(allowPrivate, url);

  return {
    ...tryOutHandlers(parts),

    async "GET /sites/:site/connections"({ site }) {
      return { items: await Promise.all(site.connections.map((one) => describe(parts, one))) };
    },

    async "POST /sites/:site/connections"({ site, body, actor, by }) {
      const { id: platform } = knownPlatform(body.platform);
      const tokens = await tokensFor(parts, actor, site, platform, body.signIn);
      const wanted = wantedOf(body, tokens);
      const current = await siteNow(directory, site);
      const made = await connectPlatform(desk, current, platform, wanted, { ...by, checkAddress });
      if (body.signIn !== undefined) await store.platformSignIns.end(site.id, body.signIn);
      return { ...made, connection: await describe(parts, made.connection) };
    },

    async "PATCH /sites/:site/connections/:connection"({ site, params, body, actor, by }) {
      const current = await siteNow(directory, site);
      const existing = findConnection([current], params.connection);
      const tokens = await tokensFor(parts, actor, site, existing.platform, body.signIn);
      const wanted = wantedOf(body, tokens);
      const changed = await changeConnection(desk, current, existing, wanted, { ...by, checkAddress });
      if (body.signIn !== undefined) await store.platformSignIns.end(site.id, body.signIn);
      return { connection: await describe(parts, changed.connection), released: changed.released };
    },

    async "DELETE /sites/:site/connections/:connection"({ site, params, by }) {
      await disconnect(desk, findConnection([await siteNow(directory, site)], params.connection), by);
      return {};
    },

    async "POST /sites/:site/connections/:connection/pause"({ site, params, by }) {
      await pause(desk, findConnection([await siteNow(directory, site)], params.connection), by);
      return {};
    },

    async "POST /sites/:site/connections/:connection/resume"({ site, params, by }) {
      const connection = findConnection([await siteNow(directory, site)], params.connection);
      return { released: await resume(desk, connection, by) };
    },
  };
}
