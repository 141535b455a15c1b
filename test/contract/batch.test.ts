// POST /__cc/inbound/batch: many events in one request, each answered as it would have been alone.

import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  call,
  endToEndEngines,
  eventually,
  newInstallation,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";
import { freshEvent, jsonError, plainText, summarize } from "./answers.ts";

const sent = { ok: true, event: "purchase", results: { webhook: { ok: true } } };
const deduped = { ok: true, deduped: true };

describe.each(endToEndEngines)("batches on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let limited: TestSite;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    site = await home.addSite("shop.example", "block_disposable=on");
    limited = await home.addSite("limited.example", "rate_limit=3");
    await home.run("connection", "add", "shop.example", "webhook", `url=${receiver.url}`);
    relay = await home.start();
  });

  const post = (body: string, key = site.key, headers: Record<string, string> = {}) =>
    call(relay.url, {
      path: "/__cc/inbound/batch",
      headers: { "X-CC-Api-Key": key, "Content-Type": "application/json", ...headers },
      body,
    });
  const send = async (events: unknown, key = site.key) => {
    const answer = await post(JSON.stringify({ events }), key);
    return { ...answer, body: JSON.parse(answer.text) as { ok: boolean; results: unknown[] } };
  };
  const arrived = (orderId: string) => receiver.bodies().filter((body) => body.orderId === orderId);

  test("each event of a batch gets its own answer, in order, and a refused one does not affect the others", async () => {
    const good = freshEvent();
    const { status, headers, body } = await send([
      good,
      { event: "purchase" },
      freshEvent({ value: -1 }),
      "no event",
      null,
      [freshEvent()],
      freshEvent({ email: "visitor@mailinator.com" }),
      good,
      freshEvent(),
    ]);
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    const notAnObject = { ok: false, error: "an event must be a JSON object", status: 400 };
    expect(body).toEqual({
      ok: true,
      results: [
        sent,
        { ok: false, error: "email or hashed_email required", status: 400 },
        {
          ok: false,
          error: 'value must not be negative; send a refund as an event named "refund"',
          status: 400,
        },
        notAnObject,
        notAnObject,
        notAnObject,
        { ok: true, filtered: true },
        deduped,
        sent,
      ],
    });
    expect(headers["retry-after"]).toBeUndefined();
  });

  test("500 events are accepted in one request, delivered once, and all duplicates when they are sent again", async () => {
    const events = Array.from({ length: 500 }, () => freshEvent());
    const { body } = await send(events);
    expect(body.results).toHaveLength(500);
    for (const one of body.results) expect(one).toMatchObject({ ok: true, event: "purchase" });
    await eventually("all have arrived", () => events.every((one) => arrived(String(one.orderId)).length > 0));
    expect(events.every((one) => arrived(String(one.orderId)).length === 1)).toBe(true);
    expect((await send(events)).body.results).toEqual(events.map(() => deduped));
    expect((await relay.post(site.key, events[499] ?? {})).text).toBe(JSON.stringify(deduped));
  });

  test("an order id that is a number keeps all its digits in a batch", async () => {
    const event = (orderId: string) => `{"email":"ada@example.com","event":"purchase","orderId":${orderId}}`;
    const answer = await post(
      `{"events":[${event("98765432109876543210")},${event("98765432109876543211")},${event("98765432109876543211")}]}`,
    );
    expect(JSON.parse(answer.text)).toEqual({ ok: true, results: [sent, sent, deduped] });
    expect(arrived("98765432109876543211")).toHaveLength(1);
  });

  test("a batch without events is answered with no results", async () => {
    expect((await send([])).text).toBe('{"ok":true,"results":[]}');
  });

  test.each([
    ["no events", "{}"],
    ["a single event", JSON.stringify(freshEvent())],
    ["events that are no array", '{"events":{}}'],
    ["501 events", JSON.stringify({ events: Array.from({ length: 501 }, () => ({})) })],
  ])("%s are refused as a whole", async (_what, body) => {
    expect(summarize(await post(body))).toEqual(jsonError(400, "events must be an array of at most 500 events"));
  });

  test("a body above 2 MiB is refused, one below is read", async () => {
    const fill = (size: number) => JSON.stringify({ events: [], filler: "x".repeat(size) });
    expect((await post(fill(2 * 1024 * 1024 - 100))).status).toBe(200);
    expect(summarize(await post(fill(2 * 1024 * 1024)))).toEqual(plainText(413, "The body is larger than 2 MiB."));
  });

  test("an event of a batch has the limit of a single event, and takes no other with it", async () => {
    const large = (size: number) => freshEvent({ note: "é".repeat(size / 2) });
    const { body } = await send([large(63 * 1024), large(65 * 1024), freshEvent()]);
    const tooLarge = { ok: false, error: "The body is larger than 64 KiB.", status: 413 };
    expect(body.results).toEqual([sent, tooLarge, sent]);
    expect((await relay.post(site.key, large(65 * 1024))).status).toBe(413);
    const deep = `${"[".repeat(40_000)}${"]".repeat(40_000)}`;
    const nested = JSON.stringify({ events: [freshEvent({ note: "deep" })] }).replace('"deep"', deep);
    expect(JSON.parse((await post(nested)).text)).toEqual({ ok: true, results: [sent] });
  });

  test("key, method, content type and JSON are checked as for single events", async () => {
    expect(summarize(await post('{"events":[]}', "wrong", { Host: "batch.example" }))).toEqual(jsonError(401, "Invalid API key"));
    expect(summarize(await post("[]"))).toEqual(plainText(400, "The body must be a JSON object."));
    expect(summarize(await post("{}", site.key, { "Content-Type": "text/csv" }))).toEqual(
      plainText(415, "Content-Type must be application/json."),
    );
    const get = await call(relay.url, { method: "GET", path: "/__cc/inbound/batch" });
    expect(summarize(get)).toEqual(plainText(405, "Send a POST request."));
  });

  test("the rate limit counts events: those above it are refused one by one, and a batch above it as a whole", async () => {
    // The whole test must run within one minute of the clock.
    await eventually("there is enough of this minute left", () => Date.now() % 60_000 < 40_000);
    const events = Array.from({ length: 5 }, () => freshEvent());
    const { status, body, headers } = await send(events, limited.key);
    const over = { ok: false, error: "Rate limit exceeded", status: 429 };
    const done = { ok: true, event: "purchase", results: {} };
    expect([status, body.results]).toEqual([200, [done, done, done, over, over]]);
    expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    const again = await send(events, limited.key);
    expect(summarize(again)).toEqual(jsonError(429, "Rate limit exceeded"));
    expect(again.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  });
});
