// Answers of the inbound endpoint byte for byte, with their headers, for requests that clients rarely send.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Relay, type TestSite } from "../support/relay.ts";
import { freshEvent } from "./answers.ts";

const certFile = fileURLToPath(new URL("../fixtures/tls-cert.pem", import.meta.url));
const keyFile = fileURLToPath(new URL("../fixtures/tls-key.pem", import.meta.url));

let relay: Relay;
let site: TestSite;

beforeAll(async () => {
  const home = await newInstallation("sqlite");
  site = await home.addSite("shop.example");
  relay = await home.start();
});

const connectSocket = (to = relay) => createConnection(Number(new URL(to.url).port), "127.0.0.1");

/** Writes the parts, with a pause between them, and returns everything that is answered until the connection closes. */
async function exchange(socket: Socket, ...parts: string[]): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => (text += part));
  socket.on("error", (error) => (text += `<${error.message}>`));
  const closed = once(socket, "close");
  for (const part of parts) {
    socket.write(part);
    await sleep(30);
  }
  await closed;
  return text
    .replaceAll(/Date: [^\r]+ GMT\r\n/g, "Date: …\r\n")
    .replaceAll(/x-cc-event-id: [0-9a-z]{26}\r\n/g, "x-cc-event-id: …\r\n");
}

type Head = { method?: string; path?: string; version?: string; key?: string; headers?: string[] };

function head({ method = "POST", path = "/__cc/inbound", version = "1.1", key, headers = [] }: Head): string {
  const lines = [`${method} ${path} HTTP/${version}`, "Host: shop.example", `X-CC-Api-Key: ${key ?? site.key}`];
  return [...lines, "Content-Type: application/json", ...headers, "", ""].join("\r\n");
}

/** A whole request, for one that is the last of its connection unless `headers` are given. */
function request({ headers = ["Connection: close"], ...rest }: Head = {}, body = event()): string {
  return head({ ...rest, headers: [...headers, `Content-Length: ${Buffer.byteLength(body)}`] }) + body;
}

const event = () => JSON.stringify(freshEvent());

const keepAlive = ["Connection: keep-alive", "Keep-Alive: timeout=65"];
const close = ["Connection: close"];

