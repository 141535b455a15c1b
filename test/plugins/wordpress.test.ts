// Runs the WordPress plugin with a double of WordPress and WooCommerce, against a real relay and a misbehaving peer.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { startPeer } from "../clients/misbehavingPeer.ts";
import { root } from "../support/documents/documents.ts";
import { newInstallation, type Installation, type Relay } from "../support/relay.ts";

const hasPhp = spawnSync("php", ["--version"]).status === 0;
if (!hasPhp) console.log("PHP is not installed here: the WordPress plugin is not run.");

let home: Installation;
let relay: Relay;
let key: string;

type Input = {
  options?: unknown;
  orders?: unknown[];
  refunds?: unknown[];
  scripts?: string[];
  calls: ["hook" | "call", string, unknown[]][];
};
type Printed = { happened: Record<string, unknown>[]; options: Record<string, unknown> };

async function runPlugin(input: Input): Promise<Printed> {
  const plugin = join(root, "plugins/wordpress/cleancast/cleancast.php");
  const child = spawn("php", [join(root, "test/plugins/wordpress.php"), plugin]);
  child.stdin.end(JSON.stringify(input));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (!out.startsWith("{")) throw new Error(out + err);
  return JSON.parse(out) as Printed;
}

const settings = (url: string, own = key) => ({ cleancast: { url, key: own, tag: true } });
const order = (id: number) => ({
  id,
  order_number: `W-${id}`,
  total: "59.90",
  currency: "EUR",
  date_paid: Math.floor(Date.now() / 1000) - 60,
  billing_email: "ada@example.com",
  billing_phone: "+4930123456",
  billing_first_name: "Ada",
  billing_last_name: "Example",
  items: [
    { name: "Mug", sku: "SKU-1", product_id: 11, quantity: 2, total: "19.90" },
    { name: "Lamp", product_id: 12, variation_id: 0, quantity: 1, total: "40.00" },
  ],
});
const paid = (id: number): Input["calls"] => [["hook", "woocommerce_order_status_processing", [id]]];

beforeAll(async () => {
  home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connection", "add", "shop.example.com", "sandbox");
  relay = await home.start();
});

