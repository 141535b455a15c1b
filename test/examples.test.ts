// Runs the senders of the guides as their platforms would, against a real relay.

import { execFile, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "./support/databases.ts";
import { call, newInstallation, type Installation, type Relay } from "./support/relay.ts";
import {
  acceptedOnce,
  busy,
  elsewhere,
  empty200,
  examples,
  hangUp,
  startExampleSender,
  startFakeRelay,
  startServer,
} from "./support/servers/exampleSenders.ts";

const run = promisify(execFile);
const read = (name: string) => readFileSync(join(examples, name), "utf8");
const hasPhp = spawnSync("php", ["--version"]).status === 0;
if (!hasPhp) console.log("PHP is not installed here: the WooCommerce plugin is not run.");

let home: Installation;
let relay: Relay;
let key: string;
let inbound: string;

beforeAll(async () => {
  home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connect", "shop.example.com", "sandbox");
  relay = await home.start();
  inbound = `${relay.url}/__cc/inbound`;
});

const accepted = (event: string) => ({ ok: true, event, results: { sandbox: { ok: true } } });

/** Lists the relay's events of an order: event, value and currency, newest first. */
async function known(orderId: string): Promise<[string, number, string][]> {
  const { items: events } = await home.run("event", "list", "--order", orderId);
  return events.map((one: { event: string; value: number; currency: string }) => [one.event, one.value, one.currency]);
}

/** Runs the code of a service in its own process. */
async function inNode(name: string, code: string): Promise<string> {
  const file = join(freshFolder(), name);
  writeFileSync(file, code);
  const { stdout } = await run(process.execPath, [file], { env: { ...process.env, CLEANCAST_KEY: key } });
  return stdout;
}

const withAddress = (url: string, code: string) => code.replaceAll("https://shop.example.com/__cc/inbound", url);

describe("HubSpot's custom code action", () => {
  const action = (inputFields: Record<string, unknown>, url = inbound) =>
    inNode(
      "action.cjs",
      `${withAddress(url, read("hubspot.js"))}
exports.main({ inputFields: ${JSON.stringify(inputFields)} }).then(
  (output) => console.log(JSON.stringify(output)), (error) => console.log(error.message));`,
    );

  test("the HubSpot action sends a deal with its amount as a number", async () => {
    const output = await action({
      email: "ada@example.com",
      phone: "+4930123456",
      firstname: "Ada",
      amount: "1200.50",
      deal_currency_code: "EUR",
      hs_object_id: "77",
    });
    expect(JSON.parse(JSON.parse(output).outputFields.cleancast)).toEqual(accepted("purchase"));
    expect(await known("77")).toEqual([["purchase", 1200.5, "EUR"]]);
  });

  test("the HubSpot action fails when the relay refuses", async () => {
    expect(await action({ email: "nobody", amount: "1", hs_object_id: "78" })).toContain(
      'Cleancast: 400 {"ok":false,"error":"email is not an email address"}',
    );
  });

  test("the HubSpot action fails when another server answers, and sends the key to no other address", async () => {
    const { url, asked } = await startFakeRelay(empty200, elsewhere);
    const deal = { email: "ada@example.com", amount: "1", hs_object_id: "79" };
    expect(await action(deal, url)).toContain("Cleancast: 302");
    expect(asked.map(({ path }) => path)).toEqual(["/__cc/inbound", "/__cc/inbound"]);
  });

  test.concurrent.each([
    ["amount", "120,5"],
    ["amount", ""],
    ["amount", undefined],
    ["hs_object_id", undefined],
    ["email", ""],
  ])("the HubSpot action fails when %s is %j", async (name, value) => {
    const { url, asked } = await startFakeRelay(empty200);
    const deal = { email: "ada@example.com", amount: "120.5", hs_object_id: "80", [name]: value };
    expect(await action(deal, url)).toContain(`Cleancast: ${name} `);
    expect(asked).toEqual([]);
  });

  test("the HubSpot action outlives a restart of the relay", async () => {
    const { url, asked } = await startFakeRelay(hangUp, busy, acceptedOnce);
    const deal = { email: "ada@example.com", amount: "120.5", hs_object_id: "81" };
    expect(await action(deal, url)).toContain("outputFields");
    expect(asked).toHaveLength(3);
  });
});

describe("Zapier's steps", () => {
  const input = () => ({ key, email: "ada@example.com", value: "49.90", currency: "EUR", order: "Z-1" });
  const step = (inputData: Record<string, string>, url = inbound) =>
    inNode(
      "step.mjs",
      `let output; const inputData = ${JSON.stringify(inputData)};\n${withAddress(url, read("zapier.js"))}\nconsole.log(JSON.stringify(output));`,
    );

  test("the Zapier code step sends an event and shows the results", async () => {
    expect(JSON.parse(await step(input()))).toEqual(accepted("purchase"));
    expect(await known("Z-1")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test("the Zapier code step fails when the relay refuses", async () => {
    await expect(step({ ...input(), key: "cc_wrong" })).rejects.toThrow(/Cleancast: 401/);
  });

  test("the Zapier code step fails when another server answers", async () => {
    const { url, asked } = await startFakeRelay(empty200, elsewhere);
    await expect(step(input(), url)).rejects.toThrow(/Cleancast: 302/);
    expect(asked.map(({ path }) => path)).toEqual(["/__cc/inbound", "/__cc/inbound"]);
  });

  test.concurrent.each([
    ["value", "1.234,50"],
    ["value", "49.90 €"],
    ["value", ""],
    ["order", ""],
    ["email", ""],
    ["currency", ""],
    ["key", ""],
  ])("the Zapier code step fails when %s is %j", async (name, value) => {
    const { url, asked } = await startFakeRelay(empty200);
    await expect(step({ ...input(), [name]: value }, url)).rejects.toThrow(new RegExp(`Cleancast: ${name} `));
    expect(asked).toEqual([]);
  });

  test("the Zapier code step outlives a restart of the relay", async () => {
    const { url, asked } = await startFakeRelay(hangUp, busy, acceptedOnce);
    expect(JSON.parse(await step(input(), url))).toEqual({ ok: true, event: "purchase", results: {} });
    expect(asked).toHaveLength(3);
  });

  test("the endpoint refuses Zapier's custom request without an amount", async () => {
    const body = read("zapier-body.txt").replaceAll(/{{(\w+)}}/g, (_, name: string) => (name === "total" ? "" : "x"));
    expect((await relay.post(key, body)).status).toBe(400);
  });

  test("the endpoint accepts the body of Zapier's custom request", async () => {
    const values: Record<string, string> = {
      email: "ada@example.com",
      total: "49.90",
      currency: "EUR",
      order: "Z-2",
    };
    const body = read("zapier-body.txt").replaceAll(/{{(\w+)}}/g, (_, name: string) => values[name] ?? "");
    expect(JSON.parse((await relay.post(key, body)).text)).toEqual(accepted("purchase"));
  });
});

test("the endpoint accepts the body of the Make scenario", async () => {
  const bundle: Record<string, string> = {
    email: "ada@example.com",
    total: "49.90",
    currency: "EUR",
    order: "M-1",
  };
  const body = read("make-body.txt")
    .replaceAll(/{{parseNumber\(1\.(\w+); "\."\)}}/g, (_, name: string) => String(Number(bundle[name])))
    .replaceAll(/{{1\.(\w+)}}/g, (_, name: string) => bundle[name] ?? "");
  expect(JSON.parse((await relay.post(key, body)).text)).toEqual(accepted("purchase"));
  expect(await known("M-1")).toEqual([["purchase", 49.9, "EUR"]]);
});

test("the endpoint accepts Salesforce's sample request", async () => {
  expect(JSON.parse((await relay.post(key, read("salesforce.json"))).text)).toEqual(accepted("purchase"));
});

describe("the n8n workflow", () => {
  type Node = { name: string; type: string; parameters: Record<string, unknown> };
  const workflow = JSON.parse(read("n8n.json")) as {
    nodes: Node[];
    connections: Record<string, { main: { node: string }[][] }>;
  };
  const trigger = workflow.nodes.find(({ type }) => type === "n8n-nodes-base.webhook");
  const after = (node: Node | undefined) => {
    const name = workflow.connections[node?.name ?? ""]?.main[0]?.[0]?.node;
    return workflow.nodes.find((one) => one.name === name);
  };
  const [check, request] = [after(trigger), after(after(trigger))];
  const answer = after(request);

  /** Runs a Code node for one item, as n8n does. */
  const runCode = (node: Node | undefined, $json: unknown) =>
    runInNewContext(`(() => {${String(node?.parameters.jsCode)}})()`, { $json }) as { json: unknown };
  const order = { email: "ada@example.com", total: "49.90", currency: "EUR", order: 4711 };

  test("the n8n workflow sends what its nodes produce", async () => {
    // Knowing the address of the webhook must not be enough to report orders.
    expect(trigger?.parameters.authentication).toBe("headerAuth");
    const { method, url, jsonBody, genericAuthType } = request?.parameters ?? {};
    expect([method, url, genericAuthType]).toEqual(["POST", "https://shop.example.com/__cc/inbound", "httpHeaderAuth"]);
    const expression = /^={{(.*)}}$/s.exec(String(jsonBody))?.[1] ?? "";
    const { json } = runCode(check, { body: order });
    const sent = runInNewContext(expression, { $json: json }) as string;
    const replied: unknown = JSON.parse((await relay.post(key, sent)).text);
    expect(runCode(answer, replied)).toEqual({ json: accepted("purchase") });
    expect(await known("4711")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test.each([
    ["total", "1.234,50"],
    ["total", ""],
    ["total", undefined],
    ["total", null],
    ["order", undefined],
    ["email", ""],
    ["currency", ""],
  ])("the n8n workflow stops when %s is %j", (name, value) => {
    expect(() => runCode(check, { body: { ...order, [name]: value } })).toThrow(name);
  });

  test("the n8n workflow fails when another server answers", () => {
    expect(() => runCode(answer, { message: "hello" })).toThrow("Cleancast:");
  });
});

const receiver = (name: string, env: Record<string, string>) =>
  startExampleSender(name, { CLEANCAST_INBOUND: inbound, CLEANCAST_KEY: key, ...env });

describe("Shopify's webhook", () => {
  const order = {
    email: "ada@example.com",
    total_price: "49.90",
    currency: "EUR",
    name: "#1001",
    test: false,
    processed_at: new Date().toISOString(),
    customer: { first_name: "Ada", last_name: "Lovelace", phone: null },
  };
  let url: string;
  beforeAll(async () => void (url = await receiver("shopify.mjs", { SHOPIFY_SECRET: "hush" })));

  const hook = (sent: unknown, topic = "orders/paid", secret = "hush", to = url) => {
    const body = JSON.stringify(sent);
    const signature = createHmac("sha256", secret).update(body).digest("base64");
    const headers = { "X-Shopify-Topic": topic, "X-Shopify-Hmac-Sha256": signature };
    return call(to, { path: "/", headers, body });
  };

  test("a paid Shopify order is sent once, however often Shopify reports it", async () => {
    expect((await hook(order)).status).toBe(200);
    expect((await hook(order)).status).toBe(200);
    expect(await known("#1001")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test("unsigned Shopify webhooks are refused; other topics, test orders and orders without an email are ignored", async () => {
    const other = { ...order, name: "#1002" };
    expect((await hook(other, "orders/paid", "wrong")).status).toBe(401);
    expect((await call(url, { path: "/", body: JSON.stringify(other) })).status).toBe(401);
    expect((await hook(other, "orders/updated")).status).toBe(200);
    expect((await hook({ ...other, test: true })).status).toBe(200);
    expect((await hook({ ...other, email: "" })).status).toBe(200);
    expect(await known("#1002")).toEqual([]);
  });

  test.each([
    ["total_price", "1.234,50"],
    ["total_price", ""],
    ["total_price", undefined],
    ["currency", ""],
    ["name", undefined],
  ])("a Shopify order whose %s is %j is not sent, and Shopify sees the failure", async (name, value) => {
    const { url: address, asked } = await startFakeRelay(empty200);
    const to = await receiver("shopify.mjs", { SHOPIFY_SECRET: "hush", CLEANCAST_INBOUND: address });
    expect((await hook({ ...order, [name]: value }, "orders/paid", "hush", to)).status).toBe(503);
    expect(asked).toEqual([]);
  });

  test("Shopify is asked to retry while the relay is down or another server answers", async () => {
    for (const address of ["http://127.0.0.1:1/", (await startFakeRelay(empty200)).url]) {
      const to = await receiver("shopify.mjs", { SHOPIFY_SECRET: "hush", CLEANCAST_INBOUND: address });
      expect([address, (await hook(order, "orders/paid", "hush", to)).status]).toEqual([address, 503]);
    }
  });

  test("the endpoint accepts the body of Shopify Flow", async () => {
    const values: Record<string, string> = {
      "order.email | json": '"ada@example.com"',
      "order.totalPriceSet.shopMoney.amount": "49.90",
      "order.totalPriceSet.shopMoney.currencyCode | json": '"EUR"',
      "order.name | json": '"#1003"',
    };
    const body = read("shopify-flow-body.txt").replaceAll(/{{ (.+?) }}/g, (_, name: string) => values[name] ?? "");
    expect(JSON.parse((await relay.post(key, body)).text)).toEqual(accepted("purchase"));
  });
});

describe("Stripe's webhook", () => {
  const secret = "whsec_test";
  let url: string;
  const invoices = new Map([
    ["pi_first", { id: "in_first", billing_reason: "subscription_create" }],
    ["pi_receipt", { id: "in_receipt", billing_reason: "manual" }],
  ]);
  beforeAll(async () => {
    // Stripe's list of invoice payments.
    const STRIPE_API = await startServer((request, response) => {
      const asked = new URL(request.url ?? "", "http://stripe");
      const invoice = invoices.get(asked.searchParams.get("payment[payment_intent]") ?? "");
      const isAllowed = request.headers.authorization === "Bearer rk_test" && asked.pathname === "/v1/invoice_payments";
      response.writeHead(isAllowed ? 200 : 403).end(JSON.stringify({ data: invoice ? [{ invoice }] : [] }));
    });
    url = await receiver("stripe.mjs", { STRIPE_SECRET: secret, STRIPE_API_KEY: "rk_test", STRIPE_API });
  });

  const now = () => Math.floor(Date.now() / 1000);
  const hook = (type: string, object: unknown, { at = now(), with: signer = secret } = {}) => {
    const body = JSON.stringify({ id: "evt_1", type, created: at, data: { object } });
    const signature = createHmac("sha256", signer).update(`${at}.${body}`).digest("hex");
    return call(url, {
      path: "/",
      headers: { "Stripe-Signature": `t=${at},v1=00ff,v1=${signature},v0=1` },
      body,
    });
  };
  const session = {
    id: "cs_1",
    payment_status: "paid",
    payment_intent: "pi_1",
    amount_total: 4990,
    currency: "eur",
    customer_details: { email: "ada@example.com", phone: null },
  };

  test("a paid Stripe checkout is a purchase, and its full refund a refund of the same order", async () => {
    expect((await hook("checkout.session.completed", session)).status).toBe(200);
    const charge = {
      id: "ch_1",
      payment_intent: "pi_1",
      amount_refunded: 4990,
      currency: "eur",
      billing_details: { email: null },
      receipt_email: "ada@example.com",
    };
    expect((await hook("charge.refunded", { ...charge, refunded: false, amount_refunded: 10 })).status).toBe(200);
    expect((await hook("charge.refunded", { ...charge, refunded: true })).status).toBe(200);
    expect(await known("pi_1")).toEqual([
      ["refund", 49.9, "EUR"],
      ["purchase", 49.9, "EUR"],
    ]);
  });

  const refund = (paymentIntent: string) => ({
    id: "ch_2",
    payment_intent: paymentIntent,
    refunded: true,
    amount_refunded: 4990,
    currency: "eur",
    billing_details: { email: "ada@example.com" },
  });

  test("the refund of a subscription has the order id of its purchase", async () => {
    const first = { ...session, id: "cs_9", mode: "subscription", payment_intent: null, invoice: "in_first" };
    expect((await hook("checkout.session.completed", first)).status).toBe(200);
    expect((await hook("charge.refunded", refund("pi_first"))).status).toBe(200);
    expect((await known("in_first")).map(([event]) => event)).toEqual(["refund", "purchase"]);
  });

  test("the refund of a payment that also made an invoice has the order id of its purchase", async () => {
    const once = { ...session, id: "cs_8", payment_intent: "pi_receipt", invoice: "in_receipt" };
    expect((await hook("checkout.session.completed", once)).status).toBe(200);
    expect((await hook("charge.refunded", refund("pi_receipt"))).status).toBe(200);
    expect((await known("pi_receipt")).map(([event]) => event)).toEqual(["refund", "purchase"]);
  });

  test.each([
    ["amount_total", null],
    ["amount_total", "49.90"],
    ["currency", null],
  ])("a Stripe checkout whose %s is %j is not sent, and Stripe sees the failure", async (name, value) => {
    const broken = { ...session, payment_intent: "pi_broken", [name]: value };
    expect((await hook("checkout.session.completed", broken)).status).toBe(503);
    expect(await known("pi_broken")).toEqual([]);
  });

  test("Stripe amounts in yen are not divided by 100, and an unpaid session is no purchase", async () => {
    const yen = { ...session, id: "cs_2", payment_intent: null, amount_total: 500, currency: "jpy" };
    expect((await hook("checkout.session.completed", { ...yen, payment_status: "unpaid" })).status).toBe(200);
    expect(await known("cs_2")).toEqual([]);
    expect((await hook("checkout.session.async_payment_succeeded", yen)).status).toBe(200);
    expect(await known("cs_2")).toEqual([["purchase", 500, "JPY"]]);
  });

  test("a Stripe webhook that is unsigned or was signed long ago is refused", async () => {
    const other = { ...session, payment_intent: "pi_3" };
    expect((await hook("checkout.session.completed", other, { with: "whsec_wrong" })).status).toBe(401);
    expect((await hook("checkout.session.completed", other, { at: now() - 600 })).status).toBe(401);
    expect((await call(url, { path: "/", body: "{}" })).status).toBe(401);
    expect(await known("pi_3")).toEqual([]);
  });
});

test.concurrent.each([
  ["calls.mjs", "CALLS_SECRET"],
  ["shopify.mjs", "SHOPIFY_SECRET"],
  ["stripe.mjs", "STRIPE_SECRET"],
  ["stripe.mjs", "STRIPE_API_KEY"],
])("%s does not start without %s", async (name, secret) => {
  const set = {
    CLEANCAST_INBOUND: inbound,
    CLEANCAST_KEY: key,
    CUSTOMERS: "customers.json",
    PORT: "0",
    ...(secret === "STRIPE_API_KEY" ? { STRIPE_SECRET: "whsec_test" } : {}),
  };
  for (const env of [set, { ...set, [secret]: "" }]) {
    const ended = run(process.execPath, [join(examples, name)], { env, timeout: 60_000 });
    await expect(ended).rejects.toThrow(`Set ${secret}.`);
  }
});

describe("the programs of the guide to sending from code", () => {
  type Output = { stdout: string; stderr: string };
  const programs = { "send.mjs": process.execPath, "send.py": "python3", "send.php": "php" };
  const senders = Object.entries(programs).filter(([, program]) => spawnSync("which", [program]).status === 0);
  const send = (name: string, program: string, url: string) =>
    run(program, [join(examples, name)], {
      env: { ...process.env, CLEANCAST_INBOUND: url, CLEANCAST_KEY: key },
    });

  test.concurrent.each(senders)("%s waits for Retry-After, and trusts only the relay's answers", async (...sender) => {
    const inASecond = () => new Date((Math.floor(Date.now() / 1000) + 1) * 1000).toUTCString();
    const { url, asked } = await startFakeRelay(
      (_, response) => void response.writeHead(200, { "Retry-After": inASecond() }).end(),
      (_, response) => void response.writeHead(503, { "Retry-After": "1" }).end("busy"),
      (_, response) => void response.writeHead(200).end('{"ok":true,"deduped":true}'),
    );
    const { stdout } = await send(...sender, url);
    expect(JSON.parse(stdout)).toEqual({ ok: true, deduped: true });
    const [, second, third] = asked.map((one) => one.at);
    // Without Retry-After the sender would wait four seconds.
    expect(Number(third) - Number(second)).toBeLessThan(4000);
  });

  test.concurrent.each([
    ["send.mjs", process.execPath, ["--input-type=module", "-e"], "await import(process.env.FILE)"],
    ["send.py", "python3", ["-c"], "import os, runpy; runpy.run_path(os.environ['FILE'])"],
    ["send.php", "php", ["-r"], "require getenv('FILE');"],
  ] as const)("importing %s sends nothing", async (name, program, flags, code) => {
    if (!senders.some(([one]) => one === name)) return;
    const { url, asked } = await startFakeRelay(acceptedOnce);
    const FILE = join(examples, name);
    await run(program, [...flags, code], {
      env: { ...process.env, CLEANCAST_INBOUND: url, CLEANCAST_KEY: key, FILE },
    });
    expect(asked).toEqual([]);
  });

  test.concurrent.each(senders)("%s refuses an amount that is no number, and an empty order id", async (...sender) => {
    const [name, program] = sender;
    const { url, asked } = await startFakeRelay(acceptedOnce);
    const nan = { "send.mjs": "NaN", "send.py": 'float("nan")', "send.php": "NAN" }[name] ?? "";
    for (const [from, to, error] of [
      ["49.9", nan, "value is not a number"],
      ["49.9", '"49,90"', "value is not a number"],
      [/(?:NODE|PYTHON|PHP)-1/, "", "orderId is empty"],
    ] as const) {
      const file = join(freshFolder(), name);
      writeFileSync(file, read(name).replace(from, to));
      const env = { ...process.env, CLEANCAST_INBOUND: url, CLEANCAST_KEY: key };
      const { stdout, stderr } = await run(program, [file], { env }).catch((failed: Output) => failed);
      expect(stdout + stderr).toContain(error);
    }
    expect(asked).toEqual([]);
  });

  test.concurrent.each(senders)("%s sends the key to no other address", async (...sender) => {
    const { url, asked } = await startFakeRelay(elsewhere);
    const { stdout, stderr } = await send(...sender, url).catch((failed: Output) => failed);
    expect(stdout + stderr).toContain("302");
    expect(asked).toHaveLength(1);
  });
});

test("a call of a known customer is sent; short calls, unknown callers and unsigned requests are not", async () => {
  const customers = join(freshFolder(), "customers.json");
  writeFileSync(customers, JSON.stringify({ "+4930123456": "ada@example.com" }));
  const url = await receiver("calls.mjs", { CALLS_SECRET: "long-word", CUSTOMERS: customers });
  const answeredCall = {
    resource_id: "CAL1",
    customer_phone_number: "+4930123456",
    answered: true,
    duration: 190,
    start_time: new Date(Date.now() - 200_000).toISOString(),
  };
  const hook = (sent: unknown, path = "/calls/long-word") => call(url, { path, body: JSON.stringify(sent) });
  expect((await hook(answeredCall)).status).toBe(200);
  expect((await hook({ ...answeredCall, resource_id: "CAL2", duration: 20 })).status).toBe(200);
  expect((await hook({ ...answeredCall, resource_id: "CAL3", customer_phone_number: "+4930999999" })).status).toBe(200);
  expect((await hook({ ...answeredCall, resource_id: "CAL4" }, "/calls/wrong")).status).toBe(404);
  // A tracker whose fields have other names, or whose duration is missing, sees a failure.
  for (const field of ["resource_id", "customer_phone_number", "duration", "answered"])
    expect([field, (await hook({ ...answeredCall, [field]: undefined })).status]).toEqual([field, 503]);
  for (const [id, count] of [
    ["CAL1", 1],
    ["CAL2", 0],
    ["CAL3", 0],
    ["CAL4", 0],
  ] as const)
    expect([id, (await known(id)).length]).toEqual([id, count]);
});

describe.runIf(hasPhp)("the plugin for WooCommerce", () => {
  const order = {
    id: 501,
    billing_email: "ada@example.com",
    total: "49.90",
    currency: "EUR",
    order_number: "W-501",
    date_paid: Math.floor(Date.now() / 1000) - 60,
    billing_phone: "+4930123456",
    billing_first_name: "Ada",
    billing_last_name: "Lovelace",
  };
  const wordpress = fileURLToPath(new URL("./fixtures/wordpress.php", import.meta.url));
  const runHooks = (hooks: string[], env: Record<string, string> = {}, changed: object = {}) =>
    run("php", [wordpress, join(examples, "woocommerce.php"), JSON.stringify({ ...order, ...changed }), ...hooks], {
      env: { PATH: process.env.PATH ?? "", CLEANCAST_INBOUND: inbound, CLEANCAST_KEY: key, ...env },
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );

  test("a paid WooCommerce order and its refund are each reported once, through all its states", async () => {
    const paid = ["woocommerce_order_status_processing", "woocommerce_order_status_completed"];
    const output = await runHooks([...paid, "woocommerce_order_fully_refunded"]);
    expect(output).toContain('answer 200 {"ok":true,"deduped":true}');
    expect(await known("W-501")).toEqual([
      ["refund", 49.9, "EUR"],
      ["purchase", 49.9, "EUR"],
    ]);
  });

  test.each([{ total: "" }, { total: "1.234,50" }, { total: "NAN" }, { order_number: "" }])(
    "the WooCommerce plugin shows an order with %j as failed",
    async (changed) => {
      const output = await runHooks(["woocommerce_order_status_completed"], {}, changed);
      expect(output).toContain("Cleancast: order 501 has no number or its total is not one");
      expect(output).not.toContain("sent");
    },
  );

  test("the WooCommerce plugin retries while the relay is down, and shows refused orders as failed", async () => {
    const hooks = ["woocommerce_order_status_completed"];
    expect(await runHooks(hooks, { CLEANCAST_INBOUND: "http://127.0.0.1:1/" })).toBe(
      'later cleancast_send [501,"purchase",2] in 120\n',
    );
    expect(await runHooks(hooks, { CLEANCAST_KEY: "cc_wrong" })).toContain(
      'Cleancast: 401 {"ok":false,"error":"Invalid API key"}',
    );
    // A 200 of another server does not count as sent.
    const { url } = await startFakeRelay(empty200);
    expect(await runHooks(hooks, { CLEANCAST_INBOUND: url })).toContain('later cleancast_send [501,"purchase",2] in 120\n');
    const away = await startFakeRelay(elsewhere);
    expect(await runHooks(hooks, { CLEANCAST_INBOUND: away.url })).toContain("Cleancast: 302");
    expect(away.asked).toHaveLength(1);
  });
});
