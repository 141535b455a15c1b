// Manages webhooks for people: wrong input is refused with one sentence, and every change writes an audit line.

import { randomUUID } from "node:crypto";
import { dayMs } from "../kernel/time.ts";
import { readAddress, type AllowList } from "../delivery/addresses.ts";
import type { Sender } from "../delivery/send.ts";
import { newSigningSecret, shortId, ulid } from "../kernel/ids.ts";
import type { Site } from "../sites/directory.ts";
import { say } from "../kernel/messages/message.ts";
import { type By, Conflict, missing, Refusal } from "../kernel/refusal.ts";
import { auditLine } from "../sites/manage.ts";
import type { PushCall } from "../store/outbound/pushes.ts";
import type { Store } from "../store/store.ts";
import type { Address, Webhook } from "../store/outbound/webhooks.ts";
import { bodyOf, sendMessage, type PushReading, type Message } from "./push.ts";

type WebhookContext = { store: Pick<Store, "webhooks" | "pushes" | "periods" | "deletions"> };

const rotationOverlapMs = dayMs;
/** Each of them gets every period of its site. */
export const maxWebhooks = 50;

/** Adds a webhook; its secret is returned this once. */
export async function addWebhook(
  { store }: WebhookContext,
  site: Site,
  wanted: { url: string; sendEmpty: boolean; secret?: string | undefined },
  by: By & { allow: AllowList },
): Promise<{ webhook: Webhook; secret: string }> {
  const read = readAddress(by.allow, wanted.url);
  if ("fault" in read) throw new Refusal("url", read.fault);
  const known = (await store.webhooks.listWithSecrets(site.id)).find(({ url }) => url === read.url);
  if (known) throw new Conflict("url", say("webhook_exists", { id: known.id }));
  // Those that cannot be read count, too.
  const { length } = await store.webhooks.list(site.id);
  if (length >= maxWebhooks) throw new Refusal("url", say("too_many_webhooks", { max: maxWebhooks }));
  const id = shortId();
  const secret = wanted.secret ?? newSigningSecret();
  const address: Address = { url: read.url, secrets: { current: secret, previous: null } };
  const line = auditLine(site.id, "webhook added", { id, origin: new URL(read.url).origin }, by);
  await store.webhooks.add(line, { siteId: site.id, id, sendEmpty: wanted.sendEmpty }, address);
  return { webhook: await findWebhook({ store }, id, site.id), secret };
}

/** Finds a webhook of one site, or of any. */
export async function findWebhook({ store }: WebhookContext, id: string, siteId?: string): Promise<Webhook> {
  const all = await store.webhooks.list(siteId);
  const found = all.find((one) => one.id === id);
  if (found) return found;
  throw missing("webhook", id);
}

/** Refuses what needs the address of a webhook whose row is damaged. */
function requireAddress({ id, origin }: Webhook): void {
  if (origin !== null) return;
  throw new Refusal(
    "webhook",
    say("webhook_unreadable", { id }),
    `Webhook ${id} cannot be read: its row in the database is damaged. Give it its address again: cleancast webhook repair ${id} https://…`,
  );
}

/** Gives a webhook whose row is damaged its address again, and a new secret. The periods that wait are then pushed. */
export async function repairWebhook(
  { store }: WebhookContext,
  { siteId, id, origin }: Webhook,
  urlText: string,
  by: By & { allow: AllowList },
): Promise<{ secret: string; waiting: number }> {
  if (origin !== null) throw new Refusal("webhook", say("webhook_readable", { id }));
  const read = readAddress(by.allow, urlText);
  if ("fault" in read) throw new Refusal("url", read.fault);
  const secret = newSigningSecret();
  const address: Address = { url: read.url, secrets: { current: secret, previous: null } };
  const line = auditLine(siteId, "webhook repaired", { id, origin: new URL(read.url).origin }, by);
  await store.webhooks.repair(line, id, address);
  return { secret, waiting: (await store.pushes.sumQueued({ siteId, webhookId: id })).periods };
}

/** Sets a new secret, which is used immediately; the old one is valid for one more day. */
export async function rotateSecret(
  { store }: WebhookContext,
  webhook: Webhook,
  by: By,
  secret = newSigningSecret(),
): Promise<{ secret: string; oldUntil: number }> {
  requireAddress(webhook);
  const { siteId, id } = webhook;
  const oldUntil = by.now + rotationOverlapMs;
  await store.webhooks.rotate(auditLine(siteId, "webhook secret rotated", { id, oldUntil }, by), id, secret, oldUntil);
  return { secret, oldUntil };
}

