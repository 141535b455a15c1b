// The only reader of the environment. Every variable stands here once, with its meaning, default and check; all
// faults are reported together, each with the variable's name and the remedy. .env.example is checked against it.

import { accessSync, constants, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readKeys } from "../maintenance/encryptionKeys.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { readServers } from "../domains/names.ts";
import { readTrusted, type TransportRules } from "../http/transport.ts";
import { platformOf } from "../platforms/index.ts";
import type { Keys } from "../store/engine/seal.ts";
import { findUrlFault } from "../store/engine/postgres/servers.ts";
import type { StoreLocation } from "../store/open.ts";

export type Config = {
  host: string;
  port: number;
  dataFolder: string;
  store: StoreLocation;
  /** What is sealed at rest; made for a new database. */
  encryptionKeys: Keys;
  /** The one of them that seals. */
  encryptionKey: () => Buffer;
  /** Where the key is; null where the environment holds it. */
  keyFile: string | null;
  transport: TransportRules;
  tls: { certFile: string; keyFile: string } | null;
  platformOrigins: Record<string, string>;
  allowPrivate: AllowList;
  /** Whom checks of hosts ask about names; empty is the system's way. */
  dnsServers: string[];
  /** How browsers reach this relay; platforms send people back there after signing in. */
  publicUrl: string;
  /** CLEANCAST_URL was given; else the address that the relay listens on has to do. */
  hasUrl: boolean;
  /** A MaxMind file that tells countries, and a newer list of networks than the shipped one. */
  countryFile: string | null;
  networksFile: string | null;
  retryScheduleMs: number[];
  /** Length of an outbound webhook's period, and how long to wait after its failures. */
  pushMs: number;
  pushRetryMs: number[];
  /** How mail is sent; null where it is not. */
  smtp: { url: string; from: string } | null;
  /** How often it is looked for what needs a person. */
  alertMs: number;
  connectMs: number;
  attemptMs: number;
  answerMs: number;
  leaseMs: number;
  maxInFlight: number;
  /** Reports of the tag per address and minute. */
  collectPerMinute: number;
  logLevel: string;
  /** Opens /metrics to whoever holds it. */
  metricsToken: string | null;
  /** Events are counted by site too: as many series as there are sites. */
  metricsBySite: boolean;
  /** How long /readyz says no before a stop closes the port. */
  drainMs: number;
};

