import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import type { Site } from "../../src/sites/directory.ts";
import { connect } from "../../src/sites/connect.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, engines, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { deliveryStates, setUpSite, keepAliveAgent, postOver, rows, withStore } from "../support/installation.ts";

const sockets = new Set<Socket>();

afterAll(() => {
  for (const socket of sockets) socket.destroy();
});

async function connectSocket(relay: Relay): Promise<Socket> {
  const socket = createConnection(Number(new URL(relay.url).port), "127.0.0.1");
  sockets.add(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** True when the port refuses connections. */
function isRefused(relay: Relay): Promise<boolean> {
  return connectSocket(relay).then(
    (socket) => {
      socket.destroy();
      return false;
    },
    (error: Error) => "code" in error && error.code === "ECONNREFUSED",
  );
}

/** Stops the relay and returns its exit code, or a text if it still runs after so many seconds. */
async function stopWithin(seconds: number, relay: Relay): Promise<number | string | null> {
  const stopped = relay.stop();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`still running after ${seconds} s`), seconds * 1000);
  });
  const result = await Promise.race([stopped, timeout]);
  clearTimeout(timer);
  await relay.kill();
  return result;
}

describe.each(engines)("a graceful stop on %s", (engine) => {
  test("a graceful stop answers all 50 requests in flight, leaves nothing open, and the next start changes nothing", async () => {
    const home = await newInstallation(engine);
    const receiver = await startReceiver();
    const first = await home.start();
    const { key } = first;
    expect((await first.post(key, { email: "ada@example.com", event: "first" })).status).toBe(200);
    expect(await first.stop()).toBe(0);
    await withStore(home, async (store, directory) => {
      const site = [...directory.sites()][0] as Site;
      const by = { actor: "test", now: Date.now(), checkAddress: () => null };
      await connect({ store, directory }, site, "webhook", { url: receiver.url }, by);
    });
    const configuration = async () => [
      await rows(home, `SELECT * FROM sites`),
      await rows(home, `SELECT * FROM inbound_keys`),
      await rows(home, `SELECT * FROM connections ORDER BY id`),
    ];
    const before = await configuration();

    const relay = await home.start();
    receiver.behave = (_got, response) => void setTimeout(() => response.writeHead(200).end(), 600);
    // Senders keep their connections open; the relay must close each with its last answer.
    const agent = keepAliveAgent(50);
    const answers = Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        postOver(agent, relay, key, { email: `p${n}@example.com`, event: "lead", orderId: `order-${n}` }),
      ),
    );
    await eventually("all events are stored and some are under way", async () => {
      return receiver.got.length >= 32 && (await rows(home, `SELECT id FROM events`)).length === 51;
    });
    const stopped = stopWithin(8, relay);
    await eventually("new connections are refused", () => isRefused(relay));
    expect(relay.process.exitCode).toBeNull();

    for (const answer of await answers) {
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text).results).toEqual({ sandbox: { ok: true }, webhook: { ok: true } });
    }
    expect(await stopped).toBe(0);
    expect(await deliveryStates(home)).toEqual({ sent: 101 });
    expect(receiver.got).toHaveLength(50);

    const again = await home.start();
    expect(again.output()).not.toContain("First start");
    expect(await configuration()).toEqual(before);
    receiver.behave = (_got, response) => response.writeHead(200).end();
    const answer = await again.post(key, { email: "ada@example.com", event: "lead", orderId: "after" });
    expect(JSON.parse(answer.text).results).toEqual({ sandbox: { ok: true }, webhook: { ok: true } });
    expect(await again.stop()).toBe(0);
    // Events sent before the stop are not sent again after it.
    expect(receiver.got).toHaveLength(51);
  });
});

test.concurrent.each([
  ["nothing at all", ""],
  ["half of its headers", "POST /__cc/inbound HTTP/1.1\r\nHost: shop.example.com\r\n"],
  [
    "half of its body",
    "POST /__cc/inbound HTTP/1.1\r\nHost: shop.example.com\r\nX-CC-Api-Key: KEY\r\n" +
      'Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"email":',
  ],
])("a sender that has sent %s and then is silent does not delay a stop", async (_title, text) => {
  const home = await newInstallation("sqlite", { CLEANCAST_ANSWER_SECONDS: "1" });
  const { key } = await setUpSite(home, [["sandbox", {}]]);
  const relay = await home.start();
  const socket = await connectSocket(relay);
  socket.write(text.replace("KEY", key));
  // An answer to a later request means that the relay has seen the earlier one.
  await relay.post(key, { email: "ada@example.com", event: "lead" });
  expect(await stopWithin(10, relay)).toBe(0);
});

