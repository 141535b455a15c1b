// A test message by every channel of a site, one after the other.

import type { Site } from "../sites/directory.ts";
import { Refusal } from "../kernel/refusal.ts";
import { noMailServer } from "../sites/settingNotes.ts";
import { channelsOf, type ChannelName, type ChannelOptions } from "./channels.ts";
import { testMessage } from "./message.ts";

export type TestResult = { channel: ChannelName; to: string; ok: boolean; error: string | null };

/** Why mail is not among the channels, where one would expect it. */
export const missingMailServer = ({ settings }: Site, { mailer }: Pick<ChannelOptions, "mailer">) =>
  settings.alertEmails.length > 0 && !mailer ? noMailServer : null;

export async function sendTestAlert(site: Site, means: ChannelOptions, now: number): Promise<TestResult[]> {
  const channels = channelsOf(site, means);
  if (channels.length === 0) {
    const idle = missingMailServer(site, means);
    const more = idle ? ` ${idle}` : "";
    throw new Refusal(
      "site",
      `Nobody would be told: set alert_emails or alert_webhook.${more}`,
      `Nobody would be told: set alert_emails or alert_webhook with 'cleancast site set'.${more}`,
    );
  }
  const results: TestResult[] = [];
  for (const channel of channels) {
    const told = await channel.send(testMessage(site, now));
    const { name, to } = channel;
    results.push({ channel: name, to, ok: told.ok, error: told.ok ? null : told.error });
  }
  return results;
}
