// What each sender of standins/senders reports, and what the relay must make of it.

import {
  calcom,
  calendly,
  callrail,
  gohighlevel,
  hubspot,
  jotform,
  pipedrive,
  salesforce,
} from "../../standins/senders/leads.ts";
import { shopOfOnesOwn, tally, typeform, webflow } from "../../standins/senders/leads.ts";
import { chargebee, lemonsqueezy, paddle, shopify, stripe, woocommerce, type Facts } from "../../standins/senders/payments.ts";
import type { Message } from "../../standins/senders/sender.ts";
import type { SenderId } from "../../standins/senders/sheets.ts";

export type { Facts } from "../../standins/senders/payments.ts";

/** As `event list` prints it. Null where the sender says nothing about money. */
type Expected = { event: string; orderId: string; value: number | null; currency: string | null };

export type Story = {
  sender: SenderId;
  /** Settings of the source, apart from its secret. */
  settings: readonly string[];
  /** The setting that holds the secret, and what the sender signs with where that differs. */
  secret?: { setting: string; value: string; signsWith?: string };
  sale: (facts: Facts) => readonly Message[];
  expected: (facts: Facts) => Expected;
  /** Partial refunds of 10 and 5. */
  refunds?: (facts: Facts) => readonly Message[];
  /** Each refund says the sum so far, and has no id of its own. */
  refundsAreSums?: true;
};

const signing = { setting: "signing_secret", value: "a secret of the sender" };
const password = { setting: "password", value: "hush: ünlocked", signsWith: "cleancast:hush: ünlocked" };
const whsec = { setting: "signing_secret", value: `whsec_${Buffer.from("a key of 24 bytes or more").toString("base64")}` };
const organization = "00D000000000062EAA";
const mapping = [
  "email=customer.email",
  "value=total",
  "currency_from=currency",
  "order_id=id",
  "event_time=created iso",
  'when=type = "order.paid"',
];

const sold = (event: string, orderId: (n: string) => string) => (facts: Facts) => ({
  event,
  orderId: orderId(facts.n),
  value: facts.value,
  currency: facts.currency,
});
const lead = (event: string, orderId: (n: string) => string) => (facts: Facts) => ({
  event,
  orderId: orderId(facts.n),
  value: null,
  currency: null,
});
const partly = (facts: Facts, value: number): Facts => ({ ...facts, value });

