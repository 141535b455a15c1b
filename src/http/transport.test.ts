import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer as createTlsServer, request as tlsRequest } from "node:https";
import { newAuthority } from "../../test/support/servers/certificates.ts";
import { readHandshake } from "../traffic/observation.ts";
import { isSecure, offeredInHandshake, parsePlainNetworks, parseTrustedProxies, type TransportRules } from "./transport.ts";

function trusting(text: string): TransportRules["trusted"] {
  const trusted = parseTrustedProxies(text);
  if (typeof trusted !== "function") throw new Error(trusted.fault);
  return trusted;
}
const usual: TransportRules = { trusted: trusting("loopback"), requireTls: false };
const strict: TransportRules = { ...usual, requireTls: true };

describe("real requests over loopback", () => {
  let rules = usual;
  const server = createServer((incoming, response) => response.end(String(isSecure(incoming, rules))));

  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Returns whether the server takes a request with these headers for secure. */
  async function judged(headers: OutgoingHttpHeaders, by: TransportRules = usual): Promise<boolean> {
    rules = by;
    const { port } = server.address() as AddressInfo;
    const outgoing = httpRequest({ host: "127.0.0.1", port, headers, agent: false }).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return JSON.parse((await response.toArray()).join("")) as boolean;
  }

  test("plain HTTP over loopback is accepted for development", async () => {
    expect(await judged({})).toBe(true);
  });

  test("plain HTTP over loopback is refused when TLS is required", async () => {
    expect(await judged({}, strict)).toBe(false);
  });

  test.each([
    [{ "x-forwarded-proto": "https" }, true],
    [{ "X-Forwarded-Proto": "HTTPS" }, true],
    [{ "x-forwarded-proto": "http" }, false],
    [{ "x-forwarded-proto": "" }, false],
    [{ "x-forwarded-for": "203.0.113.9" }, false],
    [{ "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" }, true],
    [{ "x-forwarded-host": "shop.example.com" }, false],
    [{ via: "1.1 cache" }, false],
    [{ "X-Real-IP": "203.0.113.9" }, false],
    [{ "cf-connecting-ip": "203.0.113.9" }, false],
    [{ "true-client-ip": "203.0.113.9", "x-forwarded-proto": "https" }, true],
    [{ forwarded: "for=203.0.113.9;proto=https" }, true],
    [{ forwarded: 'for="[2001:db8::1]:443";Proto="https";host=shop.example.com' }, true],
    [{ forwarded: "proto=http;for=203.0.113.9" }, false],
    [{ forwarded: "for=203.0.113.9" }, false],
  ])("with the headers %j of a trusted proxy, secure is %s", async (headers, secure) => {
    expect(await judged(headers)).toBe(secure);
    expect(await judged(headers, strict)).toBe(secure);
  });

  test("of several forwarded entries the last one counts, because the nearest proxy wrote it", async () => {
    expect(await judged({ "x-forwarded-proto": "https, http" })).toBe(false);
    expect(await judged({ "x-forwarded-proto": "http,https" })).toBe(true);
    expect(await judged({ "x-forwarded-proto": ["https", "http"] })).toBe(false);
    expect(await judged({ forwarded: "proto=https, proto=http" })).toBe(false);
    expect(await judged({ forwarded: "proto=http, for=x;proto=https" })).toBe(true);
  });

  test("a forwarded scheme that only resembles https is not secure", async () => {
    for (const proto of ["httpsx", "shttps", "on", "1", "true", "wss", "https;http"])
      expect(await judged({ "x-forwarded-proto": proto }), proto).toBe(false);
    for (const forwarded of ["xproto=https", "for=proto=https", "proto=httpsx;x=1", 'for="proto=https"'])
      expect(await judged({ forwarded }), forwarded).toBe(false);
  });

  test("without trusted proxies no header helps, and a forwarded request is not local", async () => {
    const noProxy = { trusted: trusting("none"), requireTls: false };
    expect(await judged({ "x-forwarded-proto": "https" }, noProxy)).toBe(false);
    expect(await judged({ forwarded: "proto=https" }, noProxy)).toBe(false);
    expect(await judged({ "x-forwarded-for": "127.0.0.1" }, noProxy)).toBe(false);
    expect(await judged({}, noProxy)).toBe(true);
  });
});

