// Labels of the site settings, in the groups in which they are shown and copied.

import type { ReportLanguage } from "../../../src/kernel/text.ts";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";
import { siteSettingsText } from "../../messages/siteSettings.ts";

type SettingName = keyof typeof siteSettingsText.names;
type Group = { group: keyof typeof siteSettingsText.groups; names: readonly SettingName[] };

export const settingGroups: readonly Group[] = [
  { group: "rate", names: ["rate_limit"] },
  { group: "timeZone", names: ["time_zone"] },
  {
    group: "traffic",
    names: [
      "bot_threshold",
      "evidence",
      "allow_user_agents",
      "deny_user_agents",
      "allow_networks",
      "deny_networks",
      "allow_countries",
      "deny_countries",
      "block_domains",
      "block_disposable",
      "block_persons",
      "allow_persons",
    ],
  },
  { group: "links", names: ["link_domains"] },
  { group: "consent", names: ["consent_mode", "keep", "keep_events", "keep_log", "country", "conversions_without_email"] },
  { group: "deduplication", names: ["dedup_order", "dedup_no_order"] },
  { group: "refunds", names: ["corrections"] },
  { group: "alerts", names: ["alert_emails", "alert_webhook", "alert_success_rate", "weekly_report", "report_language"] },
];

export const isSetting = (name: string): boolean => Object.hasOwn(siteSettingsText.names, name);
export const settingName = (name: string): string => (siteSettingsText.names as Readonly<Record<string, string>>)[name] ?? name;

/** A note of the relay may begin with the name of a setting, which is shown as its label. */
export const noteText = (note: string): string =>
  serverText(note).replace(/^\w+/, (name) => (isSetting(name) ? siteSettingsText.quoted(settingName(name)) : name));

export type Unit = keyof typeof siteSettingsText.units;

/** Formats a saved value: "90d" as "90 days", an empty list as "none". */
export function settingText(value: string): string {
  const span = /^(\d+)([dhms])$/.exec(value);
  if (span) return siteSettingsText.spans[span[2] as Unit](Number(span[1]));
  if (value === "" || value === "none") return commonText.none;
  if (value === "on" || value === "off") return commonText.states[value];
  if (Object.hasOwn(siteSettingsText.languages, value)) return siteSettingsText.languages[value as ReportLanguage];
  return value.replaceAll(",", ", ");
}
