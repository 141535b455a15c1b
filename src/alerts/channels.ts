// Opens the channels through which a site's people are notified: mail, a webhook, and push to their devices. A failure is a value, so that a
// channel that fails does not stop the others.

import type { Sender } from "../delivery/send.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Site } from "../sites/directory.ts";
import { noMailServer } from "../sites/settingNeeds.ts";
import type { Mailer, SendResult } from "./mail.ts";
import { noticeOf, testMessage, type Notice } from "./message.ts";
import { pushChannelsOf, type PushContext } from "./push/push.ts";

export const channelNames = ["mail", "webhook"] as const;
type ChannelName = (typeof channelNames)[number] | "push";

export type Channel = {
  name: ChannelName;
  /** Its name in the records of notifications: there may be several devices. */
  key: string;
  /** The address as people may see it: the path of a webhook may contain a token. */
  to: string;
  send(notice: Notice): Promise<SendResult>;
};

/** `mailer` is null where the installation has no mail server. */
export type ChannelOptions = {
  mailer: Mailer | null;
  sender: Sender;
  /** The origin of the dashboard, for links. */
  publicUrl: string;
};

export function channelsOf({ settings }: Site, { mailer, sender }: Omit<ChannelOptions, "publicUrl">): Channel[] {
  const channels: Channel[] = [];
  if (settings.alertEmails.length > 0 && mailer) {
    channels.push({
      name: "mail",
      key: "mail",
      to: settings.alertEmails.join(", "),
      send: async ({ subject, text, attach }) => mailer(settings.alertEmails, subject, text, await attach?.()),
    });
  }
  const url = settings.alertWebhook;
  if (url !== null) {
    channels.push({
      name: "webhook",
      key: "webhook",
      to: `${new URL(url).origin}/…`,
      send: ({ json }) => post(sender, url, json),
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
  return status >= 200 && status < 300 ? { ok: true } : { ok: false, error: say("answered_http", { status }) };
}

type TestResult = { channel: ChannelName; to: string; ok: boolean; error: string | null };

/** Explains why a site with alert_emails has no mail channel; null if it has one, or needs none. */
export const missingMailServer = ({ settings }: Site, { mailer }: Pick<ChannelOptions, "mailer">) =>
  settings.alertEmails.length > 0 && !mailer ? noMailServer : null;

/** Sends a test message through every channel of a site. */
export async function sendTestAlert(site: Site, options: ChannelOptions & PushContext): Promise<TestResult[]> {
  const devices = await pushChannelsOf(site, options);
  return sendToAll(site, options, async () => noticeOf(testMessage(site, options.now()), options.publicUrl), devices);
}

/** Sends a notice through every channel of a site, one after the other. Refuses where there is none. */
export async function sendToAll(
  site: Site,
  options: ChannelOptions,
  notice: () => Promise<Notice>,
  devices: readonly Channel[] = [],
): Promise<TestResult[]> {
  const channels = [...channelsOf(site, options), ...devices];
  if (channels.length === 0) {
    const missing = missingMailServer(site, options);
    const command = `cleancast site set ${site.hosts[0] ?? site.id} alert_emails=ops@example.com`;
    if (missing !== null) throw new Refusal("site", say("recipient_unreachable", { missing }));
    throw new Refusal(
      "site",
      say("no_recipient"),
      `No alert recipient is configured: set alert_emails or alert_webhook. For example: ${command}`,
    );
  }
  const results: TestResult[] = [];
  const made = await notice();
  for (const channel of channels) {
    const { name, to } = channel;
    const sent = await channel.send(made);
    results.push({ channel: name, to, ok: sent.ok, error: sent.ok ? null : sent.error });
  }
  return results;
}
