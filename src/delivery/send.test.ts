// Calls to real servers on loopback: HTTP servers, and TCP servers that break the protocol.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { PlatformRequest } from "../platforms/platform.ts";
import { readAllowList, type AllowList } from "./addresses.ts";
import { createSender, type Sender, type SenderOptions, type Answer } from "./send.ts";
import { english } from "../kernel/messages/message.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function allowing(text: string): AllowList {
  const list = readAllowList(text);
  if ("fault" in list) throw new Error(list.fault);
  return list;
}

function senderWith(options: Partial<SenderOptions> = {}): Sender {
  const sender = createSender({
    connectMs: 60_000,
    attemptMs: 60_000,
    allow: allowing("127.0.0.0/8"),
    origins: {},
    ...options,
  });
  closers.push(() => sender.close());
  return sender;
}

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
  });
  server.listen(0, host);
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

type Got = { method: string; url: string; headers: IncomingMessage["headers"]; body: string; socket: Socket };

/** Starts an HTTP server that records its requests in `got`. */
async function httpServer(answer: (request: Got, reply: ServerResponse) => void) {
  const got: Got[] = [];
  const connections = new Set<Socket>();
  const server = createHttpServer((request, reply) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const one = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
        socket: request.socket,
      };
      got.push(one);
      answer(one, reply);
    });
  });
  server.on("connection", (socket: Socket) => connections.add(socket));
  return { port: await listen(server), got, connections };
}

/** Starts a TCP server that handles each connection with `behave`. */
async function rawServer(behave: (socket: Socket) => void) {
  const bytes: Buffer[] = [];
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).on("data", (part: Buffer) => bytes.push(part));
    behave(socket);
  });
  const port = await listen(server);
  return { port, bytes: () => Buffer.concat(bytes).toString(), connections: () => connections };
}

/** Holds every thread of this process until the test ends: each opens a pipe that nobody writes to. */
function holdThreads(): void {
  const pipe = join(mkdtempSync(join(tmpdir(), "cleancast-threads-")), "pipe");
  execFileSync("mkfifo", [pipe]);
  const threads = Number(process.env["UV_THREADPOOL_SIZE"] ?? 4);
  const opening = Array.from({ length: threads }, () => open(pipe, "r"));
  closers.push(async () => {
    // Reads and writes, so it does not wait itself.
    const writer = openSync(pipe, "r+");
    for (const reader of await Promise.all(opening)) await reader.close();
    closeSync(writer);
  });
}

const secret = "s3cr3t-mark";
const post = (url: string, changes: Partial<PlatformRequest> = {}): PlatformRequest => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
  body: `{"token":"${secret}"}`,
  ...changes,
});
const customer = { platform: "webhook", customerAddress: true };

function failure(sent: Answer): { blocked: boolean; error: string } {
  if (sent.ok) throw new Error(`expected a failure, got HTTP ${sent.response.status}`);
  expect(sent.error).not.toContain(secret);
  expect(sent.error).not.toMatch(/127\.0\.0\.1|localhost|https?:/);
  return { blocked: sent.code === "blocked", error: english(sent.error) };
}

/** Like `failure`, for error texts that name https or CLEANCAST_ALLOW_PRIVATE. */
function addressFailure(sent: Answer): { blocked: boolean; error: string } {
  if (sent.ok) throw new Error(`expected a refusal, got HTTP ${sent.response.status}`);
  expect(sent.error).not.toContain(secret);
  expect(sent.error).not.toContain("127.0.0.1");
  return { blocked: sent.code === "blocked", error: english(sent.error) };
}

function response(sent: Answer) {
  if (!sent.ok) throw new Error(sent.error);
  return sent.response;
}

