// Builds the checker of hosts from the configuration of the installation.

import type { AllowList } from "../delivery/addresses.ts";
import { createSender } from "../delivery/send.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { Checker } from "./check.ts";
import { createDns } from "./dns.ts";
import { probeSecret } from "./probe.ts";
import { createConcurrencyLimit } from "./concurrencyLimit.ts";

type CheckerOptions = {
  encryptionKeys: () => readonly Buffer[];
  allowPrivate: AllowList;
  dnsServers: readonly string[];
  connectMs: number;
  attemptMs: number;
  publicUrl: string;
  hasUrl: boolean;
};

/** Limits for the checks that people ask for and those that are due, together. */
const maxConcurrent = 3;
const maxPerSite = 5;

/** Customers choose the hosts, so requests to them are restricted like those to any customer's address. The caller closes the sender. */
export function createChecker(options: CheckerOptions): Checker {
  const { connectMs, attemptMs, allowPrivate, dnsServers } = options;
  const dns = createDns(dnsServers);
  return {
    dns,
    sender: createSender({
      connectMs,
      attemptMs,
      allow: allowPrivate,
      origins: {},
      resolve: dns.resolve,
    }),
    secrets: () => options.encryptionKeys().map(probeSecret),
    relay: relayOf(options),
    limit: createConcurrencyLimit(maxConcurrent, maxPerSite),
  };
}

/** Null for an IP address or a loopback name: a host cannot be pointed to it. */
export function relayOf({ publicUrl, hasUrl }: Pick<CheckerOptions, "publicUrl" | "hasUrl">): Checker["relay"] {
  const { host, port } = new URL(publicUrl);
  const name = hostOf(host);
  return !hasUrl || namesNoSite(name) ? null : { host: name, port };
}
