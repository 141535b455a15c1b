// Finds the kind of network of an address. A visit from a hosting network is more often a machine's than a person's; relays,
// VPNs and company gateways in data centres carry people, and are exempt.

import ipaddr from "ipaddr.js";
import { readAddress } from "./addresses.ts";
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
  const bits = readAddress(address);
  if (bits === "") return null;
  return owners[bits.length === 2 ? ownerAt(ipv4, numberOf(bits)) : ownerAt(ipv6, numberOf(bits.slice(0, 3)))] ?? null;
}

/** Multiplies instead of shifting: 48 bits do not fit into 32. */
function numberOf(bits: string): number {
  let number = 0;
  for (let at = 0; at < bits.length; at += 1) number = number * 2 ** 16 + bits.charCodeAt(at);
  return number;
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
