import { describe, expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { engines, newInstallation, type Relay } from "../support/relay.ts";
import { deliveryStates, setUpSite, rows } from "../support/installation.ts";

const processed = '{"ok":true,"event":"purchase","results":{"webhook":{"ok":true}}}';
const deduped = '{"ok":true,"deduped":true}';

// On SQLite one relay uses the data folder; on PostgreSQL two relays share the database.
describe.each(engines)("200 identical requests at once on %s", (engine) => {
  test.each([
    ["with an order id", { orderId: "A-1" }],
    ["without an order id", { value: 12.5 }],
  ])("one of 200 identical requests %s is processed and delivered, 199 are duplicates", async (_title, rest) => {
    const home = await newInstallation(engine);
    const receiver = await startReceiver();
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const relays: Relay[] = [await home.start()];
    if (engine === "postgres") relays.push(await home.start());

    const event = { email: "ada@example.com", event: "purchase", ...rest };
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => (relays[i % relays.length] as Relay).post(key, event)),
    );

    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(answers.filter((answer) => answer.text === processed)).toHaveLength(1);
    expect(answers.filter((answer) => answer.text === deduped)).toHaveLength(199);
    expect(await rows(home, `SELECT id FROM events`)).toHaveLength(1);
    // The processed request was answered after its delivery, and nothing is left to be sent.
    expect(await deliveryStates(home)).toEqual({ sent: 1 });
    expect(receiver.got).toHaveLength(1);
    await Promise.all(relays.map((relay) => relay.stop()));
    expect(receiver.got).toHaveLength(1);
  });
});
