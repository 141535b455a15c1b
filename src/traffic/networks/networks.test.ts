import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../test/support/cpuTime.ts";
import { shippedList } from "./networkList.ts";
import { findCrawler, findNetwork, isFakeCrawler, loadNetworks, networkList } from "./networks.ts";

const folder = mkdtempSync(join(tmpdir(), "cleancast-networks-"));
afterAll(() => rmSync(folder, { recursive: true }));

const kinds = (addresses: string) =>
  addresses.split(" ").map((address) => `${address} ${findNetwork(address)?.kind ?? "ordinary"}`);
const all = (addresses: string, kind: string) => addresses.split(" ").map((address) => `${address} ${kind}`);
const expectAll = (addresses: string, kind: string) => expect(kinds(addresses)).toEqual(all(addresses, kind));

describe("the kind of a network", () => {
  test("an address of a hosting company is hosting, with the company's name", () => {
    expect(findNetwork("3.5.140.2")).toEqual({ kind: "hosting", name: "Amazon Web Services" });
    expect(findNetwork("2600:1f18::1")).toEqual({ kind: "hosting", name: "Amazon Web Services" });
    expect(findNetwork("34.64.0.1")?.name).toBe("Google Cloud");
    expect(findNetwork("20.36.108.1")?.name).toBe("Microsoft Azure");
    expect(findNetwork("51.38.0.1")?.name).toBe("OVHcloud");
    expect(findNetwork("65.108.0.1")?.name).toBe("Hetzner");
    expect(findNetwork("2a01:4f8::1")?.name).toBe("Hetzner");
    expectAll("18.130.0.1 52.95.110.1 35.190.0.1 13.66.138.1 2603:1030::1 2001:41d0::1", "hosting");
  });

  test("the exits of Apple's Private Relay are exempt in every network", () => {
    // Of each of the three operators, first, middle and last of the networks that Apple publishes.
    expectAll("104.28.28.0 104.28.76.1 104.28.151.254 140.248.0.0 140.248.34.132 140.248.49.16", "relay");
    expectAll("146.75.128.0 146.75.187.48 146.75.252.0 172.224.226.0 172.225.102.255 172.226.226.36", "relay");
    expectAll("2a02:26f7:b00a:4000::1 2a02:26f7:fc15:4000::1 2a04:4e41:1a00::1 2a04:4e41:7880::1", "relay");
    expectAll("2a09:bac2:55a0::1 2a09:bac3:d540::1 2606:54c0::1 2606:54c0:d490::1 2606:54c3:0:1a00::1", "relay");
  });

  test("no network with exits of Private Relay counts as hosting", () => {
    for (const network of ["104.28", "140.248", "146.75", "172.225", "172.226"])
      for (let third = 0; third < 256; third++) expect(findNetwork(`${network}.${third}.77`)?.kind).not.toBe("hosting");
    for (const network of ["2a02:26f7", "2a04:4e41", "2a09:bac2", "2a09:bac3", "2606:54c0", "2606:54c3"])
      for (let third = 0; third < 65_536; third += 51)
        expect(findNetwork(`${network}:${third.toString(16)}::1`)?.kind).not.toBe("hosting");
  });

  test("WARP, VPNs and the browsers' own proxies are exempt", () => {
    expectAll("8.6.112.1 162.158.0.1 2a09:bac5::1", "relay");
    expectAll("146.70.14.19 45.83.124.1 79.135.104.11 31.13.189.226 141.0.8.1 82.145.208.1", "relay");
  });

  test("company gateways are exempt, also inside a cloud", () => {
    expect(findNetwork("165.225.0.5")).toEqual({ kind: "relay", name: "Zscaler" });
    expect(findNetwork("163.116.128.5")).toEqual({ kind: "relay", name: "Netskope" });
    expect(findNetwork("146.112.0.5")).toEqual({ kind: "relay", name: "Cisco Umbrella" });
    expect(findNetwork("208.127.1.1")).toEqual({ kind: "relay", name: "Palo Alto Prisma Access" });
    expect(findNetwork("148.64.1.1")).toEqual({ kind: "relay", name: "Symantec Cloud SWG" });
  });

  test.each([
    ["Comcast", "73.0.0.1 24.0.0.5 2601:1::1"],
    ["Verizon and T-Mobile", "71.160.0.1 174.192.0.1 172.32.0.1 2607:fb90::1"],
    ["Deutsche Telekom", "79.192.0.1 84.128.5.5 2003:c0::1"],
    ["1&1, next to IONOS", "89.244.0.1"],
    ["Orange", "90.0.0.1 2.0.0.1 2a01:cb00::1"],
    ["Free, which the table gives to a hosting company", "78.208.0.1 81.56.0.1 82.64.0.1 2a01:e00::1"],
    ["OVH's own lines to homes", "109.190.0.1"],
    ["Vodafone", "88.64.0.1 90.240.0.1 2.192.0.1 2a02:8100::1"],
    ["BT", "86.128.0.1 81.128.0.1 2a00:23c0::1"],
    ["Telefonica", "83.32.0.1 79.144.0.1 2a02:9000::1"],
    ["Jio and Airtel", "49.36.0.1 157.32.0.1 2409:4000::1 106.192.0.1 2401:4900::1"],
    ["China Mobile and China Telecom", "111.0.0.1 120.192.0.1 2409:8000::1 114.80.0.1"],
    ["Google Fiber", "136.32.0.1"],
    ["Starlink", "98.97.0.1 129.222.0.1"],
    ["carriers elsewhere", "1.128.0.1 153.128.0.1 175.192.0.1 105.112.0.1 179.208.0.1 2804:14c::1"],
  ])("people at home and on phones are in ordinary networks: %s", (_, addresses) => {
    expectAll(addresses, "ordinary");
  });

  test("private, reserved and shared addresses are ordinary", () => {
    expectAll("0.0.0.0 10.0.0.1 127.0.0.1 100.64.0.1 169.254.169.254 192.168.1.1 172.16.0.1", "ordinary");
    expectAll("192.0.2.1 224.0.0.1 255.255.255.255 :: ::1 fe80::1 fd00::1 ff02::1 2001:db8::1", "ordinary");
  });

  test("an IPv4 address means the same when it is written as IPv6", () => {
    for (const address of ["::ffff:3.5.140.2", "::FFFF:305:8c02", "0:0:0:0:0:ffff:0305:8C02", "::ffff:0:305:8c02"])
      expect([address, findNetwork(address)?.name]).toEqual([
        address,
        address === "::ffff:0:305:8c02" ? undefined : "Amazon Web Services",
      ]);
    expect(findNetwork("::ffff:73.0.0.1")).toBeNull();
  });

  test("texts that are not addresses have no network", () => {
    const texts = ["", " ", ".", ":", ":::", "3.5.140", "3.5.140.2 ", "3.5.140.2.1", "3.5.140.256", "03.5.140.2"];
    texts.push("3.5.140.2:443", "[2600:1f18::1]", "2600:1f18::1::", "2600:1f18::1%eth0", "::ffff:3.5.140.999");
    texts.push("0x3.5.140.2", "50695170", "３.5.140.2", "3.5.140.2\0", "3.5.140.2,10.0.0.1", "__proto__");
    for (const text of [...texts, "2600:".repeat(10_000), "3.".repeat(10_000), "f".repeat(1_000_000)])
      expect([text.slice(0, 40), findNetwork(text)]).toEqual([text.slice(0, 40), null]);
  });
});

