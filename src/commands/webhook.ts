import { createSender } from "../delivery/send.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  removeWebhook,
  repairWebhook,
  replayPeriods,
  rotateSecret,
  sendTest,
} from "../outbound/manage.ts";
import { pushAttemptMs } from "../outbound/push.ts";
import { Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { findSite } from "../sites/manage.ts";
import type { PushLine } from "../store/outbound/pushes.ts";
import type { Webhook } from "../store/outbound/webhooks.ts";
import { readNumber, table, timeText, type CliCommand } from "./context.ts";
import { confirm } from "./terminal/confirm.ts";

export function webhookCommands(program: CliCommand): void {
  const webhook = program
    .command("webhook")
    .description("outbound webhooks: totals of conversions and removed bot traffic, every 15 minutes");

  webhook
    .command("add <site> <url>")
    .description("push a site's totals to a URL; the secret is shown once")
    .option("--no-empty", "skip empty periods")
    .run(async (context, siteText: string, url: string, options: { empty: boolean }) => {
      const site = findSite(context, siteText);
      const by = { ...context.by, allow: context.config.allowPrivate };
      const added = await addWebhook(context, site, { url, sendEmpty: options.empty }, by);
      context.print(
        { ...toJson(added.webhook), secret: added.secret },
        `${added.secret}\n\nWebhook ${added.webhook.id} to ${added.webhook.origin}. The secret is shown only once. ` +
          `Every push carries it as a bearer token and is signed with it: docs/reference/outbound-webhook.md.`,
      );
    });

  webhook
    .command("list [site]")
    .description("list the webhooks of a site, or of all sites")
    .run(async ({ store, directory, print }, siteText: string | undefined) => {
      const site = siteText === undefined ? null : findSite({ directory }, siteText);
      const found = await store.webhooks.list(site?.id);
      const webhooks = await Promise.all(
        found.map(async (one) => {
          const waiting = await store.pushes.sumQueued({ siteId: one.siteId, webhookId: one.id });
          return { ...toJson(one), waiting: waiting.periods };
        }),
      );
      const rows = webhooks.map((one) => [
        one.id,
        one.site,
        one.url,
        stateText(one),
        one.empty ? "sent" : "skipped",
        String(one.waiting),
        timeText(one.createdAt),
      ]);
      const head = ["ID", "SITE", "URL", "STATE", "EMPTY PERIODS", "WAITING", "CREATED (UTC)"];
      print({ webhooks }, table(head, rows, "No webhooks yet. Create one: cleancast webhook add SITE https://…"));
    });

  webhook
    .command("show <id>")
    .description("show a webhook, its waiting periods and its push log, newest first")
    .option("--limit <n>", "maximum number of log lines", "20")
    .run(async (context, id: string, options: { limit: string }) => {
      const found = await findWebhook(context, id);
      const limit = readNumber("limit", options.limit, 1000);
      const key = { siteId: found.siteId, webhookId: id };
      const waiting = await context.store.pushes.sumQueued(key);
      const log = await context.store.pushes.listLog(key, limit);
      const one = toJson(found);
      const text = [
        `Webhook ${id} to ${one.url}: ${stateText(one)}`,
        `Waiting: ${countOf(waiting.periods, "period")} with ${countOf(waiting.conversions, "conversion")} and ${waiting.removed} removed`,
        ...(found.attempts ? [`Next attempt: ${timeText(found.dueAt)} UTC`] : []),
        ...(found.rotatingUntil && found.rotatingUntil > context.by.now
          ? [`The old secret is valid until ${timeText(found.rotatingUntil)} UTC.`]
          : []),
        "",
        table(["SENT (UTC)", "PERIOD (UTC)", "RESULT", "DURATION", "RESPONSE"], log.map(lineText), "No pushes yet."),
      ];
      context.print({ webhook: one, waiting, log }, text.join("\n"));
    });

  webhook
    .command("test <id>")
    .description("push the totals of the current period, marked as a test, and show the response")
    .run(async (context, id: string) => {
      const { connectMs, allowPrivate } = context.config;
      const sender = createSender({ connectMs, attemptMs: pushAttemptMs, allow: allowPrivate, origins: {} });
      try {
        const time = { now: Date.now, elapsed: () => performance.now() };
        const { reading } = await sendTest({ ...context, sender }, await findWebhook(context, id), time);
        const { ok, httpStatus, error, response } = reading;
        const text = ok ? `Test accepted: HTTP ${httpStatus}` : `Test failed: ${error}`;
        context.print({ ok, httpStatus, error, response }, response ? `${text}\n${response}` : text);
        if (!ok) process.exitCode = 1;
      } finally {
        await sender.close();
      }
    });

  webhook
    .command("rotate <id>")
    .description("create a new secret; the old one stays valid for 24 hours")
    .run(async (context, id: string) => {
      const { secret, oldUntil } = await rotateSecret(context, await findWebhook(context, id), context.by);
      context.print(
        { id, secret, oldUntil },
        `${secret}\n\nThe new secret of webhook ${id} is used from now on. The old one is valid until ${timeText(oldUntil)} UTC: ` +
          `until then pushes are signed with both, and a push that gets 401 or 403 is repeated with the old bearer token.`,
      );
    });

  webhook
    .command("disable <id>")
    .description("stop pushing; periods are kept")
    .run(async (context, id: string) => {
      await disableWebhook(context, await findWebhook(context, id), context.by);
      context.print({ id, state: "disabled" }, `Webhook ${id} is disabled; its periods are kept until it is enabled.`);
    });

  webhook
    .command("enable <id>")
    .description("push again, oldest period first")
    .run(async (context, id: string) => {
      const waiting = await enableWebhook(context, await findWebhook(context, id), context.by);
      context.print(
        { id, state: "active", waiting },
        `Webhook ${id} is active; ${countOf(waiting, "period is", "periods are")} pushed now, the oldest first.`,
      );
    });

  webhook
    .command("repair <id> <url>")
    .description("give a webhook that cannot be read its address again, with a new secret; its periods are kept")
    .run(async (context, id: string, url: string) => {
      const by = { ...context.by, allow: context.config.allowPrivate };
      const { secret, waiting } = await repairWebhook(context, await findWebhook(context, id), url, by);
      context.print(
        { id, secret, waiting },
        `${secret}\n\nWebhook ${id} is active, with this new secret, which is shown only once. ` +
          `${countOf(waiting, "period is", "periods are")} pushed now, the oldest first.`,
      );
    });

  webhook
    .command("replay <id>")
    .description("push closed periods again, with the same webhook ids")
    .option("--period <time>", "the period that contains this time (2026-11-15T12:00Z)")
    .option("--from <time>", "all periods that overlap the time from here …")
    .option("--to <time>", "… to here (exclusive)")
    .run(async (context, id: string, options: { period?: string; from?: string; to?: string }) => {
      const periods = await replayPeriods(context, await findWebhook(context, id), readTimeRange(options), context.by);
      context.print({ id, periods }, `${countOf(periods, "period is", "periods are")} pushed again.`);
    });

  webhook
    .command("remove <id>")
    .description("delete a webhook, its queue and its log")
    .option("--yes", "do it without asking")
    .run(async (context, id: string, { yes }: { yes?: boolean }) => {
      const found = await findWebhook(context, id);
      const { periods } = await context.store.pushes.sumQueued({ siteId: found.siteId, webhookId: id });
      const lost = `${countOf(periods, "waiting period is", "waiting periods are")} never pushed.`;
      await confirm({ what: `This deletes webhook ${id} to ${found.origin} and its log. ${lost}`, yes });
      await removeWebhook(context, found, context.by);
      context.print({ id, removed: true }, `Webhook ${id} is deleted.`);
    });
}

function toJson(webhook: Webhook) {
  const { id, siteId, origin, sendEmpty, dueAt: _due, ...rest } = webhook;
  return { id, site: siteId, url: originText(origin), empty: sendEmpty, ...rest };
}

/** The path of the URL may hold a token. */
const originText = (origin: string | null) => (origin === null ? "(cannot be read)" : `${origin}/…`);

function stateText({ state, stateReason, attempts }: ReturnType<typeof toJson>): string {
  if (state === "disabled") return `disabled (${stateReason})`;
  return attempts ? `active, failing (${attempts} in a row)` : "active";
}

function lineText({ startedAt, period, ok, error, durationMs, httpStatus, response }: PushLine): string[] {
  const about = period ? `${timeText(period.startsAt)} – ${timeText(period.endsAt).slice(11)}` : "test";
  const result = ok ? `accepted (HTTP ${httpStatus})` : (error ?? "");
  return [timeText(startedAt), about, result, `${durationMs} ms`, response ?? "–"];
}

function readTimeRange({ period, from, to }: { period?: string; from?: string; to?: string }) {
  if (period !== undefined) {
    if (from !== undefined || to !== undefined) throw new Refusal("period", "Give either --period, or --from and --to.");
    const at = readMoment("period", period);
    return { from: at, to: at + 1 };
  }
  if (from === undefined || to === undefined)
    throw new Refusal("period", "Select periods with --period TIME, or --from TIME --to TIME.");
  const time = { from: readMoment("from", from), to: readMoment("to", to) };
  if (time.from >= time.to) throw new Refusal("to", "--to must be later than --from.");
  return time;
}

/** Also reads a whole period as in X-CC-Period, and returns its start. */
function readMoment(name: string, text: string): number {
  const start = text.split("/", 1)[0] ?? "";
  const at = /^\d{4}-\d{2}-\d{2}/.test(start) ? Date.parse(start) : Number.NaN;
  if (Number.isNaN(at)) throw new Refusal(name, `--${name} must be a time like 2026-11-15T12:00Z.`);
  return at;
}
