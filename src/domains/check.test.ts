// Checks of hosts against a real DNS server, a real HTTPS proxy with real certificates, and the route that answers.

import { getCACertificates, setDefaultCACertificates } from "node:tls";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAuthority } from "../../test/support/servers/certificates.ts";
import { startDns, type Records } from "../../test/support/servers/dnsServer.ts";
import { startTlsProxy, type ProxyBehaviour, type TlsProxy } from "../../test/support/servers/tlsProxy.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { parseTrustedProxies } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { problemOf } from "../sites/hostProblems.ts";
import { checkHost, type Checker } from "./check.ts";
import { createChecker } from "./checker.ts";
import { hostCheckRoutes } from "./route.ts";
import { english } from "../kernel/messages/message.ts";

const here = { address: "127.0.0.1" };
const records: Records = {
  "cc.relay.test": here,
  "proxied.test": { address: "127.0.0.1" },
  "shop.alias.test": { alias: "between.test" },
  "between.test": { alias: "cc.relay.test" },
  "far.alias.test": { alias: "cc.relay.test" },
  "broken.test": "broken",
  "closed.test": { address: "127.0.0.9" },
  "private.test": { address: "10.1.2.3" },
  "nohost.test": { address: "127.0.0.1" },
  "noproto.test": { address: "127.0.0.1" },
  "page.test": { address: "127.0.0.1" },
  "missing.test": { address: "127.0.0.1" },
  "slow.test": { address: "127.0.0.1" },
  "wrongname.test": { address: "127.0.0.1" },
  "expired.test": { address: "127.0.0.1" },
  "stranger.test": { address: "127.0.0.1" },
};
const authority = newAuthority();
const stranger = newAuthority();
const behaviours: Record<string, ProxyBehaviour> = {
  "nohost.test": { host: "127.0.0.1:8080" },
  "noproto.test": { hidesScheme: true },
  "page.test": { answers: { status: 200, text: "<h1>A shop</h1>" } },
  "far.alias.test": { answers: { status: 502, text: "" } },
  "missing.test": { answers: { status: 404, text: "" } },
  "slow.test": { answers: "never" },
  "expired.test": { certificate: authority.issue(["expired.test"], Date.now() - 86_400_000) },
  "stranger.test": { certificate: stranger.issue(["stranger.test"]) },
};

function allowing(text: string): AllowList {
  const list = readAllowList(text);
  if ("fault" in list) throw new Error(list.fault);
  return list;
}

let dns: Awaited<ReturnType<typeof startDns>>;
let proxy: TlsProxy;
let relay: FastifyInstance;
let relayUrl = "";
let checker: Checker;
const key = Buffer.alloc(32, 1);
const usualAuthorities = getCACertificates("default");

type CheckerParts = { keys?: readonly Buffer[]; hasUrl?: boolean; url?: string; attemptMs?: number };

const checkerWith = (more: CheckerParts = {}) =>
  createChecker({
    encryptionKeys: () => more.keys ?? [key],
    allowPrivate: allowing("127.0.0.0/8"),
    dnsServers: [dns.address],
    connectMs: 60_000,
    attemptMs: more.attemptMs ?? 60_000,
    publicUrl: more.url ?? `https://cc.relay.test:${proxy.port}`,
    hasUrl: more.hasUrl ?? true,
  });

beforeAll(async () => {
  setDefaultCACertificates([...usualAuthorities, authority.cert]);
  dns = await startDns(records);
  const names = Object.keys(records).filter((name) => name !== "wrongname.test");
  proxy = await startTlsProxy(authority.issue(names), () => relayUrl, behaviours);
  checker = checkerWith();
  relay = Fastify();
  const trusted = parseTrustedProxies("loopback");
  if (typeof trusted !== "function") throw new Error(trusted.fault);
  // No site has any of these names yet: hosts are checked before they are served.
  const directory = { siteOfHost: () => undefined, host: () => undefined } as unknown as Directory;
  hostCheckRoutes(relay, { directory, transport: { trusted, requireTls: false }, checker });
  relayUrl = await relay.listen({ host: "127.0.0.1", port: 0 });
});

afterAll(async () => {
  setDefaultCACertificates(usualAuthorities);
  await checker.sender.close();
  await relay.close();
  proxy.close();
  dns.close();
});

