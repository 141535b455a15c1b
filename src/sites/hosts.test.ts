import { describe, expect, test } from "vitest";
import { hostOf, namesNoSite, readHost, readPastedHost } from "./hosts.ts";

describe("the host of a request", () => {
  test.each([
    ["shop.example.com", "shop.example.com"],
    ["Shop.Example.COM", "shop.example.com"],
    ["shop.example.com:8443", "shop.example.com"],
    ["shop.example.com:", "shop.example.com"],
    ["shop.example.com.", "shop.example.com"],
    ["shop.example.com.:443", "shop.example.com"],
    ["localhost:8080", "localhost"],
    ["127.0.0.1:8080", "127.0.0.1"],
    ["[::1]:8080", "::1"],
    ["[2001:DB8::1]", "2001:db8::1"],
    ["xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
    ["", ""],
    [undefined, ""],
    ["a".repeat(301), ""],
  ])("the Host header %j is read as %j", (header, host) => {
    expect(hostOf(header)).toBe(host);
  });

  test.each(["shop.example.com:80:81", "[::1", "[::1]x", "[]", ":", ":8080", "a b", "\u0000", "ü.de", "../x", "[[::1]]"])(
    "the Host header %j, which no browser sends, is read without an error",
    (header) => {
      expect(typeof hostOf(header)).toBe("string");
    },
  );

  test("a host of a site is found in any case, with a final dot and with a port", () => {
    for (const written of ["Münster.example", "shop.example.com.", "SHOP.example.com"]) {
      const stored = readHost(written) ?? expect.unreachable(written);
      for (const header of [stored, stored.toUpperCase(), `${stored}:443`, `${stored}.`, `${stored}.:8443`])
        expect(hostOf(header)).toBe(stored);
    }
  });
});

describe("hosts that name no site", () => {
  test.each(["", "localhost", "shop.localhost", "127.0.0.1", "10.1.2.3", "203.0.113.9", "::1", "2001:db8::1"])(
    "%j does not identify a site, so the key does",
    (host) => {
      expect(namesNoSite(host)).toBe(true);
    },
  );

  test.each(["shop.example.com", "localhost.example.com", "notlocalhost", "127.0.0.1.example.com", "1e100.net"])(
    "%j may belong to a site",
    (host) => {
      expect(namesNoSite(host)).toBe(false);
    },
  );
});

describe("a host as people enter it", () => {
  test.each([
    ["shop.example.com", "shop.example.com"],
    ["  Shop.Example.COM ", "shop.example.com"],
    ["shop.example.com.", "shop.example.com"],
    ["localhost", "localhost"],
    ["my_shop.example.com", "my_shop.example.com"],
    ["münchen.de", "xn--mnchen-3ya.de"],
    ["MÜNCHEN.de", "xn--mnchen-3ya.de"],
    ["日本.jp", "xn--wgv71a.jp"],
    ["xn--mnchen-3ya.de", "xn--mnchen-3ya.de"],
    ["a".repeat(63) + ".example", "a".repeat(63) + ".example"],
    ["1e100.net", "1e100.net"],
  ])("%j is stored as %j", (text, host) => {
    expect(readHost(text)).toBe(host);
  });

  test.each([
    ["https://www.shop.example/path?utm_source=x", "www.shop.example"],
    [" HTTP://Shop.example:8080 ", "shop.example"],
    ["shop.example/", "shop.example"],
    ["shop.example", "shop.example"],
    ["https://", null],
    ["user@shop.example", null],
  ])("the pasted address %j is the host %j", (text, host) => {
    expect(readPastedHost(text)).toBe(host);
  });

  test.each([
    "",
    " ",
    ".",
    "https://shop.example.com",
    "shop.example.com:8080",
    "user@shop.example.com",
    "shop example.com",
    "shop..example.com",
    ".example.com",
    "example.com..",
    "-shop.example.com",
    "shop-.example.com",
    "*.example.com",
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "::1",
    "[::1]",
    "a".repeat(64) + ".example",
    `${"a.".repeat(130)}example`,
    "sho\u0000p.example.com",
  ])("%j is not a host name", (text) => {
    expect(readHost(text)).toBeNull();
  });
});
