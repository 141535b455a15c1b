// A machine that gives the relay no processor for seconds makes its answers late. The sender is asked to repeat the request then.

import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { stripe } from "../../standins/senders/payments.ts";
import { prepare, type Prepared } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { endToEndEngines, newInstallation } from "../support/relay.ts";
import { newFacts } from "./stories.ts";

/** Sends the body so long after the relay has begun with the request, and returns the status and the code of a refusal. */
function sendSlowly(relayUrl: string, { url, headers, body }: Prepared, ms: number): Promise<[number | undefined, unknown]> {
  return new Promise((resolve, reject) => {
    const length = { "content-length": String(body.length), expect: "100-continue" };
    const { pathname } = new URL(url);
    const sent = request(new URL(pathname, relayUrl), { method: "POST", headers: { ...headers, ...length }, agent: false });
    sent.on("continue", () => void sleep(ms).then(() => sent.end(body)));
    sent.on("response", (answer) => {
      answer.resume().on("end", () => resolve([answer.statusCode, answer.headers["x-cc-error"]]));
    });
    sent.on("error", reject);
    sent.flushHeaders();
  });
}

test.for(endToEndEngines)("a payment that is answered too late is asked for again, and counted once (%s)", async (engine) => {
  const home = await newInstallation(engine);
  const { host } = await home.addSite("shop.example");
  const secret = "a secret of the sender";
  const { address } = await home.run("source", "add", host, "stripe", `signing_secret=${secret}`);
  const { url } = await home.start({ CLEANCAST_ANSWER_SECONDS: "1" });
  const facts = newFacts();
  const message = stripe.checkout(facts);
  const send = (ms: number) => {
    const sent = prepare(sheetOf("stripe"), message.body(1), { url: address, secrets: [secret] });
    return sendSlowly(url, sent, ms);
  };
  // Of its second the relay keeps less than a half for the store.
  expect(await send(600)).toEqual([503, "unavailable"]);
  // On a slow machine a repeat may be late as well.
  for (let repeat = 0; repeat < 2; repeat++) await expect.poll(() => send(0), { timeout: 240_000 }).toEqual([200, undefined]);
  const { items } = await home.run("event", "list", host, "--order", `pi_${facts.n}`);
  expect(items).toHaveLength(1);
});
