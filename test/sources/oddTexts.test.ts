// PostgreSQL refuses a NUL character in a text, and a sender may write one wherever it writes a text of its own.

import { describe, expect, test } from "vitest";
import { prepare } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { call, engines, eventually, newInstallation } from "../support/relay.ts";

const secret = "a secret of the sender";
const nul = "\0";

/** Refunds, which are looked for in the database by what they name. */
const refunds = {
  stripe: (delivery: string, order: string, at: number) => ({
    headers: {},
    body: {
      id: delivery,
      type: "charge.refunded",
      created: at / 1000,
      livemode: true,
      data: { object: { id: "ch_1", amount_refunded: 1000, currency: "eur", customer: order, payment_intent: order } },
    },
  }),
  shopify: (delivery: string, order: string) => ({
    headers: { "x-shopify-topic": "refunds/create", "x-shopify-event-id": encodeURIComponent(delivery) },
    body: {
      id: delivery,
      order_id: order,
      transactions: [{ kind: "refund", status: "success", amount: "10.00", currency: "EUR" }],
    },
  }),
};

describe.each(engines)("NUL characters on %s", (engine) => {
  test("an authentic request that has them is answered with 200, and stands in the list", async () => {
    const home = await newInstallation(engine);
    const { host } = await home.addSite("shop.example");
    const relay = await home.start();
    for (const kind of ["stripe", "shopify"] as const) {
      const added = await home.run("source", "add", host, kind, `signing_secret=${secret}`);
      const ids = [nul, `a${nul}b`];
      for (const delivery of ids)
        for (const order of ids) {
          const { headers, body } = refunds[kind](delivery, order, Math.floor(Date.now() / 1000) * 1000);
          const send = () => {
            const options = { url: added.address, secrets: [secret], headers };
            const sent = prepare(sheetOf(kind), body, options);
            return call(relay.url, { path: new URL(sent.url).pathname, headers: sent.headers, body: sent.body });
          };
          // A machine that gives the relay no processor may make one answer late.
          await expect.poll(async () => (await send()).status, { timeout: 60_000 }).toBe(200);
        }
      await eventually(`the requests of ${kind} are listed`, async () => {
        const { requests } = await home.run("source", "show", added.source.id);
        return requests.items.length >= ids.length ** 2;
      });
    }
    expect(await relay.stop()).toBe(0);
    expect(relay.output()).not.toContain("invalid byte sequence");
  });
});
