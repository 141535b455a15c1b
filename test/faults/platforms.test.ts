import type { Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { answerOk, startPeer, type Peer } from "./peer.ts";
import { deliveryStates, listDeliveries, setUpSite, type SiteSetup } from "../support/installation.ts";
import type { Delivery } from "../../src/store/deliveries/delivery.ts";

const attemptSeconds = 3;
const answerSeconds = 10;
const shortTimes = {
  CLEANCAST_CONNECT_SECONDS: "3",
  CLEANCAST_ATTEMPT_SECONDS: String(attemptSeconds),
  CLEANCAST_ANSWER_SECONDS: String(answerSeconds),
  CLEANCAST_RETRY_SECONDS: "1",
};
/** The delay that a busy machine may add to a deadline. */
const slackMs = 60_000;

const tooSlow = `no answer within ${attemptSeconds} s`;
const ok = "HTTP/1.1 200 OK\r\n";

/** Writes `next()` again and again until the other side closes the connection. */
function writeForever(socket: Socket, next: () => string): void {
  while (!socket.destroyed && socket.write(next()));
  if (!socket.destroyed) socket.once("drain", () => writeForever(socket, next));
}

function everySecond(socket: Socket, byte: string): void {
  const timer = setInterval(() => socket.write(byte), 1000);
  socket.on("close", () => clearInterval(timer));
}

type Fault = { does: string; error: string; behave: (socket: Socket) => void };

const faults: Fault[] = [
  { does: "hangs", error: tooSlow, behave: () => {} },
  {
    does: "resets the connection",
    error: "connection reset",
    behave: (socket) => socket.resetAndDestroy(),
  },
  {
    does: "closes without an answer",
    error: "connection closed without an answer",
    behave: (socket) => socket.end(),
  },
  {
    does: "breaks off in the middle of its answer",
    error: "connection closed without an answer",
    behave: (socket) => socket.end(`${ok}Content-Length: 1000\r\n\r\n{"ok":tr`),
  },
  {
    does: "answers bytes that are not HTTP",
    error: "the answer is not HTTP",
    behave: (socket) => socket.write(Buffer.from("\x16\x03\x01\x02\x00\x01\x00\xff\xfe\r\n\r\n", "latin1")),
  },
  {
    does: "refuses with an answer of 10 MB",
    error: "HTTP 503",
    behave: (socket) => {
      socket.write("HTTP/1.1 503 Busy\r\nContent-Length: 10485760\r\n\r\n");
      socket.write(Buffer.alloc(10_485_760, "x"));
    },
  },
  {
    does: "sends headers without end",
    error: "the answer's headers are too large",
    behave: (socket) => {
      socket.write(ok);
      let n = 0;
      writeForever(socket, () => `X-Filler-${(n += 1)}: ${"x".repeat(1000)}\r\n`);
    },
  },
  {
    does: "sends interim answers without end",
    error: tooSlow,
    behave: (socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 5);
      socket.on("close", () => clearInterval(timer));
    },
  },
  {
    does: "trickles its headers, one byte a second",
    error: tooSlow,
    behave: (socket) => {
      socket.write("HTTP/1.1 200 O");
      everySecond(socket, "K");
    },
  },
  {
    does: "trickles its answer, one byte a second",
    error: tooSlow,
    behave: (socket) => {
      socket.write(`${ok}Content-Length: 1000\r\n\r\n`);
      everySecond(socket, "x");
    },
  },
  {
    does: "answers after the deadline",
    error: tooSlow,
    behave: (socket) => void setTimeout(() => answerOk(socket), attemptSeconds * 1500),
  },
  {
    does: "refuses connections",
    error: "connection refused",
    // Never runs, because the test closes the peer's port.
    behave: () => {},
  },
];

async function stateOf(home: Installation, connection = ""): Promise<Delivery | undefined> {
  return (await listDeliveries(home)).find(({ connectionId }) => connectionId === connection);
}

