// The settings of a site, declared once: name, meaning, default, and how people write them.

import { say } from "../kernel/messages/message.ts";
import { countOf, reportLanguages, type ReportLanguage } from "../kernel/text.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import { readEntry } from "../traffic/modes.ts";
import {
  countries,
  countryCode,
  deniedFault,
  duration,
  hostNames,
  mailAddresses,
  networks,
  onOff,
  persons,
  SettingFault,
  timeZone,
  userAgentFault,
  weekTime,
  webAddress,
  wholeNumber,
  wordList,
} from "./settingForms.ts";

export type SiteSettings = {
  inbound: boolean;
  /** Events that repeat within this time are duplicates: with an order id, and without. */
  dedupOrderMs: number;
  dedupNoOrderMs: number;
  /** Requests per key and minute; 0 is no limit. */
  rateLimit: number;
  consentMode: "opt-out" | "opt-in";
  /** Retention of identity records, visitors and their click ids. */
  keepMs: number;
  /** Retention of events and their deliveries. */
  keepEventsMs: number;
  /** Retention of the requests and responses in the sync log. */
  keepLogMs: number;
  /** Phone numbers without a country code are assumed to be from this country. */
  country: string | null;
  /** Domains of the customer whose links carry a visit over. */
  linkDomains: string[];
  /** IANA name of the zone whose days the charts use. */
  timeZone: string;
  blockedDomains: string[];
  blockDisposable: boolean;
  /** Hashed emails whose events are filtered. */
  blockedPersons: string[];
  /** Hashed emails whose events are never filtered. */
  allowedPersons: string[];
  /** Visits with this score or more are treated as bots. */
  botThreshold: number;
  /** The modes of signals that differ from the usual ones: off, in shadow, or on. */
  evidence: string[];
  /** Visits that are never, or always, treated as bots. Allow rules take precedence. */
  allowUserAgents: string[];
  denyUserAgents: string[];
  allowNetworks: string[];
  denyNetworks: string[];
  allowCountries: string[];
  denyCountries: string[];
  /** The recipients of alerts. */
  alertEmails: string[];
  /** Encrypted in the database: it may contain a token. */
  alertWebhook: string | null;
  /** Events may name a phone number or click ids in place of an email. */
  conversionsWithoutEmail: boolean;
  /** Refunds restate or take back the conversions of their orders, where a platform can. */
  corrections: boolean;
  /** Percent of a connection's attempts that must succeed; 0 is no alert. */
  alertSuccessRate: number;
  /** When the recipients of alerts get the weekly report, like "monday 8", in the site's time zone. */
  weeklyReport: string | null;
  /** The language of what is sent to people outside of the dashboard. */
  reportLanguage: ReportLanguage;
};

type Declared<Name extends keyof SiteSettings> = {
  /** As people write it: `site set SITE dedup_order=30d`. */
  label: string;
  help: string;
  default: SiteSettings[Name];
  /** How the value is written, for the reference. */
  type: string;
  example: string;
  /** All values that there are, to find the one that was meant. */
  choices?: () => readonly string[];
  /** The value, or a sentence that says what is wrong. */
  read(text: string): SiteSettings[Name] | SettingFault;
  write(value: SiteSettings[Name]): string;
  /** The text for the audit log, where that must not contain the value. */
  audit?(value: SiteSettings[Name]): string;
};

const consentModes = ["opt-out", "opt-in"] as const;

