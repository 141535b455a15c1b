// Senders with their own webhooks, four of the shop and one of the product, each of which signs as the real one does.

import { createHmac } from "node:crypto";
import { pathOf, addSource } from "../../src/sites/sources.ts";
import { findSite, type SiteContext } from "../../src/sites/manage.ts";
import { minuteMs } from "../../src/kernel/time.ts";
import { newCustomer, type Customer } from "./people.ts";
import type { Random } from "./random.ts";
import { owner, type Clock, type CreatedSite } from "./sites.ts";

const secret = "whsec_demo";

type Sent = { headers: Record<string, string>; body: Record<string, unknown> };

type Sender = {
  kind: string;
  name: string;
  settings: Record<string, string>;
  /** A request that is a conversion in most cases. */
  write: (random: Random, customer: Customer, number: number) => Sent;
  sign?: (body: string) => Record<string, string>;
};

const hmac = (text: string, encoding: "hex" | "base64") => createHmac("sha256", secret).update(text).digest(encoding);
const seconds = () => Math.floor(Date.now() / 1000);

const shopify: Sender = {
  kind: "shopify",
  name: "Shopify",
  settings: { signing_secret: secret },
  sign: (body) => ({ "x-shopify-hmac-sha256": hmac(body, "base64") }),
  write: (random, { email, phone, firstName, lastName }, number) => ({
    headers: { "x-shopify-topic": random.chance(0.85) ? "orders/paid" : "orders/create", "x-shopify-event-id": `demo-${number}` },
    body: {
      id: number,
      name: `#${number}`,
      email,
      total_price: String(random.integer(1900, 24_900) / 100),
      currency: "EUR",
      processed_at: new Date().toISOString(),
      customer: { first_name: firstName, last_name: lastName, phone },
      line_items: [
        { variant_id: random.integer(100, 199), title: "Ridge 40 jacket", vendor: "Alpenglow", price: "129.00", quantity: 1 },
      ],
      landing_site: `/jackets?gclid=Cj0-${number}`,
    },
  }),
};

const stripe: Sender = {
  kind: "stripe",
  name: "Stripe",
  settings: { signing_secret: secret },
  sign(body) {
    const at = seconds();
    return { "stripe-signature": `t=${at},v1=${hmac(`${at}.${body}`, "hex")}` };
  },
  write: (random, { email, firstName, lastName }, number) => ({
    headers: {},
    body: {
      id: `evt_${number}`,
      type: random.chance(0.8) ? "checkout.session.completed" : "payment_intent.created",
      created: seconds(),
      livemode: true,
      data: {
        object: {
          id: `cs_${number}`,
          payment_status: random.chance(0.9) ? "paid" : "unpaid",
          amount_total: random.integer(1900, 34_900),
          currency: "eur",
          payment_intent: `pi_${number}`,
          customer_details: { email, name: `${firstName} ${lastName}` },
        },
      },
    },
  }),
};

const typeform: Sender = {
  kind: "typeform",
  name: "Fitting advice (Typeform)",
  settings: { signing_secret: secret, value: "25", currency: "EUR" },
  sign: (body) => ({ "typeform-signature": `sha256=${hmac(body, "base64")}` }),
  write: (_random, { email, firstName }, number) => ({
    headers: {},
    body: {
      event_id: `form-${number}`,
      event_type: "form_response",
      form_response: {
        token: `answer-${number}`,
        submitted_at: new Date().toISOString(),
        hidden: { gclid: `Cj0-${number}` },
        answers: [
          { type: "email", email, field: { ref: "email" } },
          { type: "text", text: firstName, field: { ref: "first_name" } },
        ],
      },
    },
  }),
};

/** A system that no kind knows: its fields are mapped, and its requests are kept, so that the editor shows a preview. */
const custom: Sender = {
  kind: "custom",
  name: "Mountain school (bookings)",
  settings: {
    verification: "hmac hex",
    signing_secret: secret,
    when: 'state = "confirmed"',
    event: "schedule",
    email: "guest.mail",
    first_name: "guest.name words(first)",
    last_name: "guest.name words(last)",
    value: "price.amount cents(price.currency)",
    currency_from: "price.currency",
    order_id: "booking",
    event_time: "booked_at iso",
    click_ids: "landing_page",
    type: "state",
    keep_requests: "on",
  },
  sign: (body) => ({ "x-signature": hmac(body, "hex") }),
  write: (random, { email, firstName, lastName }, number) => ({
    headers: {},
    body: {
      booking: `MS-${number}`,
      state: random.chance(0.8) ? "confirmed" : "requested",
      course: random.pick(["Glacier tour", "First climb", "Ski touring"]),
      guest: { name: `${firstName} ${lastName}`, mail: email },
      price: { amount: random.integer(90, 320) * 100, currency: "EUR" },
      booked_at: new Date().toISOString(),
      landing_page: `https://shop.example.com/courses?gclid=Cj0-${number}`,
    },
  }),
};

const hubspot: Sender = {
  kind: "hubspot",
  name: "HubSpot",
  settings: { stages: "closedwon=subscribe, qualifiedtobuy=lead", currency: "USD" },
  write: (random, { email, firstName, lastName }, number) => ({
    headers: {},
    body: {
      objectId: number,
      email,
      firstname: firstName,
      lastname: lastName,
      dealstage: random.pick(["qualifiedtobuy", "closedwon", "presentationscheduled"]),
      amount: String(random.integer(20, 90) * 10),
    },
  }),
};

export type DemoSource = { host: string; path: string; sender: Sender };

/** Adds senders to a site. */
async function addSenders(context: SiteContext, { demo, siteId }: CreatedSite, senders: readonly Sender[], clock: Clock) {
  const added: DemoSource[] = [];
  for (const sender of senders) {
    const { kind, name, settings } = sender;
    const by = { actor: owner, now: (clock.at += 3 * minuteMs) };
    const { source } = await addSource(context, findSite(context, siteId), kind, { name, settings }, by);
    added.push({ host: demo.host, path: pathOf(source) ?? "", sender });
  }
  return added;
}

export const addSources = async (
  context: SiteContext,
  { shop, product }: { shop: CreatedSite; product: CreatedSite },
  clock: Clock,
): Promise<DemoSource[]> => [
  ...(await addSenders(context, shop, [shopify, stripe, typeform, custom], clock)),
  ...(await addSenders(context, product, [hubspot], clock)),
];

/** Returns the next request of a source. */
export function nextRequest({ host, path, sender }: DemoSource, random: Random, number: number) {
  const { headers, body } = sender.write(random, newCustomer(random, number), number);
  const signature = sender.sign?.(JSON.stringify(body)) ?? {};
  const sent = { Host: host, "X-Forwarded-Proto": "https", "Content-Type": "application/json", ...headers, ...signature };
  return { path, headers: sent, body };
}
