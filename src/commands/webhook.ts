import type { Command } from "commander";
import { openSender } from "../delivery/send.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  removeWebhook,
  replayPeriods,
  rotateSecret,
  sendTest,
} from "../outbound/manage.ts";
import { pushAttemptMs } from "../outbound/push.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import type { PushLine } from "../store/outbound/pushes.ts";
import type { Webhook } from "../store/outbound/webhooks.ts";
import { atDesk, print, table, timeText } from "./context.ts";

export function webhookCommands(program: Command): void {
  const webhook = program
    .command("webhook")
    .description("where the totals go every 15 minutes: conversions, and bot traffic removed");

  webhook
    .command("add <site> <url>")
    .description("send a site's totals to an address; its secret is shown once")
    .option("--no-empty", "leave out periods in which nothing happened")
    .action((siteText: string, url: string, options: { empty: boolean }, command: Command) =>
      atDesk(async (desk) => {
        const site = findSite(desk, siteText);
        const by = { ...desk.by, allow: desk.config.allowPrivate };
        const made = await addWebhook(desk, site, { url, sendEmpty: options.empty }, by);
        print(
          command,
          { ...described(made.webhook), secret: made.secret },
          `${made.secret}\n\nWebhook ${made.webhook.id} to ${made.webhook.origin}. The secret is shown only this once. ` +
            `Every push carries it as a bearer and is signed with it: docs/webhooks.md.`,
        );
      }),
    );

  webhook
    .command("list [site]")
    .description("the webhooks of a site, or of all")
    .action((siteText: string | undefined, _options: unknown, command: Command) =>
      atDesk(async ({ store, directory }) => {
        const site = siteText === undefined ? null : findSite({ directory }, siteText);
        const found = await store.webhooks.list(site?.id);
        const webhooks = await Promise.all(
          found.map(async (one) => {
            const waiting = await store.pushes.sumQueued({ siteId: one.siteId, webhookId: one.id });
            return { ...described(one), waiting: waiting.periods };
          }),
        );
        const rows = webhooks.map((one) => [
          one.id,
          one.site,
          one.url,
          stateText(one),
          one.empty ? "sent" : "left out",
          String(one.waiting),
          timeText(one.createdAt),
        ]);
        const head = ["ID", "SITE", "URL", "STATE", "EMPTY PERIODS", "WAITING", "CREATED"];
        print(
          command,
          { webhooks },
          table(head, rows, "No webhook yet. Make one: cleancast webhook add SITE https://…"),
        );
      }),
    );

  webhook
    .command("show <id>")
    .description("one webhook, what waits for it, and the log of its pushes, newest first")
    .option("--limit <n>", "how many lines", "20")
    .action((id: string, options: { limit: string }, command: Command) =>
      atDesk(async (desk) => {
        const found = await findWebhook(desk, id);
        const limit = Number(options.limit);
        if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
          throw new Refusal("limit", "--limit must be 1 to 1000.");
        const key = { siteId: found.siteId, webhookId: id };
        const waiting = await desk.store.pushes.sumQueued(key);
        const log = await desk.store.pushes.listLog(key, limit);
        const one = described(found);
        const text = [
          `Webhook ${id} to ${one.url}: ${stateText(one)}`,
          `Waiting: ${waiting.periods} periods with ${waiting.conversions} conversions and ${waiting.removed} removed`,
          ...(found.attempts ? [`Next try: ${timeText(found.dueAt)} UTC`] : []),
          ...(found.rotatingUntil && found.rotatingUntil > desk.by.now
            ? [`The old secret is good until ${timeText(found.rotatingUntil)} UTC.`]
            : []),
          "",
          table(
            ["SENT (UTC)", "PERIOD (UTC)", "RESULT", "TOOK", "ANSWER"],
            log.map(lineText),
            "Nothing was pushed yet.",
          ),
        ];
        print(command, { webhook: one, waiting, log }, text.join("\n"));
      }),
    );

  webhook
    .command("test <id>")
    .description("push the numbers of the open period, marked as a test, and show the answer")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const { connectMs, allowPrivate } = desk.config;
        const sender = openSender({ connectMs, attemptMs: pushAttemptMs, allow: allowPrivate, origins: {} });
        try {
          const time = { now: Date.now, elapsed: () => performance.now() };
          const { answer } = await sendTest({ ...desk, sender }, await findWebhook(desk, id), time);
          const { ok, httpStatus, error, response } = answer;
          const text = ok ? `Taken: HTTP ${httpStatus}` : `Not taken: ${error}`;
          print(command, { ok, httpStatus, error, response }, response ? `${text}\n${response}` : text);
          if (!ok) process.exitCode = 1;
        } finally {
          await sender.close();
        }
      }),
    );

  webhook
    .command("rotate <id>")
    .description("a new secret in place of this one, which is good for 24 hours more")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const { secret, oldUntil } = await rotateSecret(desk, await findWebhook(desk, id), desk.by);
        print(
          command,
          { id, secret, oldUntil },
          `${secret}\n\nThe new secret of webhook ${id} is used from now on. The old one is good until ${timeText(oldUntil)} UTC: ` +
            `until then pushes are signed with both, and one that is refused with 401 or 403 is sent again with the old bearer.`,
        );
      }),
    );

  webhook
    .command("disable <id>")
    .description("stop pushing; the periods wait")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        await disableWebhook(desk, await findWebhook(desk, id), desk.by);
        print(
          command,
          { id, state: "disabled" },
          `Webhook ${id} is disabled; its periods wait until it is enabled.`,
        );
      }),
    );

  webhook
    .command("enable <id>")
    .description("push again, the oldest period first")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const waiting = await enableWebhook(desk, await findWebhook(desk, id), desk.by);
        print(
          command,
          { id, state: "active", waiting },
          `Webhook ${id} is active; ${waiting} periods go out now, the oldest first.`,
        );
      }),
    );

  webhook
    .command("replay <id>")
    .description("push closed periods again, under the webhook-ids that they had")
    .option("--period <time>", "the one that holds this time (2026-11-15T12:00Z)")
    .option("--from <time>", "all that touch the time from here …")
    .option("--to <time>", "… to here, not included")
    .action((id: string, options: { period?: string; from?: string; to?: string }, command: Command) =>
      atDesk(async (desk) => {
        const periods = await replayPeriods(desk, await findWebhook(desk, id), readTime(options), desk.by);
        print(
          command,
          { id, periods },
          `${periods} ${periods === 1 ? "period goes" : "periods go"} out again.`,
        );
      }),
    );

  webhook
    .command("remove <id>")
    .description("take a webhook away, with what waits for it and its log")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        await removeWebhook(desk, await findWebhook(desk, id), desk.by);
        print(command, { id, removed: true }, `Webhook ${id} is gone.`);
      }),
    );
}

