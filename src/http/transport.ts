// Was this request sent over TLS? Directly, or by the word of a proxy that we trust.

import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";

export type TransportRules = {
  /** Addresses whose forwarding headers are believed. */
  trusted: (address: string) => boolean;
  /** Plain HTTP is refused from this very machine too. */
  requireTls: boolean;
};

export function isSecure(request: IncomingMessage, rules: TransportRules): boolean {
  const address = request.socket.remoteAddress ?? "";
  // Undefined, not false, on a plain socket.
  const encrypted = Boolean((request.socket as Partial<TLSSocket>).encrypted);
  if (wasForwarded(request)) {
    // What a proxy says of its own sender counts, also when it speaks TLS to us.
    const scheme = rules.trusted(address) ? forwardedScheme(request) : undefined;
    return scheme === undefined ? encrypted : scheme === "https";
  }
  return encrypted || (!rules.requireTls && isLoopback(address));
}

/** What proxies write about a request beside X-Forwarded-*: that they passed it on, or for whom. */
const marks = new Set([
  "forwarded",
  "via",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "fastly-client-ip",
  "cdn-loop",
]);

/** By a proxy, whoever that was. */
export function wasForwarded({ headers }: IncomingMessage): boolean {
  for (const name in headers) if (marks.has(name) || name.startsWith("x-forwarded-")) return true;
  return false;
}

/** The last entry is the one that the proxy next to us wrote; earlier ones are hearsay. */
function forwardedScheme({ headers }: IncomingMessage): string | undefined {
  const simple = String(headers["x-forwarded-proto"] ?? "");
  if (simple) return simple.split(",").at(-1)?.trim().toLowerCase();
  const standard = headers.forwarded?.split(",").at(-1);
  return standard && /(?:^|;)\s*proto="?([a-z]+)"?/i.exec(standard)?.[1]?.toLowerCase();
}

export const isLoopback = remembered(
  (address) => ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback",
);

/** The same few addresses ask all day, proxies above all: what was said of one is kept for a while. */
function remembered(judge: (address: string) => boolean): (address: string) => boolean {
  const known = new Map<string, boolean>();
  return (address) => {
    let judged = known.get(address);
    if (judged === undefined) {
      judged = judge(address);
      // Strangers may come from any number of addresses.
      if (known.size >= 1000) known.clear();
      known.set(address, judged);
    }
    return judged;
  };
}

/** `loopback`, addresses and networks, separated by commas. Returns the entry that is none of them as a fault. */
export function readTrusted(text: string): TransportRules["trusted"] | { fault: string } {
  let loopback = false;
  const networks: ReturnType<typeof ipaddr.parseCIDR>[] = [];
  for (const entry of text.split(",").map((one) => one.trim())) {
    if (entry === "" || entry === "none") continue;
    if (entry === "loopback") loopback = true;
    else if (ipaddr.isValidCIDR(entry)) networks.push(ipaddr.parseCIDR(entry));
    else if (ipaddr.isValid(entry))
      networks.push([ipaddr.process(entry), ipaddr.process(entry).kind() === "ipv4" ? 32 : 128]);
    else return { fault: entry };
  }
  return remembered((address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    if (loopback && parsed.range() === "loopback") return true;
    return networks.some(
      ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
    );
  });
}

/**
 * Who sent the request: the socket's peer, or, behind proxies that we trust, the last address that they did not add
 * themselves. What stands left of it is only what the sender claims.
 */
export function clientAddress(request: IncomingMessage, trusted: TransportRules["trusted"]): string {
  let address = plainAddress(request.socket.remoteAddress ?? "");
  const hops = String(request.headers["x-forwarded-for"] ?? "").split(",");
  while (hops.length && trusted(address)) {
    const hop = plainAddress((hops.pop() ?? "").trim());
    if (!hop) break;
    address = hop;
  }
  return address;
}

/** `::ffff:192.0.2.1` is 192.0.2.1; anything that is no address is empty. */
function plainAddress(text: string): string {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : "";
}

/** Who shares a limit: one IPv4 address, or the /64 that an IPv6 subscriber has to themselves. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toNormalizedString().split(":").slice(0, 4).join(":");
}

/** Enough to see where somebody came from, too little to see who it was: 192.0.2.0, or the first 48 bits. */
export function anonymous(address: string): string {
  if (!address.includes(":")) return address.replace(/\.\d+$/, ".0");
  return `${networkOf(address).split(":").slice(0, 3).join(":")}::`;
}
