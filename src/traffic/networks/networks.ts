// Which kind of network an address belongs to. A visit from a hosting network is more often a machine's than a person's; but
// people also come out of data centres, through relays, VPNs and the gateways of their companies, and those are exempt.

import ipaddr from "ipaddr.js";
import {
  readNetworkList,
  shippedList,
  type Boundaries,
  type Network,
  type NetworkList,
} from "./networkList.ts";

export type { Network } from "./networkList.ts";

let list: NetworkList | null = null;

/** The list in use; the shipped one is read on first use. */
export function networkList(): NetworkList {
  return (list ??= readNetworkList(shippedList));
}

/** Reads another list, or the shipped one again, for all later look-ups. A file that cannot be used changes nothing. */
export function loadNetworks(file: string = shippedList): NetworkList {
  return (list = readNetworkList(file));
}

/** Null: an ordinary access network, a private address, or no address at all. */
export function findNetwork(address: string): Network | null {
  const { ipv4, ipv6, owners } = list ?? networkList();
  const number4 = readIpv4(address, 0);
  if (number4 >= 0) return owners[ownerAt(ipv4, number4)] ?? null;
  if (!readIpv6(address)) return null;
  // ::ffff:192.0.2.1 is how a socket for both families names an IPv4 peer.
  const mapped = pair(0) === 0 && pair(2) === 0 && pair(4) === 0xffff;
  const first48 = pair(0) * 2 ** 16 + (groups[2] as number);
  return owners[mapped ? ownerAt(ipv4, pair(6)) : ownerAt(ipv6, first48)] ?? null;
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

// Own readers: they run for every visit, and ipaddr.js takes ten times as long. They read what Node's isIP() calls an address,
// without zones.

const [dot, colon, zero, nine] = [46, 58, 48, 57];

/** The number of the IPv4 address that begins at `from` and ends with the text; -1 where there is none. */
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
      // 010 is eight to some and ten to others, so it is nothing.
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

/** Reads an IPv6 address into `groups`; false where the text is none. */
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
  for (let place = 7; place >= gap; place--)
    groups[place] = place >= gap + zeros ? (groups[place - zeros] as number) : 0;
  return true;
}

/** -1 where a character is no digit; a table, because this is asked for every character. */
const digits = Int8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1 : value;
});
const hexDigit = (code: number) => digits[code] ?? -1;

type Crawler = { says: RegExp; networks: readonly string[]; elsewhere?: true };

/**
 * Where the well-known crawlers come from. `elsewhere`: real ones also come from ordinary networks, so that only one from
 * a network that is known as somebody else's is a fake. Crawlers that rent their machines are not here.
 */
const crawlers: readonly Crawler[] = [
  { says: /googlebot/, networks: ["Google"] },
  // Google fetches some things for its users from its cloud.
  {
    says: /adsbotgoogle|mediapartnersgoogle|apisgoogle|googleother|googleinspectiontool|storebotgoogle|feedfetchergoogle/,
    networks: ["Google", "Google Cloud"],
  },
  { says: /bingbot/, networks: ["Bing"] },
  { says: /bingpreview|adidxbot|msnbot/, networks: ["Bing", "Microsoft Azure"] },
  { says: /applebot/, networks: ["Apple"] },
  { says: /yandexbot|yandeximages|yandexmobilebot/, networks: ["Yandex"] },
  // China's carriers host much of it.
  { says: /baiduspider/, networks: ["Baidu"], elsewhere: true },
  { says: /metaexternalagent|metaexternalfetcher|metaexternalads|facebookcatalog/, networks: ["Meta"] },
  // Apple's Messages says that it is both of these when it previews a link, on the phone itself.
  { says: /facebookexternalhit|facebot|facebookcrawler/, networks: ["Meta"], elsewhere: true },
  { says: /twitterbot/, networks: ["X"], elsewhere: true },
  { says: /linkedinbot/, networks: ["LinkedIn", "Microsoft Azure"] },
  { says: /seznambot/, networks: ["Seznam"] },
  { says: /yetinaver|naverbot|naverme/, networks: ["Naver"] },
  { says: /petalbot/, networks: ["Huawei Cloud"] },
  { says: /amazonbot/, networks: ["Amazon Web Services"] },
];

const plainName = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The owners of the networks that a crawler works from; takes its name or its whole user agent. Null: not known. */
export function findCrawlerNetworks(botName: string): readonly string[] | null {
  return findCrawler(botName)?.networks ?? null;
}

function findCrawler(botName: string): Crawler | undefined {
  const name = plainName(botName);
  return crawlers.find(({ says }) => says.test(name));
}

/** Does somebody call themselves a well-known crawler who is not? False where nothing can be said. */
export function isFakeCrawler(userAgentName: string, address: string): boolean {
  const crawler = findCrawler(userAgentName);
  if (!crawler || !ipaddr.isValid(address) || ipaddr.process(address).range() !== "unicast") return false;
  // A list from elsewhere may lack the owner: then everybody would be a fake.
  if (!networkList().owners.some((owner) => owner && crawler.networks.includes(owner.name))) return false;
  const network = findNetwork(address);
  return network ? !crawler.networks.includes(network.name) : !crawler.elsewhere;
}
