// Serves backfills: count, start, progress, cancel.

import { countTest, testLimits } from "../../../access/rateCounters.ts";
import type { Actor } from "../../../access/actor.ts";
import type { Answer } from "../../../contract/contract.ts";
import { cancelBackfill, countBackfill, startBackfill } from "../../../delivery/backfill/backfill.ts";
import { findConnection } from "../../../sites/connect.ts";
import type { BackfillRow } from "../../../store/deliveries/backfills.ts";
import { reloadSite, type Call, type Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";

type Path = "/sites/:site/connections/:connection/backfill";
type Names = `POST ${Path}/count` | `GET ${Path}` | `POST ${Path}` | `POST ${Path}/cancel`;
type Counting = Pick<Call<`POST ${Path}/count`>, "site" | "params" | "body" | "actor" | "by">;
type Described = Answer<`POST ${Path}`>["backfill"];

/** A request must be answered in time; more than these few seconds are many thousands of events. A command may take longer. */
const maxCountMs = (actor: Actor | null) => (actor?.kind === "operator" ? Infinity : 10_000);

function describe({ tally, ...row }: BackfillRow): Described {
  const { state, reason, days, perMinute, total, startedBy, startedAt, updatedAt } = row;
  const outcomes: Record<string, number> = { ...tally.outcomes };
  const { queued, leftOut } = tally;
  return {
    state,
    reason,
    days,
    perMinute,
    total,
    queued,
    outcomes,
    leftOut,
    startedBy,
    startedAt,
    updatedAt,
  };
}

export function backfillHandlers({ store, directory }: ApiContext): Handlers<Names> {
  async function count({ site, params, body, actor, by }: Counting) {
    // The dashboard counts right after connecting, which another node may have done.
    const current = await reloadSite(directory, site);
    const connection = findConnection([current], params.connection);
    // Counting reads every event of the period.
    await countTest(store, actor, testLimits("connection", site.id), by.now);
    const options = { days: body.days, now: by.now, maxMs: maxCountMs(actor) };
    return { connection, counted: await countBackfill(store, current, connection, options) };
  }

  return {
    "POST /sites/:site/connections/:connection/backfill/count": async (call) => (await count(call)).counted,

    async "GET /sites/:site/connections/:connection/backfill"({ site, params }) {
      const { id } = findConnection([site], params.connection);
      const row = await store.backfills.find(site.id, id);
      return { backfill: row && describe(row) };
    },

    async "POST /sites/:site/connections/:connection/backfill"(call) {
      const { connection, counted } = await count(call);
      const total = counted.isComplete ? counted.sendable : null;
      return { backfill: describe(await startBackfill(store, connection, { ...call.body, total }, call.by)) };
    },

    async "POST /sites/:site/connections/:connection/backfill/cancel"({ site, params, by }) {
      const connection = findConnection([await reloadSite(directory, site)], params.connection);
      return { backfill: describe(await cancelBackfill(store, connection, by)) };
    },
  };
}