/** A request as it would come from that address. */
const from = (remoteAddress: string | undefined, headers: Record<string, string> = {}, encrypted = false) =>
  ({ socket: { remoteAddress, encrypted }, headers }) as unknown as IncomingMessage;

describe("requests from elsewhere", () => {
  test.each(["203.0.113.9", "10.0.0.5", "::ffff:203.0.113.9", "2001:db8::1", "fe80::1%eth0", "", undefined])(
    "plain HTTP from %j is refused, whatever its headers claim",
    (address) => {
      expect(isSecure(from(address), usual)).toBe(false);
      expect(isSecure(from(address, { "x-forwarded-proto": "https" }), usual)).toBe(false);
      expect(isSecure(from(address, { forwarded: "proto=https" }), usual)).toBe(false);
    },
  );

  test.each(["203.0.113.9", "127.0.0.1", undefined])("TLS from %j is secure", (address) => {
    expect(isSecure(from(address, {}, true), usual)).toBe(true);
    expect(isSecure(from(address, {}, true), strict)).toBe(true);
  });

  test.each(["127.0.0.1", "127.5.5.5", "::1", "::ffff:127.0.0.1"])("%s is loopback", (address) => {
    expect(isSecure(from(address), usual)).toBe(true);
    expect(isSecure(from(address), strict)).toBe(false);
  });

  test("only a proxy inside a trusted network is believed", () => {
    const rules = { trusted: trusting("10.0.0.0/8"), requireTls: false };
    expect(isSecure(from("10.1.2.3", { "x-forwarded-proto": "https" }), rules)).toBe(true);
    expect(isSecure(from("::ffff:10.1.2.3", { "x-forwarded-proto": "https" }), rules)).toBe(true);
    expect(isSecure(from("11.1.2.3", { "x-forwarded-proto": "https" }), rules)).toBe(false);
    expect(isSecure(from("127.0.0.1", { "x-forwarded-proto": "https" }), rules)).toBe(false);
  });

  test("a trusted proxy that forwards nothing still needs TLS", () => {
    expect(isSecure(from("10.1.2.3"), { trusted: trusting("10.0.0.0/8"), requireTls: false })).toBe(false);
  });
});