describe("a call that works", () => {
  test("a call sends method, path, query, headers and body unchanged", async () => {
    const server = await httpServer((_request, answer) => answer.end("fine"));
    const url = `http://127.0.0.1:${server.port}/a%20b/c?x=%2F&y=ü`;
    const body = '{"name":"Ünïcode 日本"}';
    const sent = await senderWith().send(
      post(url, { method: "PUT", body, headers: { "content-type": "application/json", "x-own": "1" } }),
      customer,
    );
    expect(response(sent)).toMatchObject({ status: 200, body: "fine" });
    expect(server.got[0]).toMatchObject({ method: "PUT", url: "/a%20b/c?x=%2F&y=%C3%BC", body });
    const { host, connection, ...headers } = server.got[0]?.headers ?? {};
    expect(headers).toEqual({
      "content-type": "application/json",
      "x-own": "1",
      "content-length": String(Buffer.byteLength(body)),
    });
    expect(host).toBe(`127.0.0.1:${server.port}`);
    expect(connection).toBe("keep-alive");
  });

  test("a call returns status, lower-case headers and body, whatever the status is", async () => {
    const server = await httpServer((_request, answer) =>
      answer.writeHead(422, { "Retry-After": "7", "Set-Cookie": ["a=1", "b=2"] }).end('{"error":"no"}'),
    );
    const got = response(await senderWith().send(post(`http://127.0.0.1:${server.port}/`), customer));
    expect(got.status).toBe(422);
    expect(got.headers).toMatchObject({ "retry-after": "7", "set-cookie": "a=1, b=2" });
    expect(got.body).toBe('{"error":"no"}');
  });

  test("consecutive calls reuse one connection", async () => {
    const server = await httpServer((_request, answer) => answer.end("{}"));
    const sender = senderWith();
    for (let i = 0; i < 10; i++) response(await sender.send(post(`http://127.0.0.1:${server.port}/${i}`), customer));
    expect(server.got).toHaveLength(10);
    // The pool may open a second one while the first still ends its last answer; never one for each call.
    expect(server.connections.size).toBeLessThanOrEqual(2);
  });

  test("calls at the same time do not wait for each other", async () => {
    const waiting: ServerResponse[] = [];
    const server = await httpServer((_request, answer) => {
      waiting.push(answer);
      if (waiting.length === 20) for (const one of waiting) one.end("together");
    });
    const sender = senderWith();
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, i) => sender.send(post(`http://127.0.0.1:${server.port}/${i}`), customer)),
    );
    expect(sent.map((one) => response(one).body)).toEqual(Array(20).fill("together"));
  });

  test("an empty answer and a chunked one are both read to their end", async () => {
    const server = await httpServer((request, answer) => {
      if (request.url === "/empty") return void answer.writeHead(204).end();
      answer.write("one ");
      setTimeout(() => answer.end("two"), 20);
    });
    const sender = senderWith();
    const at = (path: string) => sender.send(post(`http://127.0.0.1:${server.port}${path}`), customer);
    expect(response(await at("/empty"))).toMatchObject({ status: 204, body: "" });
    expect(response(await at("/pieces")).body).toBe("one two");
  });

  test("the answer that follows an informational one is the answer", async () => {
    const server = await httpServer((_request, answer) => {
      answer.writeEarlyHints({ link: "</style.css>; rel=preload" });
      answer.writeHead(201, { "x-final": "yes" }).end("final");
    });
    const sent = await senderWith().send(post(`http://127.0.0.1:${server.port}/`), customer);
    const { status, headers, body } = response(sent);
    expect([status, headers["x-final"], headers.link, body]).toEqual([201, "yes", undefined, "final"]);
  });

  test("a call after the server closed its idle connection opens another", async () => {
    const server = await httpServer((_request, answer) => answer.setHeader("connection", "close").end("{}"));
    const sender = senderWith();
    for (let i = 0; i < 3; i++)
      expect(response(await sender.send(post(`http://127.0.0.1:${server.port}/`), customer)).status).toBe(200);
    expect(server.connections.size).toBe(3);
  });

  test("the sandbox platform is answered inside the process", async () => {
    const sent = await senderWith().send(post("sandbox:conversions"), {
      platform: "sandbox",
      customerAddress: false,
    });
    expect(response(sent)).toMatchObject({ status: 200 });
  });
});

