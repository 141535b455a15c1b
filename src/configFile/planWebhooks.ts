// Plans the changes of a site's webhooks. A webhook is found by its URL.

import { readAddress } from "../delivery/addresses.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  maxWebhooks,
  removeWebhook,
  rotateSecret,
  setSendEmpty,
} from "../outbound/manage.ts";
import { findSite } from "../sites/manage.ts";
import type { Address, Webhook } from "../store/outbound/webhooks.ts";
import {
  isSameSecret,
  mustBeReference,
  reconcile,
  shownSecret,
  type Change,
  type ChangedLine,
  type PlannedSite,
  type Planning,
} from "./planning.ts";
import type { WebhookEntry } from "./schema.ts";
import { english } from "../kernel/messages/message.ts";

type Known = Webhook & Address;

export async function planWebhooks(
  planning: Planning,
  { site, host, path: sitePath }: PlannedSite,
  entries: readonly WebhookEntry[],
): Promise<Change[]> {
  const { context, faults } = planning;
  const known = site ? await context.store.webhooks.listWithSecrets(site.id) : [];
  const all = site ? await context.store.webhooks.list(site.id) : [];
  const damaged = all.filter(({ origin }) => origin === null);
  const wanted = new Map<string, WebhookEntry>();
  for (const [i, entry] of entries.entries()) {
    await planning.rest();
    const path = [...sitePath, "webhooks", i];
    const read = readAddress(context.allowPrivate, entry.url);
    if (entry.secret !== undefined && !planning.isReference([...path, "secret"]))
      faults.push({ path: [...path, "secret"], message: mustBeReference });
    const fault =
      "fault" in read
        ? english(read.fault).replace(/^url /, "")
        : wanted.has(read.url)
          ? "is the same as of another webhook of the site."
          : known.some(({ url }) => url === read.url)
            ? null
            : damageFault(damaged);
    if (fault !== null) faults.push({ path: [...path, "url"], message: fault });
    if ("url" in read) wanted.set(read.url, { ...entry, url: read.url });
  }
  return reconcile<WebhookEntry, Webhook | Known>(planning, {
    limit: { max: maxWebhooks, path: [...sitePath, "webhooks"] },
    wanted,
    existing: [...known.map((one) => [one.url, one] as const), ...damaged.map((one) => [one.id, one] as const)],
    plan: (entry, existing) =>
      existing && "url" in existing ? changeOf(planning, existing, entry, host) : [additionOf(planning, entry, host)],
    remove(webhook) {
      const what = "url" in webhook ? nameOf(webhook.url, host) : `webhook ${webhook.id} of ${host}, which cannot be read`;
      return {
        what,
        loss: () => `Removes the ${what} with the periods that wait for it, and its log.`,
        run: () => removeWebhook(context, webhook, context.by),
      };
    },
  });
}

/** Adding a webhook could send every total twice. */
function damageFault([unread]: readonly Webhook[]): string | null {
  if (!unread) return null;
  const remedy = `'cleancast webhook repair ${unread.id} URL' or 'cleancast webhook remove ${unread.id}'`;
  return `webhook ${unread.id} cannot be read and may be this one; first run ${remedy}.`;
}

const nameOf = (url: string, host: string) => `webhook ${new URL(url).origin}/… of ${host}`;

function additionOf({ context }: Planning, entry: WebhookEntry, host: string): Change {
  const { by, allowPrivate: allow } = context;
  const lines: ChangedLine[] = [
    { name: "secret", before: null, after: entry.secret === undefined ? "(new secret)" : shownSecret },
    { name: "send_empty", before: null, after: String(entry.send_empty ?? true) },
    ...(entry.disabled ? [{ name: "disabled", before: null, after: "true" }] : []),
  ];
  return {
    kind: "add",
    what: nameOf(entry.url, host),
    lines,
    async run(say) {
      const wanted = { url: entry.url, sendEmpty: entry.send_empty ?? true, secret: entry.secret };
      const { webhook } = await addWebhook(context, findSite(context, host), wanted, { ...by, allow });
      if (entry.disabled) await disableWebhook(context, webhook, by);
      if (entry.secret === undefined)
        say(
          `Webhook ${webhook.id} of ${host} has a new secret that is not shown. 'cleancast webhook rotate ${webhook.id}' shows another one.`,
        );
    },
  };
}

function changeOf({ context }: Planning, existing: Known, entry: WebhookEntry, host: string): Change[] {
  const { by } = context;
  const { secret, send_empty: sendEmpty, disabled } = entry;
  const isNewSecret = secret !== undefined && !isSameSecret(secret, existing.secrets.current);
  const isDisabled = existing.state === "disabled";
  const lines: ChangedLine[] = [];
  if (isNewSecret) lines.push({ name: "secret", before: shownSecret, after: shownSecret });
  if (sendEmpty !== undefined && sendEmpty !== existing.sendEmpty)
    lines.push({ name: "send_empty", before: String(existing.sendEmpty), after: String(sendEmpty) });
  if (disabled !== undefined && disabled !== isDisabled)
    lines.push({ name: "disabled", before: String(isDisabled), after: String(disabled) });
  if (lines.length === 0) return [];
  const isChanged = (name: string) => lines.some((line) => line.name === name);
  const run = async () => {
    const webhook = await findWebhook(context, existing.id, existing.siteId);
    if (isNewSecret) await rotateSecret(context, webhook, by, secret);
    if (isChanged("send_empty")) await setSendEmpty(context, webhook, sendEmpty === true, by);
    if (isChanged("disabled")) await (disabled ? disableWebhook(context, webhook, by) : enableWebhook(context, webhook, by));
  };
  return [{ kind: "change", what: nameOf(existing.url, host), lines, run }];
}
