// Traces for OpenTelemetry, end to end: a real relay, and a receiver that takes only what the protocol allows.

import { expect, test } from "vitest";
import { setUpSite } from "../support/installation.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { startTraceReceiver, type ReceivedSpan } from "../support/traceReceiver.ts";

const host = "shop.example.com";
const sale = { email: "someone@example.com", event: "purchase", value: 5 };
const sendersTrace = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${sendersTrace}-b7ad6b7169203331-01`;

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((one) => one.name === name);
const eventIdOf = (answer: { headers: NodeJS.Dict<string | string[]> }) => String(answer.headers["x-cc-event-id"]);
const post = (relay: Relay, key: string, body: unknown, headers: Record<string, string> = {}, path = "/__cc/inbound") =>
  call(relay.url, {
    path,
    headers: { "X-CC-Api-Key": key, "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

async function startTraced(env: Record<string, string> = {}) {
  const traces = await startTraceReceiver();
  const webhook = await startReceiver();
  const home = await newInstallation("sqlite", {
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=one",
    CLEANCAST_RETRY_SECONDS: "1",
    CLEANCAST_METRICS_TOKEN: "a-token-for-prometheus",
    ...env,
  });
  const { key } = await setUpSite(home, [["webhook", { url: webhook.url }]]);
  return { traces, webhook, home, key, relay: await home.start() };
}

test("an event is one trace: received, looked up, accepted, and each attempt, also the later ones and after a restart", async () => {
  const { traces, webhook, home, key, relay } = await startTraced();
  webhook.behave = (_got, response) => response.writeHead(500).end("no");
  const eventId = eventIdOf(await post(relay, key, { ...sale, orderId: "secret-order-4711" }));
  await eventually("two attempts are exported", () => named(traces.spans, "attempt webhook").length >= 2);
  expect(await relay.stop()).toBe(0);
  const before = named(traces.spans, "attempt webhook").length;
  webhook.behave = (_got, response) => response.writeHead(200).end("{}");
  const again = await home.start();
  const isSent = (one: ReceivedSpan) => one.attributes["cleancast.attempt.state"] === "sent";
  await eventually("the attempt after the restart is exported", () => named(traces.spans, "attempt webhook").some(isSent));
  expect(await again.stop()).toBe(0);

  expect(traces.faults).toEqual([]);
  const [receive, second] = named(traces.spans, "receive");
  expect(second).toBeUndefined();
  expect(receive).toMatchObject({
    kind: 2,
    status: {},
    attributes: {
      "cleancast.event.id": eventId,
      "cleancast.event.mode": "live",
      "cleancast.site": host,
      "cleancast.outcome": "dispatched",
    },
  });
  expect(receive?.parentSpanId).toBeUndefined();
  const attempts = named(traces.spans, "attempt webhook");
  expect(attempts.length).toBeGreaterThan(before);
  for (const one of [...named(traces.spans, "look up"), ...named(traces.spans, "accept"), ...attempts])
    expect([one.traceId, one.parentSpanId]).toEqual([receive?.traceId, receive?.spanId]);
  expect([named(traces.spans, "look up").length, named(traces.spans, "accept").length]).toEqual([1, 1]);
  expect(attempts[0]).toMatchObject({
    kind: 3,
    status: { code: 2 },
    attributes: {
      "cleancast.platform": "webhook",
      "cleancast.attempt.number": 1,
      "cleancast.attempt.state": "queued",
      "http.response.status_code": 500,
    },
  });
  expect(attempts.find(isSent)).toMatchObject({ status: {}, attributes: { "http.response.status_code": 200 } });
  expect(traces.receiver.got.every(({ headers }) => headers["x-tenant"] === "one")).toBe(true);
  const exported = JSON.stringify(traces.receiver.got.map(({ text }) => text));
  for (const secret of [sale.email, "secret-order-4711", key, key.slice(3, 20), webhook.url])
    expect(exported).not.toContain(secret);
  // Nothing is passed on unless the operator says so.
  expect(webhook.got.some(({ headers }) => "traceparent" in headers)).toBe(false);
});

test("the sender's own trace goes on, up to the customer's receiver where the operator allows it", async () => {
  const { traces, webhook, key, relay } = await startTraced({ CLEANCAST_TRACE_WEBHOOKS: "on" });
  await post(relay, key, { ...sale, orderId: "1" }, { traceparent });
  const batch = await post(
    relay,
    key,
    { events: [2, 3].map((n) => ({ ...sale, orderId: `${n}` })) },
    { traceparent },
    "/__cc/inbound/batch",
  );
  expect(batch.status).toBe(200);
  const unsampled = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
  await post(relay, key, { ...sale, orderId: "4" }, { traceparent: unsampled });
  for (const wrong of [
    "00-0-0-01",
    `ff-${sendersTrace}-b7ad6b7169203331-01`,
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    "x".repeat(5000),
  ])
    await post(relay, key, { ...sale, orderId: wrong.slice(0, 40) }, { traceparent: wrong });
  await eventually("all are exported", () => named(traces.spans, "attempt webhook").length === 7);
  expect(await relay.stop()).toBe(0);

  expect(traces.faults).toEqual([]);
  const received = named(traces.spans, "receive");
  const ofSender = received.filter(({ traceId }) => traceId === sendersTrace);
  expect(ofSender.map(({ parentSpanId }) => parentSpanId)).toEqual(Array.from({ length: 3 }, () => "b7ad6b7169203331"));
  // Not sampled by the sender, and traces of their own for what is no trace.
  expect(received).toHaveLength(7);
  expect(new Set(received.map(({ traceId }) => traceId)).size).toBe(5);
  const passedOn = webhook.got
    .map(({ headers }) => String(headers.traceparent))
    .filter((one) => one.startsWith(`00-${sendersTrace}`));
  const attempts = named(traces.spans, "attempt webhook").filter(({ traceId }) => traceId === sendersTrace);
  expect(passedOn.toSorted()).toEqual(attempts.map(({ spanId }) => `00-${sendersTrace}-${spanId}-01`).toSorted());
  expect(webhook.got.map(({ headers }) => headers.traceparent)).toContainEqual(
    expect.stringMatching(/^00-a{32}-[0-9a-f]{16}-00$/),
  );
});

test("duplicates and filtered events have their outcome, and requests without a valid event have no span", async () => {
  const { traces, key, relay } = await startTraced();
  for (let i = 0; i < 2; i += 1) await post(relay, key, { ...sale, orderId: "1" });
  expect((await post(relay, key, { event: "purchase" })).status).toBe(400);
  expect((await post(relay, "cc_wrong", sale)).status).toBe(401);
  await eventually("both are exported", () => named(traces.spans, "receive").length === 2);
  expect(await relay.stop()).toBe(0);
  expect(named(traces.spans, "receive").map(({ attributes }) => attributes["cleancast.outcome"])).toEqual([
    "dispatched",
    "duplicate",
  ]);
  expect(traces.faults).toEqual([]);
});

test("a share of events is traced, whole events at a time", async () => {
  const { traces, key, relay } = await startTraced({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" });
  const events = Array.from({ length: 100 }, (_, i) => ({ ...sale, orderId: `${i}` }));
  expect((await post(relay, key, { events }, {}, "/__cc/inbound/batch")).status).toBe(200);
  expect(await relay.stop()).toBe(0);
  const received = named(traces.spans, "receive");
  expect(received.length).toBeGreaterThan(20);
  expect(received.length).toBeLessThan(80);
  const traced = new Set(received.map(({ traceId }) => traceId));
  for (const name of ["look up", "accept", "attempt webhook"])
    expect(new Set(named(traces.spans, name).map(({ traceId }) => traceId)), name).toEqual(traced);
  expect(traces.faults).toEqual([]);
});

test("a request of a source is traced too", async () => {
  const { traces, home, relay } = await startTraced();
  const { address } = await home.run("source", "add", host, "custom", "event=type", "email=customer.email");
  const body = JSON.stringify({ type: "lead", customer: { email: sale.email } });
  const answer = await call(relay.url, {
    path: new URL(address).pathname,
    headers: { "Content-Type": "application/json" },
    body,
  });
  expect(answer.status).toBe(200);
  await eventually("its attempt is exported", () => named(traces.spans, "attempt webhook").length === 1);
  expect(await relay.stop()).toBe(0);
  const [receive] = named(traces.spans, "receive");
  expect(receive?.attributes["cleancast.outcome"]).toBe("accepted");
  expect(new Set(traces.spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(traces.faults).toEqual([]);
});

test("a receiver that hangs delays no event, and what is lost is counted", async () => {
  const { traces, key, relay } = await startTraced();
  traces.receiver.behave = () => {};
  for (let i = 0; i < 5; i += 1) expect((await post(relay, key, { ...sale, orderId: `${i}` })).status).toBe(200);
  await eventually("spans are on their way", () => traces.receiver.got.length > 0);
  expect((await post(relay, key, { ...sale, orderId: "last" })).status).toBe(200);
  traces.receiver.behave = (_got, response) => response.writeHead(400).end();
  const metrics = async () =>
    (await call(relay.url, { method: "GET", path: "/metrics", headers: { authorization: "Bearer a-token-for-prometheus" } }))
      .text;
  await eventually("the loss is counted", async () =>
    /cleancast_trace_spans_dropped_total\{reason="not exported"\} [1-9]/.test(await metrics()),
  );
  expect(await relay.stop()).toBe(0);
  expect(relay.output()).toContain("traces are not exported; events are not affected");
});
