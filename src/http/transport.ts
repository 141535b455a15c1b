// Decides whether a request came over TLS, directly or through a trusted proxy, and from which address.

import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import type { TLSSocket } from "node:tls";
import ipaddr from "ipaddr.js";

export type TransportRules = {
  /** Matches proxies whose forwarding headers count. */
  trusted: (address: string) => boolean;
  /** Refuses plain HTTP over loopback too. */
  requireTls: boolean;
  /** Matches addresses of the operator's private networks, from which plain HTTP is accepted as over loopback. */
  plainFrom?: ((address: string) => boolean) | null;
};

export function isSecure(request: IncomingMessage, rules: TransportRules): boolean {
  if (cameOverTls(request, rules)) return true;
  // A proxy says itself how the request came to it.
  if (rules.requireTls || wasForwarded(request)) return false;
  const address = request.socket.remoteAddress ?? "";
  return isLoopback(address) || rules.plainFrom?.(address) === true;
}

/** The visitor behind a request that an edge with the right secret forwarded. */
const edges = new WeakMap<IncomingMessage, { address: string; isHttps: boolean }>();

/** From now on the request is the visitor's. Returns false if there is no address. */
export function setForwardedByEdge(
  request: IncomingMessage,
  { address, isHttps }: { address: string; isHttps: boolean },
  rules: TransportRules,
): boolean {
  const visitor = normalizeAddress(address);
  if (!visitor) return false;
  // The way from the edge must be as safe as the visitor's. Its secret proves that the edge is no proxy that hides another
  // scheme, so its own headers do not count against a development machine.
  const scheme = forwardedScheme(request);
  const isLocal = !rules.requireTls && isLoopback(request.socket.remoteAddress ?? "") && scheme === undefined;
  edges.set(request, { address: visitor, isHttps: isHttps && (cameOverTls(request, rules) || isLocal) });
  return true;
}

export function cameOverTls(request: IncomingMessage, { trusted }: TransportRules): boolean {
  const edge = edges.get(request);
  if (edge) return edge.isHttps;
  // A plain socket has no such property.
  const encrypted = Boolean((request.socket as Partial<TLSSocket>).encrypted);
  if (!wasForwarded(request)) return encrypted;
  // The scheme that a trusted proxy forwards counts, even when the proxy itself connects over TLS.
  const scheme = trusted(request.socket.remoteAddress ?? "") ? forwardedScheme(request) : undefined;
  return scheme === undefined ? encrypted : scheme === "https";
}

/**
 * What the client itself offered in its TLS handshake: its signature algorithms, or its ciphers as a trusted proxy passes them on in
 * `X-Client-Ciphers`. null where a proxy hides them.
 */
export function offeredInHandshake(request: IncomingMessage, { trusted }: TransportRules): string | null {
  if (wasForwarded(request)) {
    const ciphers = request.headers["x-client-ciphers"];
    return typeof ciphers === "string" && trusted(request.socket.remoteAddress ?? "") && !edges.has(request) ? ciphers : null;
  }
  const socket = request.socket as Partial<TLSSocket>;
  return socket.encrypted ? (socket.getSharedSigalgs?.().join() ?? null) : null;
}

/** Node keeps the first Host header. A proxy may have routed the request by another one, so it must not be guessed. */
export function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
  return hosts > 1;
}

/** Headers that proxies add, apart from X-Forwarded-*. */
const proxyHeaders = new Set([
  "forwarded",
  "via",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "fastly-client-ip",
  "cdn-loop",
  "cf-worker",
]);
/** And the beginnings of the names of others. */
const proxyPrefixes = ["x-forwarded-", "x-vercel-", "x-nf-"];

/** True for any proxy, trusted or not. */
export function wasForwarded(request: IncomingMessage): boolean {
  for (const name in request.headers)
    if (proxyHeaders.has(name) || (name.startsWith("x-") && proxyPrefixes.some((prefix) => name.startsWith(prefix)))) return true;
  return edges.has(request);
}

/** The nearest proxy wrote the last entry; the sender may have forged earlier ones. */
function forwardedScheme({ headers }: IncomingMessage): string | undefined {
  const simple = String(headers["x-forwarded-proto"] ?? "");
  if (simple) return simple.split(",").at(-1)?.trim().toLowerCase();
  const standard = headers.forwarded?.split(",").at(-1);
  return standard && /(?:^|;)\s*proto="?([a-z]+)"?/i.exec(standard)?.[1]?.toLowerCase();
}

