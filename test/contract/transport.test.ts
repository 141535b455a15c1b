// The method and TLS steps of the inbound endpoint, which come before the store: one engine is enough.

import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { call, newInstallation, type Relay, type TestSite, post } from "../support/relay.ts";
import { accepted, freshEvent, jsonError, plainText, summarize } from "./answers.ts";

const certFile = fileURLToPath(new URL("../fixtures/tls-cert.pem", import.meta.url));
const keyFile = fileURLToPath(new URL("../fixtures/tls-key.pem", import.meta.url));
const https = jsonError(426, "HTTPS required");
/** The answer to a sender that no proxy is in front of says what to do next. */
const httpsDirectly = jsonError(
  426,
  "HTTPS required: use https://, a tunnel (ssh -L 8080:localhost:8080 SERVER), or CLEANCAST_ALLOW_HTTP_FROM for a private network",
);
const outside = Object.values(networkInterfaces())
  .flat()
  .find((address) => address && !address.internal && address.family === "IPv4")?.address;

describe("method and transport", () => {
  let relay: Relay;
  let site: TestSite;
  const send = (headers: Record<string, string>, to = relay) => to.post(site.key, freshEvent(), headers);

  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    site = await home.addSite("shop.example");
    // Listens on every address of the machine, so that a test can also call from another address than loopback.
    relay = await home.start({ HOST: "0.0.0.0" });
  });

  test("an event posted with a key is accepted", async () => {
    expect(summarize(await send({}))).toEqual(accepted("purchase"));
  });

  test("the key header matches in any case, and a query string is ignored", async () => {
    const answer = await call(relay.url, {
      path: "/__cc/inbound?source=crm",
      headers: { "x-cc-api-key": site.key, "content-type": "application/json" },
      body: JSON.stringify(freshEvent()),
    });
    expect(summarize(answer)).toEqual(accepted("purchase"));
  });

  test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "QUERY", "M-SEARCH", "REPORT"])(
    "%s is answered 405 in plain text and names POST",
    async (method) => {
      // Neither a valid key and body nor a browser's preflight change the answer.
      const answer = await call(relay.url, {
        method,
        headers: {
          "X-CC-Api-Key": site.key,
          "Content-Type": "application/json",
          Origin: "https://shop.example",
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "x-cc-api-key",
          ...(method === "TRACE" ? {} : { "Content-Length": "2" }),
        },
        ...(method === "TRACE" ? {} : { body: "{}" }),
      });
      const text = method === "HEAD" ? "" : "Send a POST request.\n";
      expect(summarize(answer)).toEqual({ ...plainText(405, ""), text });
      expect(answer.headers.allow).toBe("POST");
    },
  );

  test.each(["PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND"])(
    "%s is answered 405 whatever its content type is",
    async (method) => {
      for (const type of [{}, { "Content-Type": "nonsense" }, { "Content-Type": "text/plain" }]) {
        const answer = await call(relay.url, {
          method,
          headers: { ...type, "Content-Length": "2" },
          body: "{}",
        });
        expect(summarize(answer)).toEqual(plainText(405, "Send a POST request."));
      }
    },
  );

  test("a request with an Origin gets no CORS header", async () => {
    const answer = await send({ Origin: "https://shop.example" });
    expect(summarize(answer)).toEqual(accepted("purchase"));
  });

  test("the method is checked before the transport", async () => {
    const answer = await call(relay.url, { method: "GET", headers: { "X-Forwarded-Proto": "http" } });
    expect(summarize(answer)).toEqual(plainText(405, "Send a POST request."));
  });

  test("a malformed HTTP request is refused in plain text", async () => {
    const socket = createConnection(Number(new URL(relay.url).port), "127.0.0.1");
    socket.setEncoding("utf8").end("POST /__cc/inbound HTTP/1.1\r\nHost: shop.example\r\nBad Header\r\n\r\n");
    let text = "";
    for await (const part of socket) text += part;
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text.toLowerCase()).not.toContain("application/json");
  });

  test("other paths are answered 404", async () => {
    expect(summarize(await call(relay.url, { path: "/__cc/inbound/more" }))).toEqual(plainText(404, "Not found."));
    expect(summarize(await call(relay.url, { path: "/__cc" }))).toEqual(plainText(404, "Not found."));
  });

  test("plain HTTP through a proxy is answered 426 with Upgrade, and is never redirected", async () => {
    const answer = await send({ "X-Forwarded-Proto": "http" });
    expect(summarize(answer)).toEqual(https);
    expect(answer.headers.upgrade).toBe("TLS/1.2, HTTP/1.1");
    expect(answer.headers.connection?.toLowerCase()).toContain("upgrade");
    expect(answer.headers.location).toBeUndefined();
  });

  test("the transport is checked before the site and the key", async () => {
    const answer = await relay.post("wrong", freshEvent(), { "X-Forwarded-Proto": "http" });
    expect(summarize(answer)).toEqual(https);
  });

  test.each([
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Proto", "HTTPS"],
    ["X-Forwarded-Proto", "http, https"],
    ["Forwarded", "proto=https"],
    ["Forwarded", 'for="[2001:db8::17]:4711";proto="https";host=shop.example'],
    ["Forwarded", "for=203.0.113.7;proto=http, for=198.51.100.2;proto=https"],
  ])("a proxy on this machine that sends %s: %s is trusted", async (name, value) => {
    const answer = await send({ [name]: value, "X-Forwarded-For": "203.0.113.7" });
    expect(summarize(answer)).toEqual(accepted("purchase"));
  });

  test.each([
    ["X-Forwarded-Proto", "https, http"],
    ["X-Forwarded-Proto", "wss"],
    ["X-Forwarded-For", "203.0.113.7"],
    ["X-Forwarded-Host", "shop.example"],
    ["Forwarded", "for=203.0.113.7"],
    ["Forwarded", "for=203.0.113.7;proto=http"],
    ["Forwarded", "proto=https, proto=http"],
    ["Forwarded", 'for="proto=https"'],
  ])("a proxy on this machine that sends %s: %s does not prove HTTPS", async (name, value) => {
    expect(summarize(await send({ [name]: value }))).toEqual(https);
  });

  // A machine without any network has no other address than loopback.
  test.runIf(outside)("plain HTTP from an address other than loopback is refused, whatever its headers", async () => {
    const url = `http://${outside}:${new URL(relay.url).port}`;
    const headers = { Host: "shop.example" };
    expect(summarize(await post(url, site.key, freshEvent(), headers))).toEqual(httpsDirectly);
    const forged = { ...headers, "X-Forwarded-Proto": "https", Forwarded: "proto=https" };
    expect(summarize(await post(url, site.key, freshEvent(), forged))).toEqual(https);
  });
});

