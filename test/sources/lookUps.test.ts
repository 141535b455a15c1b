// Requests that only their sender can complete wait for a look-up: after the answer, durably, with a key that the customer gave.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  startHubspotApi,
  startStripeApi,
  type HubspotCrm,
  type SenderApi,
  type StripeData,
} from "../../standins/senders/apis.ts";
import { hubspot } from "../../standins/senders/leads.ts";
import { stripe, type Facts } from "../../standins/senders/payments.ts";
import { prepare, type Message } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
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

const secret = "a-secret";
const hubspotKey = "pat-na1-good";
const stripeKey = "rk_live_good";

type Added = { source: { id: string }; address: string };
type Listed = { outcome: string; reason: string | null; detail: string | null; deliveryId: string; attempts: number };

describe.each(endToEndEngines)("look-ups on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let api: { hubspot: SenderApi; stripe: SenderApi };
  const crm: HubspotCrm = {
    keys: { [hubspotKey]: ["crm.objects.deals.read", "crm.objects.contacts.read"], "pat-na1-deals": ["crm.objects.deals.read"] },
    deals: {},
    contacts: {},
  };
  const stripeData: StripeData = { keys: { [stripeKey]: ["invoices", "payment_intents"] }, invoices: {}, emails: {} };

  beforeAll(async () => {
    receiver = await startReceiver();
    api = { hubspot: await startHubspotApi(crm), stripe: await startStripeApi(stripeData) };
    home = await newInstallation(engine, {
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify({ hubspot: api.hubspot.origin, stripe: api.stripe.origin }),
      CLEANCAST_RETRY_SECONDS: "1,1,1",
      CLEANCAST_LEASE_SECONDS: "15",
      CLEANCAST_ANSWER_SECONDS: "8",
      CLEANCAST_ATTEMPT_SECONDS: "5",
    });
    site = await home.addSite("shop.example");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/shop`);
    relay = await home.start();
  });
  afterAll(async () => {
    await relay.stop();
    await api.hubspot.close();
    await api.stripe.close();
  });

  const add = (kind: string, ...settings: string[]): Promise<Added> =>
    home.run("source", "add", site.host, kind, `signing_secret=${secret}`, ...settings);

  async function send(kind: "hubspot" | "stripe", { address }: Added, message: Message): Promise<number> {
    const { headers, body } = prepare(sheetOf(kind), message.body(1), {
      url: address,
      secrets: [secret],
      headers: message.headers,
    });
    const path = new URL(address).pathname;
    return (await call(relay.url, { method: "POST", path, headers, body: body.toString() })).status;
  }

  const requestsOf = async ({ source }: Added): Promise<Listed[]> => (await home.run("source", "show", source.id)).requests.items;
  const listed = (added: Added, wanted: Partial<Listed>) =>
    eventually(`a request with ${JSON.stringify(wanted)}`, async () =>
      (await requestsOf(added)).some((one) =>
        Object.entries(wanted).every(([name, value]) => one[name as keyof Listed] === value),
      ),
    );
  const received = (orderId: string, event = "purchase") =>
    receiver.bodies().filter((one) => one["orderId"] === orderId && one["event"] === event);

  let numbers = 1000;
  function newDeal(): Facts {
    const n = String(++numbers);
    crm.deals[n] = { properties: { amount: "49.90", deal_currency_code: "EUR" }, contacts: [`7${n}`] };
    crm.contacts[`7${n}`] = { properties: { email: `person-${n}@example.com`, firstname: "Ada", lastname: "Lovelace" } };
    return { n, email: "", value: 0, currency: "", at: Date.now() - 1000 };
  }

  test("a change that a HubSpot app reports becomes a conversion of the deal's contact", async () => {
    const source = await add("hubspot", `api_key=${hubspotKey}`);
    const deal = newDeal();
    expect(await send("hubspot", source, hubspot.changes([deal]))).toBe(200);
    await eventually("it is delivered", () => received(deal.n).length === 1);
    expect(received(deal.n)[0]).toMatchObject({ value: 49.9, currency: "EUR", event: "purchase" });
    await listed(source, { outcome: "accepted" });
    // The list has the request once, whatever the look-up did.
    expect(await requestsOf(source)).toHaveLength(1);
    // A repeat is looked up, and not counted.
    expect(await send("hubspot", source, hubspot.changes([deal]))).toBe(200);
    await listed(source, { outcome: "duplicate" });
    expect(received(deal.n)).toHaveLength(1);
  });

  test("without a key the change is ignored, and nothing is asked", async () => {
    const source = await add("hubspot");
    const before = api.hubspot.requests.length;
    await send("hubspot", source, hubspot.changes([newDeal()]));
    await listed(source, { outcome: "ignored", reason: "needs a lookup" });
    expect(api.hubspot.requests).toHaveLength(before);
  });

  test("a key without a permission is named, and the request waits until the key is right", async () => {
    const source = await add("hubspot", "api_key=pat-na1-deals");
    const deal = newDeal();
    await send("hubspot", source, hubspot.changes([deal]));
    await listed(source, { outcome: "waiting", detail: "look-up refused: the key lacks crm.objects.contacts.read" });
    await home.run("source", "set", source.source.id, `api_key=${hubspotKey}`);
    await eventually("it is delivered", () => received(deal.n).length === 1);
    await listed(source, { outcome: "accepted", detail: null });
  });

  test("a deal that is gone, or has no contact, is ignored with the reason", async () => {
    const source = await add("hubspot", `api_key=${hubspotKey}`);
    const [gone, alone] = [newDeal(), newDeal()];
    delete crm.deals[gone.n];
    crm.deals[alone.n] = { properties: {} };
    await send("hubspot", source, hubspot.changes([gone, alone]));
    await listed(source, { outcome: "ignored", reason: "look-up failed", detail: "look-up failed: the object is not there" });
    await listed(source, { outcome: "ignored", reason: "no person" });
  });

  test("an API that hangs or fails delays no answer, and what waits survives kill -9", async () => {
    const source = await add("hubspot", `api_key=${hubspotKey}`);
    const deals = Array.from({ length: 20 }, newDeal);
    api.hubspot.fail("hang");
    const from = Date.now();
    for (const deal of deals) expect(await send("hubspot", source, hubspot.changes([deal]))).toBe(200);
    // A look-up alone takes five seconds here.
    expect(Date.now() - from).toBeLessThan(100_000);
    await relay.kill();
    api.hubspot.fail({ status: 503, body: {} });
    relay = await home.start();
    await listed(source, { outcome: "waiting", detail: "look-up failed: HTTP 503" });
    await relay.kill();
    api.hubspot.fail(null);
    relay = await home.start();
    await eventually("all are delivered", () => deals.every(({ n }) => received(n).length === 1));
    await eventually("none waits", async () => (await requestsOf(source)).every(({ outcome }) => outcome === "accepted"));
    for (const { n } of deals) expect(received(n)).toHaveLength(1);
  });

  test("a refund of a subscription finds its invoice, with an email and without", async () => {
    const source = await add("stripe", `api_key=${stripeKey}`);
    for (const email of [null, "ada@example.com"]) {
      const n = String(++numbers);
      const facts = { n, email: "ada@example.com", value: 49.9, currency: "EUR", at: Date.now() - 1000 };
      stripeData.invoices[`pi_${n}`] = `in_${n}`;
      expect(await send("stripe", source, stripe.firstInvoice(facts, `in_${n}`))).toBe(200);
      await eventually("the sale is delivered", () => received(`in_${n}`).length === 1);
      const refund = stripe.refund({ ...facts, value: 10 }, 0).body(1) as { data: { object: object } };
      Object.assign(refund.data.object, { billing_details: { email } });
      expect(await send("stripe", source, { body: () => refund })).toBe(200);
      await eventually("the refund is delivered", () => received(`in_${n}`, "refund").length === 1);
      expect(received(`in_${n}`, "refund")[0]).toMatchObject({ value: 10 });
      expect(received(`pi_${n}`, "refund")).toEqual([]);
    }
  });

  test("a refund whose order is known asks nobody", async () => {
    const source = await add("stripe", `api_key=${stripeKey}`);
    const n = String(++numbers);
    const facts = { n, email: "ada@example.com", value: 49.9, currency: "EUR", at: Date.now() - 1000 };
    const before = api.stripe.requests.length;
    await send("stripe", source, stripe.checkout(facts));
    await send("stripe", source, stripe.refund({ ...facts, value: 10 }, 0));
    await eventually("the refund is delivered", () => received(`pi_${n}`, "refund").length === 1);
    expect(api.stripe.requests).toHaveLength(before);
  });

  test.runIf(engine === "sqlite")(
    "neither the key nor the person is readable at rest, and nothing of the request is left when the look-up ended",
    async () => {
      const folder = home.env["CLEANCAST_DATA"] ?? "";
      for (const name of readdirSync(folder).filter((one) => one.startsWith("cleancast.db"))) {
        const bytes = readFileSync(join(folder, name));
        for (const text of [hubspotKey, stripeKey, "person-1001@example.com"]) expect(bytes.includes(text)).toBe(false);
      }
      const db = new DatabaseSync(join(folder, "cleancast.db"), { readOnly: true });
      expect(db.prepare("SELECT id FROM source_requests WHERE waiting IS NOT NULL").all()).toEqual([]);
      db.close();
    },
  );
});
