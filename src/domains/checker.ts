// What checks of hosts need, from the settings of the installation.

import type { AllowList } from "../delivery/addresses.ts";
import { openSender } from "../delivery/send.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { Checker } from "./check.ts";
import { openNames } from "./names.ts";
import { probeSecret } from "./probe.ts";
import { openConcurrencyLimit } from "./concurrencyLimit.ts";

export type CheckerOptions = {
  encryptionKeys: () => readonly Buffer[];
  allowPrivate: AllowList;
  dnsServers: readonly string[];
  connectMs: number;
  attemptMs: number;
  publicUrl: string;
  hasUrl: boolean;
};

/** Those that people ask for and those that are due, together. */
const atOnce = 3;
const maxOfSite = 5;

/** Customers choose these names, so they are called like any address of theirs. Close its sender. */
export function openChecker(options: CheckerOptions): Checker {
  const { connectMs, attemptMs, allowPrivate, dnsServers } = options;
  const names = openNames(dnsServers);
  const { resolve } = names;
  return {
    names,
    sender: openSender({
      connectMs,
      attemptMs,
      allow: allowPrivate,
      origins: {},
      ...(resolve ? { resolve } : {}),
    }),
    secrets: () => options.encryptionKeys().map(probeSecret),
    relay: relayOf(options),
    limit: openConcurrencyLimit(atOnce, maxOfSite),
  };
}

/** Other machines cannot be told to lead to an address, or to themselves. */
export function relayOf({
  publicUrl,
  hasUrl,
}: Pick<CheckerOptions, "publicUrl" | "hasUrl">): Checker["relay"] {
  const { host, port } = new URL(publicUrl);
  const name = hostOf(host);
  return !hasUrl || namesNoSite(name) ? null : { host: name, port };
}
