// `npm test`. What needs a relay runs only with CLEANCAST_URL and CLEANCAST_KEY, an inbound key of a site that is connected to the
// sandbox alone.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { test as declareTest } from "node:test";
import { Cleancast, CleancastError } from "cleancast-client";
import { FakeCleancast } from "cleancast-client/fake";

/** The runner itself waits for its tests. */
const test = (...parts) => void declareTest(...parts);

const { CLEANCAST_URL: url, CLEANCAST_KEY: key } = process.env;
const needsRelay = url && key ? {} : { skip: "CLEANCAST_URL and CLEANCAST_KEY are not set" };
const accepted = (event) => ({ ok: true, event, results: { sandbox: { ok: true } } });

test("a relay accepts an order with all its fields once, and two refunds of it", needsRelay, async () => {
  const client = new Cleancast({ url, key, budgetMs: 60_000 });
  const order = { email: "ada@example.com", currency: "EUR", orderId: randomUUID() };
  const purchase = {
    ...order,
    event: "purchase",
    value: 49.9,
    items: [{ id: "SKU-1", name: "Mug", price: 24.95, quantity: 2 }],
    clickIds: { gclid: "Cj0KCQiA" },
    clickTime: new Date().toISOString(),
    leadId: "123456789012345",
  };
  assert.deepEqual(await client.send(purchase), accepted("purchase"));
  assert.deepEqual(await client.send(purchase), { ok: true, deduped: true });
  for (const refundId of ["R-1", "R-2"])
    assert.equal((await client.send({ ...order, event: "refund", value: 5, refundId })).event, "refund");
});

test("a relay answers each conversion of a batch", needsRelay, async () => {
  const outcomes = await new Cleancast({ url, key }).sendBatch([
    { email: "ada@example.com", event: "lead", orderId: randomUUID() },
    { event: "lead" },
  ]);
  const refused = { ok: false, status: 400, error: "email or hashed_email required", retryable: false };
  assert.deepEqual(outcomes, [accepted("lead"), refused]);
});

test("the first error says why no answer came, with the runtime's error as its cause and without the key", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const fail = async (address) => {
    const client = new Cleancast({ url: address, key: "cc_secret0123456789", budgetMs: 14_000, firstDelayMs: 30_000 });
    const error = await client.send({ email: "ada@example.com", event: "lead" }).catch((caught) => caught);
    assert.ok(error instanceof CleancastError);
    assert.ok(error.cause instanceof Error);
    assert.doesNotMatch(`${error.stack} ${error.cause.stack}`, /cc_secret/);
    return error.message;
  };
  assert.match(await fail(`https://127.0.0.1:${port}`), /^no answer: TLS failed/);
  server.close();
  assert.match(await fail(`http://127.0.0.1:${port}`), /^no answer: connection refused/);
  assert.match(await fail("https://nope.invalid"), /^no answer: the host name was not found/);
});

test("the fake counts each refund of an order, and none twice", async () => {
  const fake = new FakeCleancast();
  const refund = { email: "ada@example.com", event: "refund", orderId: "1" };
  await fake.sendBatch(["a", "b", "a"].map((refundId) => ({ ...refund, refundId })));
  assert.equal(fake.accepted.length, 2);
});
