// Labels of the site settings, in the groups in which they are shown and copied.

import { counted } from "../format/format.ts";

type Group = { name: string; labels: Readonly<Record<string, string>> };

export const settingGroups: readonly Group[] = [
  { name: "Rate limit", labels: { rate_limit: "Requests per key and minute" } },
  { name: "Time zone", labels: { time_zone: "Time zone" } },
  {
    name: "Traffic filters",
    labels: {
      bot_threshold: "Bot score threshold",
      allow_user_agents: "Allowed user agents",
      deny_user_agents: "Denied user agents",
      allow_networks: "Allowed networks",
      deny_networks: "Denied networks",
      allow_countries: "Allowed countries",
      deny_countries: "Denied countries",
      block_domains: "Blocked email domains",
      block_disposable: "Filter disposable email addresses",
      block_persons: "Blocked persons",
      allow_persons: "Allowed persons",
    },
  },
  {
    name: "Consent & privacy",
    labels: {
      consent_mode: "Consent mode",
      keep: "Keep click ids and visits for",
      keep_events: "Keep events and deliveries for",
      keep_log: "Keep requests and responses for",
      country: "Default country for phone numbers",
    },
  },
  {
    name: "Deduplication",
    labels: {
      dedup_order: "With an order id",
      dedup_no_order: "Without an order id",
    },
  },
  {
    name: "Alerts",
    labels: {
      alert_emails: "Email addresses",
      alert_webhook: "Webhook URL",
      alert_success_rate: "Alert below this success rate",
    },
  },
];

/** All labels. The inbound webhook has a switch of its own and belongs to no group. */
export const settingNames: Readonly<Record<string, string>> = Object.fromEntries([
  ["inbound", "Inbound webhook"],
  ...settingGroups.flatMap(({ labels }) => Object.entries(labels)),
]);

export const settingName = (name: string) => settingNames[name] ?? name;

export const unitNames = { d: "day", h: "hour", m: "minute", s: "second" };

/** Formats a saved value: "90d" as "90 days", an empty list as "none". */
export function settingText(value: string): string {
  const span = /^(\d+)([dhms])$/.exec(value);
  if (!span) return value === "" ? "none" : value.replaceAll(",", ", ");
  return counted(Number(span[1]), unitNames[span[2] as keyof typeof unitNames]);
}
