// The rate and overload step: the rate limit of a key, and a relay with too many requests in flight.

import type { ServerResponse } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { call, endToEndEngines, eventually, newInstallation, type Relay, type TestSite } from "../support/relay.ts";
import { accepted, freshEvent, jsonError, summarize } from "./answers.ts";

const overloaded = jsonError(503, "Overloaded, retry");

describe.each(endToEndEngines)("rate and load limits on %s", (engine) => {
  let relay: Relay;
  let receiver: Receiver;
  let slow: TestSite;
  let limited: TestSite;
  let neighbour: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    const home = await newInstallation(engine);
    slow = await home.addSite("slow.example");
    await home.run("connection", "add", "slow.example", "webhook", `url=${receiver.url}`);
    limited = await home.addSite("limited.example", "rate_limit=3");
    neighbour = (await home.run("key", "add", "limited.example", "neighbour")).key;
    relay = await home.start({ CLEANCAST_MAX_IN_FLIGHT: "1" });
  });

  test("a key over its rate limit is answered 429 until the minute is over, and another key is not", async () => {
    // The whole test must run within one minute of the clock.
    await eventually("there is enough of this minute left", () => Date.now() % 60_000 < 40_000);
    const send = (key: string) => relay.post(key, freshEvent());
    for (let i = 0; i < 3; i += 1) expect(summarize(await send(limited.key))).toEqual(accepted("purchase"));

    const refused = await send(limited.key);
    expect(summarize(refused)).toEqual(jsonError(429, "Rate limit exceeded"));
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/);
    const left = 60 - (Date.now() % 60_000) / 1000;
    expect(Math.abs(Number(refused.headers["retry-after"]) - left)).toBeLessThan(3);

    // The rate is checked before the body, and counts for its key alone.
    const headers = { "X-CC-Api-Key": limited.key, "Content-Type": "text/plain" };
    expect((await call(relay.url, { headers, body: "no JSON" })).status).toBe(429);
    expect(summarize(await send(neighbour))).toEqual(accepted("purchase"));
  });

  test("a site without a rate setting has no rate limit", async () => {
    for (let i = 0; i < 100; i += 1) expect((await relay.post(slow.key, "{}")).status).toBe(400);
  });

  test("an overloaded relay answers 503, wrong keys still get 401, and it recovers afterwards", async () => {
    let held: ServerResponse | undefined;
    receiver.behave = (_request, response) => (held = response);
    const first = relay.post(slow.key, freshEvent());
    await eventually("the first event is on its way", () => held !== undefined);

    const second = await relay.post(slow.key, freshEvent());
    expect(summarize(second)).toEqual(overloaded);
    expect(second.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    // The key is checked first, then the load, then the body.
    expect((await relay.post("wrong", freshEvent(), { Host: "load.example" })).status).toBe(401);
    expect(summarize(await relay.post(slow.key, "no JSON"))).toEqual(overloaded);

    held?.writeHead(200).end();
    expect(summarize(await first)).toEqual(accepted("purchase", { webhook: { ok: true } }));
    receiver.behave = (_request, response) => response.writeHead(200).end();
    expect(summarize(await relay.post(slow.key, freshEvent()))).toEqual(accepted("purchase", { webhook: { ok: true } }));
    // The request answered 503 was not accepted: the receiver has seen two events, not three.
    expect(receiver.got).toHaveLength(2);
  });
});
