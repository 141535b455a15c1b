// Runs the Zapier integration's own functions against a real relay and a misbehaving peer. Where zapier-platform-core is
// installed in its folder, Zapier's own code runs them and checks their definitions; else a double of its `z` object does.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startPeer } from "../clients/misbehavingPeer.ts";
import { root } from "../support/documents/documents.ts";
import { newInstallation, type Relay } from "../support/relay.ts";

type Fields = Record<string, string>;
type Bundle = { authData: { url: string; key: string }; inputData: Fields };
type Perform = (z: unknown, bundle: Bundle) => Promise<unknown>;
type App = {
  authentication: { test: Perform };
  creates: { conversion: { operation: { perform: Perform } } };
};
type Core = { createAppTester: (app: App) => (perform: Perform, bundle: Bundle) => Promise<unknown> };

const folder = join(root, "plugins/zapier");
const load = createRequire(join(folder, "index.js"));
const app = load("./index.js") as App;
const core = existsSync(join(folder, "node_modules/zapier-platform-core")) ? (load("zapier-platform-core") as Core) : null;
if (!core) console.log("zapier-platform-core is not installed in plugins/zapier: a double runs the functions.");

class ZapierError extends Error {}
class ThrottledError extends Error {
  readonly delay: number;
  constructor(message: string, delay: number) {
    super(message);
    this.delay = delay;
  }
}
const z = {
  errors: { Error: ZapierError, ThrottledError },
  async request({ url, ...options }: { url: string } & RequestInit) {
    const response = await fetch(url, options);
    const { status, headers } = response;
    return { status, content: await response.text(), getHeader: (name: string) => headers.get(name) };
  },
};
const run = (perform: Perform, bundle: Bundle) => (core ? core.createAppTester(app)(perform, bundle) : perform(z, bundle));

let relay: Relay;
let key: string;

beforeAll(async () => {
  const home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connection", "add", "shop.example.com", "sandbox");
  relay = await home.start();
});

const input = {
  event: "purchase",
  email: "ada@example.com",
  orderId: "Z-1",
  value: "49.90",
  currency: "EUR",
};
const send = (url: string, more: Fields = {}, own = key) =>
  run(app.creates.conversion.operation.perform, {
    authData: { url, key: own },
    inputData: { ...input, ...more },
  });

describe("the Zapier integration", () => {
  test("a conversion arrives with its value as a number, and a replay is not counted twice", async () => {
    const peer = await startPeer([{ accept: true }]);
    await send(peer.url, { phone: "" });
    expect(peer.bodies()).toEqual([{ ...input, value: 49.9 }]);
    expect(await send(`${relay.url}/__cc/inbound`)).toEqual({
      ok: true,
      event: "purchase",
      results: { sandbox: { ok: true } },
    });
    expect(await send(relay.url)).toEqual({ ok: true, deduped: true });
  });

  test("the test of the connection tells a right key from a wrong one", async () => {
    const check = (own: string) => run(app.authentication.test, { authData: { url: relay.url, key: own }, inputData: {} });
    expect(await check(key)).toEqual({ ok: true, results: [] });
    await expect(check("cc_wrong")).rejects.toThrow("Cleancast: 401 Invalid API key");
  });

  test("items of an order, a hashed email and the id of a refund are sent", async () => {
    const peer = await startPeer([{ accept: true }]);
    const hashed = { email: "", hashed_email: "a".repeat(64) };
    const items = [{ id: "SKU-1", name: "", price: "9.95", quantity: "2" }] as unknown as string;
    await send(peer.url, { ...hashed, refundId: "R-1", items });
    const { email: _, ...rest } = input;
    const expected = { hashed_email: hashed.hashed_email, refundId: "R-1", items: [{ id: "SKU-1", price: 9.95, quantity: 2 }] };
    expect(peer.bodies()).toEqual([{ ...rest, value: 49.9, ...expected }]);
    await expect(send(peer.url, { email: "" })).rejects.toThrow("Email or Hashed Email is needed.");
    expect(await send(relay.url, { ...hashed, items, orderId: "Z-9" })).toMatchObject({ ok: true, event: "purchase" });
  });

  test("a relay that cannot be reached is named with the cause", async () => {
    await expect(send("http://127.0.0.1:2")).rejects.toThrow("Cleancast: no answer: connection refused");
  });

  test("a refused conversion fails with the relay's words, and is not repeated", async () => {
    const failure = await send(relay.url, { email: "no address" }).catch((error: unknown) => error);
    expect(String(failure)).toContain("Cleancast: 400 email is not an email address");
    expect((failure as Error).constructor.name).not.toBe("ThrottledError");
  });

  test("temporary failures ask Zapier to repeat the step, not before Retry-After", async () => {
    const peer = await startPeer([
      { status: 503, headers: { "Retry-After": "7" }, body: { ok: false, error: "Overloaded, retry" } },
      { status: 200, body: "<html>maintenance</html>" },
      { close: true },
    ]);
    for (const [text, delay] of [
      ["503 Overloaded, retry", 7],
      ["200 the answer is not the relay's", 60],
      ["no answer", 60],
    ] as const) {
      const failure = (await send(peer.url).catch((error: unknown) => error)) as Error;
      expect(failure.constructor.name).toBe("ThrottledError");
      expect(failure.message).toContain(text);
      expect(failure.message).not.toContain(key);
      // Zapier's own class has the delay in its message, as JSON.
      expect(String((failure as ThrottledError).delay ?? failure.message)).toContain(String(delay));
    }
  });

  test("a value that is no number, and an address without TLS, are refused before anything is sent", async () => {
    const peer = await startPeer([{ accept: true }]);
    await expect(send(peer.url, { value: "1.234,50 €" })).rejects.toThrow("Value must be a number");
    await expect(send("http://shop.example.com")).rejects.toThrow("must begin with https://");
    expect(peer.got).toEqual([]);
  });
});
