import { describe, expect, test } from "vitest";
import { cleancast, engines, newHome, post, startRelay } from "../relay.ts";
import { startReceiver } from "../receiver.ts";

describe.each(engines)("first request on %s", (engine) => {
  test("the key of the first start is answered by the sandbox, and a webhook receives the conversion", async () => {
    const home = await newHome(engine);
    const relay = await startRelay(home);
    const receiver = await startReceiver();
    const { sites } = await cleancast(home, "site", "list");
    await cleancast(home, "connect", sites[0].id, "webhook", `url=${receiver.url}/x`);
    await new Promise((r) => setTimeout(r, 1500));
    const answer = await post(relay, relay.key, {
      email: "Ada@Example.com",
      event: "purchase",
      orderId: "1",
      value: 5,
    });
    expect(answer.text).toBe(
      '{"ok":true,"event":"purchase","results":{"sandbox":{"ok":true},"webhook":{"ok":true}}}',
    );
    expect(receiver.bodies()).toHaveLength(1);
    expect(await relay.stop()).toBe(0);
  });
});
