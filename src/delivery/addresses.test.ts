import type { LookupAddress, LookupOptions } from "node:dns";
import { describe, expect, test } from "vitest";
import {
  addressFault,
  bareHost,
  BlockedAddress,
  guardedLookup,
  isPublicAddress,
  readAllowList,
  urlFault,
  type AllowList,
} from "./addresses.ts";

function allowing(text: string): AllowList {
  const list = readAllowList(text);
  if ("fault" in list) throw new Error(list.fault);
  return list;
}
const none = allowing("");
const privateFault = "leads to a private address (CLEANCAST_ALLOW_PRIVATE opens it)";

/** What a hostile name server may answer, or a customer may type as a literal. */
const hostileAddresses: [what: string, address: string][] = [
  ["loopback", "127.0.0.1"],
  ["another loopback", "127.255.255.254"],
  ["this host", "0.0.0.0"],
  ["this network", "0.1.2.3"],
  ["private 10/8", "10.0.0.1"],
  ["private 172.16/12", "172.16.0.1"],
  ["private 172.31", "172.31.255.255"],
  ["private 192.168/16", "192.168.1.1"],
  ["link-local", "169.254.0.1"],
  ["cloud metadata", "169.254.169.254"],
  ["container metadata", "169.254.170.2"],
  ["carrier-grade NAT", "100.64.0.1"],
  ["carrier-grade NAT, its end", "100.127.255.255"],
  ["Alibaba's metadata in carrier-grade NAT", "100.100.100.200"],
  ["IETF protocol assignments", "192.0.0.8"],
  ["documentation net 1", "192.0.2.1"],
  ["documentation net 2", "198.51.100.1"],
  ["documentation net 3", "203.0.113.9"],
  ["benchmarking", "198.18.0.1"],
  ["benchmarking, its end", "198.19.255.255"],
  ["6to4 relay anycast", "192.88.99.1"],
  ["multicast", "224.0.0.1"],
  ["multicast of the site", "239.255.255.250"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["IPv6 loopback", "::1"],
  ["IPv6 unspecified", "::"],
  ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
  ["IPv4-mapped loopback in hex", "::ffff:7f00:1"],
  ["IPv4-mapped metadata", "::ffff:169.254.169.254"],
  ["IPv4-mapped private, written out", "0:0:0:0:0:ffff:0a00:0001"],
  ["IPv4-compatible loopback", "::7f00:1"],
  ["IPv4-compatible private", "::a00:1"],
  ["IPv4-compatible metadata", "::a9fe:a9fe"],
  ["IPv4-compatible loopback, dotted", "::127.0.0.1"],
  ["IPv4-translated loopback", "::ffff:0:127.0.0.1"],
  ["NAT64 of loopback", "64:ff9b::7f00:1"],
  ["NAT64 of metadata, dotted", "64:ff9b::169.254.169.254"],
  ["NAT64 for local use", "64:ff9b:1::a00:1"],
  ["6to4 of loopback", "2002:7f00:1::"],
  ["6to4 of a private net", "2002:c0a8:101::1"],
  ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  ["IPv6 link-local", "fe80::1"],
  ["IPv6 link-local with a zone", "fe80::1%eth0"],
  ["loopback with a zone", "::1%lo"],
  ["IPv6 site-local of old", "fec0::1"],
  ["unique local fc", "fc00::1"],
  ["unique local fd", "fd12:3456:789a::1"],
  ["AWS metadata over IPv6", "fd00:ec2::254"],
  ["IPv6 multicast", "ff02::1"],
  ["IPv6 multicast, global scope", "ff0e::1"],
  ["IPv6 discard-only", "100::1"],
  ["IPv6 documentation", "2001:db8::1"],
  ["IPv6 documentation of 2024", "3fff::1"],
  ["IPv6 benchmarking", "2001:2::1"],
  ["ORCHID", "2001:10::1"],
  ["ORCHIDv2", "2001:20::1"],
  ["segment routing", "5f00::1"],
  ["IPv6 that was never assigned", "4000::1"],
  ["not an address", "localhost"],
  ["nothing", ""],
];

/** URLs as a hostile customer would enter them; all of them are over HTTPS unless the scheme is the point. */
const hostileUrls: [what: string, url: string, fault: string | RegExp][] = [
  ["loopback", "https://127.0.0.1/", privateFault],
  ["loopback in decimal", "https://2130706433/", privateFault],
  ["loopback in hex", "https://0x7f000001/", privateFault],
  ["loopback in octal", "https://017700000001/", privateFault],
  ["loopback in mixed bases", "https://0x7f.0.0.01/", privateFault],
  ["loopback in two parts", "https://127.1/", privateFault],
  ["loopback with octal parts", "https://0177.0.0.1/", privateFault],
  ["loopback with a trailing dot", "https://127.0.0.1./", privateFault],
  ["loopback with a port", "https://127.0.0.1:8443/x", privateFault],
  ["loopback in full-width digits", "https://１２７.０.０.１/", privateFault],
  ["loopback in circled digits", "https://①②⑦.⓪.⓪.①/", privateFault],
  ["loopback with ideographic dots", "https://127。0。0。1/", privateFault],
  ["loopback in percent signs", "https://%31%32%37.0.0.1/", privateFault],
  ["zero", "https://0/", privateFault],
  ["0.0.0.0", "https://0.0.0.0/", privateFault],
  ["metadata", "https://169.254.169.254/latest/meta-data/", privateFault],
  ["metadata in decimal", "https://2852039166/", privateFault],
  ["metadata in hex", "https://0xA9FEA9FE/", privateFault],
  ["metadata with upper-case scheme", "HTTPS://169.254.169.254/", privateFault],
  ["private net", "https://10.1.2.3/", privateFault],
  ["carrier-grade NAT", "https://100.64.0.1/", privateFault],
  ["broadcast", "https://255.255.255.255/", privateFault],
  ["IPv6 loopback", "https://[::1]/", privateFault],
  ["IPv6 loopback written out", "https://[0:0:0:0:0:0:0:1]:443/", privateFault],
  ["IPv6 unspecified", "https://[::]/", privateFault],
  ["IPv4-mapped", "https://[::ffff:127.0.0.1]/", privateFault],
  ["IPv4-mapped in capitals", "https://[::FFFF:7F00:1]/", privateFault],
  ["IPv4-compatible loopback", "https://[::127.0.0.1]/", privateFault],
  ["IPv4-compatible metadata", "https://[::169.254.169.254]/", privateFault],
  ["NAT64", "https://[64:ff9b::127.0.0.1]/", privateFault],
  ["6to4", "https://[2002:7f00:1::]/", privateFault],
  ["Teredo", "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", privateFault],
  ["link-local", "https://[fe80::1]/", privateFault],
  ["AWS metadata over IPv6", "https://[fd00:ec2::254]/latest/", privateFault],
  ["IPv6 multicast", "https://[ff02::1]/", privateFault],
  ["documentation", "https://[2001:db8::1]/", privateFault],
  ["a user name", "https://user@example.com/", "must not contain a user name or password"],
  ["a password", "https://:pass@example.com/", "must not contain a user name or password"],
  ["a user name that looks like the host", "https://example.com@127.0.0.1/", /must not contain a user name/],
  ["a user name in percent signs", "https://example.com%40x@example.org/", /must not contain a user name/],
  ["plain http to a name", "http://example.com/", "must use https"],
  ["plain http to a public address", "http://1.1.1.1/", /must use https/],
  ["plain http to loopback", "http://127.0.0.1/", /must use https/],
  ["upper-case plain http", "HTTP://EXAMPLE.COM/", "must use https"],
  ["another scheme", "ftp://example.com/", "must use https"],
  ["a file", "file:///etc/passwd", "must use https"],
];

describe("addresses that must not be contacted", () => {
  test.each(hostileAddresses)("%s: %s is not public", (_what, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(hostileAddresses.filter(([, address]) => address.includes(".") || address.includes(":")))(
    "%s: a name that resolves to %s is refused",
    (_what, address) => {
      expect(addressFault(none, true, "rebind.example.com", address)).toBe(privateFault);
    },
  );

  test.each(["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "192.169.0.1", "2606:4700::1111", "2a00::1"])(
    "%s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
      expect(addressFault(none, true, "example.com", address)).toBeNull();
    },
  );

  test("a public address inside an IPv4-mapped one is the public address", () => {
    expect(addressFault(none, true, "example.com", "::ffff:1.1.1.1")).toBeNull();
  });

  test("plain HTTP is refused even to a public address", () => {
    expect(addressFault(none, false, "example.com", "1.1.1.1")).toContain("must use https");
  });
});

describe("URLs as they are entered", () => {
  test.each(hostileUrls)("%s: %s", (_what, url, fault) => {
    expect(urlFault(none, url)).toEqual(typeof fault === "string" ? fault : expect.stringMatching(fault));
  });

  test.each([
    "https://example.com/",
    "https://EXAMPLE.com./path?x=1",
    "https://example.com:8443/",
    "https://xn--mnchen-3ya.de/",
    "https://münchen.de/",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]/",
    // Names are judged by what they resolve to, at the moment of the connection.
    "https://localhost/",
    "https://localhost./",
    "https://127.0.0.1.nip.io/",
    "https://metadata.google.internal/",
  ])("%s may be entered", (url) => {
    expect(urlFault(none, url)).toBeNull();
  });

  test.each([
    "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://256.256.256.256/",
    "https://[::1/",
  ])("%s is no URL at all, so it never comes here", (url) => {
    expect(URL.canParse(url)).toBe(false);
  });

  test("no fault quotes the URL: its path and query may hold a token", () => {
    for (const [, url] of hostileUrls)
      expect(String(urlFault(none, url.replace(/\/$/, "/s3cret?token=s3cret")))).not.toContain("s3cret");
  });

  test.each([
    ["[::1]", "::1"],
    ["[FE80::1]", "fe80::1"],
    ["Example.COM", "example.com"],
    ["127.0.0.1", "127.0.0.1"],
  ])("the host of %s is %s", (hostname, host) => {
    expect(bareHost(hostname)).toBe(host);
  });
});

describe("the operator's allow-list", () => {
  const allow = allowing(
    " Internal.Example , 10.0.0.0/8, 192.168.1.7, ::1, fd00::/8,, ::ffff:172.16.0.0/108 ",
  );
  const opens = (host: string, address: string, secure = false) => addressFault(allow, secure, host, address);

  test.each([
    ["a listed name, wherever it leads", "internal.example", "127.0.0.1"],
    ["a listed network", "whatever.example", "10.200.3.4"],
    ["a listed network, IPv4-mapped", "whatever.example", "::ffff:10.200.3.4"],
    ["a listed address", "192.168.1.7", "192.168.1.7"],
    ["a listed IPv6 address", "::1", "::1"],
    ["a listed IPv6 network", "whatever.example", "fd12::1"],
    ["the IPv4 network inside a listed IPv4-mapped one", "whatever.example", "172.20.0.1"],
  ])("opens %s, also for plain HTTP", (_what, host, address) => {
    expect(opens(host, address)).toBeNull();
    expect(opens(host, address, true)).toBeNull();
  });

  test.each([
    ["another private network", "whatever.example", "172.32.0.1", false],
    ["the address beside a listed one", "whatever.example", "192.168.1.8", true],
    ["loopback, for a list that names only ::1", "whatever.example", "127.0.0.1", true],
    ["a name below a listed one", "sub.internal.example", "127.0.0.1", true],
    ["a name that ends like a listed one", "notinternal.example", "127.0.0.1", true],
    ["NAT64 of a listed network", "whatever.example", "64:ff9b::a00:1", true],
    ["6to4 of a listed network", "whatever.example", "2002:a00:1::", true],
    ["IPv4-compatible form of a listed network", "whatever.example", "::a00:1", true],
    ["metadata", "whatever.example", "169.254.169.254", true],
    ["plain HTTP to a public address", "example.com", "1.1.1.1", false],
  ])("does not open %s", (_what, host, address, secure) => {
    expect(opens(host, address, secure)).not.toBeNull();
  });

  test("a list that opens all of IPv6 does not open IPv4, and the other way round", () => {
    expect(addressFault(allowing("::/0"), true, "x.example", "10.0.0.1")).not.toBeNull();
    expect(addressFault(allowing("0.0.0.0/0"), true, "x.example", "fd00::1")).not.toBeNull();
  });

  test("entered URLs: listed hosts and networks pass, the rest is refused as before", () => {
    expect(urlFault(allow, "http://internal.example/")).toBeNull();
    expect(urlFault(allow, "http://INTERNAL.example:8080/")).toBeNull();
    expect(urlFault(allow, "http://10.1.2.3/")).toBeNull();
    expect(urlFault(allow, "http://[::1]:80/")).toBeNull();
    expect(urlFault(allow, "https://127.0.0.1/")).toBe(privateFault);
    expect(urlFault(allow, "http://user:pass@internal.example/")).toBe(
      "must not contain a user name or password",
    );
    expect(urlFault(allowing("internal.example"), "http://other.example/")).toBe("must use https");
  });

  test("plain HTTP to a name may be entered when networks are open: where it leads decides later", () => {
    expect(urlFault(allow, "http://other.example/")).toBeNull();
    expect(addressFault(allow, false, "other.example", "1.1.1.1")).toContain("must use https");
  });

  test.each([
    "10.0.0.0/33",
    "exa mple",
    "http://10.0.0.1",
    "10.0.0.0/",
    "[::1]",
    "host:8080",
    "::/129",
    "*.example",
  ])("%j is neither a host nor a network", (entry) => {
    expect(readAllowList(`localhost, ${entry}`)).toEqual({ fault: entry });
  });

  test.each(["999.1.1.1", "10.0.0.256", "10.0.0"])(
    "%j is a mistyped address and not a host name: it would open nothing, silently",
    (entry) => {
      expect(readAllowList(entry)).toEqual({ fault: entry });
    },
  );

  test("an empty list opens nothing", () => {
    expect(readAllowList("")).toEqual({ hosts: new Set(), networks: [] });
    expect(readAllowList(" , ,")).toEqual({ hosts: new Set(), networks: [] });
  });
});

describe("the guarded look-up, asked for real", () => {
  type Answer = { error: Error | null; address: string | LookupAddress[] };
  const look = (allow: AllowList, host: string, options: LookupOptions = {}, secure = true) =>
    new Promise<Answer>((resolve) => {
      guardedLookup(allow, secure)(host, options, (error, address) => resolve({ error, address }));
    });

  test.each(["localhost", "LOCALHOST"])("%s resolves to loopback and is blocked", async (host) => {
    for (const options of [{}, { all: true }, { family: 4 }, { all: true, family: 4 }]) {
      const { error, address } = await look(none, host, options);
      expect(error).toBeInstanceOf(BlockedAddress);
      expect(error?.message).toBe(`the address ${privateFault}`);
      expect(address).toEqual([]);
    }
  });

  test("over plain HTTP the fault speaks of https", async () => {
    expect((await look(none, "localhost", {}, false)).error?.message).toContain("must use https");
  });

  test("what the operator opened is answered in the form that was asked for", async () => {
    const allow = allowing("127.0.0.0/8");
    expect(await look(allow, "localhost", { family: 4 })).toEqual({ error: null, address: "127.0.0.1" });
    expect(await look(allow, "localhost", { family: 4, all: true })).toEqual({
      error: null,
      address: [{ address: "127.0.0.1", family: 4 }],
    });
  });

  test("a listed name opens whatever it resolves to, in any case", async () => {
    expect((await look(allowing("localhost"), "LocalHost", {}, false)).error).toBeNull();
  });

  test("a name that does not exist keeps the resolver's own error", async () => {
    const { error } = await look(none, "no-such-host.invalid", {});
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(BlockedAddress);
  });
});