/** Chooses if periods without conversions are pushed too. */
export async function setSendEmpty({ store }: WebhookContext, webhook: Webhook, sendEmpty: boolean, by: By): Promise<void> {
  const { siteId, id } = webhook;
  const detail = { id, sendEmpty, before: { sendEmpty: webhook.sendEmpty } };
  await store.webhooks.setSendEmpty(auditLine(siteId, "webhook changed", detail, by), id, sendEmpty);
}

const changedState = ({ state: before }: Webhook, state: Webhook["state"]) => ({
  state,
  before: { state: before },
});

/** Stops pushing. Periods are closed as before and kept. */
export async function disableWebhook({ store }: WebhookContext, webhook: Webhook, by: By): Promise<void> {
  const { siteId, id, isDisabledByPerson } = webhook;
  // A person may also disable a webhook that the relay has disabled: that ends its alert.
  if (isDisabledByPerson) throw new Conflict("webhook", say("webhook_disabled", { id }));
  const reason = say("disabled_by", { actor: by.actor });
  await store.webhooks.setState(
    auditLine(siteId, "webhook disabled", { id, reason, ...changedState(webhook, "disabled") }, by),
    id,
    "disabled",
    reason,
    "person",
  );
}

/** Starts pushing again, the kept periods first. Returns how many wait. */
export async function enableWebhook({ store }: WebhookContext, webhook: Webhook, by: By): Promise<number> {
  requireAddress(webhook);
  const { siteId, id, state } = webhook;
  if (state === "active") throw new Conflict("webhook", say("webhook_active", { id }));
  const line = auditLine(siteId, "webhook enabled", { id, ...changedState(webhook, "active") }, by);
  await store.webhooks.setState(line, id, "active", null);
  return (await store.pushes.sumQueued({ siteId, webhookId: id })).periods;
}

export async function removeWebhook({ store }: WebhookContext, { siteId, id, origin }: Webhook, by: By): Promise<void> {
  const { periods: waiting } = await store.pushes.sumQueued({ siteId, webhookId: id });
  await store.webhooks.remove(auditLine(siteId, "webhook removed", { id, origin, waiting }, by), id);
  await store.deletions.add("webhook");
}

/** Pushes the closed periods that overlap a time range again, with the same ids. Returns how many. */
export async function replayPeriods(
  { store }: WebhookContext,
  { siteId, id }: Webhook,
  time: { from: number; to: number },
  by: By,
): Promise<number> {
  const { from, to } = time;
  const line = auditLine(siteId, "webhook replayed", { id, from, to }, by);
  const numbers = await store.pushes.requeue({ siteId, webhookId: id }, from, to, line);
  if (numbers.length === 0) {
    const hint = `'cleancast webhook show ${id}' shows what was pushed.`;
    throw new Refusal("period", say("no_period", { id }), `No closed period of webhook ${id} overlaps that time range; ${hint}`);
  }
  return numbers.length;
}

/** Pushes the totals of the open period so far, marked as a test. The push is logged and changes no period. */
export async function sendTest(
  { store, sender }: WebhookContext & { sender: Sender },
  webhook: Webhook,
  time: { now: () => number; elapsed: () => number },
): Promise<{ reading: PushReading; calls: PushCall[]; body: string }> {
  requireAddress(webhook);
  const { siteId, id } = webhook;
  const address = (await store.webhooks.listWithSecrets(siteId)).find((one) => one.id === id);
  const open = await store.periods.readOpen(siteId);
  if (!address || !open) throw new Refusal("webhook", say("webhook_removed", { id }));
  const message: Message = {
    id: `test_${randomUUID()}`,
    startsAt: Math.min(open.startsAt, time.now()),
    endsAt: time.now(),
    conversions: open.conversions,
    removed: open.removed,
    isTest: true,
  };
  const options = { sender, ...time, newId: ulid, mayCallAgain: () => Promise.resolve(true) };
  const { reading, calls } = await sendMessage(address, message, options);
  await store.pushes.logTest({ siteId, webhookId: id }, calls);
  return { reading, calls, body: bodyOf(message) };
}
