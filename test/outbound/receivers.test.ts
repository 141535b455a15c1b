// The example receivers of docs/examples, each run for real: the relay pushes to it, and forgeries are refused.

import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { call, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { installedLanguages, startExample } from "../support/servers/exampleReceivers.ts";
import { freePort } from "../support/servers/freePort.ts";
import { freshEvent } from "../contract/answers.ts";

describe.each(installedLanguages)("the receiver in $name", (language) => {
  let home: Installation;
  let relay: Relay;
  let port: number;
  let key: string;
  let id: string;
  let secret: string;
  let output: () => string;

  beforeAll(async () => {
    port = await freePort();
    home = await newInstallation("sqlite", {
      CLEANCAST_PUSH_SECONDS: "1",
      CLEANCAST_PUSH_RETRY_SECONDS: "0.2",
    });
    ({ key } = await home.addSite("shop.example"));
    ({
      webhook: { id },
      secret,
    } = await home.run("webhook", "add", "shop.example", `http://127.0.0.1:${port}/`));
    output = await startExample(language, "receiver", { port, secrets: `whsec_bmV4dA==,${secret}` });
    relay = await home.start();
  });

  test("the example receiver counts each push of the relay once, and no test push", async () => {
    for (let i = 0; i < 2; i++) expect((await relay.post(key, freshEvent())).status).toBe(200);
    const totals = '{"conversions":2,"bot_traffic_removed":0}';
    await eventually("the totals were pushed", () => output().includes(totals));
    expect(await home.run("webhook", "test", id)).toMatchObject({ ok: true, httpStatus: 200 });
    const { pushes } = await home.run("webhook", "show", id, "--limit", "200");
    expect(pushes.items.every((line: { ok: boolean }) => line.ok)).toBe(true);
    const at = (offset: number) => new Date(Date.now() + offset).toISOString();
    await home.run("webhook", "replay", id, "--from", at(-60_000), "--to", at(0));
    // PHP's built-in server writes its own log lines in between.
    const lines = () =>
      output()
        .split("\n")
        .filter((line) => line.includes('"conversions"'));
    const before = lines().length;
    await eventually("the replay arrives", () => lines().length > before + 3);
    expect(lines().at(-1)).toContain(totals);
  });

  test("the example receiver refuses forged, altered and old pushes", async () => {
    const body = '{"conversions":1000,"bot_traffic_removed":0}';
    const push = (changes: Record<string, string> = {}, sent = body, at = new Date()) =>
      call(`http://127.0.0.1:${port}`, {
        path: "/",
        body: sent,
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(sent)),
          "webhook-id": "test_1",
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": new Webhook(secret).sign("test_1", at, body),
          "x-cc-test": "true",
          ...changes,
        },
      });
    expect((await push()).status).toBe(200);
    const signature = new Webhook(secret).sign("test_1", new Date(), body);
    const forgeries: [string, Promise<{ status: number }>][] = [
      ["no bearer", push({ authorization: "" })],
      ["another bearer", push({ authorization: `Bearer ${secret}x` })],
      ["the bare secret", push({ authorization: secret })],
      ["no signature", push({ "webhook-signature": "" })],
      ["another secret's signature", push({ "webhook-signature": new Webhook("d3Jvbmc=").sign("test_1", new Date(), body) })],
      ["another version", push({ "webhook-signature": signature.replace("v1,", "v2,") })],
      ["another id", push({ "webhook-id": "test_2" })],
      ["another time", push({ "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 100) })],
      ["no time", push({ "webhook-timestamp": "now" })],
      ["another body", push({}, body.replace("1000", "9999"))],
      ["an old message", push({}, body, new Date(Date.now() - 600_000))],
      ["a message from the future", push({}, body, new Date(Date.now() + 600_000))],
    ];
    for (const [what, answer] of forgeries) expect([what, (await answer).status]).toEqual([what, 401]);
    expect(output()).not.toContain("1000");
    // Two signatures, as during a change of the secret.
    const both = `v1,AAAA ${new Webhook(secret).sign("test_1", new Date(), body)}`;
    expect((await push({ "webhook-signature": both })).status).toBe(200);
  });
});
