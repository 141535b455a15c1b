import type { LookupAddress, LookupOptions } from "node:dns";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hostileAddresses, hostileUrls, privateFault } from "../../test/support/hostileAddresses.ts";
import { startDns, type Records } from "../../test/support/servers/dnsServer.ts";
import { errorCode } from "../kernel/errorCode.ts";
import {
  addressFault,
  bareHost,
  BlockedAddress,
  createResolve,
  guardedLookup,
  isPublicAddress,
  lookupWith,
  readAllowList,
  urlFault,
  type AllowList,
} from "./addresses.ts";
import { english } from "../kernel/messages/message.ts";

function allowing(text: string): AllowList {
  const list = readAllowList(text);
  if ("fault" in list) throw new Error(list.fault);
  return list;
}
const none = allowing("");

describe("addresses that must not be contacted", () => {
  test("no hostile address is public", () => {
    for (const [what, address] of hostileAddresses) expect.soft(isPublicAddress(address), `${what}: ${address}`).toBe(false);
  });

  test("a name that resolves to a hostile address is refused", () => {
    for (const [what, address] of hostileAddresses.filter(([, one]) => /[.:]/.test(one)))
      expect.soft(addressFault(none, true, "rebind.example.com", address), `${what}: ${address}`).toBe(privateFault);
  });

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
  test("hostile URLs are refused", () => {
    for (const [what, url, fault] of hostileUrls)
      expect
        .soft(urlFault(none, url), `${what}: ${url}`)
        .toEqual(typeof fault === "string" ? fault : expect.stringMatching(fault));
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
  ])("the URL %s is accepted", (url) => {
    expect(urlFault(none, url)).toBeNull();
  });

  test.each(["https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://256.256.256.256/", "https://[::1/"])(
    "%s is not a URL and is refused before this check",
    (url) => {
      expect(URL.canParse(url)).toBe(false);
    },
  );

  test("no fault quotes the URL: its path and query may contain a token", () => {
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
  const allow = allowing(" Internal.Example , 10.0.0.0/8, 192.168.1.7, ::1, fd00::/8,, ::ffff:172.16.0.0/108 ");
  const opens = (host: string, address: string, secure = false) => addressFault(allow, secure, host, address);

  test.each([
    ["a listed name, wherever it leads", "internal.example", "127.0.0.1"],
    ["a listed network", "whatever.example", "10.200.3.4"],
    ["a listed network, IPv4-mapped", "whatever.example", "::ffff:10.200.3.4"],
    ["a listed address", "192.168.1.7", "192.168.1.7"],
    ["a listed IPv6 address", "::1", "::1"],
    ["a listed IPv6 network", "whatever.example", "fd12::1"],
    ["the IPv4 network inside a listed IPv4-mapped one", "whatever.example", "172.20.0.1"],
  ])("the allow-list opens %s, also for plain HTTP", (_what, host, address) => {
    expect(opens(host, address)).toBeNull();
    expect(opens(host, address, true)).toBeNull();
  });

  test.each([
    ["another private network", "whatever.example", "172.32.0.1", false],
    ["the address next to an allowed one", "whatever.example", "192.168.1.8", true],
    ["loopback, for a list that names only ::1", "whatever.example", "127.0.0.1", true],
    ["a name below a listed one", "sub.internal.example", "127.0.0.1", true],
    ["a name that ends like a listed one", "notinternal.example", "127.0.0.1", true],
    ["NAT64 of a listed network", "whatever.example", "64:ff9b::a00:1", true],
    ["6to4 of a listed network", "whatever.example", "2002:a00:1::", true],
    ["IPv4-compatible form of a listed network", "whatever.example", "::a00:1", true],
    ["metadata", "whatever.example", "169.254.169.254", true],
    ["plain HTTP to a public address", "example.com", "1.1.1.1", false],
  ])("the allow-list does not open %s", (_what, host, address, secure) => {
    expect(opens(host, address, secure)).not.toBeNull();
  });

  test("an allow-list with all of IPv6 does not open IPv4, and the other way round", () => {
    expect(addressFault(allowing("::/0"), true, "x.example", "10.0.0.1")).not.toBeNull();
    expect(addressFault(allowing("0.0.0.0/0"), true, "x.example", "fd00::1")).not.toBeNull();
  });

  test("URLs of allowed hosts and networks are accepted, others are refused", () => {
    expect(urlFault(allow, "http://internal.example/")).toBeNull();
    expect(urlFault(allow, "http://INTERNAL.example:8080/")).toBeNull();
    expect(urlFault(allow, "http://10.1.2.3/")).toBeNull();
    expect(urlFault(allow, "http://[::1]:80/")).toBeNull();
    expect(urlFault(allow, "https://127.0.0.1/")).toBe(privateFault);
    expect(urlFault(allow, "http://user:pass@internal.example/")).toBe("must not contain a user name or password");
    expect(urlFault(allowing("internal.example"), "http://other.example/")).toBe("must use https");
  });

  test("a plain HTTP URL is accepted when networks are allowed: its address is checked on connecting", () => {
    expect(urlFault(allow, "http://other.example/")).toBeNull();
    expect(addressFault(allow, false, "other.example", "1.1.1.1")).toContain("must use https");
  });

  test.each(["10.0.0.0/33", "exa mple", "http://10.0.0.1", "10.0.0.0/", "[::1]", "host:8080", "::/129", "*.example"])(
    "an allow-list with %j is invalid: it is neither a host nor a network",
    (entry) => {
      expect(readAllowList(`localhost, ${entry}`)).toEqual({ fault: entry });
    },
  );

  test.each(["999.1.1.1", "10.0.0.256", "10.0.0"])(
    "%j is a mistyped address and not a host name: it would open nothing, silently",
    (entry) => {
      expect(readAllowList(entry)).toEqual({ fault: entry });
    },
  );

  test("an empty allow-list opens nothing", () => {
    expect(readAllowList("")).toEqual({ hosts: new Set(), networks: [] });
    expect(readAllowList(" , ,")).toEqual({ hosts: new Set(), networks: [] });
  });
});

describe("the guarded look-up with the system's resolver", () => {
  type Answer = { error: Error | null; address: string | LookupAddress[] };
  const resolveHost = (allow: AllowList, host: string, options: LookupOptions = {}, secure = true) =>
    new Promise<Answer>((resolve) => {
      guardedLookup(allow, secure)(host, options, (error, address) => resolve({ error, address }));
    });

  test.each(["localhost", "LOCALHOST"])("%s resolves to loopback and is blocked", async (host) => {
    for (const options of [{}, { all: true }]) {
      const { error, address } = await resolveHost(none, host, options);
      expect(error).toBeInstanceOf(BlockedAddress);
      expect(english(error?.message ?? "")).toBe(`the address ${privateFault}`);
      expect(address).toEqual([]);
    }
  });

  test("over plain HTTP the error names https", async () => {
    expect((await resolveHost(none, "localhost", {}, false)).error?.message).toContain("must use https");
  });

  test("an allowed address is returned in the form that the caller asked for", async () => {
    const allow = allowing("127.0.0.0/8");
    expect(await resolveHost(allow, "localhost")).toEqual({
      error: null,
      address: "127.0.0.1",
    });
    expect(await resolveHost(allow, "localhost", { all: true })).toEqual({
      error: null,
      address: [{ address: "127.0.0.1", family: 4 }],
    });
  });

  test("an allowed name may resolve to any address, and its case does not matter", async () => {
    expect((await resolveHost(allowing("localhost"), "LocalHost", {}, false)).error).toBeNull();
  });

  test("a name that does not exist keeps the resolver's own error", async () => {
    const { error } = await resolveHost(none, "no-such-host.invalid", {});
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(BlockedAddress);
  });
});

const folder = mkdtempSync(join(tmpdir(), "cleancast-resolve-"));

/** A file of the system with this text. */
function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

type Options = { hosts?: string; resolvConf?: string; tryMs?: number };

async function systemWith(records: Records, { hosts = "", resolvConf = "", tryMs = 60_000 }: Options = {}) {
  const dns = await startDns(records);
  onTestFinished(dns.close);
  const resolve = createResolve({
    servers: [dns.address],
    tryMs,
    hostsFile: fileWith("hosts", hosts),
    resolvConf: fileWith("resolv.conf", resolvConf),
  });
  /** The addresses, or the code of the failure. */
  const look = (host: string) => resolve(host).catch(errorCode);
  return { ...dns, look };
}

const here = { address: "192.0.2.1" };

describe("a name in the DNS", () => {
  test("a name resolves to its IPv4 and IPv6 addresses, also with a dot at its end and in capitals", async () => {
    const { look } = await systemWith({
      "four.test": here,
      "six.test": { address: "2001:db8::1" },
      "alias.test": { alias: "six.test" },
    });
    expect(await look("four.test")).toEqual(["192.0.2.1"]);
    expect(await look("FOUR.test.")).toEqual(["192.0.2.1"]);
    expect(await look("six.test")).toEqual(["2001:db8::1"]);
    expect(await look("alias.test")).toEqual(["2001:db8::1"]);
  });

  test("a name that does not exist is told from a look-up that failed", async () => {
    const { look } = await systemWith({ "broken.test": "broken" });
    expect(await look("missing.test")).toBe("ENOTFOUND");
    expect(await look("not..a.name")).toBe("ENOTFOUND");
    expect(await look("broken.test")).toBe("EAI_AGAIN");
    const silent = await systemWith({ "silent.test": "silent" }, { tryMs: 10 });
    expect(await silent.look("silent.test")).toBe("EAI_AGAIN");
  });

  test("an answer is not kept: the next look-up sees what has changed", async () => {
    const records: Records = { "moved.test": here };
    const { look } = await systemWith(records);
    expect(await look("moved.test")).toEqual(["192.0.2.1"]);
    records["moved.test"] = { address: "192.0.2.2" };
    expect(await look("moved.test")).toEqual(["192.0.2.2"]);
  });

  test("connections to one host share its look-up while it is open", async () => {
    const { look, asked } = await systemWith({ "four.test": here });
    expect(await Promise.all(["four.test", "Four.test", "four.test"].map(look))).toEqual([
      ["192.0.2.1"],
      ["192.0.2.1"],
      ["192.0.2.1"],
    ]);
    expect(asked).toEqual(["four.test"]);
  });
});

describe("the hosts file", () => {
  const hosts = `
# 192.0.2.9 comment.test
192.0.2.7\tOne.test  two.test # 192.0.2.9
2001:db8::7 one.test
not-an-address one.test
192.0.2.8 two.test.example\r
`;

  test("a name in the hosts file has the addresses that are there, and no name server is asked for it", async () => {
    const { look, asked } = await systemWith({ "one.test": here }, { hosts });
    expect(await look("one.test")).toEqual(["192.0.2.7", "2001:db8::7"]);
    expect(await look("two.test.")).toEqual(["192.0.2.7"]);
    expect(await look("TWO.test.example")).toEqual(["192.0.2.8"]);
    expect(asked).toEqual([]);
    expect(await look("comment.test")).toBe("ENOTFOUND");
  });

  test("localhost is this machine, whatever the hosts file and the name servers say", async () => {
    const { look, asked } = await systemWith({ localhost: here }, { hosts: "192.0.2.7 localhost" });
    for (const name of ["localhost", "LOCALHOST", "localhost."]) expect(await look(name)).toEqual(["127.0.0.1", "::1"]);
    expect(asked).toEqual([]);
  });

  test("an entry that is added later counts at once", async () => {
    const { look } = await systemWith({ "one.test": here });
    expect(await look("one.test")).toEqual(["192.0.2.1"]);
    fileWith("hosts", "192.0.2.7 one.test");
    expect(await look("one.test")).toEqual(["192.0.2.7"]);
  });

  test("a machine without a hosts file and a resolv.conf still looks names up", async () => {
    const dns = await startDns({ "one.test": here });
    onTestFinished(dns.close);
    const missing = join(folder, "missing");
    const resolve = createResolve({ servers: [dns.address], tryMs: 60_000, hostsFile: missing, resolvConf: missing });
    expect(await resolve("one.test")).toEqual(["192.0.2.1"]);
  });
});

describe("the search domains", () => {
  const resolvConf = `
; written by the cluster
nameserver 192.0.2.53
domain unused.test
search shop.svc.test svc.test # the namespace first
options attempts:2 ndots:2
`;

  test("a service is found by its short name, in the order of the domains, and before a name of the internet", async () => {
    const { look, asked } = await systemWith(
      { "hooks.shop.svc.test": here, "hooks.tools.svc.test": { address: "192.0.2.2" }, "hooks.tools": { address: "192.0.2.3" } },
      { resolvConf },
    );
    expect(await look("hooks")).toEqual(["192.0.2.1"]);
    expect(await look("hooks.tools")).toEqual(["192.0.2.2"]);
    expect(asked).toEqual(["hooks.shop.svc.test", "hooks.tools.shop.svc.test", "hooks.tools.svc.test"]);
  });

  test("a name with enough dots is asked for as it is, and below the domains only where it does not exist", async () => {
    const { look, asked } = await systemWith({ "graph.platform.test": here }, { resolvConf });
    expect(await look("graph.platform.test")).toEqual(["192.0.2.1"]);
    expect(asked).toEqual(["graph.platform.test"]);
    expect(await look("no.platform.test")).toBe("ENOTFOUND");
    expect(asked.slice(1)).toEqual(["no.platform.test", "no.platform.test.shop.svc.test", "no.platform.test.svc.test"]);
  });

  test("a name with a dot at its end is asked for only as it is", async () => {
    const { look, asked } = await systemWith({ "hooks.shop.svc.test": here }, { resolvConf });
    expect(await look("hooks.")).toBe("ENOTFOUND");
    expect(asked).toEqual(["hooks"]);
  });

  test("a search domain that is broken is passed over; one that is silent ends the look-up", async () => {
    const records: Records = { "hooks.shop.svc.test": "broken", "hooks.svc.test": here };
    const { look } = await systemWith(records, { resolvConf });
    expect(await look("hooks")).toEqual(["192.0.2.1"]);
    delete records["hooks.svc.test"];
    expect(await look("hooks")).toBe("EAI_AGAIN");
    const halfSilent: Records = { "hooks.shop.svc.test": "silent", "hooks.svc.test": here };
    const { look: lookInVain, asked } = await systemWith(halfSilent, { resolvConf, tryMs: 10 });
    expect(await lookInVain("hooks")).toBe("EAI_AGAIN");
    expect(asked).not.toContain("hooks.svc.test");
  });
});

describe("a look-up for a socket", () => {
  const found = (all: boolean) =>
    new Promise((resolve) => {
      const lookup = lookupWith(async () => ["192.0.2.1", "2001:db8::1"]);
      lookup("two.test", { all }, (error, address, family) => resolve([error, address, family]));
    });

  test("a socket gets all addresses or the first one, with their families", async () => {
    const all = [
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ];
    expect(await found(true)).toEqual([null, all, undefined]);
    expect(await found(false)).toEqual([null, "192.0.2.1", 4]);
  });
});
