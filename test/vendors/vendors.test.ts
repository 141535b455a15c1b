// The vendors' own code, as sender to a real relay and as judge of the stand-ins of standins/senders: `npm run test:vendors`
// installs it, in a folder of its own, and runs this file. Without it the tests are skipped.

import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { beforeAll, describe, expect, test } from "vitest";
import { post, prepare, type Prepared } from "../../standins/senders/sender.ts";
import { sheetOf, type SenderId } from "../../standins/senders/sheets.ts";
import { ed25519 } from "../../standins/senders/signatures.ts";
import { newFacts, secretsOf, stories, type Story } from "../sources/stories.ts";
import { newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";

const isInstalled = existsSync(new URL("node_modules/stripe", import.meta.url));
if (!isInstalled) console.log("The vendors' packages are not installed: npm run test:vendors installs them.");
const load = createRequire(import.meta.url);
// oxlint-disable-next-line typescript/no-explicit-any -- the packages are installed on demand, so that their types are not there
const vendor = (name: string): any => load(name);

/** A 64-bit number, an umlaut and an emoji: what a re-serialised body would change. */
const oddBody = '{"id":820982911946154508, "name":"Zoë 🙂","price":1.50}';
const now = () => Date.now();
const seconds = () => Math.floor(now() / 1000);

type Signed = { headers: Record<string, string> };
type Signer = (body: string, secret: string, url: string) => Promise<Signed> | Signed;

/** How the vendor's code signs. */
const signers: Partial<Record<SenderId, Signer>> = {
  stripe: (payload, secret) => ({
    headers: { "stripe-signature": vendor("stripe").webhooks.generateTestHeaderString({ payload, secret }) },
  }),
  shopify: async (body, secret) => {
    vendor("@shopify/shopify-api/adapters/node");
    const { getHmac } = vendor("@shopify/shopify-api/test-helpers");
    return { headers: { "x-shopify-hmac-sha256": await getHmac(body, secret) } };
  },
  hubspot: (requestBody, clientSecret, url) => {
    const timestamp = now();
    const options = { clientSecret, requestBody, url, method: "POST", timestamp };
    return {
      headers: {
        "x-hubspot-request-timestamp": String(timestamp),
        "x-hubspot-signature-v3": vendor("@hubspot/api-client").Signature.getSignature("POST", "v3", options),
      },
    };
  },
  "hubspot v1": (requestBody, clientSecret, url) => ({
    headers: {
      "x-hubspot-signature": vendor("@hubspot/api-client").Signature.getSignature("POST", "v1", {
        clientSecret,
        requestBody,
        url,
        method: "POST",
      }),
    },
  }),
  "standard webhooks": (body, secret) => {
    const [id, at] = [`msg_${now()}`, new Date(seconds() * 1000)];
    const signature = new (vendor("standardwebhooks").Webhook)(secret).sign(id, at, body);
    return { headers: { "webhook-id": id, "webhook-timestamp": String(at.getTime() / 1000), "webhook-signature": signature } };
  },
  svix: (body, secret) => {
    const [id, at] = [`msg_${now()}`, new Date(seconds() * 1000)];
    const signature = new (vendor("svix").Webhook)(secret).sign(id, at, body);
    return { headers: { "svix-id": id, "svix-timestamp": String(at.getTime() / 1000), "svix-signature": signature } };
  },
};

type Judge = (sent: Prepared, secret: string) => Promise<boolean> | boolean;
const passes = (check: () => unknown): boolean => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};
const text = ({ body }: Prepared) => body.toString();
const hubspotJudge =
  (version: "v1" | "v2" | "v3", header: string): Judge =>
  (sent, clientSecret) =>
    vendor("@hubspot/api-client").Signature.isValid({
      signatureVersion: version,
      signature: sent.headers[header],
      method: "POST",
      clientSecret,
      requestBody: text(sent),
      url: sent.url,
      timestamp: Number(sent.headers["x-hubspot-request-timestamp"] ?? 0),
    });

/** How the vendor's code judges a request of the stand-in. */
const judges: readonly (readonly [vendor: string, SenderId, Judge])[] = [
  [
    "Stripe",
    "stripe",
    (sent, secret) => passes(() => vendor("stripe").webhooks.constructEvent(sent.body, sent.headers["stripe-signature"], secret)),
  ],
  ["HubSpot, third version", "hubspot", hubspotJudge("v3", "x-hubspot-signature-v3")],
  ["HubSpot, second version", "hubspot", hubspotJudge("v2", "x-hubspot-signature")],
  ["HubSpot, first version", "hubspot v1", hubspotJudge("v1", "x-hubspot-signature")],
  [
    "Standard Webhooks",
    "standard webhooks",
    (sent, secret) => passes(() => new (vendor("standardwebhooks").Webhook)(secret).verify(text(sent), sent.headers)),
  ],
  ["Svix", "svix", (sent, secret) => passes(() => new (vendor("svix").Webhook)(secret).verify(text(sent), sent.headers))],
  [
    "Paddle",
    "paddle",
    (sent, secret) =>
      new (vendor("@paddle/paddle-node-sdk").Paddle)("none").webhooks.isSignatureValid(
        text(sent),
        secret,
        sent.headers["paddle-signature"],
      ),
  ],
  [
    "Webflow",
    "webflow",
    (sent, secret) =>
      new (vendor("webflow-api").WebflowClient)({ accessToken: "none" }).webhooks.verifySignature({
        headers: sent.headers,
        body: text(sent),
        secret,
      }),
  ],
];

