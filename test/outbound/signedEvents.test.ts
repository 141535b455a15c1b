// The platform `webhook` signs each conversion: the example receivers of docs/examples verify it, and the secret can be rotated.

import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { installedLanguages, startExample } from "../support/servers/exampleReceivers.ts";
import { freePort } from "../support/servers/freePort.ts";
import { freshEvent } from "../contract/answers.ts";

const host = "shop.example";
const isSigned = (secret: string, { text, headers }: ReceivedRequest) => {
  try {
    return Boolean(new Webhook(secret).verify(text, headers as Record<string, string>));
  } catch {
    return false;
  }
};

let orders = 0;
const nextOrder = () => `signed-${(orders += 1)}`;

let home: Installation;
let relay: Relay;
let key: string;

beforeAll(async () => {
  home = await newInstallation("sqlite");
  ({ key } = await home.addSite(host));
  relay = await home.start();
});

describe("the signing secret on the command line", () => {
  let receiver: Receiver;
  let id: string;
  let first: string;
  beforeAll(async () => void (receiver = await startReceiver()));

  /** Returns the request of a new conversion. */
  async function delivered(): Promise<ReceivedRequest> {
    const orderId = nextOrder();
    await relay.post(key, freshEvent({ orderId }));
    const isIts = ({ text }: ReceivedRequest) => text.includes(`"${orderId}"`);
    await eventually("the conversion is delivered", () => receiver.got.some(isIts));
    return receiver.got.find(isIts) as ReceivedRequest;
  }

  test("connecting creates a signing secret and shows it once", async () => {
    const url = `url=${receiver.url}/orders`;
    ({
      connection: { id },
      newSecret: first,
    } = await home.run("connection", "add", host, "webhook", url));
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await eventually(
      "a conversion reaches the endpoint",
      async () => (await relay.post(key, freshEvent())).text.includes("webhook") && receiver.got.length > 0,
    );
    const request = await delivered();
    expect(isSigned(first, request)).toBe(true);
    expect(request.headers["webhook-id"]).toBe(JSON.parse(request.text).platformEventId);

    expect((await home.run("connection", "add", host, "webhook", url)).newSecret).toBeNull();
    for (const shown of [
      JSON.stringify(await home.run("connection", "list")),
      JSON.stringify(await home.run("site", "show", host)),
      await home.print("connection", "preview", id),
    ])
      expect(shown).not.toContain(first.slice("whsec_".length));
  });

  test("a secret that was given is used, and not repeated", async () => {
    const given = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const other = `url=${receiver.url}/given`;
    const connected = await home.run("connection", "add", host, "webhook", other, `signing_secret=${given}`);
    expect(connected.newSecret).toBeNull();
    const ofIts = ({ path }: ReceivedRequest) => path === "/given";
    await eventually(
      "a conversion reaches the endpoint",
      async () => (await relay.post(key, freshEvent())).status === 200 && receiver.got.some(ofIts),
    );
    expect(isSigned(given, receiver.got.find(ofIts) as ReceivedRequest)).toBe(true);
    const short = await home.fails("connection", "set", connected.connection.id, "signing_secret=whsec_c2hvcnQ=");
    expect(short).toMatchObject({
      error: expect.stringContaining("must be whsec_ and the base64 of 24 to 64 bytes"),
      field: "signing_secret",
    });
    await home.run("connection", "remove", connected.connection.id, "--yes");
  });

  test("after a rotation requests are signed with both secrets, and after two with the last two", async () => {
    const rotated = await home.run("connection", "rotate", id);
    expect(rotated).toEqual({
      secret: expect.stringMatching(/^whsec_/),
      oldUntil: expect.any(Number),
    });
    const { secret: second } = rotated;
    expect(second).not.toBe(first);
    let request = await delivered();
    await eventually("the relay signs with the new secret", async () => isSigned(second, (request = await delivered())));
    expect(isSigned(first, request)).toBe(true);
    const { items: lines } = await home.run("audit", host);
    expect(JSON.stringify(lines)).toContain("signing secret rotated");
    expect(JSON.stringify(lines)).not.toContain(second.slice("whsec_".length));

    const { secret: third } = await home.run("connection", "rotate", id);
    await eventually("the relay signs with the third secret", async () => isSigned(third, (request = await delivered())));
    expect([first, second].map((one) => isSigned(one, request))).toEqual([false, true]);
  });

  test("removing the secret creates another and shows it, because requests are always signed", async () => {
    const { newSecret } = await home.run("connection", "set", id, "signing_secret=");
    await eventually("the relay signs with the new secret", async () => isSigned(newSecret, await delivered()));
    await home.run("connection", "remove", id, "--yes");
  });

  test("only a platform that signs its requests has a secret to rotate", async () => {
    const sandbox = await home.run("connection", "add", host, "sandbox");
    expect(await home.fails("connection", "rotate", sandbox.connection.id)).toMatchObject({
      error: expect.stringContaining("does not sign its requests"),
    });
    expect((await home.fails("connection", "rotate", "none")).error).toContain("none");
  });
});

