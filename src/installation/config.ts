// The only reader of the environment. Every variable is read here once, with its default and its check; all faults are
// reported together, each with the variable's name and the remedy. A test compares this file with .env.example.

import { accessSync, constants, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readSingleSignOn } from "../access/singleSignOn/settings.ts";
import { readBackupSettings } from "../maintenance/backups/settings.ts";
import { readKeys } from "../maintenance/encryptionKeys.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { readDnsServers } from "../domains/dns.ts";
import { parseEdgeSecrets, type EdgeSecret } from "../http/edge.ts";
import { parsePlainNetworks, parseTrustedProxies, type TransportRules } from "../http/transport.ts";
import { findUrlFault } from "../store/engine/postgres/servers.ts";
import type { StoreLocation } from "../store/connect.ts";
import { readTraceSettings } from "../observability/traces/settings.ts";
import { didYouMean } from "../kernel/text.ts";
import { Environment, type Setting, type UnknownVariable } from "./environment.ts";
import { readOrigins } from "./platformOrigins.ts";

export type Config = ReturnType<typeof readAll> & { unknownVariables: readonly UnknownVariable[] };

type Tls = { certFile: string; keyFile: string };
type Smtp = { url: string; from: string };

export class ConfigFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`Cleancast cannot start:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.faults = faults;
  }
}

export function readConfig(variables: Record<string, string | undefined> = process.env): Config {
  const env = new Environment(variables);
  const config = readAll(env);
  const unknownVariables = env.listUnknown();
  // A misspelled name often explains why a setting is missing.
  if (env.faults.length) throw new ConfigFaults([...env.faults, ...unknownVariables.map(unknownText)]);
  return { ...config, unknownVariables };
}

export const describeUnknown = ({ name, nearest }: UnknownVariable) => ({
  what: `${name} is not a setting and has no effect`,
  remedy: didYouMean(nearest) || "Remove it, or look for the right name in .env.example.",
});

function unknownText(unknown: UnknownVariable): string {
  const { what, remedy } = describeUnknown(unknown);
  return `${what}. ${remedy}`;
}

/** Reads a variable to which a configuration file refers. */
export const readVariable = (name: string, variables: Record<string, string | undefined> = process.env): string | null =>
  variables[name] ?? null;

/** True where npm or npx has started this process. */
export const isRunByNpm = (variables: Record<string, string | undefined> = process.env) => variables.npm_command !== undefined;

function readAll(env: Environment) {
  return {
    ...readServer(env),
    ...readData(env),
    ...readOutgoing(env),
    ...readTimes(env),
    ...readObservability(env),
    backups: readBackups(env),
    exportFolder: env.text("CLEANCAST_EXPORT_FOLDER") ?? null,
    exportBucket: readExportBucket(env),
    ...readSignIn(env),
    /** Create a site, a key and a sandbox connection at the first start. */
    firstSite: env.flag("CLEANCAST_FIRST_SITE", true),
    /** A MaxMind file with countries. */
    countryFile: env.text("CLEANCAST_COUNTRY_FILE") ?? null,
    /** A newer list of networks than the shipped one. */
    networksFile: env.text("CLEANCAST_NETWORKS_FILE") ?? null,
    maxInFlight: env.number("CLEANCAST_MAX_IN_FLIGHT", 4096, 1, 1_000_000),
    /** Reports of the tag per address and minute. */
    collectPerMinute: env.number("CLEANCAST_COLLECT_PER_MINUTE", 600, 1, 1_000_000),
  };
}

/** Lists all settings, as they are read. */
export function describeSettings(): ReadonlyMap<string, Setting> {
  const env = new Environment({});
  readAll(env);
  return env.known;
}

function readServer(env: Environment) {
  const port = env.integer("PORT", 8080, 0, 65_535);
  const url = env.text("CLEANCAST_URL");
  const requireTls = env.flag("CLEANCAST_REQUIRE_TLS", false);
  const plainFrom = env.text("CLEANCAST_ALLOW_HTTP_FROM");
  return {
    host: env.text("HOST", "0.0.0.0"),
    port,
    transport: {
      trusted: readProxies(env.text("CLEANCAST_TRUST_PROXY", "loopback"), env.faults),
      requireTls,
      plainFrom: readPlainNetworks(plainFrom, requireTls, env.faults),
    },
    /** The networks as the operator wrote them; null where plain HTTP is for this machine only. */
    plainNetworks: plainFrom ?? null,
    edgeSecrets: readEdgeSecrets(env.text("CLEANCAST_EDGE_SECRETS"), env.faults),
    tls: readTls(env.text("TLS_CERT_FILE"), env.text("TLS_KEY_FILE"), env.faults),
    /** The origin at which browsers reach this relay; platforms redirect people there after they signed in. */
    publicUrl: readPublicUrl(url, port, env.faults),
    /** CLEANCAST_URL is set; otherwise `publicUrl` is a guess from the port. */
    hasUrl: url !== undefined,
  };
}

function readData(env: Environment) {
  const dataFolder = resolve(env.text("CLEANCAST_DATA", "data"));
  const connections = env.number("CLEANCAST_DATABASE_CONNECTIONS", 10, 2, 500);
  const store = readStore(env.text("DATABASE_URL"), dataFolder, connections, env.faults);
  const keyFile = join(dataFolder, "encryption.key");
  const keyTexts = {
    CLEANCAST_ENCRYPTION_KEY: env.text("CLEANCAST_ENCRYPTION_KEY"),
    CLEANCAST_ENCRYPTION_KEY_OTHER: env.text("CLEANCAST_ENCRYPTION_KEY_OTHER"),
  };
  // A database on a server can be new too; that is found out when it is opened.
  const mayCreate = () => store.engine === "sqlite" && !existsSync(store.file);
  const place = { file: keyFile, mayCreate };
  const keys = readKeys(keyTexts, place, env.faults, (fault) => new ConfigFaults([fault]));
  return {
    dataFolder,
    store,
    /** The keys that decrypt; created for a new database. */
    encryptionKeys: keys,
    /** The key that encrypts. */
    encryptionKey: () => keys()[0] as Buffer,
    /** The file of the key; null where the environment holds it. */
    keyFile: keyTexts.CLEANCAST_ENCRYPTION_KEY === undefined ? keyFile : null,
  };
}

function readOutgoing(env: Environment) {
  return {
    platformOrigins: readOrigins(env.text("CLEANCAST_PLATFORM_ORIGINS"), env.faults),
    allowPrivate: readAllowed(env.text("CLEANCAST_ALLOW_PRIVATE"), env.faults),
    /** DNS servers for the checks of hosts; empty means the system's. */
    dnsServers: readDns(env.text("CLEANCAST_DNS"), env.faults),
    /** The mail server; null where no mail is sent. */
    smtp: readSmtp(env.text("CLEANCAST_SMTP_URL"), env.text("CLEANCAST_MAIL_FROM"), env.faults),
  };
}

function readTimes(env: Environment) {
  const attemptMs = env.milliseconds("CLEANCAST_ATTEMPT_SECONDS", 8, 0.1, 60);
  const answerMs = env.milliseconds("CLEANCAST_ANSWER_SECONDS", 10, 0.1, 120);
  const leaseMs = env.milliseconds("CLEANCAST_LEASE_SECONDS", 30, 1, 600);
  // A lease must outlive the longest wait in a lane and the attempt after it, or two nodes could send at once.
  if (leaseMs < answerMs + attemptMs) {
    env.faults.push(
      `CLEANCAST_LEASE_SECONDS is ${leaseMs / 1000}; set it to at least CLEANCAST_ANSWER_SECONDS + ` +
        `CLEANCAST_ATTEMPT_SECONDS (${(answerMs + attemptMs) / 1000}).`,
    );
  }
  return {
    connectMs: env.milliseconds("CLEANCAST_CONNECT_SECONDS", 3, 0.1, 60),
    attemptMs,
    answerMs,
    leaseMs,
    retryScheduleMs: env.schedule("CLEANCAST_RETRY_SECONDS", [10, 60, 300, 1800, 7200, 18_000, 36_000, 86_400]),
    /** The length of an outbound webhook's period. */
    pushMs: env.milliseconds("CLEANCAST_PUSH_SECONDS", 900, 1, 86_400),
    pushRetryMs: env.schedule("CLEANCAST_PUSH_RETRY_SECONDS", [5, 300, 1800, 7200, 18_000, 36_000, 36_000]),
    /** How often background work looks for something to do. Only tests set it, so that they need not wait: no setting for operators. */
    pollMs: env.number("CLEANCAST_TICK_MS", 1000, 10, 1000),
    /** The time between two checks for alerts. */
    alertMs: env.milliseconds("CLEANCAST_ALERT_SECONDS", 60, 1, 3600),
    /** The time between two looks for confirmations and corrections that are due. */
    confirmationMs: env.milliseconds("CLEANCAST_CONFIRMATION_SECONDS", 60, 0.1, 3600),
    /** The time between the first 503 of /readyz in a shutdown and the closing of the port. */
    drainMs: env.milliseconds("CLEANCAST_DRAIN_SECONDS", 0, 0, 600),
  };
}

function readBackups(env: Environment) {
  return readBackupSettings(
    {
      folder: env.text("CLEANCAST_BACKUP_FOLDER"),
      times: env.text("CLEANCAST_BACKUP_TIMES", "03:00"),
      keep: env.integer("CLEANCAST_BACKUP_KEEP", 14, 1, 10_000),
      keepDays: env.number("CLEANCAST_BACKUP_KEEP_DAYS", 0, 0, 3650),
      key: env.text("CLEANCAST_BACKUP_KEY"),
      passphrase: env.text("CLEANCAST_BACKUP_PASSPHRASE"),
      hook: env.text("CLEANCAST_BACKUP_HOOK"),
      hookMs: env.milliseconds("CLEANCAST_BACKUP_HOOK_SECONDS", 3600, 1, 86_400),
      environment: env.others(),
    },
    env.faults,
  );
}

function readSignIn(env: Environment) {
  const passwords = env.flag("CLEANCAST_PASSWORDS", true);
  const texts = {
    issuer: env.text("CLEANCAST_OIDC_ISSUER"),
    clientId: env.text("CLEANCAST_OIDC_CLIENT_ID"),
    clientSecret: env.text("CLEANCAST_OIDC_CLIENT_SECRET"),
    name: env.text("CLEANCAST_OIDC_NAME", "single sign-on"),
    domains: env.text("CLEANCAST_OIDC_DOMAINS"),
    passwords,
  };
  return {
    /** People may sign in with a password. */
    passwords,
    /** The OpenID provider; null where there is none. */
    singleSignOn: readSingleSignOn(texts, env.faults),
  };
}

const logLevels = ["trace", "debug", "info", "warn", "error", "silent"];

function readObservability(env: Environment) {
  const logLevel = env.text("LOG_LEVEL", "info");
  if (!logLevels.includes(logLevel)) env.faults.push(`LOG_LEVEL is "${logLevel}"; set it to one of ${logLevels.join(", ")}.`);
  const metricsToken = env.text("CLEANCAST_METRICS_TOKEN") ?? null;
  if (metricsToken !== null && !/^\S{16,}$/.test(metricsToken))
    env.faults.push("CLEANCAST_METRICS_TOKEN must be 16 characters or more, without spaces.");
  return {
    logLevel,
    /** Grants access to /metrics. */
    metricsToken,
    /** Counts events by site too, which makes as many series as there are sites. */
    metricsBySite: env.flag("CLEANCAST_METRICS_SITES", false),
    /** Where traces go; null where none are made. */
    traces: readTraceSettings(
      {
        endpoint: env.text("OTEL_EXPORTER_OTLP_ENDPOINT"),
        headers: env.text("OTEL_EXPORTER_OTLP_HEADERS"),
        protocol: env.text("OTEL_EXPORTER_OTLP_PROTOCOL"),
        serviceName: env.text("OTEL_SERVICE_NAME", "cleancast"),
        sampler: env.text("OTEL_TRACES_SAMPLER", "parentbased_always_on"),
        argument: env.text("OTEL_TRACES_SAMPLER_ARG"),
        passesOn: env.flag("CLEANCAST_TRACE_WEBHOOKS", false),
      },
      env.faults,
    ),
  };
}

/** The file of the embedded database, whether it is used or not. */
export const embeddedFile = (folder: string) => join(folder, "cleancast.db");

function readStore(url: string | undefined, folder: string, connections: number, faults: string[]): StoreLocation {
  if (url === undefined) return { engine: "sqlite", file: embeddedFile(folder) };
  const fault = findUrlFault(url, {
    name: "DATABASE_URL",
    otherwise: "leave it out for the embedded database",
  });
  if (fault) faults.push(fault);
  return { engine: "postgres", url, connections };
}

function readProxies(text: string, faults: string[]): TransportRules["trusted"] {
  const trusted = parseTrustedProxies(text);
  if (typeof trusted === "function") return trusted;
  faults.push(`CLEANCAST_TRUST_PROXY has "${trusted.fault}"; use loopback, addresses or networks like 10.0.0.0/8.`);
  return () => false;
}

function readPlainNetworks(text: string | undefined, requireTls: boolean, faults: string[]) {
  if (text === undefined) return null;
  if (requireTls) faults.push("CLEANCAST_ALLOW_HTTP_FROM and CLEANCAST_REQUIRE_TLS contradict each other; remove one of them.");
  const networks = parsePlainNetworks(text);
  if (typeof networks === "function") return networks;
  faults.push(
    `CLEANCAST_ALLOW_HTTP_FROM has "${networks.fault}"; use "private", or private addresses and networks like 192.168.0.0/16. ` +
      "Over a public network passwords and keys must not travel unencrypted.",
  );
  return null;
}

/** Null without an endpoint. */
function readExportBucket(env: Environment) {
  const endpoint = env.text("CLEANCAST_EXPORT_S3_ENDPOINT");
  const region = env.text("CLEANCAST_EXPORT_S3_REGION", "us-east-1");
  const keyId = env.text("CLEANCAST_EXPORT_S3_KEY_ID");
  const secret = env.text("CLEANCAST_EXPORT_S3_SECRET");
  if (endpoint === undefined && keyId === undefined && secret === undefined) return null;
  const isUrl = endpoint !== undefined && /^https?:\/\/[^/?#]+(?:\/[^?#]*)?$/.test(endpoint) && URL.canParse(endpoint);
  if (!isUrl) env.faults.push("CLEANCAST_EXPORT_S3_ENDPOINT is not an address like https://s3.eu-central-1.amazonaws.com.");
  if (!keyId || !secret)
    env.faults.push("CLEANCAST_EXPORT_S3_KEY_ID and CLEANCAST_EXPORT_S3_SECRET are needed for a bucket; set both.");
  return isUrl && keyId && secret ? { endpoint: new URL(endpoint), credentials: { keyId, secret, region } } : null;
}

function readEdgeSecrets(text: string | undefined, faults: string[]): EdgeSecret[] {
  const secrets = parseEdgeSecrets(text ?? "");
  if (Array.isArray(secrets)) return secrets;
  faults.push(
    `CLEANCAST_EDGE_SECRETS has an entry that is not SITE=SECRET, number ${secrets.fault}; a secret has 32 to 200 letters, digits, - and _.`,
  );
  return [];
}

function readAllowed(text: string | undefined, faults: string[]): AllowList {
  const allowed = readAllowList(text ?? "");
  if (!("fault" in allowed)) return allowed;
  faults.push(`CLEANCAST_ALLOW_PRIVATE has "${allowed.fault}"; use host names, addresses or networks like 10.0.0.0/8.`);
  return { hosts: new Set(), networks: [] };
}

function readDns(text: string | undefined, faults: string[]): string[] {
  const servers = readDnsServers(text ?? "");
  if (Array.isArray(servers)) return servers;
  faults.push(`CLEANCAST_DNS has "${servers.fault}"; use addresses of DNS servers like 9.9.9.9.`);
  return [];
}

function readTls(certFile: string | undefined, keyFile: string | undefined, faults: string[]): Tls | null {
  if (!certFile && !keyFile) return null;
  if (certFile && keyFile) {
    for (const [name, file] of Object.entries({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile })) {
      try {
        accessSync(file, constants.R_OK);
      } catch {
        faults.push(`${name} is "${file}", which cannot be read; set it to a PEM file that this user may read.`);
      }
    }
    return { certFile, keyFile };
  }
  faults.push(`${certFile ? "TLS_KEY_FILE" : "TLS_CERT_FILE"} is missing; HTTPS needs both TLS_CERT_FILE and TLS_KEY_FILE.`);
  return null;
}

/** The message does not repeat the URL, which holds a password. */
function readSmtp(url: string | undefined, from: string | undefined, faults: string[]): Smtp | null {
  if (url === undefined) return null;
  if (!URL.canParse(url) || !/^smtps?:$/.test(new URL(url).protocol) || !new URL(url).hostname) {
    faults.push("CLEANCAST_SMTP_URL must look like smtp://user:password@mail.example.com:587 (or smtps://).");
  }
  if (from === undefined || !/^(?:[^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(from)) {
    faults.push('CLEANCAST_MAIL_FROM must be a sender address, like "Cleancast <alerts@example.com>".');
  }
  return { url, from: from ?? "" };
}

function readPublicUrl(text: string | undefined, port: number, faults: string[]): string {
  if (text === undefined) return `http://localhost:${port}`;
  if (/^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text)) return new URL(text).origin;
  faults.push(`CLEANCAST_URL is "${text}"; set it to an origin like https://cc.example.com.`);
  return "";
}
