// Reads and writes the values of settings in the form that people use.

import { say } from "../kernel/messages/message.ts";
import { Fault } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs, hourMs, minuteMs, secondMs, weekDays } from "../kernel/time.ts";
import { isPublicName, readPastedHost } from "./hosts.ts";
import { matchesCommonUserAgent } from "../traffic/lists.ts";
import { readNetwork } from "../traffic/networks/addresses.ts";

export class SettingFault extends Fault {}

/** Opened on first use: it takes 20 ms, a twentieth of the start of the relay. */
let regionNames: Intl.DisplayNames | null = null;
const noCountries = new Set(["EU", "EZ", "UN", "XA", "XB", "ZZ"]);
const units: Record<string, number> = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs };

export const onOff = {
  type: "on or off",
  example: "on",
  choices: () => ["on", "off"],
  read: (text: string) => (text === "on" ? true : text === "off" ? false : new SettingFault("must be on or off")),
  write: (value: boolean) => (value ? "on" : "off"),
};

export const duration = (maxDays: number, minMs = secondMs) => ({
  type: minMs < dayMs ? `duration up to ${maxDays}d` : `duration from 1d to ${maxDays}d`,
  read: (text: string) => {
    const match = /^(\d{1,9})([smhd])$/.exec(text);
    const ms = match ? Number(match[1]) * (units[match[2] as string] as number) : Number.NaN;
    return ms >= minMs && ms <= maxDays * dayMs
      ? ms
      : new SettingFault(minMs < dayMs ? say("must_be_at_most_days", { max: maxDays }) : say("must_be_days", { max: maxDays }));
  },
  write: (ms: number) => {
    const unit = ["d", "h", "m", "s"].find((one) => ms % (units[one] as number) === 0) ?? "s";
    return `${ms / (units[unit] as number)}${unit}`;
  },
});

/** A whole number from `min` to `max`; `off` is 0. */
export const wholeNumber = (min: number, max: number) => ({
  read: (text: string) => {
    if (text === "off") return 0;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : new SettingFault(say("must_be_off_or_whole", { min, max }));
  },
  write: (value: number) => (value === 0 ? "off" : String(value)),
});

/** A day of the week and an hour of it. */
export const weekTime = {
  type: "day and hour, or off",
  example: "monday 8",
  read: (text: string) => {
    if (text === "off") return null;
    const [, day = "", hour = ""] = /^([a-z]+) (\d{1,2})$/.exec(text.trim().toLowerCase()) ?? [];
    return (weekDays as readonly string[]).includes(day) && Number(hour) < 24
      ? `${day} ${Number(hour)}`
      : new SettingFault("must be off or a day and an hour, like monday 8");
  },
  write: (value: string | null) => value ?? "off",
};

const maxAddresses = 20;

export const mailAddresses = {
  type: "list of email addresses",
  example: "ops@example.com",
  read: (text: string) => {
    const list = wordList((word) =>
      word.length <= 254 && /^[^\s@,;:<>()"\\]+@[^\s@,;:<>()"\\]+\.[^\s@.,;:<>()"\\]+$/.test(word)
        ? null
        : "must be email addresses separated by commas",
    ).read(text);
    return Array.isArray(list) && list.length > maxAddresses
      ? new SettingFault(say("must_have_addresses", { max: maxAddresses }))
      : list;
  },
  write: (value: string[]) => value.join(","),
};

/** An address may contain a token in its path: only its origin is shown. */
export const webAddress = {
  type: "address or none",
  example: "https://example.com/alerts",
  read: (text: string) => {
    if (text === "" || text === "none") return null;
    const url = text.length <= 2000 && URL.canParse(text) ? new URL(text) : null;
    return url && /^https?:$/.test(url.protocol) && !url.username && !url.password
      ? text
      : new SettingFault("must be none or an https address without user name and password");
  },
  write: (value: string | null) => (value === null ? "none" : `${new URL(value).origin}/…`),
};

/** Every node holds the lists in memory. */
export const maxListLength = 10_000;

export const wordList = (fault: (word: string) => string | null) => ({
  read: (text: string) => {
    const list = [...new Set(text.split(",").map((word) => word.trim().toLowerCase()))].filter(Boolean);
    if (list.length > maxListLength) return new SettingFault(say("must_have_entries", { max: maxListLength }));
    const wrong = list.map(fault).find((message) => message !== null);
    return wrong ? new SettingFault(wrong) : list;
  },
  write: (value: string[]) => value.join(","),
});

export const hostNames = (max: number) => ({
  read: (text: string) => {
    const words = text.split(",").map((word) => word.trim());
    const names = words.filter(Boolean).map((word) => ({ word, host: readPastedHost(word) }));
    const wrong = names.find(({ host }) => host === null || !isPublicName(host));
    if (wrong) return new SettingFault(say("must_be_domains", { word: wrong.word.slice(0, 100) }));
    const hosts = new Set(names.flatMap(({ host }) => host ?? []));
    return hosts.size > max ? new SettingFault(say("must_have_entries", { max })) : [...hosts];
  },
  write: (value: string[]) => value.join(","),
});

export const persons = {
  type: "list of hashed emails",
  example: "0123456789abcdef".repeat(4),
  ...wordList((word) => (/^[0-9a-f]{64}$/.test(word) ? null : "must be hashed emails of 64 hex characters")),
  // The audit log outlives a person's erasure.
  audit: (value: readonly string[]) => countOf(value.length, "person"),
};

export const userAgentFault = (word: string) =>
  word.length <= 200 && word.replaceAll("*", "").length >= 3
    ? null
    : "must be parts of user agents, 3 to 200 characters each; * stands for anything";

/** A comma splits a pattern in two, and a part such as "like" is in every user agent. */
export const deniedFault = (word: string) =>
  userAgentFault(word) ?? (matchesCommonUserAgent(word) ? say("would_deny_browsers", { word }) : null);

export const networks = {
  type: "list of addresses and networks",
  example: "203.0.113.0/24",
  ...wordList((word) => (readNetwork(word) ? null : say("must_be_networks", { word }))),
};

export const countries = {
  type: "list of two-letter country codes",
  example: "DE,AT",
  read: (text: string) => {
    const list = [...new Set(text.split(",").map((word) => word.trim()))].filter(Boolean);
    const codes = list.map(countryCode);
    const wrong = codes.indexOf(null);
    return wrong < 0
      ? codes.filter((code) => code !== null)
      : new SettingFault(say("must_be_countries", { word: list[wrong] ?? "" }));
  },
  write: (value: string[]) => value.join(","),
};

export function countryCode(text: string): string | null {
  // Intl turns aliases into the code that platforms know: UK becomes GB.
  const code = /^[A-Za-z]{2}$/.test(text) ? (new Intl.Locale(`und-${text}`).region ?? "") : "";
  if (code === "" || noCountries.has(code)) return null;
  regionNames ??= new Intl.DisplayNames("en", { type: "region" });
  return regionNames.of(code) === code ? null : code;
}

export const timeZone = {
  type: "time zone",
  example: "Europe/Berlin",
  choices: () => ["UTC", ...Intl.supportedValuesOf("timeZone")],
  read(text: string): string | SettingFault {
    try {
      // Intl returns the usual spelling of the name, and throws if there is no such zone.
      return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone;
    } catch {
      return new SettingFault("must be a time zone like Europe/Berlin or UTC");
    }
  },
  write: (value: string) => value,
};