function response(status: string, type: string, body: string, end = close, first: string[] = []): string {
  const length = `content-length: ${body.length}`;
  const lines = [...first, `content-type: ${type}; charset=utf-8`, length, "Date: …", ...end];
  return [`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n");
}

const json = (status: string, body: unknown, end: string[], first: string[]) =>
  response(status, "application/json", JSON.stringify(body), end, first);
/** The id of the event differs. */
const eventHeader = ["x-cc-event-id: …"];
const accepted = (end = close) => json("200 OK", { ok: true, event: "purchase", results: {} }, end, eventHeader);
const fault = (status: string, code: string, error: string, end = close) =>
  json(status, { ok: false, error }, end, [`x-cc-error: ${code}`]);
const noEmail = (end = close) => fault("400 Bad Request", "field", "email or hashed_email required", end);
const wrongKey = (end = close) => fault("401 Unauthorized", "invalid_key", "Invalid API key", end);
const plain = (status: string, text: string, end = close, first: string[] = []) =>
  response(status, "text/plain", `${text}\n`, end, first);
const notPost = (end = close) =>
  plain("405 Method Not Allowed", "Send a POST request.", end, ["x-cc-error: method", "allow: POST"]);

test("an accepted event is answered with exactly these headers", async () => {
  expect(await exchange(connectSocket(), request())).toBe(accepted());
});

test("pipelined requests are answered in their order", async () => {
  const first = request({ headers: [] });
  const second = request({ headers: [] }, "{}");
  const third = request({ headers: [], method: "PUT" });
  const last = request({ key: "wrong" });
  expect(await exchange(connectSocket(), first + second + third + last)).toBe(
    accepted(keepAlive) + noEmail(keepAlive) + notPost(keepAlive) + wrongKey(),
  );
});

test("requests for other paths share their connection with events", async () => {
  const health = "GET /healthz HTTP/1.1\r\nHost: shop.example\r\n\r\n";
  const answers = await exchange(connectSocket(), request({ headers: [] }) + health + request());
  expect(answers).toBe(accepted(keepAlive) + plain("200 OK", "ok", keepAlive) + accepted());
});

test.each(["GET", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY", "PURGE", "PROPFIND"])(
  "%s is answered with exactly these headers",
  async (method) => {
    expect(await exchange(connectSocket(), request({ method }, "{}"))).toBe(notPost());
  },
);

test("HEAD is answered without a body, and the next answer of the connection is whole", async () => {
  const withoutBody = notPost(keepAlive).replace("Send a POST request.\n", "");
  expect(await exchange(connectSocket(), head({ method: "HEAD" }) + request())).toBe(withoutBody + accepted());
});

test.each([
  ["with a query", "/__cc/inbound?source=crm&x=%zz"],
  ["with an empty query", "/__cc/inbound?"],
  ["with an encoded character", "/__cc/%69nbound"],
  ["with a fragment", "/__cc/inbound#top"],
  ["in absolute form", "http://shop.example/__cc/inbound"],
])("the path %s is accepted", async (_title, path) => {
  expect(await exchange(connectSocket(), request({ path }))).toBe(accepted());
});

test.each(["/__cc/inbound/", "/__cc/inbounds", "/__cc/inbound;x", "//__cc/inbound", "/__CC/inbound"])(
  "the path %s is not found",
  async (path) => {
    expect(await exchange(connectSocket(), request({ path }))).toBe(plain("404 Not Found", "Not found."));
  },
);

test("HTTP/1.0 is answered, and the connection closes unless the client asks for more", async () => {
  expect(await exchange(connectSocket(), request({ version: "1.0", headers: [] }))).toBe(accepted());
  const first = request({ version: "1.0", headers: ["Connection: keep-alive"] });
  const second = request({ version: "1.0", headers: [] });
  expect(await exchange(connectSocket(), first + second)).toBe(accepted(keepAlive) + accepted());
});

test("a client that expects 100 Continue gets it before its answer", async () => {
  const expecting = head({ headers: ["Expect: 100-continue", "Connection: close", "Content-Length: 2"] });
  expect(await exchange(connectSocket(), expecting, "{}")).toBe(`HTTP/1.1 100 Continue\r\n\r\n${noEmail()}`);
});

test("a chunked body and one in pieces are read whole", async () => {
  const body = event();
  const chunked = head({ headers: ["Transfer-Encoding: chunked", "Connection: close"] });
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  expect(await exchange(connectSocket(), chunked, chunk(body.slice(0, 5)), chunk(body.slice(5)), "0\r\n\r\n")).toBe(accepted());
  const whole = request();
  const pieces = [whole.slice(0, 40), whole.slice(40, -20), whole.slice(-20, -1), whole.slice(-1)];
  expect(await exchange(connectSocket(), ...pieces)).toBe(accepted());
});

test("an answer before the body leaves the connection usable, when the rest of the body arrives later", async () => {
  const refused = head({ key: "wrong", headers: ["Content-Length: 10"] });
  expect(await exchange(connectSocket(), `${refused}12345`, `67890${request()}`)).toBe(wrongKey(keepAlive) + accepted());
});

test("an upload that ends early is refused, logged as such, and stored nowhere", async () => {
  /** When a later event is answered, the relay has read what came before it, and waits for the rest of the body. */
  const beginUpload = async (): Promise<Socket> => {
    const socket = connectSocket();
    socket.write(head({ headers: ["Expect: 100-continue", "Content-Length: 500"] }));
    const [answer] = await once(socket, "data");
    expect(String(answer)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write('{"email":');
    expect(await exchange(connectSocket(), request())).toBe(accepted());
    return socket;
  };
  const ended = await beginUpload();
  const text = exchange(ended);
  ended.end();
  expect(await text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\n\r\nBad Request\.\n$/);
  (await beginUpload()).resetAndDestroy();
  await eventually("both are logged", () => {
    const lines = relay.output().split("\n");
    return lines.filter((line) => line.includes('"status":400,"reason":"body"')).length >= 2;
  });
});

test.each([[], keepAlive, close].map((headers) => [headers.join(", "), headers] as const))(
  "an answer without HTTPS names the upgrade and closes the connection (%s)",
  async (_title, headers) => {
    const first = ["x-cc-error: https_required", "upgrade: TLS/1.2, HTTP/1.1", "connection: Upgrade, close"];
    const body = JSON.stringify({ ok: false, error: "HTTPS required" });
    expect(await exchange(connectSocket(), request({ headers: [...headers, "X-Forwarded-Proto: http"] }))).toBe(
      response("426 Upgrade Required", "application/json", body, [], first),
    );
  },
);

describe("a request with two Host headers", () => {
  const refused = plain(
    "400 Bad Request",
    "The request has more than one Host header.",
    [],
    ["x-cc-error: host", "connection: close"],
  );

  test.each([["Host: shop.example"], ["HOST: other.example"], ["host:"]])(
    "is refused where the second one is %j",
    async (second) => {
      expect(await exchange(connectSocket(), request({ headers: [second] }))).toBe(refused);
      expect(await exchange(connectSocket(), request({ headers: [second], path: "/__cc/%69nbound" }))).toBe(refused);
    },
  );

  test.each(["/healthz", "/api/v1/session", "/dashboard/", "/__cc/tag.js", "/nothing"])("is refused at %s too", async (path) => {
    const asked = head({ method: "GET", path, headers: ["Host: other.example"] });
    expect(await exchange(connectSocket(), asked)).toBe(refused);
  });
});

describe("a request that asks for another protocol", () => {
  const upgrade = ["Connection: Upgrade", "Upgrade: h2c", "Transfer-Encoding: chunked"];
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  test("is answered in HTTP/1.1, and its connection closes", async () => {
    const body = `${chunk(event())}0\r\nX-Trailer: y\r\n\r\n`;
    expect(await exchange(connectSocket(), head({ headers: upgrade }) + body)).toBe(accepted());
    expect(await exchange(connectSocket(), head({ key: "wrong", headers: upgrade }) + body)).toBe(wrongKey());
  });

  test("is refused with a malformed chunk or trailer, like any other request", async () => {
    const malformed = ["0\r\nbad trailer\u0001\r\n\r\n", "zz\r\n", "2\r\nabc\r\n"];
    const answers = await Promise.all(
      malformed.map((rest) => exchange(connectSocket(), head({ headers: upgrade }) + chunk(event()) + rest)),
    );
    const refused = plain("400 Bad Request", "The body ended early.", [], ["x-cc-error: body", "connection: close"]);
    expect(answers).toEqual(malformed.map(() => refused));
  });
});

test("over TLS the answers are the same, and tell browsers to use HTTPS from now on", async () => {
  const home = await newInstallation("sqlite", { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
  const secure = await home.start();
  async function createTls(): Promise<Socket> {
    const socket = connectTls({
      port: Number(new URL(secure.url).port),
      host: "127.0.0.1",
      ca: readFileSync(certFile),
      servername: "localhost",
    });
    await once(socket, "secureConnect");
    return socket;
  }
  const sent = { key: secure.key };
  const processed = (end = close) =>
    json("200 OK", { ok: true, event: "purchase", results: { sandbox: { ok: true } } }, end, eventHeader);
  const text = await exchange(
    await createTls(),
    request({ ...sent, headers: [] }) + request({ ...sent, method: "GET", headers: [] }) + request(sent),
  );
  const strict = "strict-transport-security: max-age=31536000";
  const withStrict = (answer: string) => answer.replace("\r\n", `\r\n${strict}\r\n`);
  expect(text).toBe(withStrict(processed(keepAlive)) + withStrict(notPost(keepAlive)) + withStrict(processed()));
  const isSent = async (path: string, host: string) => {
    const asked = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    return (await exchange(await createTls(), asked)).includes(`\r\n${strict}\r\n`);
  };
  for (const path of ["/healthz", "/dashboard/", "/api/v1/session", "/__cc/tag.js"])
    expect([path, await isSent(path, "shop.example")]).toEqual([path, true]);
  // Browsers apply it to every port of the name, and so to other programs on the developer's machine.
  for (const host of ["localhost", "relay.localhost:8443", "127.0.0.1", "[::1]:8443"])
    expect([host, await isSent("/healthz", host)]).toEqual([host, false]);
});

test("the host name localhost serves events on all its addresses", async () => {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example");
  const local = await home.start({ HOST: "localhost" });
  const { port } = new URL(local.url);
  const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
  for (const address of ["127.0.0.1", "[::1]"]) {
    const answer = await call(`http://${address}:${port}`, { headers, body: event() }).catch(
      (error: Error & { code?: string }) => error,
    );
    // A machine may have only one of the addresses.
    if ("code" in answer && /EADDRNOTAVAIL|ECONNREFUSED|EAFNOSUPPORT/.test(answer.code)) continue;
    expect(answer).toMatchObject({ status: 200 });
  }
});