describe("a fake crawler", () => {
  test("a crawler from another owner's network is a fake", () => {
    expect(isFakeCrawler("Googlebot", "3.5.140.2")).toBe(true);
    expect(isFakeCrawler("Googlebot", "73.0.0.1")).toBe(true);
    expect(isFakeCrawler("Googlebot", "34.64.0.1"), "anyone can rent in Google Cloud").toBe(true);
    expect(isFakeCrawler("bingbot", "20.36.108.1"), "anyone can rent in Azure").toBe(true);
    expect(isFakeCrawler("YandexBot", "2a01:4f8::1")).toBe(true);
    expect(isFakeCrawler("Applebot", "::ffff:51.38.0.1")).toBe(true);
    const userAgent = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
    expect(isFakeCrawler(userAgent, "3.5.140.2")).toBe(true);
  });

  test("a crawler from its own network is genuine", () => {
    const real = {
      Googlebot: "66.249.66.1 2001:4860:4801:10::1 34.100.182.97 35.247.243.241 ::ffff:66.249.66.1",
      "AdsBot-Google": "66.249.66.1 35.190.0.1",
      bingbot: "157.55.39.1 40.77.167.1 52.167.144.7 207.46.13.9",
      adidxbot: "20.36.108.1",
      Applebot: "17.58.101.5",
      "Yandex Bot": "5.255.253.1 2a02:6b8::1",
      facebookexternalhit: "69.171.230.1 2a03:2880:10ff::1",
      "meta-externalagent": "31.13.24.1",
      SeznamBot: "77.75.76.1",
      PetalBot: "114.119.128.1",
    };
    for (const [name, addresses] of Object.entries(real))
      for (const address of addresses.split(" "))
        expect([name, address, isFakeCrawler(name, address)]).toEqual([name, address, false]);
  });

  test("a crawler that also uses ordinary networks is a fake only in another owner's network", () => {
    expect(isFakeCrawler("Baiduspider", "220.181.108.75")).toBe(false);
    expect(isFakeCrawler("facebookexternalhit/1.1 Facebot Twitterbot/1.0", "73.0.0.1")).toBe(false);
    expect(isFakeCrawler("Baiduspider", "3.5.140.2")).toBe(true);
    expect(isFakeCrawler("facebookexternalhit", "3.5.140.2")).toBe(true);
  });

  test("an unknown crawler, a private address or no address is never a fake", () => {
    for (const name of ["AhrefsBot", "Chrome", "", "GPTBot"]) expect(isFakeCrawler(name, "3.5.140.2")).toBe(false);
    for (const address of ["10.0.0.1", "127.0.0.1", "::1", "fe80::1", "", "unknown"])
      expect(isFakeCrawler("Googlebot", address)).toBe(false);
    expect(findCrawler("Chrome")).toBeUndefined();
    expect(findCrawler("Baidu Spider")?.networks).toEqual(["Baidu"]);
  });

  test("the shipped list has the networks of every known crawler", () => {
    const known = networkList().owners.map((owner) => owner?.name);
    const names = "googlebot adsbot-google bingbot bingpreview applebot yandexbot baiduspider facebot twitterbot";
    for (const name of `${names} meta-externalagent linkedinbot seznambot naverbot petalbot amazonbot`.split(" "))
      expect(known).toEqual(expect.arrayContaining([...(findCrawler(name)?.networks ?? ["missing"])]));
  });
});

