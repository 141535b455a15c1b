// The settings of a site, declared once: name, meaning, default, and how a person writes them.

import { dayMs, hourMs } from "../kernel/time.ts";
import {
  countries,
  countryCode,
  deniedFault,
  duration,
  mailAddresses,
  networks,
  onOff,
  persons,
  SettingFault,
  timeZone,
  userAgentFault,
  webAddress,
  whole,
  words,
} from "./settingForms.ts";

export type SiteSettings = {
  inbound: boolean;
  /** How long an event with an order id counts as the same one. */
  dedupOrderMs: number;
  dedupNoOrderMs: number;
  /** Requests per key and minute; 0 is no limit. */
  rateLimit: number;
  consentMode: "opt-out" | "opt-in";
  /** How long identity records, visitors and their click ids are kept; events with all that hangs on them. */
  keepMs: number;
  keepEventsMs: number;
  /** How long the sync log keeps requests and answers. */
  keepLogMs: number;
  /** Phone numbers without a country code are read as of this country. */
  country: string | null;
  /** IANA name: the days of charts are days there. */
  timeZone: string;
  blockedDomains: string[];
  blockDisposable: boolean;
  /** Hashed emails whose events are filtered. */
  blockedPersons: string[];
  /** Hashed emails whose events are never filtered. */
  allowedPersons: string[];
  /** The score from which on a visit is a bot's. */
  botThreshold: number;
  /** Visits that are never, or always, taken for a bot's. Letting pass wins. */
  allowUserAgents: string[];
  denyUserAgents: string[];
  allowNetworks: string[];
  denyNetworks: string[];
  allowCountries: string[];
  denyCountries: string[];
  /** Who is told when something needs a person. */
  alertEmails: string[];
  /** Sealed at rest: it may hold a token. */
  alertWebhook: string | null;
  /** Percent of a connection's attempts that must succeed; 0 is no alert. */
  alertSuccessRate: number;
};

type Declared<Name extends keyof SiteSettings> = {
  /** As people write it: `site set SITE dedup_order=30d`. */
  label: string;
  help: string;
  default: SiteSettings[Name];
  /** The value, or a sentence that says what is wrong. */
  read(text: string): SiteSettings[Name] | SettingFault;
  write(value: SiteSettings[Name]): string;
  /** How the audit log tells it, where it must not repeat it. */
  audit?(value: SiteSettings[Name]): string;
};

