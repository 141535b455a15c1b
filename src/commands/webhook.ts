import type { Answer } from "../contract/contract.ts";
import { findWebhook, repairWebhook } from "../outbound/manage.ts";
import { missing, Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { findSite } from "../sites/manage.ts";
import { siteName, table, timeText, type CliCommand, type CommandContext } from "./context.ts";
import { listItems, moreText, readPaging, withPaging, type PagingOptions } from "./lists.ts";
import { confirm } from "./terminal/confirm.ts";

type Webhook = Answer<"GET /sites/:site/webhooks">["items"][number];
type Push = Answer<"GET /sites/:site/webhooks/:webhook/pushes">["items"][number];

export function webhookCommands(program: CliCommand): void {
  const webhook = program.command("webhook").description("outbound webhooks: totals every 15 minutes");

  webhook
    .command("add <site> <url>")
    .description("push a site's totals to a URL; the secret is shown once")
    .option("--no-empty", "skip empty periods")
    .run(async ({ directory, call, print }, siteText: string, url: string, options: { empty: boolean }) => {
      const { id: site } = findSite({ directory }, siteText);
      const added = await call("POST /sites/:site/webhooks", { params: { site }, body: { url, sendEmpty: options.empty } });
      print(
        added,
        `${added.secret}\n\nWebhook ${added.webhook.id} to ${originOf(added.webhook)}. The secret is shown only once. ` +
          `Every push carries it as a bearer token and is signed with it: docs/reference/outbound-webhook.md.`,
      );
    });

  webhook
    .command("list [site]")
    .description("list the webhooks of a site, or of all sites")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { value, rows } = await listItems(directory, siteText, (params) => call("GET /sites/:site/webhooks", { params }));
      const cells = rows.map(({ site, item: one }) => [
        one.id,
        siteName(site),
        one.url,
        stateText(one),
        one.sendEmpty ? "sent" : "skipped",
        String(one.waiting),
        timeText(one.createdAt),
      ]);
      const head = ["ID", "SITE", "URL", "STATE", "EMPTY PERIODS", "WAITING", "CREATED (UTC)"];
      print(value, table(head, cells, "No webhooks yet. Create one: cleancast webhook add SITE https://…"));
    });

  withPaging(webhook.command("show <id>"), "log lines")
    .description("show a webhook, its waiting periods and its push log, newest first")
    .run(async (context, id: string, options: PagingOptions) => {
      const params = await paramsOf(context, id);
      const one = await readWebhook(context, params);
      const pushes = await context.call("GET /sites/:site/webhooks/:webhook/pushes", { params, query: readPaging(options) });
      const { conversions, removed } = one.waitingTotals;
      const text = [
        `Webhook ${id} to ${one.url}: ${stateText(one)}`,
        `Waiting: ${countOf(one.waiting, "period")} with ${countOf(conversions, "conversion")} and ${removed} removed`,
        ...(one.attempts ? [`Next attempt: ${timeText(one.nextPushAt)} UTC`] : []),
        ...(one.oldSecretUntil === null ? [] : [`The old secret is valid until ${timeText(one.oldSecretUntil)} UTC.`]),
        "",
        table(["SENT (UTC)", "PERIOD (UTC)", "RESULT", "DURATION", "RESPONSE"], pushes.items.map(lineText), "No pushes yet."),
      ];
      context.print({ webhook: one, pushes }, text.join("\n") + moreText(pushes));
    });

  webhook
    .command("test <id>")
    .description("push the current totals, marked as a test, and show the response")
    .run(async (context, id: string) => {
      const tested = await context.call("POST /sites/:site/webhooks/:webhook/test", { params: await paramsOf(context, id) });
      const { ok, httpStatus, error, response } = tested;
      const text = ok ? `Test accepted: HTTP ${httpStatus}` : `Test failed: ${error}`;
      context.print(tested, response ? `${text}\n${response}` : text);
      if (!ok) process.exitCode = 1;
    });

  webhook
    .command("rotate <id>")
    .description("create a new secret; the old one stays valid for 24 hours")
    .run(async (context, id: string) => {
      const rotated = await context.call("POST /sites/:site/webhooks/:webhook/rotate", { params: await paramsOf(context, id) });
      context.print(
        rotated,
        `${rotated.secret}\n\nThe new secret of webhook ${id} is used from now on. The old one is valid until ${timeText(rotated.oldUntil)} UTC: ` +
          `until then pushes are signed with both, and a push that gets 401 or 403 is repeated with the old bearer token.`,
      );
    });

  webhook
    .command("disable <id>")
    .description("stop pushing; periods are kept")
    .run(async (context, id: string) => {
      const disabled = await context.call("POST /sites/:site/webhooks/:webhook/disable", { params: await paramsOf(context, id) });
      context.print(disabled, `Webhook ${id} is disabled; its periods are kept until it is enabled.`);
    });

  webhook
    .command("enable <id>")
    .description("push again, oldest period first")
    .run(async (context, id: string) => {
      const enabled = await context.call("POST /sites/:site/webhooks/:webhook/enable", { params: await paramsOf(context, id) });
      context.print(
        enabled,
        `Webhook ${id} is active; ${countOf(enabled.waiting, "period is", "periods are")} pushed now, the oldest first.`,
      );
    });

  webhook
    .command("repair <id> <url>")
    .description("give a webhook that cannot be read its address again")
    .run(async (context, id: string, url: string) => {
      const by = { ...context.by, allow: context.config.allowPrivate };
      const { secret, waiting } = await repairWebhook(context, await findWebhook(context, id), url, by);
      context.print(
        { secret, waiting },
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
      const params = await paramsOf(context, id);
      const body = readTimeRange(options);
      const replayed = await context.call("POST /sites/:site/webhooks/:webhook/replay", { params, body });
      context.print(replayed, `${countOf(replayed.periods, "period is", "periods are")} pushed again.`);
    });

  webhook
    .command("remove <id>")
    .description("delete a webhook, its queue and its log")
    .option("--yes", "do it without asking")
    .run(async (context, id: string, { yes }: { yes?: boolean }) => {
      const params = await paramsOf(context, id);
      const found = await readWebhook(context, params);
      const lost = `${countOf(found.waiting, "waiting period is", "waiting periods are")} never pushed.`;
      await confirm({ what: `This deletes webhook ${id} to ${originOf(found)} and its log. ${lost}`, yes });
      const removed = await context.call("DELETE /sites/:site/webhooks/:webhook", { params });
      context.print(removed, `Webhook ${id} is deleted.`);
    });
}

type Params = { site: string; webhook: string };

async function paramsOf(context: CommandContext, id: string): Promise<Params> {
  return { site: (await findWebhook(context, id)).siteId, webhook: id };
}

async function readWebhook({ call }: CommandContext, { site, webhook }: Params): Promise<Webhook> {
  const { items } = await call("GET /sites/:site/webhooks", { params: { site } });
  const found = items.find(({ id }) => id === webhook);
  if (!found) throw missing("webhook", webhook);
  return found;
}

const originOf = ({ url }: Webhook) => url.replace("/…", "");

function stateText({ state, stateReason, attempts }: Webhook): string {
  if (state === "disabled") return `disabled (${stateReason})`;
  return attempts ? `active, failing (${attempts} in a row)` : "active";
}

function lineText({ startedAt, period, ok, error, durationMs, httpStatus, response }: Push): string[] {
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
