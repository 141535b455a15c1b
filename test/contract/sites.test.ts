// The site and enabled steps: the site of a request, and whether its inbound webhook is on.

import { beforeAll, describe, expect, test } from "vitest";
import { call, endToEndEngines, newInstallation, type Relay, type TestSite } from "../support/relay.ts";
import { accepted, freshEvent, jsonError, summarize } from "./answers.ts";

const invalidKey = jsonError(401, "Invalid API key");
const notEnabled = jsonError(403, "Inbound webhook not enabled");

describe.each(endToEndEngines)("site lookup on %s", (engine) => {
  let relay: Relay;
  let north: TestSite;
  let south: TestSite;
  let closed: TestSite;
  let port: string;

  const send = (key: string, host: string) => relay.post(key, freshEvent(), { Host: host });

  beforeAll(async () => {
    const home = await newInstallation(engine);
    north = await home.addSite("north.example");
    south = await home.addSite("south.example");
    closed = await home.addSite("closed.example", "inbound=off");
    // This site never gets a key.
    await home.run("site", "add", "new.example");
    relay = await home.start();
    port = new URL(relay.url).port;
  });

  test("a key is accepted on the host of its site", async () => {
    expect(summarize(await send(north.key, "north.example"))).toEqual(accepted("purchase"));
    expect(summarize(await send(south.key, "south.example"))).toEqual(accepted("purchase"));
  });

  test("a key is invalid on a host of another site", async () => {
    expect(summarize(await send(north.key, "south.example"))).toEqual(invalidKey);
    expect(summarize(await send(south.key, "north.example"))).toEqual(invalidKey);
  });

  test.each(["north.example:443", "NORTH.Example", "north.example.", "North.Example.:8443"])(
    "the Host header %s means the host north.example",
    async (host) => {
      expect(summarize(await send(north.key, host))).toEqual(accepted("purchase"));
      expect(summarize(await send(south.key, host))).toEqual(invalidKey);
    },
  );

  test.each([
    "nobody.example",
    "sub.north.example",
    "127.0.0.1",
    "127.0.0.1:8080",
    "192.0.2.10",
    "[::1]",
    "[2001:db8::17]:8080",
    "localhost",
    "localhost:8080",
    "shop.localhost",
  ])("the Host header %s belongs to no site, so the key decides the site", async (host) => {
    expect(summarize(await send(north.key, host))).toEqual(accepted("purchase"));
    expect(summarize(await send(south.key, host))).toEqual(accepted("purchase"));
  });

  test("the same event with keys of two sites is two events", async () => {
    const event = freshEvent();
    for (const { key } of [north, south]) {
      expect(summarize(await relay.post(key, event))).toEqual(accepted("purchase"));
    }
  });

  test("a site whose inbound webhook is off answers 403, whatever the key", async () => {
    for (const key of [closed.key, north.key, "wrong", `cc_${"0".repeat(38)}`]) {
      expect(summarize(await send(key, "closed.example"))).toEqual(notEnabled);
    }
    const without = { Host: `closed.example:${port}`, "Content-Type": "application/json" };
    expect(summarize(await call(relay.url, { headers: without, body: "{}" }))).toEqual(notEnabled);
  });

  test("a site whose inbound webhook is off answers 403 also when only the key decides the site", async () => {
    expect(summarize(await send(closed.key, "127.0.0.1"))).toEqual(notEnabled);
    expect(summarize(await send(closed.key, "nobody.example"))).toEqual(notEnabled);
  });

  test("a site whose inbound webhook is off answers wrong keys with 403, however many", async () => {
    for (let i = 0; i < 12; i += 1) {
      expect(summarize(await send(`wrong-${i}`, "closed.example"))).toEqual(notEnabled);
    }
  });

  test("a new site answers 403 until it has a key", async () => {
    expect(summarize(await send(north.key, "new.example"))).toEqual(notEnabled);
    expect(summarize(await call(relay.url, { headers: { Host: "new.example" } }))).toEqual(notEnabled);
  });

  test("the inbound setting is checked before the body", async () => {
    const headers = { Host: "closed.example", "X-CC-Api-Key": closed.key, "Content-Type": "text/plain" };
    expect(summarize(await call(relay.url, { headers, body: "no JSON" }))).toEqual(notEnabled);
  });
});