export const isLoopback = cached((address) => ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback");

/** Caches by address: a few proxies send nearly all requests. */
function cached(judge: (address: string) => boolean): (address: string) => boolean {
  const known = new Map<string, boolean>();
  return (address) => {
    let judged = known.get(address);
    if (judged === undefined) {
      judged = judge(address);
      // Senders may use any number of addresses.
      if (known.size >= 1000) known.clear();
      known.set(address, judged);
    }
    return judged;
  };
}

/** Parses `loopback`, addresses and networks, separated by commas. `fault` is the first entry that is none of them. */
export function parseTrustedProxies(text: string): TransportRules["trusted"] | { fault: string } {
  const matchers: ((address: string) => boolean)[] = [];
  for (const entry of text.split(",").map((one) => one.trim())) {
    if (entry === "" || entry === "none") continue;
    const matches = entry === "loopback" ? isLoopback : matchNetwork(entry);
    if (!matches) return { fault: entry };
    matchers.push(matches);
  }
  return cached((address) => matchers.some((matches) => matches(address)));
}

/** The ranges of private networks. Carriers share 100.64.0.0/10 among their customers, so `private` does not stand for it. */
const privateNetworks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"];
const allowedNetworks = [...privateNetworks, "100.64.0.0/10"].map((one) => ipaddr.parseCIDR(one));

/** Reads `private`, addresses and networks, all of them private, separated by commas. `fault` is the first entry that is none. */
export function parsePlainNetworks(text: string): NonNullable<TransportRules["plainFrom"]> | { fault: string } {
  const entries = text.split(",").map((one) => one.trim().toLowerCase());
  const networks = entries.flatMap((entry) => (entry === "private" ? privateNetworks : entry)).filter((entry) => entry !== "");
  const fault = networks.find((entry) => !isPrivateNetwork(entry));
  if (fault !== undefined) return { fault };
  const matchers = networks.flatMap((entry) => matchNetwork(entry) ?? []);
  return cached((address) => matchers.some((matches) => matches(address)));
}

function isPrivateNetwork(text: string): boolean {
  // ipaddr.js would read `10.1` as 10.0.0.1.
  if (!isIP(text.replace(/\/.*$/, "")) || (!ipaddr.isValid(text) && !ipaddr.isValidCIDR(text))) return false;
  const [base, bits] = ipaddr.isValid(text) ? [ipaddr.parse(text), Infinity] : ipaddr.parseCIDR(text);
  return allowedNetworks.some(
    ([allowed, width]) => base.kind() === allowed.kind() && bits >= width && base.match(allowed, width),
  );
}

/** Reads `192.0.2.0/24`, `2001:db8::/32` or one address; null for any other text. */
export function matchNetwork(text: string): ((address: string) => boolean) | null {
  const single = ipaddr.isValid(text) ? ipaddr.process(text) : null;
  if (!single && !ipaddr.isValidCIDR(text)) return null;
  const [base, bits] = single ? [single, single.kind() === "ipv4" ? 32 : 128] : ipaddr.parseCIDR(text);
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return parsed.kind() === base.kind() && parsed.match(base, bits);
  };
}

/**
 * Finds the sender: the socket's peer, or, behind trusted proxies, the last X-Forwarded-For address that is not a proxy's.
 * Addresses left of it are only what the sender claims.
 */
export function clientAddress(request: IncomingMessage, trusted: TransportRules["trusted"]): string {
  const edge = edges.get(request);
  if (edge) return edge.address;
  let address = normalizeAddress(request.socket.remoteAddress ?? "");
  const hops = String(request.headers["x-forwarded-for"] ?? "").split(",");
  while (hops.length && trusted(address)) {
    const hop = normalizeAddress((hops.pop() ?? "").trim());
    if (!hop) break;
    address = hop;
  }
  return address;
}

/** `::ffff:192.0.2.1` becomes 192.0.2.1; anything but an address becomes empty. */
function normalizeAddress(text: string): string {
  // In its usual form, which is nearly every address; ipaddr.js takes ten times as long.
  if (isIPv4(text)) return text;
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : "";
}

/** The unit that shares a rate limit: one IPv4 address, or the /64 of an IPv6 subscriber. */
export function networkOf(address: string, groups = 4): string {
  // Most addresses.
  if (!address.includes(":") || !ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).toNormalizedString().split(":").slice(0, groups).join(":");
}

/** The network of one customer of a provider: a /48 of IPv6, which has 65,536 networks. */
export const customerNetworkOf = (address: string): string => networkOf(address, 3);

/** Cuts an address to its network: 192.0.2.0, or the first 48 bits of IPv6. */
export function anonymize(address: string): string {
  if (!address.includes(":")) return address.replace(/\.\d+$/, ".0");
  return `${customerNetworkOf(address)}::`;
}