describe("private networks from which plain HTTP is accepted", () => {
  const plainFrom = (text: string) => {
    const parsed = parsePlainNetworks(text);
    return typeof parsed === "function" ? parsed : expect.unreachable(parsed.fault);
  };
  const allowing = (text: string): TransportRules => ({ ...usual, plainFrom: plainFrom(text) });

  test("plain HTTP is accepted from the named networks and from no other", () => {
    const rules = allowing("192.168.0.0/16, 172.17.0.1,fd00::/8,100.101.102.0/24");
    for (const near of ["192.168.7.8", "::ffff:192.168.7.8", "172.17.0.1", "fd12::1", "100.101.102.9", "127.0.0.1"])
      expect(isSecure(from(near), rules), near).toBe(true);
    for (const far of [
      "192.169.0.1",
      "172.17.0.2",
      "10.0.0.1",
      "203.0.113.9",
      "::ffff:203.0.113.9",
      "2001:db8::1",
      "",
      undefined,
    ])
      expect(isSecure(from(far), rules), far).toBe(false);
  });

  test("`private` stands for the private ranges, and for no address of the internet, of carriers or of links", () => {
    const rules = allowing("private");
    for (const near of ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fdff::1"])
      expect(isSecure(from(near), rules), near).toBe(true);
    for (const far of [
      "9.255.255.255",
      "11.0.0.0",
      "172.32.0.1",
      "192.167.1.1",
      "100.64.0.1",
      "169.254.169.254",
      "fe80::1",
      "2a00::1",
    ])
      expect(isSecure(from(far), rules), far).toBe(false);
  });

  test("what a proxy forwards counts as the proxy says, also from a named network", () => {
    const rules = { ...allowing("10.0.0.0/8"), trusted: trusting("10.0.0.9") };
    expect(isSecure(from("10.0.0.9", { "x-forwarded-proto": "http" }), rules)).toBe(false);
    expect(isSecure(from("10.0.0.9", { "x-forwarded-for": "203.0.113.9" }), rules)).toBe(false);
    expect(isSecure(from("10.0.0.8", { "x-forwarded-proto": "https" }), rules)).toBe(false);
    expect(isSecure(from("10.0.0.9", { "x-forwarded-proto": "https" }), rules)).toBe(true);
    expect(isSecure(from("10.0.0.8"), { ...rules, requireTls: true })).toBe(false);
  });

  test.each([
    ..."0.0.0.0/0 8.8.8.8 9.0.0.0/7 10.0.0.0/7 172.16.0.0/11 100.64.0.0/9 ::/0 2000::/3 ::ffff:8.8.8.8 ::ffff:0:0/96".split(" "),
    ..."169.254.0.0/16 fe80::/10 true localhost loopback all none 10.0.0.0/33 10.0.0".split(" "),
  ])("%s is no private network", (text) => {
    expect(parsePlainNetworks(`192.168.0.0/16,${text}`)).toEqual({ fault: text });
  });
});

describe("what a client offers in its TLS handshake", () => {
  const authority = newAuthority();
  const { cert, key } = authority.issue(["localhost"], Date.now() + 86_400_000);
  const server = createTlsServer({ cert, key }, (incoming, response) =>
    response.end(JSON.stringify(offeredInHandshake(incoming, usual))),
  );

  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  async function offered(client: { sigalgs?: string }, headers: OutgoingHttpHeaders = {}): Promise<string | null> {
    const { port } = server.address() as AddressInfo;
    const target = { host: "127.0.0.1", port, ca: authority.cert, servername: "localhost", agent: false, headers, ...client };
    const outgoing = tlsRequest(target).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return JSON.parse((await response.toArray()).join("")) as string | null;
  }

  test("a program offers what no browser does, and the algorithms of Chromium and of Firefox are a browser's", async () => {
    expect(readHandshake((await offered({})) ?? "")).toBe("Ed25519");
    const chromium = "ECDSA+SHA256:RSA-PSS+SHA256:RSA+SHA256:ECDSA+SHA384:RSA-PSS+SHA384:RSA+SHA384:RSA-PSS+SHA512:RSA+SHA512";
    for (const sigalgs of [chromium, `${chromium}:ECDSA+SHA512`])
      expect(readHandshake((await offered({ sigalgs })) ?? "none")).toBe("");
  });

  test("behind a proxy only the ciphers that it passes on are known", async () => {
    const forwarded = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
    expect(await offered({}, forwarded)).toBeNull();
    const ciphers = "TLS_AES_256_GCM_SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384";
    const passedOn = await offered({}, { ...forwarded, "x-client-ciphers": ciphers });
    expect([passedOn, readHandshake(passedOn ?? "")]).toEqual([ciphers, "DHE"]);
    expect(readHandshake("0xaaaa:TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:AES128-SHA")).toBe("");
    // Without a proxy the header is the client's own word.
    expect(await offered({}, { "x-client-ciphers": ciphers })).toContain("Ed25519");
  });
});

describe("the list of trusted proxies", () => {
  test.each([
    ["loopback", "127.0.0.1", true],
    ["loopback", "::1", true],
    ["loopback", "::ffff:127.0.0.1", true],
    ["loopback", "10.0.0.1", false],
    ["10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "::ffff:10.0.0.1", true],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["10.0.0.1", "10.0.0.2", false],
    ["2001:db8::/32", "2001:db8:1::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["loopback, 192.168.0.0/16,", "192.168.4.4", true],
    ["loopback, 192.168.0.0/16,", "::1", true],
    ["none", "127.0.0.1", false],
    ["", "127.0.0.1", false],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["loopback", "not an address", false],
    ["loopback", "", false],
  ])("%j trusts %j: %s", (text, address, trusted) => {
    expect(trusting(text)(address)).toBe(trusted);
  });

  test.each(["Loopback", "localhost", "10.0.0.0/33", "proxy.example.com", "10.0.0.1:80", "10.0.0.0/", "*", "true"])(
    "%j is none of loopback, address and network",
    (entry) => {
      expect(parseTrustedProxies(`loopback,${entry}`)).toEqual({ fault: entry });
    },
  );
});
