// Finds the kind of network of an address. A visit from a hosting network is more often a machine's than a person's; relays,
// VPNs and company gateways in data centres carry people, and are exempt.

import ipaddr from "ipaddr.js";
import { readNetworkList, shippedList, type Boundaries, type Network, type NetworkList } from "./networkList.ts";

export type { Network } from "./networkList.ts";

let list: NetworkList | null = null;

/** Returns the list in use; the shipped one is read on first use. */
export function networkList(): NetworkList {
  return (list ??= readNetworkList(shippedList));
}

/** Reads another list, or the shipped one again, for all later look-ups. A file that cannot be used changes nothing. */
export function loadNetworks(file: string = shippedList): NetworkList {
  return (list = readNetworkList(file));
}

/** Returns null for an ordinary access network, a private address, or no address at all. */
export function findNetwork(address: string): Network | null {
  const { ipv4, ipv6, owners } = networkList();
  const number4 = readIpv4(address, 0);
  if (number4 >= 0) return owners[ownerAt(ipv4, number4)] ?? null;
  if (!readIpv6(address)) return null;
  // A dual-stack socket names an IPv4 peer ::ffff:192.0.2.1.
  const isMapped = pair(0) === 0 && pair(2) === 0 && pair(4) === 0xffff;
  const first48 = pair(0) * 2 ** 16 + (groups[2] as number);
  return owners[isMapped ? ownerAt(ipv4, pair(6)) : ownerAt(ipv6, first48)] ?? null;
}

function ownerAt({ starts, owners }: Boundaries, number: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) <= number) low = middle + 1;
    else high = middle;
  }
  return owners[low - 1] ?? 0;
}

// Own parsers, because they run for every visit and ipaddr.js takes ten times as long. They accept what Node's isIP() accepts,
// without zones.

const [dot, colon, zero, nine] = [46, 58, 48, 57];

/** Reads the IPv4 address from `from` to the end of the text as a number; -1 when there is none. */
function readIpv4(text: string, from: number): number {
  if (text.length - from > 15) return -1;
  let number = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === dot) {
      if (digits === 0) return -1;
      number = number * 256 + part;
      part = 0;
      digits = 0;
      dots++;
    } else {
      // 010 is ambiguous (octal or decimal), so it is refused.
      if (code < zero || code > nine || (digits > 0 && part === 0)) return -1;
      part = part * 10 + code - zero;
      if (part > 255) return -1;
      digits++;
    }
  }
  return dots === 3 && digits > 0 ? number * 256 + part : -1;
}

const groups = new Uint16Array(8);
const pair = (at: number) => (groups[at] as number) * 2 ** 16 + (groups[at + 1] as number);

/** Reads an IPv6 address into `groups`; false when the text is none. */
function readIpv6(text: string): boolean {
  if (text.length > 45) return false;
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.charCodeAt(0) === colon) {
    if (text.charCodeAt(1) !== colon) return false;
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    if (count === 8) return false;
    const start = at;
    let group = 0;
    let digit = -1;
    while (at < text.length && (digit = hexDigit(text.charCodeAt(at))) >= 0) {
      group = group * 16 + digit;
      at++;
    }
    if (text.charCodeAt(at) === dot) {
      const number = readIpv4(text, start);
      if (number < 0 || count > 6) return false;
      groups[count++] = number >>> 16;
      groups[count++] = number & 0xffff;
      break;
    }
    if (at === start || at - start > 4) return false;
    groups[count++] = group;
    if (at === text.length) break;
    if (text.charCodeAt(at++) !== colon) return false;
    if (text.charCodeAt(at) === colon) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    } else if (at === text.length) return false;
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  const zeros = 8 - count;
  for (let i = 7; i >= gap; i--) groups[i] = i >= gap + zeros ? (groups[i - zeros] as number) : 0;
  return true;
}

/** -1 when a character is no digit. A table, because it is read for every character. */
const digits = Int8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1 : value;
});
const hexDigit = (code: number) => digits[code] ?? -1;

type Crawler = { name: RegExp; networks: readonly string[]; elsewhere?: true };

/**
 * The networks of well-known crawlers. `elsewhere`: genuine ones also come from ordinary networks, so that only one from
 * another owner's network is a fake. Crawlers on rented machines are not listed.
 */
const crawlers: readonly Crawler[] = [
  { name: /googlebot/, networks: ["Google"] },
  // Google fetches some things for its users from its cloud.
  {
    name: /adsbotgoogle|mediapartnersgoogle|apisgoogle|googleother|googleinspectiontool|storebotgoogle|feedfetchergoogle/,
    networks: ["Google", "Google Cloud"],
  },
  { name: /bingbot/, networks: ["Bing"] },
  { name: /bingpreview|adidxbot|msnbot/, networks: ["Bing", "Microsoft Azure"] },
  { name: /applebot/, networks: ["Apple"] },
  { name: /yandexbot|yandeximages|yandexmobilebot/, networks: ["Yandex"] },
  // Chinese carriers host much of it.
  { name: /baiduspider/, networks: ["Baidu"], elsewhere: true },
  { name: /metaexternalagent|metaexternalfetcher|metaexternalads|facebookcatalog/, networks: ["Meta"] },
  // Apple's Messages sends both names when it previews a link, from the phone itself.
  { name: /facebookexternalhit|facebot|facebookcrawler/, networks: ["Meta"], elsewhere: true },
  { name: /twitterbot/, networks: ["X"], elsewhere: true },
  { name: /linkedinbot/, networks: ["LinkedIn", "Microsoft Azure"] },
  { name: /seznambot/, networks: ["Seznam"] },
  { name: /yetinaver|naverbot|naverme/, networks: ["Naver"] },
  { name: /petalbot/, networks: ["Huawei Cloud"] },
  { name: /amazonbot/, networks: ["Amazon Web Services"] },
];

const lettersAndDigits = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Finds a crawler by its name or its whole user agent. */
export function findCrawler(botName: string): Crawler | undefined {
  const folded = lettersAndDigits(botName);
  return crawlers.find(({ name }) => name.test(folded));
}

/** True for a false claim to be a well-known crawler. False when it cannot be decided. */
export function isFakeCrawler(userAgentName: string, address: string): boolean {
  const crawler = findCrawler(userAgentName);
  if (!crawler || !ipaddr.isValid(address) || ipaddr.process(address).range() !== "unicast") return false;
  // Another list may lack the owner: then every crawler would be a fake.
  if (!networkList().owners.some((owner) => owner && crawler.networks.includes(owner.name))) return false;
  const network = findNetwork(address);
  return network ? !crawler.networks.includes(network.name) : !crawler.elsewhere;
}
