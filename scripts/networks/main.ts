// Writes src/traffic/networks/data/networks.bin, the list in which src/traffic/networks/networks.ts looks up addresses.
//
// It joins a public table of the network (autonomous system) of every address with our own list of relevant networks
// (owners.ts). All other networks are ordinary ones. Networks of doubtful purpose are left out, because a buyer who is taken for a bot
// costs more than a bot that is taken for a buyer.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { listFormat, shippedList, type ListHeader, type Network } from "../../src/traffic/networks/networkList.ts";
import { loadNetworks, findNetwork } from "../../src/traffic/networks/networks.ts";
import { carved, owners } from "./owners.ts";

const help = `Writes the list of hosting, relay and crawler networks.

  node scripts/networks/main.ts <folder of the table> [file to write]

The table is the npm package @ip-location-db/asn. Fetch it outside the project, it is 64 MB:

  folder=$(mktemp -d)
  npm install --prefix "$folder" @ip-location-db/asn
  node scripts/networks/main.ts "$folder/node_modules/@ip-location-db/asn"

Newer tables are published only as releases of github.com/sapics/ip-location-db. Put its files
asn-ipv4-num.csv and asn-ipv6-num.csv into a folder with a package.json: {"version": "2.3.20260617"}.
`;

/** IPv4 ranges are in addresses, IPv6 ranges in /48 networks; both ends are included. */
type Range = { start: number; end: number; owner: number };
/** The owner from `start` up to the next boundary; 0 is an ordinary network. */
type Boundary = { start: number; owner: number };
type Row = { start: bigint; end: bigint; system: number; organisation: string };

function* readTable(file: string): Generator<Row> {
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, start, end, system, organisation] = /^(\d+),(\d+),(\d+),"?(.*?)"?\r?$/.exec(line) ?? [];
    if (start === undefined || end === undefined || organisation === undefined) continue;
    yield { start: BigInt(start), end: BigInt(end), system: Number(system), organisation };
  }
}

/** Maps each number of a system to its owner. Reports and leaves out a number whose organisation has another name in the table. */
function ownersOf(tables: readonly Row[][]): Map<number, number> {
  const organisations = new Map<number, string>();
  for (const { system, organisation } of tables.flat()) organisations.set(system, organisation);
  const found = new Map<number, number>();
  owners.forEach((owner, place) => {
    for (const system of owner.systems) {
      const organisation = organisations.get(system);
      if (organisation !== undefined && owner.tableName.test(organisation)) found.set(system, place + 1);
      else console.warn(`left out: ${system} should be ${owner.name}, the table has ${organisation ?? "-"}`);
    }
  });
  return found;
}

function listed(table: readonly Row[], found: Map<number, number>, unit: bigint): Range[] {
  return table.flatMap(({ start, end, system }) => {
    const owner = found.get(system);
    // Parts of a /48 are cut off on both sides, because a shared /48 has no single owner.
    const first = (start + unit - 1n) / unit;
    const last = (end + 1n) / unit - 1n;
    return owner === undefined || last < first ? [] : [{ start: Number(first), end: Number(last), owner }];
  });
}

function placeOf(name: string, kind: Network["kind"]): number {
  const place = owners.findIndex((owner) => owner.name === name && owner.kind === kind);
  if (place < 0) throw new Error(`No owner is called ${name}; nothing was written.`);
  return place + 1;
}

/** Replaces the owner of a network inside hosting networks; other networks stay as they are. */
function carve(ranges: readonly Range[], cidr: string, owner: number): Range[] {
  const [base, bits] = ipaddr.IPv4.parseCIDR(cidr);
  const from = base.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0);
  const to = from + 2 ** (32 - bits) - 1;
  return ranges.flatMap((range) => {
    if (range.end < from || range.start > to || owners[range.owner - 1]?.kind !== "hosting") return [range];
    const parts = [
      { ...range, end: from - 1 },
      { start: Math.max(range.start, from), end: Math.min(range.end, to), owner },
      { ...range, start: to + 1 },
    ];
    return parts.filter((part) => part.start <= part.end);
  });
}

function boundaries(ranges: readonly Range[]): Boundary[] {
  const result: Boundary[] = [];
  let next = 0;
  for (const { start, end, owner } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (start < next) throw new Error(`The table names two owners of ${start}; nothing was written.`);
    if (start > next && result.length) result.push({ start: next, owner: 0 });
    if (start > next || result.at(-1)?.owner !== owner) result.push({ start, owner });
    next = end + 1;
  }
  return [...result, { start: next, owner: 0 }];
}

/** Encodes seven bits per byte, the lowest first. Shifts would cut off the 48 bits of IPv6 numbers. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

function encode(list: readonly Boundary[]): Buffer {
  let last = 0;
  const bytes = list.flatMap(({ start, owner }) => {
    const pair = [...varint(start - last), ...varint(owner)];
    last = start;
    return pair;
  });
  return Buffer.from(bytes);
}

const [folder, target = shippedList] = process.argv.slice(2);
if (!folder || folder.startsWith("-")) {
  console.log(help);
  process.exit(folder === "--help" ? 0 : 2);
}

const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
const [, year, month, day] = /\.(\d{4})(\d\d)(\d\d)\d*$/.exec(version) ?? [];
if (!day) throw new Error(`The version ${version} of the table has no date; nothing was written.`);
const table4 = [...readTable(join(folder, "asn-ipv4-num.csv"))];
const table6 = [...readTable(join(folder, "asn-ipv6-num.csv"))];
const found = ownersOf([table4, table6]);

let ranges4 = listed(table4, found, 1n);
for (const { name, kind, cidrs } of carved) for (const cidr of cidrs) ranges4 = carve(ranges4, cidr, placeOf(name, kind));
const ipv4 = boundaries(ranges4);
const ipv6 = boundaries(listed(table6, found, 1n << 80n));

const header: ListHeader = {
  format: listFormat,
  source: `@ip-location-db/asn ${version}`,
  date: `${year}-${month}-${day}`,
  attribution: "RouteViews (routeviews.org), NRO (nro.net), IP to ASN Lite by DB-IP (db-ip.com); CC BY 4.0",
  ipv4: ipv4.length,
  ipv6: ipv6.length,
  owners: owners.map(({ kind, name }) => [kind, name]),
};
writeFileSync(target, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), encode(ipv4), encode(ipv6)]));

// Checks that the written list is read back unchanged.
loadNetworks(target);
for (const { start, owner } of ipv4) {
  const [expected, got] = [owners[owner - 1]?.name, findNetwork(new ipaddr.IPv4(bytesOf(start)).toString())];
  if (start < 2 ** 32 && expected !== got?.name) throw new Error(`Wrong at ${start}: ${expected}`);
}
console.log(`${target}: ${found.size} networks of ${owners.length} owners,`);
console.log(`${ipv4.length} IPv4 and ${ipv6.length} IPv6 boundaries, table of ${header.date}`);

function bytesOf(address: number): number[] {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256);
}
