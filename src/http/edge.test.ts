import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createEdge, parseEdgeSecrets, type EdgeSecret } from "./edge.ts";
import { cameOverTls, clientAddress, isSecure, wasForwarded } from "./transport.ts";

const [one, two] = ["a".repeat(32), "b".repeat(40)];
const rules = { trusted: (address: string) => address === "10.0.0.1", requireTls: false };
const sites: Record<string, string> = { s1: "s1", "shop.example.com": "s1", "www.example.com": "s1", "other.example": "s2" };

const secretsOf = (text: string) => parseEdgeSecrets(text) as EdgeSecret[];
const edge = createEdge({
  secrets: secretsOf(`shop.example.com=${one}, s1=${two},other.example=${"c".repeat(32)}`),
  transport: rules,
  siteIdOf: (name) => sites[name],
});

function request(
  headers: Record<string, string>,
  { peer = "203.0.113.9", encrypted = true, url = "/__cc/visit" } = {},
): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: peer });
  Object.defineProperty(socket, "encrypted", { value: encrypted });
  const made = new IncomingMessage(socket);
  made.url = url;
  Object.assign(made.headers, { host: "relay.example.net", ...headers });
  return made;
}

const sent = (changes: Record<string, string> = {}) => ({
  "x-cleancast-edge-secret": one,
  "x-cleancast-edge-host": "shop.example.com",
  "x-cleancast-edge-address": "198.51.100.7",
  "x-cleancast-edge-proto": "https",
  "x-forwarded-for": "192.0.2.66",
  ...changes,
});

test("without a secret nothing changes, whatever else the sender claims", () => {
  const plain = request({ ...sent(), "x-cleancast-edge-secret": undefined as never });
  delete plain.headers["x-cleancast-edge-secret"];
  expect(edge(plain)).toBeNull();
  expect([plain.headers.host, clientAddress(plain, rules.trusted)]).toEqual(["relay.example.net", "203.0.113.9"]);
});

test("with the right secret the request is the visitor's, and the secret is gone", () => {
  for (const secret of [one, two])
    for (const host of ["shop.example.com", "www.example.com", "SHOP.example.com"]) {
      const made = request(sent({ "x-cleancast-edge-secret": secret, "x-cleancast-edge-host": host }));
      expect(edge(made)).toBeNull();
      expect(made.headers.host).toBe(host);
      expect(clientAddress(made, rules.trusted)).toBe("198.51.100.7");
      expect([isSecure(made, rules), cameOverTls(made, rules), wasForwarded(made)]).toEqual([true, true, true]);
      expect(JSON.stringify(made.headers)).not.toContain(secret);
      // For some requests the server asks twice.
      expect(edge(made)).toBeNull();
    }
});

test("a wrong secret, one of another site, and a host of no site are refused", () => {
  for (const changes of [
    { "x-cleancast-edge-secret": "a".repeat(31) },
    { "x-cleancast-edge-secret": "" },
    { "x-cleancast-edge-secret": `${one}, ${two}` },
    { "x-cleancast-edge-secret": "c".repeat(32) },
    { "x-cleancast-edge-host": "other.example" },
    { "x-cleancast-edge-host": "nothing.example" },
    { "x-cleancast-edge-host": "" },
  ])
    expect(edge(request(sent(changes)))?.status, JSON.stringify(changes)).toBe(403);
  expect(edge(request(sent({ "x-cleancast-edge-address": "unknown" })))?.status).toBe(400);
  for (const url of ["/dashboard/", "/api/v1/sites", "/mcp", "/", "/__ccx"])
    expect(edge(request(sent(), { url }))?.status).toBe(404);
});

test("the visitor's HTTP and an unencrypted way from the edge are both insecure", () => {
  const overHttp = request(sent({ "x-cleancast-edge-proto": "http" }));
  edge(overHttp);
  expect(isSecure(overHttp, rules)).toBe(false);
  const wayOpen = request(sent(), { encrypted: false });
  edge(wayOpen);
  expect(isSecure(wayOpen, rules)).toBe(false);
  // A development machine, and a proxy that ends TLS.
  const local = request(sent({ "cf-worker": "shop.example.com" }), { encrypted: false, peer: "127.0.0.1" });
  delete local.headers["x-forwarded-for"];
  edge(local);
  expect(isSecure(local, rules)).toBe(true);
  const proxied = request(sent({ "x-forwarded-proto": "https" }), { encrypted: false, peer: "10.0.0.1" });
  edge(proxied);
  expect(isSecure(proxied, rules)).toBe(true);
});

test("secrets are pairs of a site and a long text; a fault names its place and not the text", () => {
  expect(secretsOf("").length).toBe(0);
  expect(secretsOf(`a.example=${one}\n a.example=${two} `).map(({ site }) => site)).toEqual(["a.example", "a.example"]);
  for (const text of ["short", `a.example=${"x".repeat(31)}`, `=${one}`, one, `a.example=${one} ${two}`])
    expect(parseEdgeSecrets(text)).toEqual({ fault: text.includes(" ") ? 2 : 1 });
});

test("headers of workers and functions count as forwarded, so that loopback is not trusted behind them", () => {
  for (const name of ["cf-worker", "x-vercel-id", "x-nf-client-connection-ip", "x-forwarded-host"])
    expect([name, wasForwarded(request({ [name]: "x" }))]).toEqual([name, true]);
  expect(wasForwarded(request({ "x-cc-api-key": "x" }))).toBe(false);
});