describe.skipIf(!hasPhp)("the WordPress plugin", () => {
  const known = async (orderId: string) =>
    (await home.run("event", "list", "--order", orderId)).items.map(({ event, value, currency }: Record<string, unknown>) => [
      event,
      value,
      currency,
    ]);

  test("a paid order is reported once, though it becomes processing and then completed", async () => {
    const { happened } = await runPlugin({
      options: settings(relay.url),
      orders: [order(1)],
      calls: [...paid(1), ["hook", "woocommerce_order_status_completed", [1]]],
    });
    expect(happened).toEqual([{ complete: [1, 0, 1] }]);
    expect(await known("W-1")).toEqual([["purchase", 59.9, "EUR"]]);
  });

  test("the request has the order's fields and items, and nothing else", async () => {
    const peer = await startPeer([{ accept: true }]);
    const one = order(2);
    await runPlugin({ options: settings(peer.url), orders: [one], calls: paid(2) });
    expect(peer.bodies()).toEqual([
      {
        email: "ada@example.com",
        phone: "+4930123456",
        firstName: "Ada",
        lastName: "Example",
        event: "purchase",
        value: 59.9,
        currency: "EUR",
        orderId: "W-2",
        eventTime: one.date_paid,
        items: [
          { id: "SKU-1", name: "Mug", price: 9.95, quantity: 2 },
          { id: "12", name: "Lamp", price: 40, quantity: 1 },
        ],
      },
    ]);
  });

  test("refunds in parts are different events of one order", async () => {
    const { happened } = await runPlugin({
      options: settings(relay.url),
      orders: [order(3)],
      refunds: [
        { id: 31, amount: "9.95", items: [{ name: "Mug", sku: "SKU-1", quantity: -1, total: "-9.95" }] },
        { id: 32, amount: "59.90" },
      ],
      calls: [
        ["hook", "woocommerce_order_refunded", [3, 31]],
        ["hook", "woocommerce_order_refunded", [3, 32]],
      ],
    });
    expect(happened).toEqual([{ complete: [3, 31, 1] }, { complete: [3, 32, 1] }]);
    expect((await known("W-3")).toSorted()).toEqual([
      ["refund", 59.9, "EUR"],
      ["refund", 9.95, "EUR"],
    ]);
  });

  test("a temporary failure is repeated by a later job, not before Retry-After", async () => {
    const peer = await startPeer([{ status: 503, headers: { "Retry-After": "3600" }, body: "down" }, { close: true }]);
    const { happened } = await runPlugin({
      options: settings(peer.url),
      orders: [order(4)],
      calls: [
        ["call", "cleancast_run_job", [4, 0, 1]],
        ["call", "cleancast_run_job", [4, 0, 3]],
      ],
    });
    expect(happened).toEqual([
      { later: [4, 0, 2], seconds: 3600 },
      { returned: null },
      { later: [4, 0, 4], seconds: 240 },
      { returned: null },
    ]);
  });

  test("a permanent refusal and the last attempt fail the job, whose text does not contain the key", async () => {
    const peer = await startPeer([{ status: 400, echoKey: true }]);
    const { happened } = await runPlugin({ options: settings(peer.url), orders: [order(5)], calls: paid(5) });
    expect(happened).toEqual([{ failed: "Cleancast: 400 bad header: [key]" }]);
  });

  test("orders without an address, and sites without settings, send nothing", async () => {
    const peer = await startPeer([{ accept: true }]);
    const { billing_email: _, ...anonymous } = order(6);
    await runPlugin({ options: settings(peer.url), orders: [anonymous], calls: paid(6) });
    const { happened } = await runPlugin({ orders: [order(7)], calls: paid(7) });
    expect(happened).toEqual([]);
    expect(peer.got).toEqual([]);
  });

  test("the connection test tells a right key from a wrong one, and leaves no event", async () => {
    const check = async (options: unknown) =>
      (await runPlugin({ options, calls: [["call", "cleancast_test_connection", []]] })).happened[0]?.returned;
    expect(await check(settings(relay.url))).toEqual({
      ok: true,
      text: "Connected: the relay accepts the key.",
    });
    expect(await check(settings(relay.url, "cc_wrong"))).toEqual({
      ok: false,
      text: "The relay answered 401: Invalid API key",
    });
    const unreachable = (await check(settings("http://127.0.0.1:1"))) as { ok: boolean; text: string };
    expect(unreachable.ok).toBe(false);
    // WordPress's own reason, and not the key.
    expect(unreachable.text).toMatch(/^no answer: .*Connection refused/);
    expect(unreachable.text).not.toContain(key);
    const { items: events } = await home.run("event", "list");
    expect(events.filter(({ event }: { event: string }) => event === "connection test")).toEqual([]);
    // A request that the relay refuses would be listed as rejected, and `doctor` would warn about it.
    const peer = await startPeer([{ accept: true }]);
    await check(settings(peer.url));
    expect(peer.got.map(({ path, text: body }) => [path, body])).toEqual([["/__cc/inbound/batch", '{"events":[]}']]);
  });

  test("the settings form keeps the stored key when the field is empty, and refuses a wrong address by name", async () => {
    const save = (given: unknown) =>
      runPlugin({
        options: settings("https://shop.example.com", "cc_stored"),
        calls: [["call", "cleancast_sanitize", [given]]],
      });
    const kept = await save({ url: "https://relay.example.com/__cc/inbound/", key: "" });
    expect(kept.happened).toEqual([{ returned: { url: "https://relay.example.com", key: "cc_stored", tag: false } }]);
    const wrong = await save({ url: "http://shop.example.com", key: "ccm_0123", tag: "1" });
    expect(wrong.happened).toEqual([
      {
        message: "The address must begin with https://: the key would be readable on the way.",
        type: "error",
      },
      { message: "The key must be an inbound key, which begins with cc_.", type: "error" },
      { returned: { url: "https://shop.example.com", key: "cc_stored", tag: true } },
    ]);
  });

  test("the tag is added after the script of the WP Consent API, without the key", async () => {
    const { happened } = await runPlugin({
      options: settings("https://shop.example.com"),
      scripts: ["wp-consent-api"],
      calls: [["hook", "wp_enqueue_scripts", []]],
    });
    expect(happened).toEqual([
      {
        script: "cleancast",
        src: "https://blog.example.com/wp-content/plugins/cleancast/consent.js",
        after: ["wp-consent-api"],
      },
      {
        inline: String.raw`window.cleancastTag={"tag":"https:\/\/shop.example.com\/__cc\/tag.js"};`,
        position: "before",
      },
    ]);
  });
});