const declared: { [Name in keyof SiteSettings]: Declared<Name> } = {
  inbound: {
    label: "inbound",
    help: "on or off: accept events at /__cc/inbound",
    default: false,
    ...onOff,
  },
  dedupOrderMs: {
    label: "dedup_order",
    help: "how long an event with an order id counts as a duplicate",
    example: "30d",
    default: 90 * dayMs,
    ...duration(400),
  },
  dedupNoOrderMs: {
    label: "dedup_no_order",
    help: "how long an event without an order id counts as a duplicate",
    example: "2h",
    default: hourMs,
    ...duration(400),
  },
  rateLimit: {
    label: "rate_limit",
    help: "requests per key and minute, or off",
    type: "whole number or off",
    example: "600",
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
    type: "opt-out or opt-in",
    example: "opt-in",
    choices: () => consentModes,
    default: "opt-out",
    read: (text) => consentModes.find((one) => one === text) ?? new SettingFault("must be opt-out or opt-in"),
    write: (value) => value,
  },
  keepMs: {
    label: "keep",
    help: "how long click ids and visits are kept, 1d to 400d",
    example: "60d",
    default: 90 * dayMs,
    ...duration(400, dayMs),
  },
  keepEventsMs: {
    label: "keep_events",
    help: "how long events and deliveries are kept, 1d to 400d; unsent deliveries stay until they end",
    example: "60d",
    default: 90 * dayMs,
    ...duration(400, dayMs),
  },
  keepLogMs: {
    label: "keep_log",
    help: "how long the sync log keeps requests and responses, 1d to 400d",
    example: "30d",
    default: 90 * dayMs,
    ...duration(400, dayMs),
  },
  country: {
    label: "country",
    help: "two-letter country of phone numbers without a country code, or none",
    type: "two-letter country code or none",
    example: "DE",
    default: null,
    read: (text) =>
      text === "none" ? null : (countryCode(text) ?? new SettingFault("must be none or a two-letter country code like DE")),
    write: (value) => value ?? "none",
  },
  linkDomains: {
    label: "link_domains",
    help: "comma-separated domains of yours, at most 50: links to them, and to their subdomains, carry a visit over; with buy.stripe.com also links to Stripe Payment Links",
    type: "list of host names",
    example: "shop.example.com,buy.stripe.com",
    default: [],
    ...hostNames(50),
  },
  timeZone: {
    label: "time_zone",
    help: "time zone of the charts' days, like Europe/Berlin",
    default: "UTC",
    ...timeZone,
  },
  blockedDomains: {
    label: "block_domains",
    help: "comma-separated email domains whose events are filtered",
    type: "list of domains",
    example: "example.net,mail.example.org",
    default: [],
    ...wordList((word) =>
      /^(?:[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_-]*[\p{L}\p{M}\p{N}_])?\.)+[\p{L}\p{M}\p{N}-]{2,}$/u.test(word)
        ? null
        : say("must_be_domains", { word }),
    ),
  },
  blockDisposable: {
    label: "block_disposable",
    help: "on or off: filter events with disposable email addresses",
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
    help: "1 to 100: visits with this score or more are treated as bots, if at least two kinds of evidence agree",
    type: "whole number from 1 to 100",
    example: "80",
    default: 60,
    read: (text) =>
      /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100
        ? Number(text)
        : new SettingFault(say("must_be_whole", { min: 1, max: 100 })),
    write: String,
  },
  evidence: {
    label: "evidence",
    help: "comma-separated signals with a mode (on, shadow or off), such as pointer:press too short=on; all=on is for all that begin in shadow",
    type: "list of signals with a mode",
    example: "pointer:press too short=on",
    default: [],
    ...wordList((word) => (readEntry(word) ? null : say("must_be_evidence", { word }))),
  },
  allowUserAgents: {
    label: "allow_user_agents",
    help: "comma-separated parts of user agents that are never treated as bots, such as your own monitoring",
    type: "list of texts",
    example: "ExampleMonitor",
    default: [],
    ...wordList(userAgentFault),
  },
  denyUserAgents: {
    label: "deny_user_agents",
    help: "comma-separated parts of user agents that are always treated as bots",
    type: "list of texts",
    example: "ExampleScraper",
    default: [],
    ...wordList(deniedFault),
  },
  allowNetworks: {
    label: "allow_networks",
    help: "comma-separated addresses and networks whose visits are never treated as bots, such as your office",
    default: [],
    ...networks,
  },
  denyNetworks: {
    label: "deny_networks",
    help: "comma-separated addresses and networks whose visits are always treated as bots",
    default: [],
    ...networks,
  },
  allowCountries: {
    label: "allow_countries",
    help: "comma-separated countries whose visits are never treated as bots (needs CLEANCAST_COUNTRY_FILE)",
    default: [],
    ...countries,
  },
  denyCountries: {
    label: "deny_countries",
    help: "comma-separated countries whose visits are always treated as bots (needs CLEANCAST_COUNTRY_FILE)",
    default: [],
    ...countries,
  },
  alertEmails: {
    label: "alert_emails",
    help: "comma-separated email addresses that receive alerts (needs CLEANCAST_SMTP_URL)",
    default: [],
    ...mailAddresses,
    audit: (value) => countOf(value.length, "address", "addresses"),
  },
  alertWebhook: {
    label: "alert_webhook",
    help: "an https address that alerts are posted to, or none",
    default: null,
    ...webAddress,
    audit: webAddress.write,
  },
  conversionsWithoutEmail: {
    label: "conversions_without_email",
    help: "`on` also accepts events with a phone number or click ids in place of an email, such as calls.",
    ...onOff,
    default: false,
  },
  corrections: {
    label: "corrections",
    help: "on or off: refunds restate or take back the conversions of their orders, where a platform can",
    default: false,
    ...onOff,
  },
  alertSuccessRate: {
    label: "alert_success_rate",
    help: "1 to 100: alert when less than this percentage of a connection's attempts succeeds, or off",
    type: "whole number from 1 to 100, or off",
    example: "90",
    default: 80,
    ...wholeNumber(1, 100),
  },
  weeklyReport: {
    label: "weekly_report",
    help: "day and hour at which the recipients of alerts get the report of the week, like monday 8 (in the site's time zone), or off",
    default: null,
    ...weekTime,
  },
  reportLanguage: {
    label: "report_language",
    help: "language of the weekly report: en or de",
    type: "en or de",
    example: "de",
    choices: () => reportLanguages,
    default: "en",
    read: (text) =>
      reportLanguages.find((one) => one === text) ??
      new SettingFault(say("must_be_one_of", { known: reportLanguages.join(", ") })),
    write: (value) => value,
  },
};

