import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/support/relay.ts";
import { startTraceReceiver } from "../../../test/support/traceReceiver.ts";
import { createSender } from "../../delivery/send.ts";
import { createSpanExporter, maxQueued } from "./exporter.ts";
import type { Span } from "./span.ts";

const idOf = (number: number, length: number) => number.toString(16).padStart(length, "0");

const spanOf = (number: number): Span => ({
  traceId: idOf(number + 1, 32),
  spanId: idOf(number + 1, 16),
  parentSpanId: null,
  name: "receive",
  kind: "server",
  startedAt: Date.now(),
  endedAt: Date.now() + 0.25,
  attributes: { "cleancast.event.id": "e", "cleancast.attempt.number": 1 },
  isError: false,
});

function exporterTo(url: string, repeatMs: readonly number[] = [10, 10, 10]) {
  const sender = createSender({ connectMs: 1000, attemptMs: 1000, allow: { hosts: new Set(), networks: [] }, origins: {} });
  const logged: string[] = [];
  const exporter = createSpanExporter({
    settings: { url: `${url}/v1/traces`, headers: { "x-key": "k" }, serviceName: "relay" },
    version: "1",
    instance: "i",
    sender,
    log: {
      info: (text: unknown) => void logged.push(`info ${String(text)}`),
      warn: (about: object, text: string) => void logged.push(`warn ${text} ${JSON.stringify(about)}`),
    } as never,
    now: Date.now,
    everyMs: 20,
    repeatMs,
  });
  onTestFinished(async () => {
    await exporter.close();
    await sender.close();
  });
  return { exporter, logged };
}

test("spans are posted in batches as OpenTelemetry's JSON, with the operator's headers", async () => {
  const receiver = await startTraceReceiver();
  const { exporter } = exporterTo(receiver.url);
  for (let i = 0; i < 1200; i += 1) exporter.add(spanOf(i));
  await eventually("all spans are taken", () => exporter.counts.exported === 1200);
  expect(receiver.spans).toHaveLength(1200);
  expect(receiver.faults).toEqual([]);
  expect(receiver.receiver.got.length).toBeLessThan(10);
  expect(receiver.receiver.got[0]?.headers["x-key"]).toBe("k");
  expect(receiver.spans[0]).toMatchObject({
    traceId: idOf(1, 32),
    kind: 2,
    attributes: { "cleancast.event.id": "e", "cleancast.attempt.number": 1 },
    resource: { "service.name": "relay", "service.version": "1", "service.instance.id": "i" },
  });
  expect(exporter.counts).toEqual({ exported: 1200, dropped: { "queue full": 0, "not exported": 0 } });
});

test.each([429, 502, 503, 504])("a receiver that answers %i gets the same spans again", async (status) => {
  const receiver = await startTraceReceiver();
  const take = receiver.receiver.behave;
  let calls = 0;
  receiver.receiver.behave = (got, response) => {
    calls += 1;
    if (calls < 3) response.writeHead(status).end();
    else take(got, response);
  };
  const { exporter, logged } = exporterTo(receiver.url);
  exporter.add(spanOf(0));
  await eventually("the span arrives", () => exporter.counts.exported === 1);
  expect([receiver.spans.length, receiver.faults, logged]).toEqual([1, [], []]);
});

test.each([400, 401, 404, 413, 500])("what a receiver refuses with %i is dropped and counted, and said once", async (status) => {
  const receiver = await startTraceReceiver();
  const take = receiver.receiver.behave;
  receiver.receiver.behave = (_got, response) => response.writeHead(status).end("no");
  const { exporter, logged } = exporterTo(receiver.url);
  for (let i = 0; i < 3; i += 1) {
    exporter.add(spanOf(i));
    await exporter.flush();
  }
  expect(exporter.counts).toEqual({ exported: 0, dropped: { "queue full": 0, "not exported": 3 } });
  expect(receiver.receiver.got).toHaveLength(3);
  receiver.receiver.behave = take;
  exporter.add(spanOf(4));
  await exporter.flush();
  expect(logged).toEqual([
    `warn traces are not exported; events are not affected {"fault":"HTTP ${status}"}`,
    "info traces are exported again",
  ]);
});

test("a receiver that is down costs the spans that it was asked for, and no more memory than the queue", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  const { exporter, logged } = exporterTo(`http://127.0.0.1:${port}`, [60_000]);
  for (let i = 0; i < 3 * maxQueued; i += 1) exporter.add(spanOf(i));
  const { dropped } = exporter.counts;
  expect(dropped["queue full"]).toBeGreaterThan(maxQueued);
  expect(dropped["queue full"]).toBeLessThan(3 * maxQueued);
  // A stop does not wait for the next repeat.
  await exporter.close();
  expect(dropped["queue full"] + dropped["not exported"]).toBe(3 * maxQueued);
  expect(logged).toHaveLength(1);
});

test("a receiver that never answers delays no span's maker, and one request waits at a time", async () => {
  const receiver = await startTraceReceiver();
  let [open, most] = [0, 0];
  receiver.receiver.behave = (_got, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on("close", () => (open -= 1));
  };
  const { exporter } = exporterTo(receiver.url, []);
  for (let i = 0; i < 600; i += 1) exporter.add(spanOf(i));
  expect(exporter.counts.exported).toBe(0);
  await eventually("the first request is made", () => most === 1);
  exporter.add(spanOf(601));
  await eventually("it is given up", () => exporter.counts.dropped["not exported"] === 512);
  await eventually("the rest is asked for", () => receiver.receiver.got.length === 2);
  expect(most).toBe(1);
});
