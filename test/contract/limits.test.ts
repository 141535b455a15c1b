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

  test("four sites that fill the relay one after another, with platforms that hang, leave another site all its answers", async () => {
    const hanging = await startReceiver();
    const held: ServerResponse[] = [];
    hanging.behave = (_request, response) => held.push(response);
    const home = await newInstallation(engine);
    const flooding: TestSite[] = [];
    for (let i = 0; i < 4; i += 1) {
      const site = await home.addSite(`flooding-${i}.example`);
      await home.run("connection", "add", site.host, "webhook", `url=${hanging.url}`);
      flooding.push(site);
    }
    const quiet = await home.addSite("quiet.example");
    const full = await home.start({ CLEANCAST_MAX_IN_FLIGHT: "512" });
    const batch = (key: string) => {
      const body = JSON.stringify({ events: Array.from({ length: 62 }, () => freshEvent()) });
      const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
      return call(full.url, { path: "/__cc/inbound/batch", headers, body });
    };
    const statuses: number[] = [];
    const batches: Promise<unknown>[] = [];
    for (const { key, host } of flooding) {
      const before = statuses.length;
      for (let i = 0; i < 6; i += 1) batches.push(batch(key).then(({ status }) => statuses.push(status)));
      await eventually(`${host} holds all that it gets`, () => statuses.length > before);
    }
    const answers: number[] = [];
    for (let i = 0; i < 20; i += 1) answers.push((await full.post(quiet.key, freshEvent())).status);
    hanging.behave = (_request, response) => response.writeHead(200).end();
    for (const response of held) response.writeHead(200).end();
    await Promise.all(batches);
    expect(answers).toEqual(answers.map(() => 200));
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
  });

  test("large requests of a source take turns: events of other sites are answered in between", async () => {
    const home = await newInstallation(engine);
    const large = await home.addSite("large.example");
    const quiet = await home.addSite("quiet.example");
    const { address } = await home.run("source", "add", large.host, "custom", "verification=address", 'event_from="lead"');
    const shared = await home.start();
    // A million bytes of long numbers take tens of milliseconds each.
    const body = `{"numbers":[${"12345678901234567,".repeat(50_000)}1]}`;
    const { pathname: path } = new URL(address);
    let answered = 0;
    const flood = Array.from({ length: 40 }, async () => {
      await call(shared.url, { path, headers: { "Content-Type": "application/json" }, body });
      answered += 1;
    });
    for (let i = 0; i < 10; i += 1) expect((await shared.post(quiet.key, freshEvent())).status).toBe(200);
    const answeredBefore = answered;
    await Promise.all(flood);
    expect(answeredBefore).toBeLessThan(20);
  });
});
