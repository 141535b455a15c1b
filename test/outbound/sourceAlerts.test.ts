// Sources that need a person, from their senders' requests to the alert that goes out, and what the command line says about them.

import { expect, test } from "vitest";
import { hourMs } from "../../src/kernel/time.ts";
import { shopify, stripe } from "../../standins/senders/payments.ts";
import { createSender } from "../../standins/senders/sender.ts";
import { sheetOf, type SenderId } from "../../standins/senders/sheets.ts";
import { newFacts } from "../sources/stories.ts";
import { withStore } from "../support/installation.ts";
import { startReceiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation } from "../support/relay.ts";

test.each(endToEndEngines)(
  "sources that are refused, may be switched off or are silent alert once each, on %s",
  async (engine) => {
    const hook = await startReceiver();
    const home = await newInstallation(engine);
    const site = await home.addSite("shop.example", `alert_webhook=${hook.url}/alerts`);
    const add = async (kind: string, ...settings: string[]) => {
      const { source, address } = await home.run("source", "add", site.host, kind, ...settings);
      return { id: source.id as string, address: address as string };
    };
    const secret = "whsec_0f9e2c";
    const given = `signing_secret=${secret}`;
    const [refused, paused, silent] = [await add("stripe", given), await add("shopify", given), await add("stripe", given)];
    await home.run("source", "pause", paused.id);
    // Three payments an hour for four weeks, and none since five hours ago.
    const thisHour = Math.floor(Date.now() / hourMs);
    const hours = Array.from({ length: 29 * 24 }, (_, i) => thisHour - 5 - i);
    await withStore(home, async (store, directory) => {
      const [{ id: siteId } = { id: "" }] = directory.sites();
      const uses = hours.map((hour) => ({ siteId, keyId: silent.id, hour, uses: 3, lastUsedAt: hour * hourMs }));
      await store.keyUse.addUses(uses);
    });

    // Sources are looked at every five minutes: the relay that receives does not look, and the next one does so at once.
    const receiving = await home.start({ CLEANCAST_ALERT_SECONDS: "3600" });
    const senderOf = (id: SenderId, { address }: { address: string }, own: string) =>
      createSender(sheetOf(id), { url: address, at: receiving.url, secrets: [own], patience: 20 });
    for (let i = 0; i < 3; i++)
      expect((await senderOf("stripe", refused, "another secret").send(stripe.checkout(newFacts()))).attempts).toEqual([401]);
    for (let i = 0; i < 4; i++)
      expect((await senderOf("shopify", paused, secret).send(shopify.order(newFacts()))).attempts).toEqual([503]);
    expect(await receiving.stop()).toBe(0);

    await home.start({ CLEANCAST_ALERT_SECONDS: "1" });
    const sent = () => hook.bodies().map((one) => [one.type, one.kind, one.subject].join(" "));
    const expected = [
      `began wrong signatures ${refused.id}`,
      `began source failing ${paused.id}`,
      `began source silence ${silent.id}`,
    ];
    await eventually("the alerts are sent", () => expected.every((one) => sent().includes(one)));
    // Further checks do not send them again.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(sent().toSorted()).toEqual(expected.toSorted());

    const { open } = await home.run("alert", "list", site.host);
    const texts: string[] = open.map(({ text }: { text: string }) => text);
    expect(texts).toContainEqual(
      expect.stringMatching(/^Stripe: 3 requests with a wrong signature since .* nothing of them is counted\.$/),
    );
    expect(texts).toContainEqual(
      expect.stringMatching(/^The last 4 requests of Shopify got an error, since .* after 8 failures in a row\.$/),
    );
    expect(texts).toContainEqual(expect.stringMatching(/^Stripe has sent no request since /));
    expect(JSON.stringify([open, hook.bodies()])).not.toMatch(/@example|whsec_0f9e2c/);
    const { requests } = await home.run("source", "show", refused.id);
    expect(requests.items.map(({ outcome, reason }: { outcome: string; reason: string }) => `${outcome}: ${reason}`)).toEqual(
      Array.from({ length: 3 }, () => "refused: wrong signature"),
    );
  },
);
