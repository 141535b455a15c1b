// Sends alerts to the devices of a site's people. A device that its push service no longer knows is removed.

import { hash } from "node:crypto";
import { readAddress, type AllowList } from "../../delivery/addresses.ts";
import type { Sender } from "../../delivery/send.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import type { Site } from "../../sites/directory.ts";
import type { PushSubscription } from "../../store/access/pushDevices.ts";
import type { Store } from "../../store/store.ts";
import type { SendResult } from "../mail.ts";
import type { Notice, PushMessage } from "../message.ts";
import { encryptPush, newPushKey, publicPushKey, pushAuthorization } from "./encryption.ts";

export type PushContext = {
  store: Pick<Store, "pushDevices" | "pushKey">;
  sender: Sender;
  /** The origin of the dashboard. */
  publicUrl: string;
  now: () => number;
};

/** A device that was off for longer learns of the alert in the dashboard. */
const keepSeconds = 24 * 3600;

/** Returns one channel for each device of the people who may read the site. */
export async function pushChannelsOf({ id: siteId }: Pick<Site, "id">, context: PushContext) {
  const devices = await context.store.pushDevices.listFor(siteId);
  return devices.flatMap(({ id, userId, name, email, subscription }) => {
    if (!subscription) return [];
    async function send({ push }: Pick<Notice, "push">): Promise<SendResult> {
      if (!push) return { ok: true };
      const sent = await sendMessage(context, subscription as PushSubscription, push);
      if (!("isGone" in sent)) return sent;
      await context.store.pushDevices.remove(userId, id);
      return { ok: true };
    }
    return [{ name: "push" as const, key: `push ${id.slice(0, 16)}`, to: `${name} (${email})`, send }];
  });
}

type Pushed = { ok: true } | { ok: false; error: string; isGone?: true };

async function sendMessage(context: PushContext, { endpoint, keys }: PushSubscription, message: PushMessage): Promise<Pushed> {
  const { store, sender, publicUrl, now } = context;
  const { topic, isUrgent, ...shown } = message;
  const sent = await sender.send(
    {
      method: "POST",
      url: endpoint,
      headers: {
        authorization: pushAuthorization(await store.pushKey(newPushKey), endpoint, publicUrl, now()),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(keepSeconds),
        urgency: isUrgent ? "high" : "normal",
        // A newer message about the same alert takes the place of one that waits.
        topic,
      },
      body: "",
      bytes: encryptPush(JSON.stringify({ ...shown, tag: topic }), keys),
    },
    { platform: "push service", customerAddress: true },
  );
  if (!sent.ok) return { ok: false, error: sent.error };
  const { status } = sent.response;
  if (status >= 200 && status < 300) return { ok: true };
  const error = say("answered_http", { status });
  return status === 404 || status === 410 ? { ok: false, error, isGone: true } : { ok: false, error };
}

/** The key that browsers subscribe with. */
export const readPublicKey = async (store: Pick<Store, "pushKey">) => publicPushKey(await store.pushKey(newPushKey));

type NewDevice = { name: string; subscription: PushSubscription };

/** Adds a device once its push service has taken a first notification. */
export async function addPushDevice(
  context: PushContext & { allow: AllowList },
  userId: string,
  { name, subscription }: NewDevice,
): Promise<{ id: string }> {
  const read = readAddress(context.allow, subscription.endpoint);
  if ("fault" in read) throw new Refusal("endpoint", read.fault);
  const checked = { ...subscription, endpoint: read.url };
  const first: PushMessage = {
    title: "Cleancast",
    body: "Alerts will be shown here.",
    page: "/dashboard/account",
    topic: "welcome",
    isUrgent: false,
  };
  const sent = await sendMessage(context, checked, first).catch(() => ({ ok: false, error: say("push_keys_invalid") }) as const);
  if (!sent.ok) throw new Refusal("endpoint", say("push_refused", { error: sent.error }));
  // The browser names itself by the same hash.
  const id = hash("sha256", subscription.endpoint, "hex");
  await context.store.pushDevices.add({ id, userId, name, createdAt: context.now() }, checked);
  return { id };
}
