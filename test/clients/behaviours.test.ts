// Every client keeps the behaviours of clients/behaviours.json, against a peer that misbehaves and a real relay.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { ReceivedRequest, Receiver } from "../support/receiver.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { languages, root, startDriver, type Driver, type Reply } from "./languages.ts";
import { startPeer, type Step } from "./misbehavingPeer.ts";

type Behaviour = {
  name: string;
  call: "send" | "sendBatch";
  options?: Record<string, unknown>;
  conversions: Record<string, unknown>[];
  /** Sends the first conversion so many times, each with its own order id and `pad` bytes more. */
  repeat?: number;
  pad?: number;
  peer?: Step[] | "relay";
  requests?: string[][];
  requestSizes?: number[];
  notBeforeMs?: number;
  outcomes?: Record<string, unknown>[];
  accepted?: number;
  invalid?: string;
};

const { behaviours } = JSON.parse(readFileSync(join(root, "clients/behaviours.json"), "utf8")) as {
  behaviours: Behaviour[];
};
const peerKey = "cc_behaviours0123456789abcdef";
const quick = { timeoutMs: 15_000, budgetMs: 60_000, firstDelayMs: 10 };

let relay: Relay;
let relayKey: string;

beforeAll(async () => {
  const home = await newInstallation("sqlite");
  ({ key: relayKey } = await home.addSite("shop.example.com"));
  await home.run("connection", "add", "shop.example.com", "sandbox");
  relay = await home.start();
});

test("behaviours have different names, and each one expects something", () => {
  expect(new Set(behaviours.map(({ name }) => name)).size).toBe(behaviours.length);
  expect(behaviours.filter((one) => !one.outcomes && !one.accepted && !one.invalid)).toEqual([]);
});

for (const language of languages) {
  if (!language.isInstalled()) {
    console.log(`${language.name} is not installed here: its client is not run.`);
    continue;
  }
  describe(`the client on ${language.name}`, () => {
    let driver: Driver;
    const unique = randomBytes(6).toString("hex");
    beforeAll(() => {
      driver = startDriver(language);
    });

    test.each(behaviours.map((one) => [one.name, one] as const))("%s", async (_, behaviour) => {
      const { peer = [] } = behaviour;
      const receiver = peer === "relay" ? null : await startPeer(peer);
      const reply = await driver.run({
        call: behaviour.call,
        options: {
          url: receiver?.url ?? relay.url,
          key: receiver ? peerKey : relayKey,
          ...quick,
          ...behaviour.options,
          ...(behaviour.options?.["url"] === "{peer over https}" ? { url: receiver?.url.replace("http:", "https:") } : {}),
        },
        conversions: conversionsOf(behaviour, unique),
      });
      checkReply(behaviour, reply);
      if (receiver) checkRequests(behaviour, receiver);
      await receiver?.close();
    });

    test("neither the key nor an address is ever printed", () => {
      const printed = driver.printed();
      expect(printed).not.toContain(peerKey);
      expect(printed).not.toContain(relayKey);
      expect(printed).not.toContain("ada@example.com");
      expect(printed).not.toContain("ccm_0123456789abcdef");
      // Each driver prints the client object with the means of its language.
      expect(printed).toContain("Cleancast");
    });
  });
}

function conversionsOf({ conversions, repeat, pad = 0 }: Behaviour, unique: string): unknown[] {
  if (!repeat) return JSON.parse(JSON.stringify(conversions).replaceAll("{unique}", unique)) as unknown[];
  const firstName = "x".repeat(pad);
  return Array.from({ length: repeat }, (_, i) => ({ ...conversions[0], orderId: `r-${i}`, firstName }));
}

function checkReply(behaviour: Behaviour, reply: Reply): void {
  const { outcomes, accepted, invalid } = behaviour;
  if (invalid) return expect(reply.invalid).toContain(invalid);
  expect(reply.invalid).toBeUndefined();
  const got = reply.outcomes ?? [];
  if (accepted) expect(got.filter(({ ok }) => ok === true)).toHaveLength(accepted);
  if (!outcomes) return;
  expect(got).toHaveLength(outcomes.length);
  for (const [i, { error, ...expected }] of outcomes.entries()) {
    const { error: message, ...rest } = got[i] ?? {};
    expect(rest).toEqual(expected);
    if (error) expect(message).toContain(error);
    else expect(message).toBeUndefined();
  }
}

function checkRequests(behaviour: Behaviour, { got }: Receiver): void {
  const { call, requests, requestSizes, notBeforeMs, invalid } = behaviour;
  if (invalid) expect(got).toEqual([]);
  if (requests) expect(got.map(orderIds)).toEqual(requests);
  if (requestSizes) expect(got.map((one) => orderIds(one).length)).toEqual(requestSizes);
  for (const { method, path, headers, text } of got) {
    expect([method, path]).toEqual(["POST", call === "send" ? "/__cc/inbound" : "/__cc/inbound/batch"]);
    expect(headers["x-cc-api-key"]).toBe(peerKey);
    expect(headers["content-type"]).toBe("application/json");
    if (call === "send") expect(text).toBe(got[0]?.text);
    if (call === "sendBatch") expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2 * 1024 * 1024);
  }
  // Only a lower bound: a loaded machine may take any time longer. Timers may fire a few milliseconds early.
  if (notBeforeMs) expect((got[1]?.at ?? 0) - (got[0]?.at ?? 0)).toBeGreaterThanOrEqual(notBeforeMs - 10);
}

function orderIds({ text }: ReceivedRequest): string[] {
  const body = JSON.parse(text) as { orderId?: string; events?: { orderId: string }[] };
  return (body.events ?? [body]).map(({ orderId = "" }) => orderId);
}
