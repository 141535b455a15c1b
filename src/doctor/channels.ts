// Checks how people are notified: mail, alerts, webhooks.

import { verifyMailServer } from "../alerts/mail.ts";
import type { Site } from "../sites/directory.ts";
import { noMailServer } from "../sites/settingNeeds.ts";
import type { Store } from "../store/store.ts";
import {
  error,
  listNames,
  nameOf,
  ok,
  timeText,
  warning,
  whereReached,
  type AsyncFindings,
  type StoreContext,
} from "./finding.ts";

export async function* checkMail({ config }: Pick<StoreContext, "config">): AsyncFindings {
  if (!config.smtp) return;
  const result = await verifyMailServer(config.smtp);
  if (result.ok) yield ok("the mail server answers");
  else
    yield error(
      `CLEANCAST_SMTP_URL: ${result.error}`,
      "Alerts and invitations are not sent. Correct the address or the password.",
    );
}

export async function* checkChannels({ directory, store, config }: StoreContext): AsyncFindings {
  const sites = Array.from(directory.sites());
  const unattended: Site[] = [];
  for (const site of sites) {
    const { settings, connections } = site;
    if (settings.alertEmails.length > 0 || settings.alertWebhook !== null) continue;
    if (!connections.some(({ platform }) => platform !== "sandbox")) continue;
    if ((await store.pushDevices.listFor(site.id)).length === 0) unattended.push(site);
  }
  if (unattended.length)
    yield warning(
      `${listNames(unattended.map(nameOf))}: no alert recipient is configured`,
      "cleancast site set SITE alert_emails=you@example.com (or alert_webhook=…), then cleancast alert test SITE",
    );
  const unmailed = sites.filter(({ settings }) => settings.alertEmails.length > 0 && !config.smtp);
  if (unmailed.length) yield error(`${listNames(unmailed.map(nameOf))}: alerts are not mailed`, noMailServer);
  for (const site of sites) yield* whereReached({ store }, () => checkWebhooks(site, store));
}

async function* checkWebhooks(site: Site, store: Store): AsyncFindings {
  for (const { id, origin, state, stateReason, failingSince } of await store.webhooks.list(site.id)) {
    if (origin === null) {
      yield error(
        `${nameOf(site)}: the webhook ${id} cannot be read: its row in the database is damaged`,
        `cleancast webhook repair ${id} https://…; its periods are kept.`,
      );
      continue;
    }
    const name = `${nameOf(site)}: the webhook ${id} to ${origin}`;
    if (state === "disabled")
      yield warning(
        `${name} is disabled: ${stateReason ?? "it failed for too long"}`,
        `cleancast webhook enable ${id}; its periods are kept.`,
      );
    else if (failingSince !== null)
      yield error(
        `${name} has been failing since ${timeText(failingSince)} UTC`,
        `'cleancast webhook show ${id}' lists its answers; its periods are kept.`,
      );
  }
}
