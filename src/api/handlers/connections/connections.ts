// Serves connections: list, connect, change, pause.

import { dayMs } from "../../../kernel/time.ts";
import type { Answer, Body } from "../../../contract/contract.ts";
import type { integrationRoutes } from "../../../contract/integrations.ts";
import { urlFault } from "../../../delivery/addresses.ts";
import { verifyConnection, readVerificationState, whyRefused, whySendsNothing } from "../../../delivery/verify.ts";
import { Denied } from "../../../kernel/refusal.ts";
import {
  changeConnection,
  connectPlatform,
  disconnect,
  findConnection,
  knownPlatform,
  pause,
  resume,
  rotateSigningSecret,
} from "../../../sites/connect.ts";
import { describeConnection } from "../../../sites/connectionSettings.ts";
import type { Connection } from "../../../sites/directory.ts";
import { reloadSite, type Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";
import { backfillHandlers } from "./backfills.ts";
import { countWaiting } from "../siteHealth.ts";
import { connectionTestHandlers, readChanges, readCallerTokens } from "./connectionTests.ts";

type Names = Extract<keyof typeof integrationRoutes, `${string} /sites/:site/connections${string}`>;
type Verify = Body<"POST /sites/:site/connections">["verify"];
type Described = Answer<"GET /sites/:site/connections">["items"][number];

async function describe({ store, now }: Pick<ApiContext, "store" | "now">, connection: Connection): Promise<Described> {
  const { siteId, id } = connection;
  const [waiting, attempts, lastSentAt] = await Promise.all([
    countWaiting(store, siteId, id),
    store.alerts.countAttempts(siteId, id, now() - dayMs),
    store.health.lastSentAt(siteId, id),
  ]);
  const { sent = 0, ...rest } = attempts;
  const others = Object.values(rest).reduce((sum, count) => sum + count, 0);
  return {
    ...describeConnection(connection),
    waiting,
    attempts24h: { sent, others },
    lastSentAt,
    verification: await readVerificationState(store, connection, lastSentAt),
    sendsNothing: whySendsNothing(connection, now()),
  };
}

export function connectionHandlers(context: ApiContext): Handlers<Names> {
  const { store, directory, allowPrivate } = context;
  const checkAddress = (url: string) => urlFault(allowPrivate, url);
  const checkChange = async (existing: Connection, changed: Connection) => {
    const refused = await whyRefused(context, existing, changed);
    if (refused !== null) throw new Denied("conflict", refused);
  };
  const checksOf = ({ verify }: { verify: Verify }) => ({
    checkAddress,
    checkChange: verify === true ? checkChange : undefined,
  });

  return {
    ...connectionTestHandlers(context),
    ...backfillHandlers(context),

    async "GET /sites/:site/connections"({ site }) {
      return { items: await Promise.all(site.connections.map((one) => describe(context, one))) };
    },

    async "POST /sites/:site/connections"({ site, body, actor, by }) {
      const { id: platform } = knownPlatform(body.platform);
      const tokens = await readCallerTokens(context, actor, site, platform, body.signIn);
      const wanted = readChanges(body, tokens);
      const current = await reloadSite(directory, site);
      const result = await connectPlatform(context, current, platform, wanted, { ...by, ...checksOf(body) });
      if (body.signIn !== undefined) await store.platformSignIns.end(site.id, body.signIn);
      if (body.verify !== "never") await verifyConnection(context, result.connection);
      return { ...result, connection: await describe(context, result.connection) };
    },

    async "PATCH /sites/:site/connections/:connection"({ site, params, body, actor, by }) {
      const current = await reloadSite(directory, site);
      const existing = findConnection([current], params.connection);
      const tokens = await readCallerTokens(context, actor, site, existing.platform, body.signIn);
      const wanted = readChanges(body, tokens);
      const changed = await changeConnection(context, current, existing, wanted, {
        ...by,
        ...checksOf(body),
      });
      if (body.signIn !== undefined) await store.platformSignIns.end(site.id, body.signIn);
      if (body.verify !== "never") await verifyConnection(context, changed.connection);
      const { released, newSecret } = changed;
      return { connection: await describe(context, changed.connection), released, newSecret };
    },

    async "DELETE /sites/:site/connections/:connection"({ site, params, by }) {
      await disconnect(context, findConnection([await reloadSite(directory, site)], params.connection), by);
      return {};
    },

    async "POST /sites/:site/connections/:connection/rotate"({ site, params, by }) {
      const connection = findConnection([await reloadSite(directory, site)], params.connection);
      return rotateSigningSecret(context, connection, by);
    },

    async "POST /sites/:site/connections/:connection/pause"({ site, params, by }) {
      await pause(context, findConnection([await reloadSite(directory, site)], params.connection), by);
      return {};
    },

    async "POST /sites/:site/connections/:connection/resume"({ site, params, by }) {
      const connection = findConnection([await reloadSite(directory, site)], params.connection);
      return { released: await resume(context, connection, by) };
    },
  };
}
