// Resolves the hosts of outgoing requests, and decides which addresses they may reach. A customer's URL must lead to the public
// internet over HTTPS; the operator may allow private hosts and networks. The check covers the address that is connected to, so
// DNS rebinding does not get around it.
//
// Node's own look-up calls getaddrinfo, which holds a thread until the name servers answer, and all look-ups of a process share
// two threads: two names whose servers are silent would stop the deliveries of every site. Here each look-up has a socket of
// its own. Like getaddrinfo, it reads the hosts file and the search domains.

import { Resolver } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import ipaddr from "ipaddr.js";
import { errorCode } from "../kernel/errorCode.ts";
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

/** All addresses of a host. Like `lookup`, it rejects with ENOTFOUND or EAI_AGAIN. */
export type Resolve = (host: string) => Promise<readonly string[]>;

type Sources = {
  /** In place of the system's. */
  servers?: readonly string[];
  /** For the answer to each of three tries. */
  tryMs?: number;
  hostsFile?: string;
  /** The search domains are read from it. */
  resolvConf?: string;
};

/** Resolves names as the system does. */
export const resolveHost = createResolve({
  hostsFile: process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts",
  resolvConf: "/etc/resolv.conf",
});

/** Connections to one host share its look-up while it is open; no answer is kept for later ones. */
export function createResolve(sources: Sources): Resolve {
  const open = new Map<string, Promise<readonly string[]>>();
  return (host) => {
    const name = host.toLowerCase();
    const known = open.get(name);
    if (known) return known;
    const found = lookUp(name, sources).finally(() => open.delete(name));
    open.set(name, found);
    return found;
  };
}

async function lookUp(name: string, { servers, tryMs, hostsFile, resolvConf }: Sources): Promise<readonly string[]> {
  const bare = name.replace(/\.$/, "");
  if (bare === "localhost") return ["127.0.0.1", "::1"];
  const listed = readLines(hostsFile).flatMap(([address = "", ...names]) =>
    isIP(address) && names.some((one) => one.toLowerCase() === bare) ? [address] : [],
  );
  if (listed.length > 0) return listed;
  let fault = "ENOTFOUND";
  for (const candidate of candidatesOf(name, readLines(resolvConf))) {
    const answer = await ask(newResolver(servers, tryMs), candidate);
    if (answer.addresses.length > 0) return answer.addresses;
    if (!answer.fault) continue;
    fault = "EAI_AGAIN";
    // The next candidate may belong to somebody else, so a silent server does not lead to it. A search domain that nobody serves
    // may be answered with SERVFAIL for every name.
    if (answer.fault !== "ESERVFAIL") break;
  }
  throw Object.assign(new Error("the host name was not resolved"), { code: fault });
}

/** The names to ask for, in the order of resolv.conf(5). */
function candidatesOf(name: string, settings: readonly string[][]): string[] {
  if (name.endsWith(".")) return [name];
  const domains = settings.findLast(([word]) => word === "search" || word === "domain")?.slice(1) ?? [];
  const options = settings.flatMap(([word, ...rest]) => (word === "options" ? rest : []));
  const ndots = Number(options.findLast((one) => one.startsWith("ndots:"))?.slice("ndots:".length) ?? 1);
  const below = domains.map((domain) => `${name}.${domain}`);
  return name.split(".").length > ndots ? [name, ...below] : [...below, name];
}

const noSuchName = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

async function ask(resolver: Resolver, name: string): Promise<{ addresses: string[]; fault: string | undefined }> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  const faults = answers.flatMap((one) => (one.status === "rejected" ? [errorCode(one.reason)] : []));
  return { addresses, fault: faults.find((code) => !noSuchName.has(code)) };
}

/** Each look-up has its own, which reads the system's servers anew and remembers nothing of other look-ups. */
export function newResolver(servers: readonly string[] = [], tryMs = 1000): Resolver {
  const resolver = new Resolver({ timeout: tryMs, maxTimeout: tryMs, tries: 3 });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

/** The words of each line; none where the file cannot be read. A thread of Node could be held by other work, so none is used. */
function readLines(path: string | undefined): string[][] {
  if (path === undefined) return [];
  try {
    const text = readFileSync(path, "utf8").replaceAll(/[#;].*/g, "");
    return text.split("\n").map((line) => line.trim().split(/\s+/));
  } catch {
    return [];
  }
}

/** A `lookup` for sockets. */
export function lookupWith(resolve: Resolve): LookupFunction {
  const look = callbackify(resolve);
  return (host, { all }, callback) =>
    look(host, (error, addresses) => {
      const found = error ? [] : addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = found;
      if (all || !first) callback(error, found);
      else callback(null, first.address, first.family);
    });
}

/** A `lookup` for sockets that returns only addresses that may be contacted. */
export function guardedLookup(allow: AllowList, secure: boolean, resolve: Resolve = resolveHost): LookupFunction {
  return lookupWith(async (host) => {
    const addresses = await resolve(host);
    const faults = addresses.map((address) => addressFault(allow, secure, host.toLowerCase(), address));
    const usable = addresses.filter((_, i) => faults[i] === null);
    if (usable.length === 0) throw new BlockedAddress(say("address_refused", { fault: faults[0] ?? "is unknown" }));
    return usable;
  });
}
