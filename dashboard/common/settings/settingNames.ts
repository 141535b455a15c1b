// Labels of the site settings, and the groups in which they are shown.

export const settingNames: Record<string, string> = {
  inbound: "Inbound webhook",
  rate_limit: "Requests per key and minute",
  time_zone: "Time zone",
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
  consent_mode: "Consent mode",
  keep: "Keep click ids and visits for",
  keep_events: "Keep events and deliveries for",
  keep_log: "Keep requests and responses for",
  country: "Default country for phone numbers",
  dedup_order: "With an order id",
  dedup_no_order: "Without an order id",
  alert_emails: "Email addresses",
  alert_webhook: "Webhook URL",
  alert_success_rate: "Alert below this success rate",
};

export const settingName = (name: string) => settingNames[name] ?? name;

export const settingGroups: readonly { name: string; settings: readonly string[] }[] = [
  { name: "Rate limit", settings: ["rate_limit"] },
  { name: "Time zone", settings: ["time_zone"] },
  {
    name: "Traffic filters",
    settings: [
      "bot_threshold",
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
  { name: "Consent & privacy", settings: ["consent_mode", "keep", "keep_events", "keep_log", "country"] },
  { name: "Deduplication", settings: ["dedup_order", "dedup_no_order"] },
  { name: "Alerts", settings: ["alert_emails", "alert_webhook", "alert_success_rate"] },
];

const units: Record<string, [one: string, many: string]> = {
  d: ["day", "days"],
  h: ["hour", "hours"],
  m: ["minute", "minutes"],
  s: ["second", "seconds"],
};

/** "90d" as "90 days", an empty list as "none", everything else as it is. */
export function settingText(value: string): string {
  const span = /^(\d+)([dhms])$/.exec(value);
  if (!span) return value === "" ? "none" : value.replaceAll(",", ", ");
  const words = units[span[2] as string] as [string, string];
  return `${span[1]} ${words[span[1] === "1" ? 0 : 1]}`;
}
