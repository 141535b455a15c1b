// POST /__cc/in/TOKEN: the order of the checks, the answers, and what becomes of senders' requests.

import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { examples as salesforceExamples } from "../../src/sources/kinds/salesforce/examples.ts";
import { ask, becomeOwner, type Person } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  call,
  engines,
  eventually,
  newInstallation,
  type Answer,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";

const secret = "whsec_a-secret";
const ok = { status: 200, text: '{"ok":true}' };

type Added = { source: { id: string }; address: string; newSecrets: Record<string, string> };

describe.each(engines)("sources on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let owner: Person;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "1,1,2,5" });
    site = await home.addSite("shop.example");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/shop`);
    relay = await home.start();
    owner = await becomeOwner(relay);
  });

  const add = (kind: string, ...settings: string[]): Promise<Added> => home.run("source", "add", site.host, kind, ...settings);

  const post = (
    { address }: Pick<Added, "address">,
    body: unknown,
    headers: Record<string, string> = {},
    method = "POST",
  ): Promise<Answer> =>
    call(relay.url, {
      method,
      path: new URL(address).pathname,
      headers: { host: site.host, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });

  const summary = ({ status, text }: Answer) => ({ status, text });

  const stripeHeaders = (body: unknown, key = secret, at = Math.floor(Date.now() / 1000)) => ({
    "stripe-signature": `t=${at},v1=${createHmac("sha256", key)
      .update(`${at}.${JSON.stringify(body)}`)
      .digest("hex")}`,
  });

  let numbers = 0;
  const checkout = (changes: Record<string, unknown> = {}, id = `n${++numbers}`) => ({
    id: `evt_${id}`,
    type: "checkout.session.completed",
    created: Math.floor(Date.now() / 1000) - 10,
    livemode: true,
    data: {
      object: {
        id: `cs_${id}`,
        payment_status: "paid",
        amount_total: 4990,
        currency: "eur",
        payment_intent: `pi_${id}`,
        customer: `cus_${id}`,
        customer_details: { email: "ada@example.com", name: "Ada Lovelace" },
        ...changes,
      },
    },
  });

  type Sent = { orderId: string; event: string; [field: string]: unknown };
  const received = (orderId: string, event = "purchase") =>
    (receiver.bodies() as Sent[]).filter((one) => one.orderId === orderId && one.event === event);

  const requestsOf = async ({ source }: Added) => (await home.run("source", "show", source.id)).requests.items;

  /** The list of requests is written a moment after the answer. */
  const lastRequest = async (added: Added, wanted: Record<string, unknown>) => {
    await eventually(`a request with ${JSON.stringify(wanted)}`, async () => {
      const [last] = await requestsOf(added);
      return last && Object.entries(wanted).every(([name, value]) => last[name] === value);
    });
    expect((await requestsOf(added))[0]).toMatchObject(wanted);
  };

  test("a checkout is answered after the commit and reaches the platforms", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const body = checkout();
    expect(summary(await post(source, body, stripeHeaders(body)))).toEqual(ok);
    const orderId = body.data.object.payment_intent;
    await eventually("the conversion arrives", () => received(orderId).length === 1);
    expect(received(orderId)[0]).toMatchObject({ event: "purchase", value: 49.9, currency: "EUR", orderId });
    const { events } = await home.run("event", "list", site.host, "--order", orderId).then((page) => ({ events: page.items }));
    expect(events).toHaveLength(1);
    const trace = await home.run("event", "show", events[0].id);
    expect(trace.key).toEqual({ id: source.source.id, name: "Stripe" });
    await lastRequest(source, { outcome: "accepted", type: "checkout.session.completed", eventId: events[0].id });
  });

  test("repeats, and the first invoice of a subscription, are counted once", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const body = checkout({ payment_intent: null, invoice: "in_once", mode: "subscription" });
    const invoice = {
      id: "evt_invoice_once",
      type: "invoice.paid",
      created: body.created,
      livemode: true,
      data: {
        object: {
          id: "in_once",
          amount_paid: 4990,
          currency: "eur",
          billing_reason: "subscription_create",
          customer_email: "ada@example.com",
        },
      },
    };
    const answers = await Promise.all([body, body, invoice, body].map((one) => post(source, one, stripeHeaders(one))));
    expect(answers.map(summary)).toEqual([ok, ok, ok, ok]);
    await eventually("the conversion arrives", () => received("in_once").length > 0);
    expect((await home.run("event", "list", site.host, "--order", "in_once")).items).toHaveLength(1);
    // The same delivery is a duplicate even if it says something else.
    const changed = { ...body, data: { object: { ...body.data.object, invoice: "in_other" } } };
    expect(summary(await post(source, changed, stripeHeaders(changed)))).toEqual(ok);
    await lastRequest(source, { outcome: "duplicate" });
    expect((await home.run("event", "list", site.host, "--order", "in_other")).items).toEqual([]);
  });

  test("partial refunds without an email find their order, and each counts", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const body = checkout({ invoice: "in_refunded", payment_intent: "pi_refunded" });
    await post(source, body, stripeHeaders(body));
    const refund = (total: number, before: number, id: string) => ({
      id,
      type: "charge.refunded",
      created: body.created,
      livemode: true,
      data: {
        object: {
          id: "ch_1",
          amount_refunded: total,
          currency: "eur",
          payment_intent: "pi_refunded",
          billing_details: { email: null },
        },
        previous_attributes: { amount_refunded: before },
      },
    });
    for (const one of [refund(1000, 0, "evt_r1"), refund(1500, 1000, "evt_r2"), refund(1500, 1000, "evt_r2")])
      expect(summary(await post(source, one, stripeHeaders(one)))).toEqual(ok);
    const listed = async () => (await home.run("event", "list", site.host, "--order", "in_refunded")).items;
    await eventually("both are counted", async () => (await listed()).length >= 3);
    await lastRequest(source, { outcome: "duplicate" });
    const events = await listed();
    const values = events.map((one: { event: string; value: number }) => [one.event, one.value]);
    expect(values.toSorted()).toEqual([
      ["purchase", 49.9],
      ["refund", 10],
      ["refund", 5],
    ]);
    const hashes = new Set<string>();
    for (const { id } of events) hashes.add((await home.run("event", "show", id)).emailSha256);
    expect(hashes.size).toBe(1);
    // A refund that comes before its sale waits for it.
    const early = {
      ...refund(100, 0, "evt_r9"),
      data: { object: { id: "ch_9", amount_refunded: 100, currency: "eur", payment_intent: "pi_9" } },
    };
    expect(summary(await post(source, early, stripeHeaders(early)))).toEqual(ok);
    await lastRequest(source, { outcome: "waiting", reason: "unknown order" });
    const sale = checkout({ payment_intent: "pi_9" });
    expect(summary(await post(source, sale, stripeHeaders(sale)))).toEqual(ok);
    await eventually("the refund arrives", () => received("pi_9", "refund").length === 1);
    expect(received("pi_9", "refund")[0]).toMatchObject({ value: 1 });
  });

  test("the command line names the settings of a kind, and the field that is wrong", async () => {
    expect(await home.print("source", "kinds", "hubspot")).toMatch(/^stages +default closedwon=purchase +Which deal stage/m);
    expect(await home.fails("source", "kinds", "strpe")).toMatchObject({
      error: expect.stringContaining("no kind of source strpe"),
    });
    const source = await add("custom", "email=mail", "value=total");
    expect(summary(await post(source, { mail: "ada@example.com", total: "much" }))).toEqual(ok);
    await lastRequest(source, { outcome: "ignored", reason: "wrong field" });
    expect(await home.print("source", "show", source.source.id)).toContain("wrong field (value must be a finite JSON number)");
  });

  test("a customer id is remembered, and finds the person of a later event", async () => {
    const source = await add("paddle", `signing_secret=${secret}`);
    const send = (body: Record<string, unknown>) => {
      const at = Math.floor(Date.now() / 1000);
      const h1 = createHmac("sha256", secret)
        .update(`${at}:${JSON.stringify(body)}`)
        .digest("hex");
      return post(source, body, { "paddle-signature": `ts=${at};h1=${h1}` });
    };
    const transaction = (id: string, customer = "ctm_1") => ({
      event_id: `evt_${id}`,
      event_type: "transaction.completed",
      data: {
        id,
        customer_id: customer,
        currency_code: "USD",
        details: { totals: { grand_total: "3000", currency_code: "USD" } },
      },
    });
    const customer = (id: string, email: string) => ({
      event_id: `evt_${id}`,
      event_type: "customer.created",
      data: { id, email },
    });
    expect(summary(await send(customer("ctm_1", "grace@example.com")))).toEqual(ok);
    await lastRequest(source, { outcome: "learned" });
    const exported = () => home.run("person", "export", site.host, "--email", "grace@example.com");
    expect(await exported()).toMatchObject({ events: [], sources: [{ sourceId: source.source.id }] });
    expect(summary(await send(transaction("txn_after")))).toEqual(ok);
    const [event] = (await home.run("event", "list", site.host, "--order", "txn_after")).items;
    // From now on the customer is the person of that event, and is found by it.
    expect(await exported()).toMatchObject({ events: [{ id: event.id }], sources: [] });
    expect(summary(await send(transaction("txn_next")))).toEqual(ok);
    expect((await exported()).events).toHaveLength(2);

    // Senders keep no order: a sale that comes before its customer waits for it, and counts once however often it came.
    for (let i = 0; i < 2; i++) expect(summary(await send(transaction("txn_early", "ctm_2")))).toEqual(ok);
    await lastRequest(source, { outcome: "waiting", reason: "unknown customer" });
    expect(summary(await send(customer("ctm_2", "alan@example.com")))).toEqual(ok);
    const outcomes = async () => (await requestsOf(source)).map(({ outcome }: { outcome: string }) => outcome);
    await eventually("neither waits", async () => !(await outcomes()).includes("waiting"));
    expect((await outcomes()).slice(0, 3).toSorted()).toEqual(["accepted", "duplicate", "learned"]);
    expect((await home.run("event", "list", site.host, "--order", "txn_early")).items).toHaveLength(1);
    await eventually("the sale arrives", () => received("txn_early").length === 1);

    await home.run("person", "erase", site.host, "--email", "grace@example.com", "--yes");
    expect(summary(await send(transaction("txn_erased")))).toEqual(ok);
    await lastRequest(source, { outcome: "waiting", reason: "unknown customer" });
  });

  test("test data of the sender is a test event", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const body = { ...checkout(), livemode: false };
    expect(summary(await post(source, body, stripeHeaders(body)))).toEqual(ok);
    const orderId = body.data.object.payment_intent;
    const [event] = (await home.run("event", "list", site.host, "--order", orderId)).items;
    expect(event.mode).toBe("test");
  });

  test("wrong signatures are refused and counted, and many of them answered with 429", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const body = checkout();
    expect(summary(await post(source, body, stripeHeaders(body, "wrong")))).toEqual({ status: 401, text: "Wrong signature.\n" });
    expect((await post(source, body)).status).toBe(401);
    expect((await post(source, body, stripeHeaders(body, secret, Math.floor(Date.now() / 1000) - 400))).status).toBe(401);
    await lastRequest(source, { outcome: "refused", reason: "signature too old" });
    const statuses = await Promise.all(Array.from({ length: 40 }, () => post(source, body)));
    expect(statuses.some(({ status }) => status === 429)).toBe(true);
    // An authentic request always passes.
    expect(summary(await post(source, body, stripeHeaders(body)))).toEqual(ok);
    await eventually("the count", async () => {
      const { items } = await home.run("source", "list", site.host);
      return items.find(({ id }: { id: string }) => id === source.source.id)?.last24h.refused === 43;
    });
  });

  test("content never gets an error status", async () => {
    const source = await add("custom", "email=customer.email");
    for (const [body, reason] of [
      ["no json", "unreadable body"],
      ["[1, 2]", "unreadable body"],
      [{ customer: {} }, "no person"],
      [{ customer: { email: "no address" } }, "wrong field"],
      ["", "unreadable body"],
    ] as const) {
      expect(summary(await post(source, body))).toEqual(ok);
      await lastRequest(source, { outcome: "ignored", reason });
    }
  });

  test("a sender that shows its secret only after it knows the address has to repeat until the secret is there", async () => {
    const source = await add("stripe");
    expect(source).toMatchObject({ newSecrets: {}, source: { missing: ["signing_secret"] } });
    const body = checkout();
    // Without a secret nothing could be verified.
    for (const headers of [stripeHeaders(body), {}]) expect((await post(source, body, headers)).status).toBe(503);
    await lastRequest(source, { outcome: "postponed", reason: "no secret yet" });
    await home.run("source", "set", source.source.id, `signing_secret=${secret}`);
    await eventually("the secret is known", async () => (await post(source, body, stripeHeaders(body))).status === 200);
    expect((await post(source, body)).status).toBe(401);
    expect(await home.fails("source", "set", source.source.id, "signing_secret=")).toMatchObject({ field: "signing_secret" });
  });

  test("a secret that the customer chooses is made with the source, and shown once", async () => {
    const source = await add("typeform");
    const made = source.newSecrets.signing_secret ?? "";
    expect(made).toMatch(/^[0-9A-Za-z]{32}$/);
    const body = { event_id: "e1", event_type: "form_response", form_response: { token: "t1", answers: [] } };
    const signature = (key: string) => `sha256=${createHmac("sha256", key).update(JSON.stringify(body)).digest("base64")}`;
    expect((await post(source, body, { "typeform-signature": signature("wrong") })).status).toBe(401);
    expect(summary(await post(source, body, { "typeform-signature": signature(made) }))).toEqual(ok);
    expect(JSON.stringify(await home.run("source", "show", source.source.id))).not.toContain(made);
    expect((await add("typeform", "signing_secret=mine")).newSecrets).toEqual({});
  });

  test("whole requests are kept only where a person wants it, sealed, and erased with any person", async () => {
    // For some minutes after an erasure nothing is kept on a site: this one is new.
    const host = "kept.example";
    const own = (await home.run("site", "add", host)).id;
    const source: Added = await home.run("source", "add", host, "custom", "email=customer.email", "value=total");
    const { id } = source.source;
    const send = (email: string) => post(source, { customer: { email }, total: "49.90" }, { host });
    const shapes = async () => (await owner.ask(`GET /sites/${own}/sources/${id}/shapes`)).json.items;
    const preview = (request: string, settings = {}) =>
      owner.ask(`POST /sites/${own}/sources/${id}/preview`, { request, settings });
    expect(summary(await send("ada@example.com"))).toEqual(ok);
    await eventually("a shape", async () => (await shapes()).length === 1);
    const [first] = await shapes();
    expect(first).toMatchObject({ isKept: false });
    expect(first.fields).toContainEqual({ path: "customer.email", type: "text", sample: "a…@e…" });
    expect((await preview(first.id)).status).toBe(404);
    await home.run("source", "set", id, "keep_requests=on");
    await eventually("a request is kept", async () => {
      await send("grace@example.com");
      return (await shapes())[0].isKept;
    });
    const [kept] = await shapes();
    // Contact data stays masked for whoever maps the fields.
    const outcomes = async (settings?: object) => (await preview(kept.id, settings)).json.outcomes;
    expect(await outcomes()).toMatchObject([{ outcome: "conversion", fields: { email: "g…@e…", value: "49.90" } }]);
    expect(await outcomes({ value: "nothing", order_id: "total" })).toMatchObject([{ fields: { orderId: "49.90" } }]);
    // The settings may name any field: a key that may not handle people's data gets none of it.
    const keyWith = async (scopes: string[]) =>
      (await owner.ask("POST /api-keys", { name: scopes.join(), scopes, site: own })).json.key as string;
    const previewWith = async (apiKey: string, body: object) =>
      (await ask(relay, `POST /sites/${own}/sources/${id}/preview`, body, { Authorization: `Bearer ${apiKey}` })).status;
    const moved = { request: kept.id, settings: { order_id: "customer.email" } };
    expect(await previewWith(await keyWith(["write"]), moved)).toBe(403);
    expect(await previewWith(await keyWith(["write"]), { headers: {}, body: "{}" })).toBe(200);
    expect(await previewWith(await keyWith(["write", "people"]), moved)).toBe(200);
    await home.run("person", "erase", host, "--email", "someone@example.com", "--yes");
    expect((await shapes()).map(({ isKept }: { isKept: boolean }) => isKept)).not.toContain(true);
  });

  test("method, unknown address, pause, size: in this order", async () => {
    const source = await add("gohighlevel");
    expect((await post(source, {}, {}, "PUT")).status).toBe(405);
    expect(summary(await post({ address: "https://x/__cc/in/short" }, {}))).toEqual({ status: 404, text: "Not found.\n" });
    expect((await post({ address: `https://x/__cc/in/${"a".repeat(26)}` }, {})).status).toBe(404);
    expect((await post(source, {}, { host: "neighbour.example" })).status).toBe(200);
    await home.run("site", "add", "neighbour.example");
    await eventually("the host is known", async () => (await post(source, {}, { host: "neighbour.example" })).status === 404);
    expect((await post(source, "x".repeat(1024 * 1024 + 1))).status).toBe(413);
    await home.run("source", "pause", source.source.id);
    // GoHighLevel repeats only what was answered with 429.
    await eventually("it is paused", async () => (await post(source, {})).status === 429);
    await home.run("source", "resume", source.source.id);
    await eventually("it is active", async () => (await post(source, {})).status === 200);
    await home.run("source", "remove", source.source.id, "--yes");
    await eventually("it is gone", async () => (await post(source, {})).status === 404);
  });

  test("the address of a site that only this machine knows has the relay's own port", async () => {
    const own = await home.addSite("localhost");
    const { port } = new URL((await home.run("source", "add", own.host, "stripe")).address);
    expect(port).not.toBe("");
    const { host } = new URL((await add("stripe")).address);
    expect(host).toBe(site.host);
  });

  test("addresses and secrets rotate with an overlap", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const { address } = await home.run("source", "rotate", source.source.id);
    expect(address).not.toBe(source.address);
    await home.run("source", "set", source.source.id, "signing_secret=whsec_new");
    for (const [where, key] of [
      [address, "whsec_new"],
      [source.address, secret],
    ]) {
      const body = checkout();
      await eventually(
        "both are valid",
        async () => (await post({ address: where }, body, stripeHeaders(body, key))).status === 200,
      );
    }
    const shown = await home.run("source", "show", source.source.id);
    expect(shown).toMatchObject({ address, source: { settings: { signing_secret: "(configured)" } } });
    expect(shown.source.oldAddressUntil).toBeGreaterThan(Date.now());
  });

  test("WooCommerce's ping is answered without a signature, and nothing else is", async () => {
    const source = await add("woocommerce", `signing_secret=${secret}`);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(summary(await post(source, "webhook_id=12", form))).toEqual(ok);
    expect((await post(source, "webhook_id=12&x=1", form)).status).toBe(401);
    expect((await post(source, { id: 1 })).status).toBe(401);
  });

  test("Salesforce gets its acknowledgement, for every entry of a message", async () => {
    const [example] = salesforceExamples;
    const source = await add("salesforce", `organization_id=${example?.settings?.organization_id}`);
    const answer = await post(source, String(example?.body), { "content-type": "text/xml; charset=utf-8" });
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("<Ack>true</Ack>") });
    expect(answer.headers["content-type"]).toBe("text/xml; charset=utf-8");
    for (const orderId of ["00Q1", "0061"])
      expect((await home.run("event", "list", site.host, "--order", orderId)).items).toHaveLength(1);
  });

  test("a call without an email counts where the site allows it", async () => {
    const source = await add("callrail", `signing_secret=${secret}`);
    const send = (id: string) => {
      const body = {
        resource_id: id,
        answered: true,
        direction: "inbound",
        duration: "95",
        customer_phone_number: "+4930123456",
        gclid: "Cj0-1",
      };
      return post(source, body, { signature: createHmac("sha1", secret).update(JSON.stringify(body)).digest("base64") });
    };
    expect(summary(await send("CAL1"))).toEqual(ok);
    await lastRequest(source, { outcome: "ignored", reason: "no person" });
    await home.run("site", "set", site.host, "conversions_without_email=on");
    await eventually("the call counts", async () => {
      expect(summary(await send("CAL2"))).toEqual(ok);
      return (await home.run("event", "list", site.host, "--order", "CAL2")).items.length === 1;
    });
    await eventually("the call arrives", () => received("CAL2", "call").length === 1);
    expect(received("CAL2", "call")[0]).toMatchObject({ emailSha256: null, clickIds: { gclid: "Cj0-1" } });
    const [event] = (await home.run("event", "list", site.host, "--order", "CAL2")).items;
    expect(await home.run("event", "show", event.id)).toMatchObject({ emailSha256: "", attribution: { consent: "unknown" } });
    await home.run("site", "set", site.host, "conversions_without_email=off");
  });

  test("each entry of a request counts, also where all share the id of the request, and none counts again with its repeat", async () => {
    const source = await add("custom", "entries=orders", "delivery_id=$headers.x-request-id", "email=email", "order_id=id");
    const ids = ["entry-1", "entry-2", "entry-3"];
    const body = { orders: ids.map((id) => ({ id, email: `${id}@example.com` })) };
    const send = (sent: unknown) => post(source, sent, { "x-request-id": "req-1" });
    expect(summary(await send(body))).toEqual(ok);
    const listed = async (id: string) => (await home.run("event", "list", site.host, "--order", id)).items;
    for (const id of ids) expect(await listed(id)).toHaveLength(1);
    // The request says which they are, whatever a repeat of it carries.
    const changed = { orders: ids.map((id) => ({ id: `${id}b`, email: `${id}@example.com` })) };
    expect(summary(await send(changed))).toEqual(ok);
    await lastRequest(source, { outcome: "duplicate" });
    for (const id of ids) expect(await listed(`${id}b`)).toEqual([]);
  });

  test("no address, secret or contact data is in the log", async () => {
    const source = await add("stripe", `signing_secret=${secret}`);
    const body = checkout();
    await post(source, body, stripeHeaders(body));
    await eventually("the request is logged", () => relay.output().includes(source.source.id));
    const token = new URL(source.address).pathname.split("/").at(-1) ?? "";
    for (const text of [token, secret, "ada@example.com", "Lovelace"]) expect(relay.output()).not.toContain(text);
  });

  test("a request is previewed without being stored, and a wrong mapping is refused", async () => {
    const source = await add("custom", "email=customer.email", "order_id=number");
    const file = join(freshFolder(), "body.json");
    writeFileSync(file, '{"number":820982911946154508,"customer":{"email":"ada@example.com"}}');
    const { outcomes } = await home.run("source", "test", source.source.id, file);
    expect(outcomes).toMatchObject([
      { outcome: "conversion", mode: "live", fields: { email: "ada@example.com", orderId: "820982911946154508" } },
    ]);
    expect((await home.run("event", "list", site.host, "--order", "820982911946154508")).items).toEqual([]);
    expect(await home.fails("source", "test", source.source.id, `${file}.none`)).toMatchObject({
      field: "arguments",
      error: `The file ${file}.none cannot be read.`,
    });
    const set = (...settings: string[]) => home.fails("source", "set", source.source.id, ...settings);
    expect(await set("email=customer..email")).toMatchObject({ field: "email", code: "invalid" });
    expect(await set("verification=hmac hex")).toMatchObject({ field: "signing_secret" });
    expect(await set("verification=magic")).toMatchObject({ field: "verification" });
    expect(await set("nothing=1")).toMatchObject({ field: "nothing" });
    expect(await home.fails("source", "add", site.host, "salesforce")).toMatchObject({ field: "organization_id" });
    expect(await home.fails("source", "add", site.host, "nothing")).toMatchObject({ code: "not_found" });
  });
});
