import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { afterAll, describe, expect, test } from "vitest";
import { loadCountries } from "./countries.ts";

const folder = mkdtempSync(join(tmpdir(), "cleancast-countries-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Value = string | number | Value[] | { [key: string]: Value };
type File = { type?: string; ipVersion?: 4 | 6; networks: Record<string, Value> };

const place = (name: string, bytes: Buffer | string): string => {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
};

const world = {
  "81.2.69.0/24": { country: { iso_code: "GB", names: { en: "United Kingdom" } }, continent: { code: "EU" } },
  "216.160.83.0/26": { country: { iso_code: "US" }, city: { names: { en: "Milton" } } },
  "2001:218::/32": { country: { iso_code: "JP" } },
  "192.0.2.0/28": { registered_country: { iso_code: "DE" } },
  "192.0.2.16/28": "France",
  "192.0.2.32/28": { country: "FR" },
  "192.0.2.48/28": { country: { iso_code: 33 } },
  "192.0.2.64/28": { country: { iso_code: "France" } },
  "192.0.2.80/28": { country: ["FR"] },
};

describe("the country of an address", () => {
  const countries = loadCountries(place("country.mmdb", mmdb({ networks: world })));

  test("the country of an address is read from the operator's file", () => {
    expect(countries.countryOf("81.2.69.142")).toBe("GB");
    expect(countries.countryOf("216.160.83.56")).toBe("US");
    expect(countries.countryOf("2001:218:85a3::8a2e:370:7334")).toBe("JP");
  });

  test("an IPv4 address written as IPv6 has the same country", () => {
    expect(countries.countryOf("::ffff:81.2.69.142")).toBe("GB");
    expect(countries.countryOf("::ffff:5102:458e")).toBe("GB");
  });

  test("addresses outside the file's networks, private and reserved ones have no country", () => {
    for (const address of ["81.2.70.1", "216.160.83.64", "10.0.0.1", "127.0.0.1", "2001:219::1", "::1", "fe80::1"])
      expect(countries.countryOf(address), address).toBeNull();
  });

  test("texts that are not addresses have no country", () => {
    const texts = ["", " ", "81.2.69", "81.2.69.300", "81.2.69.142, 10.0.0.1", "::ffff:", "%", "a".repeat(10_000)];
    for (const text of [...texts, "null", "81.2.69.142\n", "[2001:218::1]", "2001:218::1%eth0\0"])
      expect(countries.countryOf(text), text.slice(0, 40)).toBeNull();
  });

  test("records of another shape have no country, and the registered country does not count", () => {
    for (const last of [1, 17, 33, 49, 65, 81]) expect(countries.countryOf(`192.0.2.${last}`), `${last}`).toBeNull();
  });

  test("in an IPv4 file an IPv6 address has no country", () => {
    const file = mmdb({ ipVersion: 4, networks: { "32.1.2.0/24": { country: { iso_code: "US" } } } });
    const onlyIpv4 = loadCountries(place("ipv4.mmdb", file));
    expect(onlyIpv4.countryOf("32.1.2.3")).toBe("US");
    expect(onlyIpv4.countryOf("2001:218::1")).toBeNull();
    expect(onlyIpv4.countryOf("2001:203::1")).toBeNull();
  });
});

describe("the country file", () => {
  test("the country file has a build date and a type", () => {
    const { builtAt, type } = loadCountries(place("city.mmdb", mmdb({ type: "DBIP-City-Lite", networks: world })));
    expect({ builtAt, type }).toEqual({ builtAt: new Date("2026-06-01T00:00:00Z"), type: "DBIP-City-Lite" });
  });

  const refusal = (file: string): string => {
    try {
      loadCountries(file);
    } catch (error) {
      return (error as Error).message;
    }
    return "no refusal";
  };
  const advice = "Give the path of a GeoLite2-Country, GeoLite2-City or DB-IP file (.mmdb), or leave the setting out.";

  test("a missing country file is named, with what to do", () => {
    const file = join(folder, "missing.mmdb");
    expect(refusal(file)).toBe(`The country file ${file} does not exist. ${advice}`);
    expect(refusal(folder)).toBe(`The country file ${folder} cannot be read (EISDIR). ${advice}`);
  });

  test("a file without countries is refused with its type", () => {
    const file = place("asn.mmdb", mmdb({ type: "GeoLite2-ASN", networks: world }));
    expect(refusal(file)).toBe(`The country file ${file} is of the type GeoLite2-ASN, without countries. ${advice}`);
  });

  test("a broken, foreign or truncated country file is refused", () => {
    const good = mmdb({ networks: world });
    const broken = {
      "empty.mmdb": "",
      "text.mmdb": "network,country\n81.2.69.0/24,GB\n",
      "zip.mmdb": Buffer.from("504b0304140000000800", "hex"),
      "zeros.mmdb": Buffer.alloc(4096),
      "half.mmdb": good.subarray(0, good.length / 2),
      "end.mmdb": good.subarray(good.length - 200),
      "marker.mmdb": Buffer.from("\xab\xcd\xefMaxMind.com", "latin1"),
    };
    for (const [name, bytes] of Object.entries(broken)) {
      const file = place(name, bytes);
      expect(refusal(file)).toBe(`The country file ${file} is not a MaxMind database, or is damaged. ${advice}`);
    }
  });

  test("looking up a damaged record does not throw", () => {
    const bytes = mmdb({ networks: world });
    bytes.fill(0xff, bytes.indexOf("iso_code") - 20, bytes.indexOf("iso_code") + 40);
    const countries = loadCountries(place("damaged.mmdb", bytes));
    expect(() => countries.countryOf("81.2.69.142")).not.toThrow();
  });
});

// Writes the MaxMind format in its simplest form: 24-bit records, no pointers, no merging of equal data.

function mmdb({ type = "GeoLite2-Country", ipVersion = 6, networks }: File): Buffer {
  // A leaf is the index of its network; null means no network.
  type Node = [Node | number | null, Node | number | null];
  const root: Node = [null, null];
  const values = Object.values(networks);
  Object.keys(networks).forEach((cidr, index) => {
    const bits = pathOf(cidr, ipVersion);
    let node = root;
    bits.forEach((bit, depth) => {
      if (depth === bits.length - 1) node[bit] = index;
      else node = (node[bit] ??= [null, null]) as Node;
    });
  });

  const nodes: Node[] = [];
  const number = (node: Node): void => {
    nodes.push(node);
    for (const side of node) if (Array.isArray(side)) number(side);
  };
  number(root);
  const data = values.map(encode);
  const offsets = data.map((_, index) => data.slice(0, index).reduce((sum, { length }) => sum + length, 0));
  const record = (side: Node[0]): number => {
    if (side === null) return nodes.length;
    // Sixteen empty bytes separate the tree from the data.
    return Array.isArray(side) ? nodes.indexOf(side) : nodes.length + 16 + (offsets[side] as number);
  };
  const tree = Buffer.alloc(nodes.length * 6);
  nodes.forEach(([left, right], index) => {
    tree.writeUIntBE(record(left), index * 6, 3);
    tree.writeUIntBE(record(right), index * 6 + 3, 3);
  });
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: Date.parse("2026-06-01T00:00:00Z") / 1000,
    database_type: type,
    ip_version: ipVersion,
    languages: ["en"],
    node_count: nodes.length,
    record_size: 24,
  });
  const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata]);
}

/** IPv4 networks lie in ::/96 of a file for both. */
function pathOf(cidr: string, ipVersion: 4 | 6): (0 | 1)[] {
  const [address, length] = ipaddr.parseCIDR(cidr);
  const bytes = address.toByteArray();
  const ahead = ipVersion === 6 && bytes.length === 4 ? 96 : 0;
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((shift) => ((byte >> shift) & 1) as 0 | 1));
  return [...Array<0>(ahead).fill(0), ...bits.slice(0, length)];
}

function encode(value: Value): Buffer {
  if (typeof value === "string") return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, one]) => [encode(key), encode(one)])]);
}

/** Encodes type and size in one byte; types above seven need a second one. */
function control(type: number, size: number): Buffer {
  if (size > 28) throw new Error("This writer supports only short values.");
  return Buffer.from(type <= 7 ? [(type << 5) | size] : [size, type - 7]);
}