const names = Object.keys(declared) as (keyof SiteSettings)[];
export const settingLabels: readonly { label: string; help: string; type: string; example: string }[] = names.map(
  (name) => declared[name],
);

/** All values of a setting; empty where they cannot be listed. */
export const choicesOf = (label: string): readonly string[] =>
  names
    .map((name) => declared[name])
    .find((one) => one.label === label)
    ?.choices?.() ?? [];

/** The name of a setting as people write it. */
export const labelOf = (name: keyof SiteSettings) => declared[name].label;

/** Completes stored settings with the current defaults. Lists that are as in `known` stay its arrays, and are not compiled again. */
export function withDefaults(stored: Record<string, unknown>, known?: SiteSettings): SiteSettings {
  const valueOf = (name: keyof SiteSettings) => {
    const value = stored[name] ?? declared[name].default;
    return known && isSameList(known[name], value) ? known[name] : value;
  };
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as SiteSettings;
}

const isSameList = (known: unknown, value: unknown) =>
  Array.isArray(known) && Array.isArray(value) && known.length === value.length && value.every((entry, i) => entry === known[i]);

/** Converts changes like `{dedup_order: "30d"}` to stored values, or says what is wrong with them. */
export function readSettings(changes: Record<string, string>): Partial<SiteSettings> | SettingFault {
  const changed: Record<string, unknown> = {};
  for (const [label, text] of Object.entries(changes)) {
    const name = names.find((one) => declared[one].label === label);
    if (!name) {
      const known = names.map((one) => declared[one].label).join(", ");
      return new SettingFault(say("unknown_site_setting", { setting: label, known }));
    }
    const value = declared[name].read(text);
    if (value instanceof SettingFault) return new SettingFault(say("setting_fault", { setting: label, fault: value.said }));
    changed[name] = value;
  }
  return changed;
}

/** Converts stored settings to the texts that people write. */
export function describeSettings(settings: SiteSettings): Record<string, string> {
  const write = <Name extends keyof SiteSettings>(name: Name) => declared[name].write(settings[name]);
  return Object.fromEntries(names.map((name) => [declared[name].label, write(name)]));
}

/** Selects the stored settings with these labels. */
export function pickSettings(settings: SiteSettings, labels: readonly string[]): Partial<SiteSettings> | SettingFault {
  const unknown = labels.find((label) => !names.some((name) => declared[name].label === label));
  if (unknown !== undefined) return new SettingFault(say("not_a_site_setting", { setting: unknown }));
  const picked = names.filter((name) => labels.includes(declared[name].label));
  return Object.fromEntries(picked.map((name) => [name, settings[name]]));
}

/** Converts `changes` to the form that the audit log may keep. */
export function auditedChanges(changes: Record<string, string>, changed: Partial<SiteSettings>): Record<string, string> {
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