test("a sender that hung up before its answer does not delay a stop, and its event is delivered", async () => {
  const home = await newInstallation("sqlite");
  const receiver = await startReceiver();
  const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const relay = await home.start();
  const socket = await connectSocket(relay);
  receiver.behave = (_got, response) => {
    socket.destroy();
    setTimeout(() => response.writeHead(200).end(), 300);
  };
  const body = JSON.stringify({ email: "ada@example.com", event: "lead" });
  socket.write(
    `POST /__cc/inbound HTTP/1.1\r\nHost: shop.example.com\r\nX-CC-Api-Key: ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await eventually("the event is delivered", async () => (await deliveryStates(home)).sent === 1);
  expect(await stopWithin(5, relay)).toBe(0);
});

test("a stop right after the relay reports that it is running is graceful", async () => {
  const home = await newInstallation("sqlite");
  for (let n = 0; n < 4; n += 1) expect(await (await home.start()).stop()).toBe(0);
});

test("a draining relay reports not ready, still answers, and closes every connection with its answer", async () => {
  const home = await newInstallation("sqlite", { CLEANCAST_DRAIN_SECONDS: "5" });
  const receiver = await startReceiver();
  const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const relay = await home.start();
  const agent = keepAliveAgent(2);
  const before = await postOver(agent, relay, key, { email: "ada@example.com", event: "lead", orderId: "1" });
  expect(before.headers.connection).toBe("keep-alive");
  const drains = Promise.withResolvers<void>();
  receiver.behave = (_got, response) => void drains.promise.then(() => response.writeHead(200).end());
  const inFlight = postOver(agent, relay, key, { email: "ada@example.com", event: "lead", orderId: "2" });
  await eventually("the second event is under way", () => receiver.got.length === 2);

  const stopped = stopWithin(11, relay);
  const ask = (path: string) => call(relay.url, { method: "GET", path });
  await eventually("the relay is not ready", async () => (await ask("/readyz")).status === 503);
  drains.resolve();
  expect((await ask("/healthz")).status).toBe(200);
  const later = await postOver(agent, relay, key, { email: "ada@example.com", event: "lead", orderId: "3" });
  for (const answer of [await inFlight, later]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.connection).toBe("close");
  }
  expect(await stopped).toBe(0);
  expect(await deliveryStates(home)).toEqual({ sent: 3 });
});

test("a webhook receiver that never answers does not delay a stop beyond the times for an answer and an attempt", async () => {
  const home = await newInstallation("sqlite", {
    CLEANCAST_PUSH_SECONDS: "1",
    CLEANCAST_ANSWER_SECONDS: "1",
    CLEANCAST_ATTEMPT_SECONDS: "1",
  });
  const receiver = await startReceiver();
  receiver.behave = () => {};
  await setUpSite(home, [["sandbox", {}]]);
  await home.run("webhook", "add", "shop.example.com", receiver.url);
  const relay = await home.start();
  await eventually("a push is under way", () => receiver.got.length > 0);
  // Without the stop the call would end after 15 seconds.
  expect(await stopWithin(8, relay)).toBe(0);
  expect(relay.output()).toContain('"stopping":"outbound"');
});

describe("two servers on one data folder", () => {
  test("a second server on one data folder is refused clearly, and may start once the first was killed", async () => {
    const home = await newInstallation("sqlite");
    const { key } = await setUpSite(home, [["sandbox", {}]]);
    const first = await home.start();
    const error = await home.start().then(
      () => "",
      (ended: Error) => ended.message,
    );
    expect(error).toContain(`another Cleancast is running on ${home.env.CLEANCAST_DATA}`);
    expect(error).toContain("give this one its own CLEANCAST_DATA");
    // The error is a sentence without a stack trace.
    expect(error).not.toMatch(/SQLITE|\n\s+at /);
    const event = { email: "ada@example.com", event: "lead", orderId: "A-1" };
    expect((await first.post(key, event)).status).toBe(200);
    // Commands work while the server runs; only a second server is refused.
    expect((await home.run("site", "list")).items).toHaveLength(1);

    await first.kill();
    const second = await home.start();
    expect((await second.post(key, event)).text).toBe('{"ok":true,"deduped":true}');
    expect(await second.stop()).toBe(0);
  });
});