describe("a redirect", () => {
  test.each([301, 302, 303, 307, 308])("a redirect with %d is returned and not followed", async (status) => {
    const target = await httpServer((_request, answer) => answer.end("arrived"));
    const server = await httpServer((_request, answer) =>
      answer.writeHead(status, { location: `http://127.0.0.1:${target.port}/` }).end(),
    );
    const sent = await senderWith().send(post(`http://127.0.0.1:${server.port}/`), customer);
    expect(response(sent).status).toBe(status);
    expect(target.connections.size).toBe(0);
  });
});

describe("an endless answer", () => {
  test("an endless answer is read to a megabyte and no further", async () => {
    let written = 0;
    const server = await httpServer((_request, answer) => {
      const block = Buffer.alloc(64 * 1024, "x");
      const writeMore = () => {
        while (written < 512 * 1024 * 1024 && !answer.destroyed) {
          written += block.length;
          if (!answer.write(block)) return void answer.once("drain", writeMore);
        }
      };
      writeMore();
    });
    const got = response(await senderWith().send(post(`http://127.0.0.1:${server.port}/`), customer));
    expect(got).toMatchObject({ status: 200, isCut: true });
    expect(got.body).toBe("x".repeat(1024 * 1024));
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  test("the next call after an endless answer works", async () => {
    const server = await httpServer((request, answer) =>
      answer.end(request.url === "/big" ? "y".repeat(3 * 1024 * 1024) : "small"),
    );
    const sender = senderWith();
    const at = (path: string) => sender.send(post(`http://127.0.0.1:${server.port}${path}`), customer);
    expect(response(await at("/big")).body).toHaveLength(1024 * 1024);
    expect(response(await at("/small"))).toMatchObject({ body: "small" });
    expect(response(await at("/small")).isCut).toBeUndefined();
  });

  test("endless headers are an error", async () => {
    const server = await rawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const more = () => {
        for (let i = 0; i < 100 && !socket.destroyed; i++)
          if (!socket.write(`x-${i}: ${"z".repeat(1000)}\r\n`)) return void socket.once("drain", more);
        if (!socket.destroyed) setImmediate(more);
      };
      more();
    });
    const { error } = failure(await senderWith().send(post(`http://127.0.0.1:${server.port}/`), customer));
    expect(error).toBe("the answer's headers are too large");
  });
});

