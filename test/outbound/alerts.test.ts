// Alerts of a running relay, and of two relays on one database: each goes out by mail and webhook once when the problem begins
// and once when it is over.

import { beforeAll, describe, expect, test } from "vitest";
import { rows } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { startMailServer, type MailServer } from "../support/servers/mailServer.ts";

describe.each(engines)("alerts on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let platform: Receiver;
  let hook: Receiver;
  let mail: MailServer;
  let site: TestSite;

  beforeAll(async () => {
    [platform, hook, mail] = [await startReceiver(), await startReceiver(), await startMailServer()];
    home = await newInstallation(engine, {
      CLEANCAST_SMTP_URL: mail.url,
      CLEANCAST_MAIL_FROM: "Cleancast <cc@example.com>",
      CLEANCAST_ALERT_SECONDS: "1",
    });
    site = await home.addSite("shop.example", "alert_emails=ops@example.com", `alert_webhook=${hook.url}/T0K3N`);
    relay = await home.start();
    if (engine === "postgres") await home.start();
  });

  test("alert test sends through every channel and reports each result", async () => {
    expect(await home.run("alert", "test", "shop.example")).toEqual({
      channels: [
        { channel: "mail", to: "ops@example.com", ok: true, error: null },
        { channel: "webhook", to: `${hook.url}/…`, ok: true, error: null },
      ],
    });
    expect(mail.got).toMatchObject([
      {
        from: "cc@example.com",
        to: ["ops@example.com"],
        subject: "[Cleancast] shop.example: test alert",
      },
    ]);
    expect(hook.bodies()).toMatchObject([{ type: "test", site: { host: "shop.example" } }]);

    mail.rejectsRecipients = true;
    hook.behave = (_got, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    expect(await home.print("alert", "test", "shop.example")).toMatch(
      /^CHANNEL {2}TO +RESULT\nmail .*refuses the sender or a recipient\nwebhook .*HTTP 302\n$/,
    );
    mail.rejectsRecipients = false;
    hook.behave = (_got, response) => response.writeHead(200).end();
  });

  test("refused credentials send one alert, and renewed credentials one more, also with two nodes", async () => {
    // The webhook platform has no sign-in: Segment's write key is refused with 401.
    platform.behave = (_got, response) => response.writeHead(401).end("{}");
    const connect = (key: string) =>
      home.run("connection", "add", "shop.example", "segment", "source=acme/web", `base_url=${platform.url}`, `write_key=${key}`);
    const {
      connection: { id },
    } = await connect("a".repeat(32));
    await eventually("the delivery is parked", async () => {
      await relay.post(site.key, {
        email: "ada@example.com",
        event: "purchase",
        orderId: String(Math.random()),
      });
      const { items: deliveries } = await home.run("delivery", "list", "shop.example", "--state", "parked");
      return deliveries.length > 0;
    });
    const alertsSent = () => hook.bodies().filter((one) => one.subject === id);
    await eventually("the webhook receives the alert", () => alertsSent().length > 0);
    await eventually("the mail arrives", () => mail.got.some((one) => one.subject.includes("needs reconnection")));
    const { open } = await home.run("alert", "list");
    expect(open).toMatchObject([{ kind: "needs reconnection", subject: id, endedAt: null, failed: [] }]);
    expect(await home.print("alert", "list", "shop.example")).toContain(
      `then: cleancast connection set ${id} write_key=@write_key.txt`,
    );

    platform.behave = (_got, response) => response.writeHead(200).end('{"success":true}');
    await connect("b".repeat(32));
    await eventually("the alert is over", () => alertsSent().some((one) => one.type === "over"));
    // Further checks by every node must not send the alert again.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(alertsSent().map((one) => one.type)).toEqual(["began", "over"]);
    expect(mail.got.filter((one) => one.subject.includes("needs reconnection"))).toHaveLength(2);
    expect(await home.print("alert", "list")).toBe("No open alerts.\n");
    expect((await home.run("alert", "list", "--all")).over).toMatchObject([{ subject: id }]);
    expect(JSON.stringify([mail.got, hook.bodies()])).not.toMatch(/ada@|T0K3N/);
  });

  test("a flood of wrong keys raises an alert, and valid keys pass", async () => {
    const wrong = `cc_${"0".repeat(38)}`;
    for (let n = 0; n < 12; n++) await relay.post(wrong, {}, { Host: "shop.example" });
    await eventually("the alert is sent", () => hook.bodies().some((one) => one.kind === "wrong keys"));
    expect(hook.bodies().find((one) => one.kind === "wrong keys")).toMatchObject({
      type: "began",
      subject: "shop.example",
    });
    const event = { email: "ada@example.com", event: "lead" };
    expect((await relay.post(site.key, event, { Host: "shop.example" })).status).toBe(200);
  });

  test("alert settings are validated, and the webhook's path is never shown", async () => {
    const { items: set } = await home.run("site", "set", "shop.example", `alert_webhook=${hook.url}/T0K3N`);
    const valueOf = (name: string) => set.find((one: { name: string }) => one.name === name).value;
    expect([valueOf("alert_webhook"), valueOf("alert_emails")]).toEqual([`${hook.url}/…`, "ops@example.com"]);
    expect(JSON.stringify(await home.run("site", "list"))).not.toContain("T0K3N");
    expect(JSON.stringify(await rows(home, "SELECT settings FROM sites"))).not.toContain("T0K3N");
    expect(JSON.stringify(await home.run("audit", "shop.example"))).not.toMatch(/T0K3N|ops@/);
    expect(await home.fails("site", "set", "shop.example", "alert_webhook=http://10.0.0.1/x")).toMatchObject({
      error: "alert_webhook must use https (CLEANCAST_ALLOW_PRIVATE opens hosts for plain http).",
    });
    expect(await home.fails("site", "set", "shop.example", "alert_webhook=https://10.0.0.1/x")).toMatchObject({
      error: "alert_webhook leads to a private address (CLEANCAST_ALLOW_PRIVATE opens it).",
    });
  });

  test("alert test without a channel names the settings to set", async () => {
    await home.run("site", "add", "quiet.example");
    expect(await home.fails("alert", "test", "quiet.example")).toMatchObject({
      error:
        "No alert recipient is configured: set alert_emails or alert_webhook. For example: cleancast site set quiet.example alert_emails=ops@example.com",
    });
  });
});
