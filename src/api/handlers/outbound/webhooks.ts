// Serves the webhooks that receive the totals: list, add, test, replay.

import { countTest, testLimits } from "../../../access/rateCounters.ts";
import type { Answer } from "../../../contract/contract.ts";
import type { webhookRoutes } from "../../../contract/webhooks/webhooks.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  removeWebhook,
  replayPeriods,
  rotateSecret,
  sendTest,
} from "../../../outbound/manage.ts";
import { lastPeriodEnd } from "../../../outbound/periods.ts";
import { say } from "../../../kernel/messages/message.ts";
import { Refusal } from "../../../kernel/refusal.ts";
import type { PushLine } from "../../../store/outbound/pushes.ts";
import type { Webhook } from "../../../store/outbound/webhooks.ts";
import type { Handlers } from "../../call.ts";
import { listOf, setFileName, pageOf, readCursor, toCsvById } from "../../lists.ts";
import type { ApiContext } from "../../context.ts";

type Described = Answer<"GET /sites/:site/webhooks">["items"][number];

export function webhookHandlers(context: ApiContext): Handlers<keyof typeof webhookRoutes> {
  const { store, pushSender, allowPrivate, pushMs, now } = context;
  const periodEnd = () => lastPeriodEnd(now(), pushMs) + pushMs;

  async function describe(webhook: Webhook): Promise<Described> {
    const { siteId, id, origin, sendEmpty, state, stateReason } = webhook;
    const { failingSince, attempts, createdAt, rotatingUntil } = webhook;
    const [waiting, lastPushAt] = await Promise.all([
      store.pushes.sumQueued({ siteId, webhookId: id }),
      store.health.lastPushAt(siteId, id),
    ]);
    return {
      id,
      url: origin === null ? "(cannot be read)" : `${origin}/…`,
      sendEmpty,
      state,
      stateReason,
      failingSince,
      attempts,
      createdAt,
      waiting: waiting.periods,
      waitingTotals: { conversions: waiting.conversions, removed: waiting.removed },
      oldSecretUntil: rotatingUntil !== null && rotatingUntil > now() ? rotatingUntil : null,
      nextPushAt: nextPush(webhook, waiting.periods),
      lastPushAt,
    };
  }

  /** The waiting periods are pushed when due; without any, the current period is next. */
  function nextPush({ state, dueAt }: Webhook, waiting: number): number | null {
    if (state === "disabled") return null;
    return waiting > 0 ? Math.max(dueAt, now()) : periodEnd();
  }

  return {
    async "GET /sites/:site/webhooks"({ site }) {
      const [webhooks, open] = await Promise.all([store.webhooks.list(site.id), store.periods.readOpen(site.id)]);
      return {
        items: await Promise.all(webhooks.map(describe)),
        // Without a webhook no period is counted.
        period: {
          startsAt: webhooks.length > 0 ? (open?.startsAt ?? null) : null,
          endsAt: periodEnd(),
          seconds: pushMs / 1000,
        },
      };
    },

    async "POST /sites/:site/webhooks"({ site, body, by }) {
      const { webhook, secret } = await addWebhook(context, site, body, { ...by, allow: allowPrivate });
      return { webhook: await describe(webhook), secret };
    },

    async "GET /sites/:site/webhooks/:webhook/pushes"({ site, params, query: { cursor, limit } }) {
      const { siteId, id } = await findWebhook(context, params.webhook, site.id);
      const lines = await store.pushes.listLog({ siteId, webhookId: id }, limit + 1, readCursor(cursor)?.id);
      const { items, next } = pageOf(lines, limit);
      return {
        items: items.map(({ period, ...line }) => {
          if (!period) return { ...line, period };
          const { number: _number, ...shown } = period;
          return { ...line, period: shown };
        }),
        next,
      };
    },

    async "GET /sites/:site/webhooks/:webhook/pushes.csv"({ site, params, reply }) {
      const { siteId, id: webhookId } = await findWebhook(context, params.webhook, site.id);
      setFileName(reply, "pushes", site.hosts[0], now());
      return toCsvById<PushLine>(
        [
          { title: "started", at: ({ startedAt }) => startedAt },
          { title: "duration (ms)", cell: ({ durationMs }) => durationMs },
          { title: "result", cell: ({ ok }) => (ok ? "delivered" : "failed") },
          { title: "HTTP status", cell: ({ httpStatus }) => httpStatus },
          { title: "error", cell: ({ error }) => error },
          { title: "period from", at: ({ period }) => period?.startsAt ?? null },
          { title: "period to", at: ({ period }) => period?.endsAt ?? null },
          { title: "conversions", cell: ({ period }) => period?.conversions ?? null },
          { title: "removed", cell: ({ period }) => period?.removed ?? null },
          { title: "id", cell: ({ id }) => id },
        ],
        listOf(site),
        (limit, before) => store.pushes.listLog({ siteId, webhookId }, limit, before),
      );
    },

    async "POST /sites/:site/webhooks/:webhook/test"({ site, params, actor }) {
      const webhook = await findWebhook(context, params.webhook, site.id);
      await countTest(store, actor, testLimits("webhook", site.id), now());
      const time = { now, elapsed: () => performance.now() };
      const { reading, calls, body } = await sendTest({ store, sender: pushSender }, webhook, time);
      const { ok, httpStatus, error, response } = reading;
      const durationMs = calls.reduce((sum, call) => sum + call.durationMs, 0);
      return { ok, httpStatus, error, response, durationMs, body };
    },

    async "POST /sites/:site/webhooks/:webhook/rotate"({ site, params, by }) {
      return rotateSecret(context, await findWebhook(context, params.webhook, site.id), by);
    },

    async "POST /sites/:site/webhooks/:webhook/disable"({ site, params, by }) {
      await disableWebhook(context, await findWebhook(context, params.webhook, site.id), by);
      return {};
    },

    async "POST /sites/:site/webhooks/:webhook/enable"({ site, params, by }) {
      return {
        waiting: await enableWebhook(context, await findWebhook(context, params.webhook, site.id), by),
      };
    },

    async "POST /sites/:site/webhooks/:webhook/replay"({ site, params, body, by }) {
      const webhook = await findWebhook(context, params.webhook, site.id);
      if (body.from >= body.to) throw new Refusal("to", say("end_before_start"));
      const periods = await replayPeriods(context, webhook, body, by);
      return { periods, isDisabled: webhook.state === "disabled" };
    },

    async "DELETE /sites/:site/webhooks/:webhook"({ site, params, by }) {
      await removeWebhook(context, await findWebhook(context, params.webhook, site.id), by);
      return {};
    },
  };
}
