// How people are told: mail, alerts, webhooks.

import { tryMailServer } from "../alerts/mail.ts";
import { noMailServer } from "../sites/settingNotes.ts";
import { error, listed, nameOf, ok, timeText, warning, type Finding, type Patient } from "./finding.ts";

export async function checkMail({ config }: Pick<Patient, "config">): Promise<Finding[]> {
  if (!config.smtp) return [];
  const told = await tryMailServer(config.smtp);
  return told.ok
    ? [ok("the mail server answers")]
    : [
        error(
          `CLEANCAST_SMTP_URL: ${told.error}`,
          "Alerts and invitations do not leave. Put the address or the password right.",
        ),
      ];
}

export async function checkChannels({ directory, store, config }: Patient): Promise<Finding[]> {
  const sites = Array.from(directory.sites());
  const findings: Finding[] = [];
  const untold = sites.filter(
    ({ settings, connections }) =>
      settings.alertEmails.length === 0 &&
      settings.alertWebhook === null &&
      connections.some(({ platform }) => platform !== "sandbox"),
  );
  if (untold.length)
    findings.push(
      warning(
        `${listed(untold.map(nameOf))}: nobody is told when something needs a person`,
        "cleancast site set SITE alert_emails=you@example.com (or alert_webhook=…), then cleancast alert test SITE",
      ),
    );
  const mute = sites.filter(({ settings }) => settings.alertEmails.length > 0 && !config.smtp);
  if (mute.length) findings.push(error(`${listed(mute.map(nameOf))}: alerts are not mailed`, noMailServer));
  for (const site of sites) {
    for (const { id, origin, state, stateReason, failingSince } of await store.webhooks.listWithSecrets(
      site.id,
    )) {
      const name = `${nameOf(site)}: the webhook ${id} to ${origin}`;
      if (state === "disabled")
        findings.push(
          warning(
            `${name} is disabled: ${stateReason ?? "it failed for too long"}`,
            `cleancast webhook enable ${id}; its totals wait.`,
          ),
        );
      else if (failingSince !== null)
        findings.push(
          error(
            `${name} fails since ${timeText(failingSince)} UTC`,
            `'cleancast webhook show ${id}' has its answers; its totals wait.`,
          ),
        );
    }
  }
  return findings;
}