export class ConfigFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`Cleancast cannot start:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.faults = faults;
  }
}

type Environment = Record<string, string | undefined>;

const logLevels = ["trace", "debug", "info", "warn", "error", "silent"];

export function readConfig(env: Environment = process.env): Config {
  const faults: string[] = [];
  const get = (name: string) => env[name]?.trim() || undefined;

  function number(name: string, fallback: number, least: number, most: number): number {
    const text = get(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (Number.isFinite(value) && value >= least && value <= most) return value;
    faults.push(`${name} is "${text}"; set it to a number from ${least} to ${most}.`);
    return fallback;
  }

  function whole(name: string, fallback: number, least: number, most: number): number {
    const value = number(name, fallback, least, most);
    if (!Number.isInteger(value)) faults.push(`${name} is "${value}"; set it to a whole number.`);
    return value;
  }

  function onOff(name: string, fallback: boolean): boolean {
    const text = get(name)?.toLowerCase();
    if (text === undefined) return fallback;
    if (["true", "1", "on", "yes"].includes(text)) return true;
    if (["false", "0", "off", "no"].includes(text)) return false;
    faults.push(`${name} is "${text}"; set it to true or false.`);
    return fallback;
  }

  function seconds(name: string, fallback: readonly number[]): number[] {
    const text = get(name);
    if (text === undefined) return fallback.map((one) => one * 1000);
    const values = text.split(",").map((one) => Number(one.trim() || Number.NaN));
    if (values.every((one) => Number.isFinite(one) && one > 0)) return values.map((one) => one * 1000);
    faults.push(`${name} is "${text}"; set it to seconds separated by commas, like 10,60,300.`);
    return [];
  }

  const port = whole("PORT", 8080, 0, 65_535);
  const dataFolder = resolve(get("CLEANCAST_DATA") ?? "data");
  const attemptMs = number("CLEANCAST_ATTEMPT_SECONDS", 8, 0.1, 60) * 1000;
  const answerMs = number("CLEANCAST_ANSWER_SECONDS", 10, 0.1, 120) * 1000;
  const leaseMs = number("CLEANCAST_LEASE_SECONDS", 30, 1, 600) * 1000;
  // A lease must outlive the longest wait in a lane and the attempt after it, or two nodes could send at once.
  if (leaseMs < answerMs + attemptMs) {
    faults.push(
      `CLEANCAST_LEASE_SECONDS is ${leaseMs / 1000}; set it to at least CLEANCAST_ANSWER_SECONDS + ` +
        `CLEANCAST_ATTEMPT_SECONDS (${(answerMs + attemptMs) / 1000}).`,
    );
  }

  const keyFile = join(dataFolder, "encryption.key");
  const key = { CLEANCAST_ENCRYPTION_KEY: get("CLEANCAST_ENCRYPTION_KEY") };
  const other = { CLEANCAST_ENCRYPTION_KEY_OTHER: get("CLEANCAST_ENCRYPTION_KEY_OTHER") };
  const connections = number("CLEANCAST_DATABASE_CONNECTIONS", 10, 2, 500);
  const store = readStore(get("DATABASE_URL"), dataFolder, connections, faults);
  // Whether a database on a server is new is asked when it is opened.
  const mayCreate = () => store.engine === "sqlite" && !existsSync(store.file);
  const place = { file: keyFile, mayCreate };
  const keys = readKeys({ ...key, ...other }, place, faults, (fault) => new ConfigFaults([fault]));
  const config: Config = {
    host: get("HOST") ?? "0.0.0.0",
    port,
    dataFolder,
    store,
    encryptionKeys: keys,
    encryptionKey: () => keys()[0] as Buffer,
    keyFile: key.CLEANCAST_ENCRYPTION_KEY === undefined ? keyFile : null,
    transport: {
      trusted: readProxies(get("CLEANCAST_TRUST_PROXY"), faults),
      requireTls: onOff("CLEANCAST_REQUIRE_TLS", false),
    },
    tls: readTls(get("TLS_CERT_FILE"), get("TLS_KEY_FILE"), faults),
    platformOrigins: readOrigins(get("CLEANCAST_PLATFORM_ORIGINS"), faults),
    allowPrivate: readAllowed(get("CLEANCAST_ALLOW_PRIVATE"), faults),
    dnsServers: readDns(get("CLEANCAST_DNS"), faults),
    publicUrl: readPublicUrl(get("CLEANCAST_URL"), port, faults),
    hasUrl: get("CLEANCAST_URL") !== undefined,
    countryFile: get("CLEANCAST_COUNTRY_FILE") ?? null,
    networksFile: get("CLEANCAST_NETWORKS_FILE") ?? null,
    retryScheduleMs: seconds("CLEANCAST_RETRY_SECONDS", [10, 60, 300, 1800, 7200, 18_000, 36_000, 86_400]),
    pushMs: number("CLEANCAST_PUSH_SECONDS", 900, 1, 86_400) * 1000,
    pushRetryMs: seconds("CLEANCAST_PUSH_RETRY_SECONDS", [5, 300, 1800, 7200, 18_000, 36_000, 36_000]),
    smtp: readSmtp(get("CLEANCAST_SMTP_URL"), get("CLEANCAST_MAIL_FROM"), faults),
    alertMs: number("CLEANCAST_ALERT_SECONDS", 60, 1, 3600) * 1000,
    connectMs: number("CLEANCAST_CONNECT_SECONDS", 3, 0.1, 60) * 1000,
    attemptMs,
    answerMs,
    leaseMs,
    maxInFlight: number("CLEANCAST_MAX_IN_FLIGHT", 4096, 1, 1_000_000),
    collectPerMinute: number("CLEANCAST_COLLECT_PER_MINUTE", 600, 1, 1_000_000),
    logLevel: get("LOG_LEVEL") ?? "info",
    metricsToken: get("CLEANCAST_METRICS_TOKEN") ?? null,
    metricsBySite: onOff("CLEANCAST_METRICS_SITES", false),
    drainMs: number("CLEANCAST_DRAIN_SECONDS", 0, 0, 600) * 1000,
  };
  if (config.metricsToken !== null && !/^\S{16,}$/.test(config.metricsToken))
    faults.push("CLEANCAST_METRICS_TOKEN must be 16 characters or more, without spaces.");
  if (!logLevels.includes(config.logLevel)) {
    faults.push(`LOG_LEVEL is "${config.logLevel}"; set it to one of ${logLevels.join(", ")}.`);
  }
  if (faults.length) throw new ConfigFaults(faults);
  return config;
}

/** Where the embedded database is, used or not. */
export const embeddedFile = (folder: string) => join(folder, "cleancast.db");

function readStore(
  url: string | undefined,
  folder: string,
  connections: number,
  faults: string[],
): StoreLocation {
  if (url === undefined) return { engine: "sqlite", file: embeddedFile(folder) };
  const fault = findUrlFault(url);
  if (fault) faults.push(fault);
  return { engine: "postgres", url, connections };
}

function readProxies(text: string | undefined, faults: string[]): TransportRules["trusted"] {
  const trusted = readTrusted(text ?? "loopback");
  if (typeof trusted === "function") return trusted;
  faults.push(
    `CLEANCAST_TRUST_PROXY has "${trusted.fault}"; use loopback, addresses or networks like 10.0.0.0/8.`,
  );
  return () => false;
}

function readAllowed(text: string | undefined, faults: string[]): AllowList {
  const allowed = readAllowList(text ?? "");
  if (!("fault" in allowed)) return allowed;
  faults.push(
    `CLEANCAST_ALLOW_PRIVATE has "${allowed.fault}"; use host names, addresses or networks like 10.0.0.0/8.`,
  );
  return { hosts: new Set(), networks: [] };
}

function readDns(text: string | undefined, faults: string[]): string[] {
  const servers = readServers(text ?? "");
  if (Array.isArray(servers)) return servers;
  faults.push(`CLEANCAST_DNS has "${servers.fault}"; use addresses of DNS servers like 9.9.9.9.`);
  return [];
}

function readTls(certFile: string | undefined, keyFile: string | undefined, faults: string[]): Config["tls"] {
  if (!certFile && !keyFile) return null;
  if (certFile && keyFile) {
    for (const [name, file] of Object.entries({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile })) {
      try {
        accessSync(file, constants.R_OK);
      } catch {
        faults.push(
          `${name} is "${file}", which cannot be read; set it to a PEM file that this user may read.`,
        );
      }
    }
    return { certFile, keyFile };
  }
  faults.push(
    `${certFile ? "TLS_KEY_FILE" : "TLS_CERT_FILE"} is missing; HTTPS needs both TLS_CERT_FILE and TLS_KEY_FILE.`,
  );
  return null;
}

/** The URL holds a password: it is not repeated. */
function readSmtp(url: string | undefined, from: string | undefined, faults: string[]): Config["smtp"] {
  if (url === undefined) return null;
  if (!URL.canParse(url) || !/^smtps?:$/.test(new URL(url).protocol) || !new URL(url).hostname) {
    faults.push("CLEANCAST_SMTP_URL must look like smtp://user:password@mail.example.com:587 (or smtps://).");
  }
  if (from === undefined || !/^(?:[^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(from)) {
    faults.push('CLEANCAST_MAIL_FROM must be the sender of mails, like "Cleancast <alerts@example.com>".');
  }
  return { url, from: from ?? "" };
}

function readPublicUrl(text: string | undefined, port: number, faults: string[]): string {
  if (text === undefined) return `http://localhost:${port}`;
  if (/^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text)) return new URL(text).origin;
  faults.push(`CLEANCAST_URL is "${text}"; set it to an origin like https://cc.example.com.`);
  return "";
}

function readOrigins(text: string | undefined, faults: string[]): Record<string, string> {
  const remedy = 'set it to JSON like {"meta":"https://proxy.example.com"}';
  let parsed: unknown = {};
  try {
    parsed = JSON.parse(text ?? "{}");
  } catch {
    faults.push(`CLEANCAST_PLATFORM_ORIGINS is not JSON; ${remedy}.`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    faults.push(`CLEANCAST_PLATFORM_ORIGINS is not a JSON object; ${remedy}.`);
    return {};
  }
  for (const [platform, origin] of Object.entries(parsed)) {
    if (!platformOf(platform))
      faults.push(`CLEANCAST_PLATFORM_ORIGINS names "${platform}", which is no platform.`);
    if (typeof origin !== "string" || !/^https?:\/\/[^/?#]+\/?$/.test(origin) || !URL.canParse(origin)) {
      faults.push(`CLEANCAST_PLATFORM_ORIGINS has no http(s) origin for "${platform}"; ${remedy}.`);
    }
  }
  return parsed as Record<string, string>;
}
