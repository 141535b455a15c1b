// Settings that do nothing yet, because the installation lacks what they need.

import { Refusal } from "../kernel/refusal.ts";
import { describeSettings, type SiteSettings } from "./settings.ts";

/** What the installation has. */
export type Means = { countries: boolean; mail: boolean };

export const noCountryFile =
  "no country is known without a MaxMind file; set CLEANCAST_COUNTRY_FILE and start again.";

export const noMailServer =
  "alert_emails does nothing without a mail server; set CLEANCAST_SMTP_URL and CLEANCAST_MAIL_FROM.";

/** `labels`: what was changed. */
export function settingNotes(labels: readonly string[], settings: SiteSettings, means: Means): string[] {
  const texts = describeSettings(settings);
  const idle = means.countries
    ? []
    : ["allow_countries", "deny_countries"].filter((label) => labels.includes(label) && texts[label]);
  const notes = idle.map((label) => `${label} does nothing yet: ${noCountryFile}`);
  if (labels.includes("alert_emails") && texts.alert_emails && !means.mail) notes.push(noMailServer);
  return notes;
}

/** An address that alerts go to is the customer's choice, and must lead where those may. */
export function checkAlertWebhook(
  changes: Record<string, string>,
  checkAddress: (url: string) => string | null,
  field = "setting",
): void {
  const url = changes.alert_webhook;
  const fault = url && URL.canParse(url) ? checkAddress(url) : null;
  if (fault) throw new Refusal(field, `alert_webhook ${fault}.`);
}