describe.skipIf(!isInstalled)("vendors' code", () => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  beforeAll(async () => {
    home = await newInstallation("sqlite");
    site = await home.addSite("shop.example");
    relay = await home.start();
  });
  const storyOf = (id: SenderId): Story => stories.find(({ sender }) => sender === id) as Story;

  test.each(Object.entries(signers) as [SenderId, Signer][])("what the code of %s signs is counted", async (id, sign) => {
    const story = storyOf(id);
    const secret = story.secret?.value ?? "";
    const settings = [...story.settings, `signing_secret=${secret}`];
    const { address: url } = await home.run("source", "add", site.host, sheetOf(id).kind, ...settings);
    const facts = newFacts();
    const [message] = story.sale(facts);
    const own = message?.body(1);
    const body = typeof own === "string" ? own : JSON.stringify({ ...(own as object), note: "Zoë 🙂" });
    const { headers } = await sign(body, secret, url);
    const send = async (bytes: string, mark = headers) => {
      const plain = { host: site.host, "content-type": "application/json", ...message?.headers, ...mark };
      return (await post({ timeout: { totalMs: 60_000 } }, { url, headers: plain, body: Buffer.from(bytes) }, { at: relay.url }))
        ?.status;
    };
    expect(await send(body.replace("example.com", "example.org"))).toBe(401);
    expect(await send(body, (await sign(body, "whsec_YW5vdGhlciBvbmU=", url)).headers)).toBe(401);
    expect(await send(body)).toBe(200);
    const { orderId } = story.expected(facts);
    expect((await home.run("event", "list", site.host, "--order", orderId)).items).toHaveLength(1);
  });

  test.each(judges)("the code of %s accepts what the stand-in of %s signs, and nothing else", async (_, id, judge) => {
    const secret = storyOf(id).secret?.value ?? "";
    // Paddle's code takes signatures for five seconds, which is not much on a busy machine; a minute ahead suits them all.
    const signedAt = now() + 60_000;
    const sent = prepare(sheetOf(id), oddBody, { url: "https://shop.example/__cc/in/token", secrets: [secret], signedAt });
    expect(await judge(sent, secret)).toBe(true);
    expect(await judge({ ...sent, body: Buffer.from(oddBody.replace("Zoë", "Zoe")) }, secret)).toBe(false);
    expect(await judge(sent, "whsec_YW5vdGhlciBvbmU=")).toBe(false);
  });

  test("the code of Shopify accepts what its stand-in signs, and nothing else", async () => {
    vendor("@shopify/shopify-api/adapters/node");
    const { shopifyApi, ApiVersion } = vendor("@shopify/shopify-api");
    const api = shopifyApi({
      apiKey: "key",
      apiSecretKey: "a secret",
      hostName: "shop.example",
      apiVersion: Object.values(ApiVersion).at(-1),
      isEmbeddedApp: false,
      scopes: [],
    });
    const [message] = storyOf("shopify").sale(newFacts());
    const sent = prepare(sheetOf("shopify"), message?.body(1), {
      url: "https://shop.example/__cc/in/token",
      secrets: ["a secret"],
      headers: message?.headers,
    });
    const judge = async (rawBody: string) =>
      (await api.webhooks.validate({ rawBody, rawRequest: { headers: sent.headers }, rawResponse: {} })).valid as boolean;
    expect(await judge(text(sent))).toBe(true);
    expect(await judge(`${text(sent)} `)).toBe(false);
  });

  test("the code of Chargebee accepts what its stand-in writes, and nothing else", async () => {
    const [secret = ""] = secretsOf(storyOf("chargebee"));
    const [user = "", ...rest] = secret.split(":");
    const sent = prepare(sheetOf("chargebee"), oddBody, { url: "https://shop.example/", secrets: [secret] });
    const judge = (password: string) =>
      vendor("chargebee")
        .basicAuthValidator((name: string, given: string) => name === user && given === password)(sent.headers)
        .then(
          () => true,
          () => false,
        ) as Promise<boolean>;
    expect(await judge(rest.join(":"))).toBe(true);
    expect(await judge("another")).toBe(false);
  });

  test("the code of GoHighLevel accepts the form in which the stand-in signs", () => {
    // The vendor's own private key is not ours to have: the form is shown with another pair.
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const { HighLevel } = vendor("@gohighlevel/api-client");
    const { webhooks } = new HighLevel({ privateIntegrationToken: "none" });
    const sign = ed25519("x-ghl-signature", privateKey);
    const sent = prepare({ ...sheetOf("gohighlevel"), sign }, oddBody, { url: "https://shop.example/", secrets: [] });
    const key = publicKey.export({ type: "spki", format: "pem" });
    const judge = (body: string) => webhooks.verifyEd25519Signature(body, sent.headers["x-ghl-signature"], key) as boolean;
    expect(judge(oddBody)).toBe(true);
    expect(judge(`${oddBody} `)).toBe(false);
  });
});