describe("a call that fails returns an error text of our own", () => {
  const quick = { attemptMs: 250 };
  const tooSlow = "no answer within 0.25 s";

  test.each<[what: string, behave: (socket: Socket) => void, error: string]>([
    ["never answers", () => {}, tooSlow],
    ["stops inside its headers", (socket) => socket.write("HTTP/1.1 200 OK\r\nx: "), tooSlow],
    ["stops inside its body", (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"), tooSlow],
    [
      "trickles bytes for ever",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        const timer = setInterval(() => socket.write("1\r\nx\r\n"), 10);
        socket.on("close", () => clearInterval(timer));
      },
      tooSlow,
    ],
    ["uses another protocol", (socket) => socket.write("SSH-2.0-OpenSSH_9.9\r\n"), "the answer is not HTTP"],
    ["sends random bytes", (socket) => socket.write(Buffer.alloc(1000, 0x16)), "the answer is not HTTP"],
    [
      "sends a wrong chunk length",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n"),
      "the answer is not HTTP",
    ],
    [
      "closes the connection without an answer",
      (socket) => socket.once("data", () => socket.end()),
      "connection closed without an answer",
    ],
    [
      "closes the connection inside its body",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")),
      "connection closed without an answer",
    ],
    ["resets the connection", (socket) => socket.once("data", () => socket.resetAndDestroy()), "connection reset"],
  ])("a server that %s costs one attempt", async (_what, behave, error) => {
    const server = await rawServer(behave);
    // The other faults end an attempt at once, so its limit may be long enough for any machine.
    const sender = senderWith(error === tooSlow ? quick : { attemptMs: 60_000, connectMs: 60_000 });
    const sent = await sender.send(post(`http://127.0.0.1:${server.port}/${secret}`), customer);
    expect(failure(sent)).toEqual({ blocked: false, error });
  });

  test("a closed port is reported as connection refused", async () => {
    const server = createTcpServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(failure(await senderWith().send(post(`http://127.0.0.1:${port}/`), customer))).toEqual({
      blocked: false,
      error: "connection refused",
    });
  });

  test("a closed port behind a name with several addresses is reported as connection refused", async () => {
    const server = createTcpServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const sender = senderWith({ allow: allowing("localhost") });
    expect(failure(await sender.send(post(`http://localhost:${port}/`), customer)).error).toBe("connection refused");
  });

  test("a name that does not exist is reported as host name not found", async () => {
    const sent = await senderWith().send(post(`https://${secret}.invalid/`), customer);
    expect(failure(sent)).toMatchObject({
      blocked: false,
      error: expect.stringMatching(/^host name (?:not found|could not be looked up)$/),
    });
  });

  test("plain HTTP where TLS was expected is an error", async () => {
    const server = await httpServer((_request, answer) => answer.end("plain"));
    const sent = await senderWith().send(post(`https://127.0.0.1:${server.port}/`), customer);
    expect(failure(sent).error).toMatch(/^the request failed \(\w+\)$|^connection /);
    expect(server.got).toEqual([]);
  });

  test("the deadline holds for many calls at once, and the next call works", async () => {
    let silent = true;
    const server = await httpServer((_request, answer) => {
      if (!silent) answer.end("back");
    });
    const sender = senderWith(quick);
    const url = `http://127.0.0.1:${server.port}/`;
    const startedAt = Date.now();
    const sent = await Promise.all(Array.from({ length: 200 }, () => sender.send(post(url), customer)));
    expect(new Set(sent.map((one) => failure(one).error))).toEqual(new Set([tooSlow]));
    // One after the other they would take 50 seconds.
    expect(Date.now() - startedAt).toBeLessThan(45_000);
    silent = false;
    // A busy machine may need more than one call to answer in time.
    await vi.waitFor(async () => expect(response(await sender.send(post(url), customer)).body).toBe("back"), 60_000);
  });

  test("a call whose deadline passes while it waits for a connection is never sent", async () => {
    const server = await httpServer((request, answer) => void (request.url === "/next" && answer.end("ok")));
    const sender = senderWith({ attemptMs: 2000 });
    const url = `http://127.0.0.1:${server.port}/`;
    // All deadlines pass in the same tick: a call with a later one could still use a connection of the first.
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    // The pool has 128 connections.
    const sending = Array.from({ length: 140 }, () => sender.send(post(url), customer));
    clock.mockRestore();
    const sent = await Promise.all(sending);
    expect(sent.every((one) => !one.ok && one.code === "timeout")).toBe(true);
    await vi.waitFor(async () => expect(response(await sender.send(post(`${url}next`), customer)).body).toBe("ok"), 60_000);
    expect(server.got.filter((one) => one.url !== "/next").length).toBeLessThanOrEqual(128);
  });

  test("headers that cannot be sent are an error without their values", async () => {
    const server = await httpServer((_request, answer) => answer.end());
    const headers = { "x-bad": `${secret}\r\nx-evil: 1` };
    const sent = await senderWith().send(post(`http://127.0.0.1:${server.port}/`, { headers }), customer);
    expect(failure(sent).error).toMatch(/^the request failed/);
    expect(server.got).toEqual([]);
  });
});

describe("the guard of customers' addresses", () => {
  const none = { allow: allowing("") };

  test("a name that resolves to loopback is blocked before a byte reaches the listener", async () => {
    const server = await rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    for (const scheme of ["http", "https"]) {
      const sent = await senderWith(none).send(post(`${scheme}://localhost:${server.port}/${secret}`), customer);
      const { blocked, error } = addressFailure(sent);
      expect(blocked, scheme).toBe(true);
      expect(error, scheme).toContain("CLEANCAST_ALLOW_PRIVATE");
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.connections()).toBe(0);
    expect(server.bytes()).toBe("");
  });

  test.each(["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0", "[::ffff:127.0.0.1]", "[::1]", "[::]"])(
    "the literal %s is refused before a byte reaches the listener",
    async (host) => {
      const server = await rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
      const sent = await senderWith(none).send(post(`https://${host}:${server.port}/`), customer);
      expect(addressFailure(sent)).toEqual({
        blocked: true,
        error: "the address leads to a private address (CLEANCAST_ALLOW_PRIVATE opens it)",
      });
      expect(server.connections()).toBe(0);
    },
  );

  test("plain HTTP is blocked with the reason, also to a public address", async () => {
    const sent = await senderWith(none).send(post("http://1.1.1.1/"), customer);
    expect(addressFailure(sent)).toMatchObject({
      blocked: true,
      error: expect.stringContaining("must use https"),
    });
  });

  test("a pooled connection of an allowed host is not used for another name or port", async () => {
    const server = await httpServer((_request, answer) => answer.end("{}"));
    const sender = senderWith({ allow: allowing("127.0.0.1") });
    response(await sender.send(post(`http://127.0.0.1:${server.port}/`), customer));
    const sent = await sender.send(post(`http://127.0.0.2:${server.port}/`), customer);
    expect(addressFailure(sent).blocked).toBe(true);
    expect(server.connections.size).toBe(1);
  });

  test("an allowed host is reached by plain HTTP", async () => {
    const server = await httpServer((_request, answer) => answer.end("open"));
    const sender = senderWith({ allow: allowing("localhost") });
    expect(response(await sender.send(post(`http://localhost:${server.port}/`), customer)).body).toBe("open");
  });

  test("a user name in the address is not sent as a header", async () => {
    const server = await httpServer((_request, answer) => answer.end("{}"));
    const url = `http://user:${secret}@127.0.0.1:${server.port}/`;
    await senderWith().send(post(url, { headers: {} }), customer);
    expect(server.got[0]?.headers.authorization).toBeUndefined();
  });
});

describe("origins that replace a platform's own", () => {
  test("path and query go to the replacing origin, and the platform's host is never called", async () => {
    const server = await httpServer((_request, answer) => answer.end("stand-in"));
    const sender = senderWith({
      allow: allowing(""),
      origins: { meta: `http://127.0.0.1:${server.port}` },
    });
    const sent = await sender.send(post("https://graph.example.invalid/v1/events?x=1"), {
      platform: "meta",
      customerAddress: false,
    });
    expect(response(sent).body).toBe("stand-in");
    expect(server.got[0]).toMatchObject({ method: "POST", url: "/v1/events?x=1" });
    expect(server.got[0]?.headers.host).toBe(`127.0.0.1:${server.port}`);
  });

  test("a replacing origin applies to customers' addresses too, private or not", async () => {
    const server = await httpServer((_request, answer) => answer.end("proxied"));
    const sender = senderWith({
      allow: allowing(""),
      origins: { webhook: `http://127.0.0.1:${server.port}/` },
    });
    expect(response(await sender.send(post("https://10.0.0.1/hook"), customer)).body).toBe("proxied");
    expect(server.got[0]?.url).toBe("/hook");
  });

  test("an origin that replaces one platform's leaves other platforms alone", async () => {
    const server = await httpServer((_request, answer) => answer.end());
    const sender = senderWith({
      allow: allowing(""),
      origins: { meta: `http://127.0.0.1:${server.port}` },
    });
    const sent = await sender.send(post(`http://127.0.0.1:${server.port}/`), customer);
    expect(sent).toMatchObject({ ok: false, code: "blocked" });
    expect(server.connections.size).toBe(0);
  });
});

test("the names of customers and of operators are looked up while every thread of the process waits for something", async () => {
  const server = await httpServer((_request, answer) => answer.end("found"));
  const sender = senderWith({ allow: allowing("localhost"), origins: { meta: `http://localhost:${server.port}` } });
  holdThreads();
  const toCustomer = await sender.send(post(`http://localhost:${server.port}/`), customer);
  const toPlatform = await sender.send(post("https://graph.example.invalid/"), { platform: "meta", customerAddress: false });
  expect([response(toCustomer).body, response(toPlatform).body]).toEqual(["found", "found"]);
});

test("closing the sender ends calls in flight with an error", async () => {
  const server = await httpServer(() => {});
  const sender = senderWith();
  const call = sender.send(post(`http://127.0.0.1:${server.port}/`), customer);
  while (server.got.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await sender.close();
  expect(failure(await call).blocked).toBe(false);
});