const declared: { [Name in keyof SiteSettings]: Declared<Name> } = {
  inbound: {
    label: "inbound",
    help: "on or off: whether /__cc/inbound takes events",
    default: false,
    ...onOff,
  },
  dedupOrderMs: {
    label: "dedup_order",
    help: "how long an event with an order id counts as a duplicate",
    default: 90 * dayMs,
    ...duration(400),
  },
  dedupNoOrderMs: {
    label: "dedup_no_order",
    help: "how long an event without an order id counts as a duplicate",
    default: hourMs,
    ...duration(400),
  },
  rateLimit: {
    label: "rate_limit",
    help: "requests per key and minute, or off",
    default: 0,
    read: (text) =>
      text === "off"
        ? 0
        : /^[1-9]\d{0,6}$/.test(text)
          ? Number(text)
          : new SettingFault("must be off or a whole number of requests per minute"),
    write: (value) => (value === 0 ? "off" : String(value)),
  },
  consentMode: {
    label: "consent_mode",
    help: "opt-out: identifiers are used until a person refuses; opt-in: only after a person agreed",
    default: "opt-out",
    read: (text) =>
      text === "opt-out" || text === "opt-in" ? text : new SettingFault("must be opt-out or opt-in"),
    write: (value) => value,
  },
  keepMs: {
    label: "keep",
    help: "how long click ids and visits are kept, 1d to 400d",
    default: 90 * dayMs,
    ...duration(400, dayMs),
  },
  keepEventsMs: {
    label: "keep_events",
    help: "how long events and deliveries are kept, 1d to 400d; what still waits to be sent stays",
    default: 90 * dayMs,
    ...duration(400, dayMs),
  },
  keepLogMs: {
    label: "keep_log",
    help: "how long the sync log keeps requests and answers, 1d to 400d",
    default: 90 * dayMs,
    ...duration(400, dayMs),
  },
  country: {
    label: "country",
    help: "two-letter country of phone numbers that come without a country code, or none",
    default: null,
    read: (text) =>
      text === "none"
        ? null
        : (countryCode(text) ?? new SettingFault("must be none or a two-letter country code like DE")),
    write: (value) => value ?? "none",
  },
  timeZone: {
    label: "time_zone",
    help: "a time zone like Europe/Berlin: days of charts begin and end there",
    default: "UTC",
    ...timeZone,
  },
  blockedDomains: {
    label: "block_domains",
    help: "comma-separated email domains whose events are filtered",
    default: [],
    ...words((word) =>
      /^(?:[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u.test(
        word,
      )
        ? null
        : `must be domains like example.com; ${word} is not one`,
    ),
  },
  blockDisposable: {
    label: "block_disposable",
    help: "on or off: filter events of throw-away email addresses",
    default: false,
    ...onOff,
  },
  blockedPersons: {
    label: "block_persons",
    help: "comma-separated hashed emails (64 hex characters) whose events are filtered",
    default: [],
    ...persons,
  },
  allowedPersons: {
    label: "allow_persons",
    help: "comma-separated hashed emails whose events are never filtered; 'event release' adds to them",
    default: [],
    ...persons,
  },
  botThreshold: {
    label: "bot_threshold",
    help: "1 to 100: the score from which on a visit is taken for a bot's; two kinds of evidence are needed always",
    default: 60,
    read: (text) =>
      /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100
        ? Number(text)
        : new SettingFault("must be a whole number from 1 to 100"),
    write: String,
  },
  allowUserAgents: {
    label: "allow_user_agents",
    help: "comma-separated parts of user agents that are never a bot's, such as your own monitoring",
    default: [],
    ...words(userAgentFault),
  },
  denyUserAgents: {
    label: "deny_user_agents",
    help: "comma-separated parts of user agents that are always a bot's",
    default: [],
    ...words(deniedFault),
  },
  allowNetworks: {
    label: "allow_networks",
    help: "comma-separated addresses and networks whose visits are never a bot's, such as your office",
    default: [],
    ...networks,
  },
  denyNetworks: {
    label: "deny_networks",
    help: "comma-separated addresses and networks whose visits are always a bot's",
    default: [],
    ...networks,
  },
  allowCountries: {
    label: "allow_countries",
    help: "comma-separated countries whose visits are never a bot's (needs CLEANCAST_COUNTRY_FILE)",
    default: [],
    ...countries,
  },
  denyCountries: {
    label: "deny_countries",
    help: "comma-separated countries whose visits are always a bot's (needs CLEANCAST_COUNTRY_FILE)",
    default: [],
    ...countries,
  },
  alertEmails: {
    label: "alert_emails",
    help: "comma-separated email addresses that are told when something needs a person (needs CLEANCAST_SMTP_URL)",
    default: [],
    ...mailAddresses,
    audit: (value) => `${value.length} address${value.length === 1 ? "" : "es"}`,
  },
  alertWebhook: {
    label: "alert_webhook",
    help: "an https address that alerts are posted to, or none",
    default: null,
    ...webAddress,
    audit: webAddress.write,
  },
  alertSuccessRate: {
    label: "alert_success_rate",
    help: "1 to 100: alert when fewer percent of a connection's attempts succeed, or off",
    default: 80,
    ...whole(1, 100),
  },
};

const names = Object.keys(declared) as (keyof SiteSettings)[];
export const settingLabels: readonly { label: string; help: string }[] = names.map((name) => declared[name]);

/** Stored settings with today's defaults for those that were never set. */
export function withDefaults(stored: Record<string, unknown>): SiteSettings {
  const settings = Object.fromEntries(names.map((name) => [name, stored[name] ?? declared[name].default]));
  return settings as SiteSettings;
}

/** `{dedup_order: "30d"}` as it is stored, or what is wrong with it. */
export function readSettings(changes: Record<string, string>): Partial<SiteSettings> | SettingFault {
  const changed: Record<string, unknown> = {};
  for (const [label, text] of Object.entries(changes)) {
    const name = names.find((one) => declared[one].label === label);
    if (!name) {
      const known = names.map((one) => declared[one].label).join(", ");
      return new SettingFault(`${label} is not a setting of a site. Known: ${known}.`);
    }
    const value = declared[name].read(text);
    if (value instanceof SettingFault) return new SettingFault(`${label} ${value.message}.`);
    changed[name] = value;
  }
  return changed;
}

/** The settings as people write them. */
export function describeSettings(settings: SiteSettings): Record<string, string> {
  const write = <Name extends keyof SiteSettings>(name: Name) => declared[name].write(settings[name]);
  return Object.fromEntries(names.map((name) => [declared[name].label, write(name)]));
}

/** The settings with these labels, as they are stored. */
export function pickSettings(
  settings: SiteSettings,
  labels: readonly string[],
): Partial<SiteSettings> | SettingFault {
  const odd = labels.find((label) => !names.some((name) => declared[name].label === label));
  if (odd !== undefined) return new SettingFault(`${odd} is not a setting of a site.`);
  const picked = names.filter((name) => labels.includes(declared[name].label));
  return Object.fromEntries(picked.map((name) => [name, settings[name]]));
}

/** `changes` as the audit log may keep them. */
export function auditedChanges(
  changes: Record<string, string>,
  changed: Partial<SiteSettings>,
): Record<string, string> {
  const audited = <Name extends keyof SiteSettings>(name: Name, text: string) => {
    const value = changed[name];
    return value === undefined ? text : (declared[name].audit?.(value) ?? text);
  };
  return Object.fromEntries(
    names
      .filter((name) => declared[name].label in changes)
      .map((name) => [declared[name].label, audited(name, changes[declared[name].label] as string)]),
  );
}