describe.each(endToEndEngines)("a faulty platform on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  const places = new Map<Fault, { faulty: Peer; healthy: Receiver; site: SiteSetup }>();

  // One relay has all faults at once: no fault may affect the others.
  beforeAll(async () => {
    home = await newInstallation(engine, shortTimes);
    for (const [i, fault] of faults.entries()) {
      const faulty = await startPeer();
      const healthy = await startReceiver();
      const webhooks = [faulty.url, healthy.url].map((url) => ["webhook", { url }] as const);
      const site = await setUpSite(home, [...webhooks, ["sandbox", {}]], `shop-${i}.example.com`);
      places.set(fault, { faulty, healthy, site });
    }
    relay = await home.start();
  });

  test.concurrent.each(faults)(
    "a platform that $does affects only its own result, and gets the conversion when it has recovered",
    async (fault) => {
      const { faulty, healthy, site } = places.get(fault) as {
        faulty: Peer;
        healthy: Receiver;
        site: SiteSetup;
      };
      const isAway = fault.does === "refuses connections";
      if (isAway) await faulty.leave();
      faulty.behave = fault.behave;

      const before = Date.now();
      const answer = await relay.post(site.key, { email: "ada@example.com", event: "lead", orderId: "A-1" });
      expect(Date.now() - before).toBeLessThan(answerSeconds * 1000 + slackMs);
      expect(answer.status).toBe(200);
      const [faultyId, healthyId] = site.connections;
      const error = `connection ${faultyId}: ${fault.error}`;
      expect(JSON.parse(answer.text)).toEqual({
        ok: true,
        event: "lead",
        results: { webhook: { ok: false, status: "queued", error }, sandbox: { ok: true } },
      });
      expect(await stateOf(home, healthyId)).toMatchObject({ state: "sent", attempts: 1 });
      expect(healthy.got).toHaveLength(1);

      const arrivedBefore = faulty.got.length;
      faulty.behave = answerOk;
      if (isAway) await faulty.comeBack();
      await eventually("the delivery is retried and sent", async () => {
        return (await stateOf(home, faultyId))?.state === "sent";
      });
      expect(faulty.got.length).toBeGreaterThan(arrivedBefore);
      // Every attempt carries the same conversion under the same id.
      expect(new Set(faulty.got)).toEqual(new Set([healthy.got[0]?.text]));
      expect(healthy.got).toHaveLength(1);
    },
  );
});

test("a platform that accepts with an endless answer is called once", async () => {
  const home = await newInstallation("sqlite", shortTimes);
  const peer = await startPeer();
  const site = await setUpSite(home, [["webhook", { url: peer.url }]]);
  const relay = await home.start();
  let poured = 0;
  peer.behave = (socket) => {
    socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`);
    writeForever(socket, () => {
      poured += 1;
      return `400\r\n${"x".repeat(1024)}\r\n`;
    });
  };
  const answer = await relay.post(site.key, { email: "ada@example.com", event: "lead" });
  expect(answer.text).toBe('{"ok":true,"event":"lead","results":{"webhook":{"ok":true}}}');
  expect(await relay.stop()).toBe(0);
  expect(await deliveryStates(home)).toEqual({ sent: 1 });
  expect(peer.got).toHaveLength(1);
  // The relay closed the connection soon after the limit of an answer.
  expect(poured).toBeLessThan(20_000);
});

test("a sender does not wait for a slow platform, which still gets the conversion once", async () => {
  const home = await newInstallation("sqlite", {
    ...shortTimes,
    CLEANCAST_ANSWER_SECONDS: "4",
    CLEANCAST_ATTEMPT_SECONDS: "20",
  });
  const peer = await startPeer();
  const site = await setUpSite(home, [
    ["webhook", { url: peer.url }],
    ["sandbox", {}],
  ]);
  const relay = await home.start();
  const waiting: Socket[] = [];
  peer.behave = (socket) => void waiting.push(socket);
  // The platform answers only after the sender has its answer.
  const answer = await relay.post(site.key, { email: "ada@example.com", event: "lead" });
  for (const socket of waiting) answerOk(socket);
  expect(JSON.parse(answer.text).results).toEqual({
    webhook: { ok: false, status: "queued", error: "no answer yet" },
    sandbox: { ok: true },
  });
  await eventually("both deliveries are sent", async () => (await deliveryStates(home)).sent === 2);
  expect(peer.got).toHaveLength(1);
});