function described(webhook: Webhook) {
  const { id, siteId, origin, sendEmpty, dueAt: _due, ...rest } = webhook;
  return { id, site: siteId, url: `${origin}/…`, empty: sendEmpty, ...rest };
}

function stateText({ state, stateReason, attempts }: ReturnType<typeof described>): string {
  if (state === "disabled") return `disabled (${stateReason})`;
  return attempts ? `active, failing (${attempts} in a row)` : "active";
}

function lineText({ startedAt, period, ok, error, durationMs, httpStatus, response }: PushLine): string[] {
  const about = period ? `${timeText(period.startsAt)} – ${timeText(period.endsAt).slice(11)}` : "test";
  const result = ok ? `taken (HTTP ${httpStatus})` : (error ?? "");
  return [timeText(startedAt), about, result, `${durationMs} ms`, response ?? "–"];
}

function readTime({ period, from, to }: { period?: string; from?: string; to?: string }) {
  if (period !== undefined) {
    if (from !== undefined || to !== undefined)
      throw new Refusal("period", "Give either --period, or --from and --to.");
    const at = momentOf("period", period);
    return { from: at, to: at + 1 };
  }
  if (from === undefined || to === undefined)
    throw new Refusal("period", "Say which periods: --period TIME, or --from TIME --to TIME.");
  const time = { from: momentOf("from", from), to: momentOf("to", to) };
  if (time.from >= time.to) throw new Refusal("to", "--to must be later than --from.");
  return time;
}

/** As X-CC-Period has it: of a whole period the start counts. */
function momentOf(name: string, text: string): number {
  const start = text.split("/", 1)[0] ?? "";
  const at = /^\d{4}-\d{2}-\d{2}/.test(start) ? Date.parse(start) : Number.NaN;
  if (Number.isNaN(at)) throw new Refusal(name, `--${name} must be a time like 2026-11-15T12:00Z.`);
  return at;
}