async function startAs(env: Record<string, string>): Promise<Relay> {
  return (await newInstallation("sqlite", env)).start();
}

describe("transport settings", () => {
  const ca = readFileSync(certFile);
  let strict: Relay;
  let distrustful: Relay;
  let secure: Relay;

  beforeAll(async () => {
    [strict, distrustful, secure] = await Promise.all([
      startAs({ CLEANCAST_REQUIRE_TLS: "true" }),
      startAs({ CLEANCAST_TRUST_PROXY: "none" }),
      startAs({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, CLEANCAST_REQUIRE_TLS: "true" }),
    ]);
  });

  const send = (relay: Relay, headers: Record<string, string> = {}) =>
    call(relay.url, {
      ca,
      headers: { "X-CC-Api-Key": relay.key, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(freshEvent()),
    });
  const processed = accepted("purchase", { sandbox: { ok: true } });

  test("CLEANCAST_REQUIRE_TLS refuses plain HTTP from this machine too", async () => {
    expect(summarize(await send(strict))).toEqual(httpsDirectly);
    expect(summarize(await send(strict, { "X-Forwarded-Proto": "https" }))).toEqual(processed);
  });

  const near = Object.values(networkInterfaces())
    .flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
    .find((address) => /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd])/.test(address));

  // A machine without a private network has no other private address.
  test.runIf(near)("CLEANCAST_ALLOW_HTTP_FROM accepts plain HTTP from these addresses, and from no others", async () => {
    const started = async (networks: string, env: Record<string, string> = {}) => {
      const relay = await startAs({ HOST: near?.includes(":") ? "::" : "0.0.0.0", CLEANCAST_ALLOW_HTTP_FROM: networks, ...env });
      return { ...relay, url: `http://${near?.includes(":") ? `[${near}]` : near}:${new URL(relay.url).port}` };
    };
    const [open, other, secureDashboard] = await Promise.all([
      started(near ?? ""),
      started("10.255.255.255"),
      started("private", { CLEANCAST_URL: "https://cc.example.com" }),
    ]);
    expect(summarize(await send(open))).toEqual(processed);
    expect(summarize(await send(open, { "X-Forwarded-Proto": "http" }))).toEqual(https);
    expect(summarize(await send(open, { "X-Forwarded-Proto": "https" }))).toEqual(https);
    expect(summarize(await send(other))).toEqual(httpsDirectly);
    // The cookies of an http dashboard are kept by browsers over plain HTTP; those of an https dashboard are not.
    const api = (relay: { url: string }, headers: Record<string, string> = {}) =>
      call(relay.url, { method: "GET", path: "/api/v1/session", headers });
    expect((await api(open)).status).toBe(200);
    expect((await api(other)).status).toBe(426);
    expect((await api(other)).text).toContain("ssh -L 8080:localhost:8080 SERVER");
    expect(summarize(await send(secureDashboard))).toEqual(processed);
    expect((await api(secureDashboard, { Host: "cc.example.com" })).status).toBe(426);
  });

  test("CLEANCAST_TRUST_PROXY=none trusts no proxy, and direct requests from this machine pass", async () => {
    expect(summarize(await send(distrustful, { "X-Forwarded-Proto": "https" }))).toEqual(https);
    expect(summarize(await send(distrustful, { Forwarded: "proto=https" }))).toEqual(https);
    expect(summarize(await send(distrustful))).toEqual(processed);
  });

  test("TLS_CERT_FILE and TLS_KEY_FILE make the relay serve HTTPS and nothing else", async () => {
    expect(secure.url).toMatch(/^https:/);
    expect(secure.output()).toContain("\ncurl -sSk https://localhost:");
    expect(summarize(await send(secure))).toEqual(processed);
    expect(summarize(await send(secure, { "X-Forwarded-Proto": "https" }))).toEqual(processed);
    await expect(call(secure.url.replace("https:", "http:"))).rejects.toThrow("socket hang up");
  });

  test("a proxy that uses HTTPS to the relay and plain HTTP to the sender does not prove HTTPS", async () => {
    expect(summarize(await send(secure, { "X-Forwarded-Proto": "http" }))).toEqual(https);
  });
});