describe("the list", () => {
  afterEach(() => loadNetworks());

  const write = (name: string, header: object, body: number[]): string => {
    const file = join(folder, name);
    const format = {
      format: "cleancast networks 1",
      date: "2027-01-02",
      source: "a test",
      attribution: "ours",
    };
    writeFileSync(file, Buffer.concat([Buffer.from(`${JSON.stringify({ ...format, ...header })}\n`), Buffer.from(body)]));
    return file;
  };

  test("the list names its source, its date and its attribution", () => {
    const { source, date, attribution } = networkList();
    expect(source).toMatch(/^@ip-location-db\/asn \d/);
    expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
    expect(attribution).toMatch(/RouteViews.+NRO.+DB-IP.+CC BY 4\.0/);
  });

  test("the list is small on disk and in memory", () => {
    const { ipv4, ipv6 } = networkList();
    const arrays = [ipv4.starts, ipv4.owners, ipv6.starts, ipv6.owners];
    expect(statSync(shippedList).size).toBeLessThan(500_000);
    expect(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(1_000_000);
  });

  test("the list is sorted, and neighbours differ", () => {
    for (const { starts, owners } of [networkList().ipv4, networkList().ipv6]) {
      const faults = [...starts.keys()].filter(
        (at) => at > 0 && ((starts[at - 1] ?? 0) >= (starts[at] ?? 0) || owners[at - 1] === owners[at]),
      );
      expect(faults).toEqual([]);
    }
  });

  test("an operator can load a newer list", () => {
    // 1.0.0.0 up to 1.0.1.0, and 2000::/48.
    const body = [0x80, 0x80, 0x80, 0x08, 1, 0x80, 0x02, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x08, 1, 1, 0];
    const file = write("newer.bin", { ipv4: 2, ipv6: 2, owners: [["hosting", "Newer"]] }, body);
    expect(loadNetworks(file)).toMatchObject({ date: "2027-01-02", source: "a test" });
    expectAll("1.0.0.0 1.0.0.255 2000:: 2000:0:0:ffff::1", "hosting");
    expectAll("0.255.255.255 1.0.1.0 3.5.140.2 1fff:ffff:ffff::1 2000:0:1::", "ordinary");
    expect(isFakeCrawler("Googlebot", "1.0.0.1"), "it does not know where Google is").toBe(false);
  });

  test("the parsers accept exactly the addresses that Node accepts, except zones", () => {
    loadNetworks(write("everything.bin", { ipv4: 1, ipv6: 1, owners: [["relay", "All"]] }, [0, 1, 0, 1]));
    let seed = 1;
    const pick = <T>(from: readonly T[]): T => {
      seed = (seed * 48_271) % 2_147_483_647;
      return from[seed % from.length] as T;
    };
    const pieces = ["0", "1", "9", "25", "255", "256", "00", "a", "F", "ffff", "10000", ":", ":", "::", ".", ".", "g", ""];
    const wrong: string[] = [];
    let addresses = 0;
    for (let round = 0; round < 200_000; round++) {
      const separator = pick(["", ".", ":", ":"]);
      const text = Array.from({ length: pick([1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9]) }, () => pick(pieces)).join(separator);
      if (isIP(text)) addresses++;
      if ((findNetwork(text) !== null) !== isIP(text) > 0) wrong.push(text);
    }
    expect(wrong).toEqual([]);
    expect(addresses).toBeGreaterThan(5000);
  });

  test("an unusable list is named with what to do, and the current list stays", () => {
    const owners = [["hosting", "Newer"]];
    const files: [file: string, why: RegExp][] = [
      [join(folder, "missing.bin"), /ENOENT/],
      [write("other.bin", { format: "another" }, []), /its format is not "cleancast networks 1"/],
      [write("short.bin", { ipv4: 2, ipv6: 0, owners }, [1, 1, 200]), /it is truncated/],
      [write("strange.bin", { ipv4: 1, ipv6: 0, owners }, [1, 9]), /it refers to an unknown owner/],
      [join(import.meta.dirname, "networks.ts"), /it is not a list of networks/],
    ];
    for (const [file, why] of files) {
      expect(() => loadNetworks(file)).toThrow(why);
      expect(() => loadNetworks(file)).toThrow(`The list of networks ${file} cannot be used: `);
      expect(() => loadNetworks(file)).toThrow("Make it again with scripts/networks/main.ts");
      expect(findNetwork("3.5.140.2")?.name).toBe("Amazon Web Services");
    }
  });

  test("a hundred thousand look-ups are fast", () => {
    const addresses = Array.from({ length: 1000 }, (_, at) => (at % 2 ? `3.5.${at % 256}.2` : `2600:1f18:${at}::1`));
    const cpuMs = cpuMsOf(() => {
      for (let round = 0; round < 100; round++) for (const address of addresses) findNetwork(address);
    });
    expect(cpuMs).toBeLessThan(5000);
  });
});