describe("a host points here", () => {
  test("a host points here when a request to it arrives here", async () => {
    expect(await checkHost(checker, "proxied.test")).toEqual({
      verifiedBy: "a request",
      finding: null,
      seen: null,
    });
    expect(await checkHost(checker, "shop.alias.test")).toMatchObject({ verifiedBy: "a request" });
  });

  test("a host points here when its CNAME points to the relay, also indirectly and before HTTPS works", async () => {
    expect(await checkHost(checker, "far.alias.test")).toEqual({
      verifiedBy: "DNS",
      finding: "not us",
      seen: "(HTTP 502)",
    });
  });

  test("a host points here when it has the relay's addresses and no others", async () => {
    expect(await checkHost(checker, "missing.test")).toMatchObject({ verifiedBy: "DNS", finding: "not us" });
    expect(await checkHost(checker, "closed.test")).toMatchObject({ verifiedBy: null });
  });
});

describe("the reason why a host does not point here", () => {
  // A relay without a name of its own cannot verify a host by DNS.
  const nameless = async (host: string) => {
    const { sender, ...rest } = checkerWith({
      hasUrl: false,
      ...(host === "slow.test" && { attemptMs: 700 }),
    });
    // Without a name of its own the relay calls port 443; this test's proxy has another port.
    const wrapped = {
      ...sender,
      send: (request: Parameters<typeof sender.send>[0], to: Parameters<typeof sender.send>[1]) =>
        sender.send({ ...request, url: request.url.replace(`${host}/`, `${host}:${proxy.port}/`) }, to),
    };
    try {
      return await checkHost({ ...rest, sender: wrapped }, host);
    } finally {
      await sender.close();
    }
  };

  test.each([
    ["nowhere.test", "not found", null, "nowhere.test is not in the DNS."],
    ["broken.test", "lookup failed", null, "The DNS could not be asked about broken.test."],
    ["closed.test", "no connection", "127.0.0.9", "leads to 127.0.0.9 and no server answers there on HTTPS."],
    ["private.test", "private address", null, "private.test leads to a private address, and is not called."],
    ["slow.test", "too slow", null, "slow.test did not answer in time."],
    [
      "wrongname.test",
      "certificate",
      "the certificate belongs to another host",
      "has no valid certificate: the certificate belongs to another host.",
    ],
    ["expired.test", "certificate", "the certificate has expired", "the certificate has expired."],
    ["stranger.test", "certificate", "the certificate cannot be verified", "cannot be verified."],
    ["page.test", "not us", "127.0.0.1 (HTTP 200)", "answers, but not from here: 127.0.0.1 (HTTP 200)."],
    ["missing.test", "not us", "127.0.0.1 (HTTP 404)", "not from here: 127.0.0.1 (HTTP 404)."],
    ["nohost.test", "host header", "127.0.0.1", "Requests to nohost.test arrive here as 127.0.0.1."],
    ["noproto.test", "not secure", null, "arrive here as if they were not encrypted."],
  ])("the check of %s finds: %s", async (host, finding, seen, sentence) => {
    const checked = await nameless(host);
    expect(checked).toEqual({ verifiedBy: null, finding, seen });
    expect(english(problemOf(host, checked, null)?.what ?? "")).toContain(sentence);
    expect(problemOf(host, checked, "cc.relay.test")?.whatToDo).toBeTruthy();
  });

  test("another installation is recognised as such, though it answers in the same way", async () => {
    const other = checkerWith({ keys: [Buffer.alloc(32, 2)], url: "https://cc.other.test" });
    const asked = { ...other, relay: { host: "cc.other.test", port: String(proxy.port) } };
    expect(await checkHost(asked, "proxied.test")).toEqual({
      verifiedBy: null,
      finding: "other installation",
      seen: null,
    });
    await other.sender.close();
    // While the encryption key is changed, a node that still answers by the old one is one of ours.
    const changing = checkerWith({ keys: [Buffer.alloc(32, 2), key] });
    expect(await checkHost(changing, "proxied.test")).toMatchObject({ verifiedBy: "a request" });
    await changing.sender.close();
  });
});

test("the probe answers only a valid challenge", async () => {
  const status = async (query: string) => (await fetch(`${relayUrl}/__cc/probe${query}`)).status;
  expect(await status(`?challenge=${"a".repeat(32)}`)).toBe(200);
  for (const query of ["", "?challenge=", "?challenge=xyz", `?challenge=${"a".repeat(33)}`])
    expect(await status(query)).toBe(404);
});