export const stories: readonly Story[] = [
  {
    sender: "stripe",
    settings: [],
    secret: signing,
    sale: (facts) => [stripe.checkout(facts)],
    expected: sold("purchase", (n) => `pi_${n}`),
    refunds: (facts) => [stripe.refund(partly(facts, 10), 0), stripe.refund(partly(facts, 15), 10)],
  },
  {
    sender: "shopify",
    settings: [],
    secret: signing,
    sale: (facts) => [shopify.order(facts)],
    expected: sold("purchase", (n) => `#${n}`),
    refunds: (facts) => [shopify.refund(partly(facts, 10), `${facts.n}1`), shopify.refund(partly(facts, 5), `${facts.n}2`)],
  },
  {
    sender: "woocommerce",
    settings: [],
    secret: signing,
    sale: (facts) => ["pending", "processing", "completed"].map((status) => woocommerce.order(facts, status)),
    expected: sold("purchase", (n) => n),
    refunds: (facts) => [[10], [10, 5]].map((refunds) => woocommerce.order(facts, "completed", refunds)),
  },
  {
    sender: "hubspot",
    settings: [],
    secret: signing,
    sale: (facts) => [hubspot.deal(facts)],
    expected: sold("purchase", (n) => n),
  },
  {
    sender: "hubspot v1",
    settings: [],
    secret: signing,
    sale: (facts) => [hubspot.deal(facts)],
    expected: sold("purchase", (n) => n),
  },
  {
    sender: "pipedrive",
    settings: ["user=cleancast"],
    secret: password,
    sale: (facts) => [pipedrive.person(facts), pipedrive.won(facts)],
    expected: sold("purchase", (n) => n),
  },
  {
    sender: "salesforce",
    settings: [`organization_id=${organization}`],
    sale: (facts) => [salesforce.message([facts], organization)],
    expected: sold("purchase", (n) => `006${n}`),
  },
  {
    sender: "gohighlevel",
    settings: [],
    sale: (facts) => [gohighlevel.workflow(facts)],
    expected: sold("purchase", (n) => n),
  },
  {
    sender: "calendly",
    settings: [],
    secret: signing,
    sale: (facts) => [calendly.booked(facts), ...calendly.rescheduled(facts, `${facts.n}b`)],
    expected: sold("schedule", (n) => n),
  },
  {
    sender: "calcom",
    settings: [],
    secret: signing,
    sale: (facts) => [calcom.booked(facts), calcom.rescheduled(facts, `${facts.n}1`)],
    expected: sold("schedule", (n) => `booking${n}`),
  },
  {
    sender: "typeform",
    settings: [],
    secret: signing,
    sale: (facts) => [typeform.answers(facts)],
    expected: lead("lead", (n) => `token${n}`),
  },
  {
    sender: "tally",
    settings: [],
    secret: signing,
    sale: (facts) => [tally.answers(facts)],
    expected: lead("lead", (n) => `submission${n}`),
  },
  {
    sender: "jotform",
    settings: [],
    sale: (facts) => [jotform.answers(facts, "------------------------f1c7a2")],
    expected: lead("lead", (n) => n),
  },
  {
    sender: "webflow",
    settings: [],
    secret: signing,
    sale: (facts) => [webflow.form(facts)],
    expected: lead("lead", (n) => `sub${n}`),
  },
  {
    sender: "callrail",
    settings: [],
    secret: signing,
    sale: (facts) => [callrail.call(facts)],
    expected: lead("call", (n) => `CAL${n}`),
  },
  {
    sender: "paddle",
    settings: [],
    secret: signing,
    sale: (facts) => [paddle.customer(facts), paddle.transaction(facts)],
    expected: sold("purchase", (n) => `txn_${n}`),
    refunds: (facts) =>
      ["pending_approval", "approved"].flatMap((status) => [
        paddle.refund(partly(facts, 10), `${facts.n}1`, status),
        paddle.refund(partly(facts, 5), `${facts.n}2`, status),
      ]),
  },
  {
    sender: "lemonsqueezy",
    settings: [],
    secret: signing,
    sale: (facts) => [lemonsqueezy.order(facts), lemonsqueezy.firstPayment(facts)],
    expected: sold("purchase", (n) => n),
    refunds: (facts) => [
      lemonsqueezy.refund(partly(facts, 10)),
      lemonsqueezy.refund({ ...partly(facts, 15), at: facts.at + 1000 }),
    ],
    refundsAreSums: true,
  },
  {
    sender: "chargebee",
    settings: ["user=cleancast"],
    secret: password,
    sale: (facts) => [chargebee.payment(facts)],
    expected: sold("purchase", (n) => `inv_${n}`),
    refunds: (facts) => [chargebee.refund(partly(facts, 10), `${facts.n}1`), chargebee.refund(partly(facts, 5), `${facts.n}2`)],
  },
  ...(["standard webhooks", "svix"] as const).map((sender): Story => ({
    sender,
    settings: mapping,
    secret: whsec,
    sale: (facts) => [shopOfOnesOwn.order(facts)],
    expected: sold("purchase", (n) => n),
  })),
  {
    sender: "custom",
    settings: [...mapping, "verification=hmac hex"],
    secret: signing,
    sale: (facts) => [shopOfOnesOwn.order(facts)],
    expected: sold("purchase", (n) => n),
  },
];

/** The settings with which `source add` makes the source of a story. */
export const settingsOf = ({ settings, secret }: Story): string[] => [
  ...settings,
  ...(secret ? [`${secret.setting}=${secret.value}`] : []),
];

export const secretsOf = ({ secret }: Story): string[] => (secret ? [secret.signsWith ?? secret.value] : []);

let numbers = 1000;
/** New facts: every id that a sender makes of them is its own. */
export function newFacts(changes: Partial<Facts> = {}): Facts {
  numbers += 1;
  return {
    n: String(numbers),
    email: `person-${numbers}@example.com`,
    value: 49.9,
    currency: "EUR",
    at: Date.now() - 60_000,
    ...changes,
  };
}
