// Plans the changes of a site's webhooks. A webhook is found by its URL.

import { readAddress } from "../delivery/addresses.ts";
import {
  addWebhook,
  disableWebhook,
  enableWebhook,
  findWebhook,
  removeWebhook,
  rotateSecret,
  setSendEmpty,
} from "../outbound/manage.ts";
import { findSite } from "../sites/manage.ts";
import type { Address, Webhook } from "../store/outbound/webhooks.ts";
import {
  isSameSecret,
  shownSecret,
  type Change,
  type ChangedLine,
  type Planning,
  mustBeReference,
  type PlannedChanges,
  type PlannedSite,
} from "./planning.ts";
import type { WebhookEntry } from "./schema.ts";

type Known = Webhook & Address;

export async function planWebhooks(
  planning: Planning,
  { site, host, path: sitePath }: PlannedSite,
  entries: readonly WebhookEntry[] | undefined,
): Promise<PlannedChanges> {
  const { context, faults, prune, unlisted } = planning;
  const changes: PlannedChanges = { added: [], removed: [] };
  if (!entries) return changes;
  const known = site ? await context.store.webhooks.listWithSecrets(site.id) : [];
  const all = site ? await context.store.webhooks.list(site.id) : [];
  const damaged = all.filter(({ origin }) => origin === null);
  const urls: string[] = [];
  for (const [i, entry] of entries.entries()) {
    const path = [...sitePath, "webhooks", i];
    const read = readAddress(context.allowPrivate, entry.url);
    if (entry.secret !== undefined && !planning.isReference([...path, "secret"]))
      faults.push({ path: [...path, "secret"], message: mustBeReference });
    if ("fault" in read) {
      faults.push({ path: [...path, "url"], message: read.fault.replace(/^url /, "") });
      continue;
    }
    if (urls.includes(read.url))
      faults.push({ path: [...path, "url"], message: "is the same as of another webhook of the site." });
    urls.push(read.url);
    const existing = known.find(({ url }) => isSameSecret(url, read.url));
    const [unread] = damaged;
    if (!existing && unread) {
      // Adding it could send every total twice.
      const remedy = `'cleancast webhook repair ${unread.id} URL' or 'cleancast webhook remove ${unread.id}'`;
      const message = `webhook ${unread.id} cannot be read and may be this one; first run ${remedy}.`;
      faults.push({ path: [...path, "url"], message });
      continue;
    }
    const change = existing ? changeOf(planning, existing, entry, host) : additionOf(planning, read.url, entry, host);
    if (change) changes.added.push(change);
  }
  const unnamed: { webhook: Webhook; what: string }[] = [
    ...known.filter(({ url }) => !urls.includes(url)).map((webhook) => ({ webhook, what: nameOf(webhook.url, host) })),
    ...damaged.map((webhook) => ({
      webhook,
      what: `webhook ${webhook.id} of ${host}, which cannot be read`,
    })),
  ];
  for (const { webhook, what } of unnamed)
    if (!prune) unlisted.push(what);
    else changes.removed.push(removalOf(planning, webhook, what));
  return changes;
}

function removalOf({ context }: Planning, webhook: Webhook, what: string): Change {
  return {
    kind: "remove",
    what,
    lines: [],
    loss: `Removes the ${what} with the periods that wait for it, and its log.`,
    async run() {
      await removeWebhook(context, webhook, context.by);
      return null;
    },
  };
}

const nameOf = (url: string, host: string) => `webhook ${new URL(url).origin}/… of ${host}`;

function additionOf({ context }: Planning, url: string, entry: WebhookEntry, host: string): Change {
  const { by, allowPrivate: allow } = context;
  const lines: ChangedLine[] = [
    { name: "secret", before: null, after: entry.secret === undefined ? "(new secret)" : shownSecret },
    { name: "send_empty", before: null, after: String(entry.send_empty ?? true) },
    ...(entry.disabled ? [{ name: "disabled", before: null, after: "true" }] : []),
  ];
  return {
    kind: "add",
    what: nameOf(url, host),
    lines,
    loss: null,
    async run() {
      const wanted = { url, sendEmpty: entry.send_empty ?? true, secret: entry.secret };
      const { webhook } = await addWebhook(context, findSite(context, host), wanted, { ...by, allow });
      if (entry.disabled) await disableWebhook(context, webhook, by);
      return entry.secret === undefined
        ? `Webhook ${webhook.id} of ${host} has a new secret that is not shown. 'cleancast webhook rotate ${webhook.id}' shows another one.`
        : null;
    },
  };
}

function changeOf({ context }: Planning, existing: Known, entry: WebhookEntry, host: string): Change | null {
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
  if (lines.length === 0) return null;
  const isChanged = (name: string) => lines.some((line) => line.name === name);
  return {
    kind: "change",
    what: nameOf(existing.url, host),
    lines,
    loss: null,
    async run() {
      const webhook = await findWebhook(context, existing.id, existing.siteId);
      if (isNewSecret) await rotateSecret(context, webhook, by, secret);
      if (isChanged("send_empty")) await setSendEmpty(context, webhook, sendEmpty === true, by);
      if (isChanged("disabled")) await (disabled ? disableWebhook(context, webhook, by) : enableWebhook(context, webhook, by));
      return null;
    },
  };
}