describe("a relay that stops", () => {
  test("requests during a shutdown are answered, and each closes its connection", async () => {
    const home = await newInstallation("sqlite", { CLEANCAST_DRAIN_SECONDS: "10" });
    const receiver = await startReceiver();
    const { key } = await home.addSite("shop.example");
    await home.run("connection", "add", "shop.example", "webhook", `url=${receiver.url}`);
    const stopping = await home.start();
    const drains = Promise.withResolvers<void>();
    receiver.behave = (_got, answer) => void drains.promise.then(() => answer.writeHead(200).end());
    const socket = connectSocket(stopping);
    const text = exchange(socket, request({ key, headers: [] }));
    await eventually("the event is under way", () => receiver.got.length === 1);
    const stopped = stopping.stop();
    await eventually(
      "the relay drains",
      async () => (await call(stopping.url, { method: "GET", path: "/readyz" })).status === 503,
    );
    drains.resolve();
    const body = JSON.stringify({ ok: true, event: "purchase", results: { webhook: { ok: true } } });
    const closing = ["connection: close"];
    const processed = response("200 OK", "application/json", body, [], [...closing, ...eventHeader]);
    expect(await text).toBe(processed);
    // New connections are answered too, once each.
    expect(await exchange(connectSocket(stopping), request({ key, headers: [] }))).toBe(processed);
    expect(await exchange(connectSocket(stopping), request({ key, method: "GET", headers: [] }))).toBe(
      plain("405 Method Not Allowed", "Send a POST request.", [], [...closing, "x-cc-error: method", "allow: POST"]),
    );
    expect(await stopped).toBe(0);
  });
});
