// Decides which addresses outgoing requests may reach. A customer's URL must lead to the public internet over HTTPS; the
// operator may allow private hosts and networks. The check covers the address that is connected to, so DNS rebinding
// does not get around it.

import { lookup, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { say } from "../kernel/messages/message.ts";

export type AllowList = { hosts: ReadonlySet<string>; networks: readonly Network[] };
type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Azure's metadata service has a public address. */
const metadata = new Set(["168.63.129.16"]);

const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** Reads `localhost, 10.0.0.0/8, ::1`; returns the entry that is neither a host nor a network, if there is one. */
export function readAllowList(text: string): AllowList | { fault: string } {
  const hosts = new Set<string>();
  const networks: Network[] = [];
  for (const entry of text.split(",").map((one) => one.trim().toLowerCase())) {
    if (entry === "") continue;
    // Somebody takes the list for a switch.
    if (/^(?:true|false|on|off|yes|no|all|any|none)$/.test(entry)) return { fault: entry };
    if (isIP(entry)) networks.push([ipaddr.parse(entry), isIP(entry) === 4 ? 32 : 128]);
    else if (ipaddr.isValidCIDR(entry)) networks.push(ipaddr.parseCIDR(entry));
    else if (/^[a-z0-9._-]+$/.test(entry) && !/(?:^|\.)\d+$/.test(entry)) hosts.add(entry);
    else return { fault: entry };
  }
  return { hosts, networks };
}

/** True only for global unicast: not loopback, private, link-local, carrier-grade NAT, mapped, translated or reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (metadata.has(parsed.toString())) return false;
  // Only 2000::/3 of IPv6 is assigned; ipaddr.js calls the rest unicast too (::/96, for example, contains IPv4 addresses).
  const global = parsed.kind() === "ipv4" || parsed.match(globalUnicast);
  return global && parsed.range() === "unicast";
}

function isAllowed(allow: AllowList, host: string, address: string): boolean {
  if (allow.hosts.has(host)) return true;
  const parsed = ipaddr.process(address);
  return allow.networks.some(([network, bits]) => {
    // ::ffff:10.0.0.0/104 in the list means the IPv4 network inside it.
    const base = ipaddr.process(network.toString());
    const length = base.kind() === network.kind() ? bits : bits - 96;
    return base.kind() === parsed.kind() && length >= 0 && parsed.match(base, length);
  });
}

/** The reason why `address`, which `host` resolves to, must not be contacted; null when it may be. */
export function addressFault(allow: AllowList, secure: boolean, host: string, address: string): string | null {
  if (isAllowed(allow, host, address)) return null;
  if (!secure) return "must use https (CLEANCAST_ALLOW_PRIVATE opens hosts for plain http)";
  return isPublicAddress(address) ? null : "leads to a private address (CLEANCAST_ALLOW_PRIVATE opens it)";
}

/** Checks a URL as far as possible before its name is resolved. */
export function urlFault(allow: AllowList, text: string): string | null {
  const url = new URL(text);
  const host = bareHost(url.hostname);
  if (url.username || url.password) return "must not contain a user name or password";
  if (isIP(host)) return addressFault(allow, url.protocol === "https:", host, host);
  const perhapsAllowed = allow.hosts.has(host) || allow.networks.length > 0;
  return url.protocol === "https:" || perhapsAllowed ? null : "must use https";
}

const maxUrlLength = 2048;

/** Reads the address of a webhook or a feed. No fault quotes it: it may contain a token. */
export function readAddress(allow: AllowList, text: string): { url: string } | { fault: string } {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return { fault: say("url_invalid") };
  if (url.href.length > maxUrlLength) return { fault: say("url_too_long", { max: maxUrlLength }) };
  const fault = urlFault(allow, url.href);
  if (fault) return { fault: say("url_fault", { fault }) };
  url.hash = "";
  return { url: url.href };
}

/** Removes the brackets of an IPv6 address in a URL. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

export class BlockedAddress extends Error {}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves all addresses of a host. */
export type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** A `lookup` for sockets that returns only addresses that may be contacted. */
export function guardedLookup(allow: AllowList, secure: boolean, resolve: Resolve = lookup) {
  return (host: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const faults = addresses.map(({ address }) => addressFault(allow, secure, host.toLowerCase(), address));
      const usable = addresses.filter((_, i) => faults[i] === null);
      const first = usable[0];
      if (!first) return callback(new BlockedAddress(say("address_refused", { fault: faults[0] ?? "is unknown" })), []);
      if (options.all) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}
