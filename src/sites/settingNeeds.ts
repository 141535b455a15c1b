// What a setting of a site needs besides its own value: a file of countries, a mail server, an address that customers may choose.

import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { describeSettings, type SiteSettings } from "./settings.ts";

/** Features of the installation without which some settings have no effect. */
type Provided = { countries: boolean; mail: boolean };

export const noCountryFile = "countries are looked up in a MaxMind file; set CLEANCAST_COUNTRY_FILE and restart.";

export const noMailServer = "Email alerts need a mail server; set CLEANCAST_SMTP_URL and CLEANCAST_MAIL_FROM.";

/** One note for each of the changed settings (`labels`) that has no effect yet. */
export function settingNotes(labels: readonly string[], settings: SiteSettings, provided: Provided): string[] {
  const texts = describeSettings(settings);
  const ineffective = provided.countries
    ? []
    : ["allow_countries", "deny_countries"].filter((label) => labels.includes(label) && texts[label]);
  const notes = ineffective.map((label) => say("setting_without_effect", { setting: label, reason: noCountryFile }));
  if (labels.includes("alert_emails") && texts.alert_emails && !provided.mail) notes.push(noMailServer);
  return notes;
}

/** Refuses an alert webhook that leads to an address which customers may not choose. */
export function checkAlertWebhook(
  changes: Record<string, string>,
  checkAddress: (url: string) => string | null,
  field = "setting",
): void {
  const url = changes.alert_webhook;
  const fault = url && URL.canParse(url) ? checkAddress(url) : null;
  if (fault) throw new Refusal(field, say("alert_webhook_fault", { fault }));
}
