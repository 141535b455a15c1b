import { once } from "node:events";
import { createServer, IncomingMessage, type ServerResponse } from "node:http";
import { createConnection, Socket, type AddressInfo } from "node:net";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBytes } from "./body.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

const maxBytes = 1000;

describe("a request body", () => {
  const requests: IncomingMessage[] = [];
  const results: (string | Buffer)[] = [];
  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests.push(request);
    if (request.headers["x-wait"]) await sleep(100);
    results.push(await readBytes(request, maxBytes));
    response.end();
  }

  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Sends the parts with a pause between them; `end` ends the connection afterwards. */
  async function read(headers: string, parts: string[], end?: (socket: Socket) => void): Promise<string> {
    const known = results.length;
    const socket = createConnection((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
    for (const part of parts) {
      await sleep(20);
      socket.write(part);
    }
    await sleep(20);
    end?.(socket);
    while (results.length === known) await sleep(5);
    socket.destroy();
    return String(results.at(-1));
  }

  test("a body with a declared length is whole with its last byte, in one part or several", async () => {
    expect(await read("Content-Length: 5", ["hello"])).toBe("hello");
    expect(await read("Content-Length: 5", ["he", "l", "lo"])).toBe("hello");
    expect(await read("Content-Length: 0", [])).toBe("");
    expect(await read(`Content-Length: ${maxBytes}`, ["x".repeat(maxBytes)])).toHaveLength(maxBytes);
  });

  test("a chunked body ends with its last chunk, and a request without a length has none", async () => {
    expect(await read("Transfer-Encoding: chunked", ["2\r\nhe\r\n", "3\r\nllo\r\n", "0\r\n\r\n"])).toBe("hello");
    expect(await read("Transfer-Encoding: chunked", ["0\r\n\r\n"])).toBe("");
    expect(await read("X: y", [])).toBe("");
  });

  test("a body is too large by its declared length, or as soon as its chunks are", async () => {
    expect(await read(`Content-Length: ${maxBytes + 1}`, [])).toBe("too large");
    const chunk = `${(600).toString(16)}\r\n${"x".repeat(600)}\r\n`;
    expect(await read("Transfer-Encoding: chunked", [chunk, chunk])).toBe("too large");
  });

  test.each<[string, (socket: Socket) => void]>([
    ["ends", (socket) => socket.end()],
    ["breaks", (socket) => socket.resetAndDestroy()],
  ])("a body is cut when the connection %s before it is whole", async (_title, end) => {
    expect(await read("Content-Length: 5", ["hell"], end)).toBe("cut");
    expect(await read("Content-Length: 5", [], end)).toBe("cut");
    expect(await read("Transfer-Encoding: chunked", ["5\r\nhell"], end)).toBe("cut");
  });

  test("a body is cut when the connection closed before anything was read", async () => {
    const end = (socket: Socket) => void socket.destroy();
    expect(await read("X-Wait: yes\r\nContent-Length: 5", ["hell"], end)).toBe("cut");
    expect(await read("X-Wait: yes\r\nTransfer-Encoding: chunked", ["5\r\nhell"], end)).toBe("cut");
  });

  test("a body that is read leaves the request complete, so that a shutdown waits for its answer", async () => {
    await read("Content-Length: 5", ["hello"]);
    expect(requests.at(-1)?.complete).toBe(true);
  });

  test("a body in chunks of a byte each takes little more memory than its bytes", async () => {
    const request = new IncomingMessage(new Socket());
    const reading = readBytes(request, 10_000_000);
    const chunks = 100_000;
    gc();
    const { heapUsed, external } = process.memoryUsage();
    for (let i = 0; i < chunks; i++) {
      request.push(Buffer.alloc(1, "abc"[i % 3]));
      if (i % 1000 === 0) await turn();
    }
    await turn();
    gc();
    const used = process.memoryUsage();
    expect(used.heapUsed + used.external - heapUsed - external).toBeLessThan(20 * chunks);
    request.push(null);
    expect(String(await reading)).toBe("abc".repeat(chunks / 3 + 1).slice(0, chunks));
  });
});
