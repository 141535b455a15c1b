// The ways in which a site's people are told. A failure is a value: nothing waits for a channel that is down.

import type { Sender } from "../delivery/send.ts";
import type { Site } from "../sites/directory.ts";
import type { Mailer, SendResult } from "./mail.ts";
import { headlineOf, mailText, webhookBody, type Message } from "./message.ts";

export const channelNames = ["mail", "webhook"] as const;
export type ChannelName = (typeof channelNames)[number];

export type Channel = {
  name: ChannelName;
  /** As people may see it. */
  to: string;
  send(message: Message): Promise<SendResult>;
};

/** `mailer` is null where the installation has no mail server. */
export type ChannelOptions = { mailer: Mailer | null; sender: Sender };

export function channelsOf({ settings }: Site, { mailer, sender }: ChannelOptions): Channel[] {
  const channels: Channel[] = [];
  if (settings.alertEmails.length > 0 && mailer) {
    channels.push({
      name: "mail",
      to: settings.alertEmails.join(", "),
      send: (message) => mailer(settings.alertEmails, headlineOf(message), mailText(message)),
    });
  }
  const url = settings.alertWebhook;
  if (url !== null) {
    channels.push({
      name: "webhook",
      to: `${new URL(url).origin}/…`,
      send: (message) => post(sender, url, webhookBody(message)),
    });
  }
  return channels;
}

async function post(sender: Sender, url: string, body: string): Promise<SendResult> {
  const sent = await sender.send(
    { method: "POST", url, headers: { "content-type": "application/json" }, body },
    { platform: "alert webhook", customerAddress: true },
  );
  if (!sent.ok) return { ok: false, error: sent.error };
  const { status } = sent.response;
  return status >= 200 && status < 300
    ? { ok: true }
    : { ok: false, error: `it answered with HTTP ${status}` };
}
