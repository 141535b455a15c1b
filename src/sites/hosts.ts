// Host names: how they are written, which of them can belong to a site, and which are served.

import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { HostState } from "../contract/hosts.ts";
import type { HostRow } from "../store/sites/hosts.ts";

/** `Shop.Example.com:8443` → `shop.example.com`; `[::1]:80` → `::1`. Empty when there is none. */
export function hostOf(header: string | undefined): string {
  if (!header || header.length > 300) return "";
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(header);
  if (bracketed) return (bracketed[1] as string).toLowerCase();
  return header.replace(/:\d*$/, "").replace(/\.+$/, "").toLowerCase();
}

/** An IP literal or a loopback name does not identify a site: the key does. */
export function namesNoSite(host: string): boolean {
  return host === "" || host === "localhost" || host.endsWith(".localhost") || isIP(host) !== 0;
}

/** A name that can be reached from the internet; one without a dot exists only inside a network. */
export const isPublicName = (host: string) => host.includes(".") && !namesNoSite(host);

/** The host as it will arrive in requests, or null when it cannot be one */
export function readHost(text: string): string | null {
  const host = domainToASCII(text.trim().replace(/\.$/, "")).toLowerCase();
  const labels = host.split(".");
  const legal = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  return legal && host.length <= 253 && !isIP(host) ? host : null;
}

/** People paste the address of their site: `https://www.shop.example/path` → `www.shop.example`. */
export const readPastedHost = (text: string): string | null =>
  readHost(
    text
      .trim()
      .replace(/^https?:\/\//i, "")
      .replace(/(:\d+)?([/?#].*)?$/, ""),
  );

/** An operator of the installation added the host or a check verified it: no other site can take it. */
export const isVerified = ({ isTrusted, verifiedAt }: Pick<HostRow, "isTrusted" | "verifiedAt">) =>
  isTrusted || verifiedAt !== null;

/** A loopback name belongs to no site, even where a site uses it for tests; and an unverified host is not yet its site's. */
export function isHostOfSite(directory: { host(name: string): HostRow | undefined }, host: string): boolean {
  const known = namesNoSite(host) ? undefined : directory.host(host);
  return known !== undefined && isVerified(known);
}

export const isServed = (host: Pick<HostRow, "isTrusted" | "verifiedAt" | "pausedAt">) =>
  isVerified(host) && host.pausedAt === null;

export function stateOf(host: HostRow): HostState {
  if (host.pausedAt !== null) return "paused";
  if (host.verifiedAt !== null) return host.finding === null ? "verified" : "failing";
  return host.isTrusted ? "unverified" : "waiting";
}