describe.each(installedLanguages)("the receiver of conversions in $name", (language) => {
  let port: number;
  let id: string;
  let secret: string;
  let output: () => string;

  beforeAll(async () => {
    port = await freePort();
    const url = `url=http://127.0.0.1:${port}/`;
    ({
      connection: { id },
      newSecret: secret,
    } = await home.run("connection", "add", host, "webhook", url));
    output = await startExample(language, "event-receiver", { port, secrets: secret });
  });

  test("the example receiver takes each conversion once, and no test event", async () => {
    let orderId = "";
    await eventually("a conversion arrives", async () => {
      orderId = nextOrder();
      await relay.post(key, freshEvent({ orderId, value: 12.5, currency: "EUR" }));
      return output().includes(`purchase ${orderId} 12.5 EUR`);
    });
    expect(await home.run("connection", "test", id)).toMatchObject({ outcome: "accepted" });
    const filters = [host, "--connection", id, "--order", orderId];
    await home.run("delivery", "replay", ...filters, "--state", "sent", "--yes");
    await eventually("the replay is accepted", async () => {
      const { attempts } = (await home.run("delivery", "list", ...filters)).items[0];
      return attempts === 2;
    });
    // PHP's built-in server writes its own log lines in between.
    const taken = output()
      .split("\n")
      .filter((line) => line.startsWith("purchase"));
    expect(taken).toEqual([...new Set(taken)]);
  });

  test("the example receiver refuses forged, altered and old conversions, and takes one of two signatures", async () => {
    const body = '{"event":"forged","orderId":"F-1","value":1000,"currency":"EUR"}';
    // All requests have one time, because a signature is valid only for its own second.
    const now = new Date();
    const post = (changes: Record<string, string> = {}, sent = body, at = now) =>
      call(`http://127.0.0.1:${port}`, {
        path: "/",
        body: sent,
        headers: {
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(sent)),
          "webhook-id": "id-1",
          "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
          "webhook-signature": new Webhook(secret).sign("id-1", at, body),
          ...changes,
        },
      });
    const signature = new Webhook(secret).sign("id-1", now, body);
    const foreign = new Webhook("d3Jvbmc=").sign("id-1", now, body);
    const forgeries: [string, Promise<{ status: number }>][] = [
      ["no signature", post({ "webhook-signature": "" })],
      ["another secret's signature", post({ "webhook-signature": foreign })],
      ["another version", post({ "webhook-signature": signature.replace("v1,", "v2,") })],
      ["another id", post({ "webhook-id": "id-2" })],
      ["another time", post({ "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 100) })],
      ["no time", post({ "webhook-timestamp": "now" })],
      ["another body", post({}, body.replace("1000", "9999"))],
      ["an old request", post({}, body, new Date(Date.now() - 600_000))],
      ["a request from the future", post({}, body, new Date(Date.now() + 600_000))],
    ];
    for (const [what, answer] of forgeries) expect([what, (await answer).status]).toEqual([what, 401]);
    expect(output()).not.toContain("forged");
    // Two signatures, as during a rotation.
    expect((await post({ "webhook-signature": `${foreign} ${signature}` })).status).toBe(200);
    expect((await post({ "x-cc-test": "true", "webhook-signature": signature })).status).toBe(200);
    await eventually("the conversion is taken", () => output().includes("forged F-1 1000 EUR"));
  });
});
