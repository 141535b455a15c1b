import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { cpuMsOf } from "../../test/support/cpuTime.ts";
import { kinds } from "./kinds/index.ts";
import { verify, type Scheme, type SignedRequest } from "./verify.ts";

const now = Date.UTC(2026, 10, 18, 12);
const seconds = String(now / 1000);
const body = Buffer.from('{"id":820982911946154508,"name":"Zoë 🙂"}');
const secret = "s3cret-ü";
const uri = "https://shop.example/__cc/in/token";
const hmac = (message: string | Buffer, encoding: "hex" | "base64", algorithm = "sha256", key: string | Buffer = secret) =>
  createHmac(algorithm, key).update(message).digest(encoding);
const signedBy = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));

type Headers = Record<string, string>;
type SenderRow = {
  /** The kind; the name of the row without it. */
  kind?: string;
  settings?: Record<string, string>;
  secret?: string;
  headers: (at: string, key: string, bytes: Buffer) => Headers;
  signsTime?: boolean;
  /** It proves who sends, and not what. */
  signsNoBody?: boolean;
};
/** A custom source, whose header has this name. */
const ofCustom = (verification: string, value: (key: string, bytes: Buffer) => string): SenderRow => ({
  kind: "custom",
  settings: { verification, signature_header: "X-Own" },
  headers: (_t, key, b) => ({ "x-own": value(key, b) }),
});

/** What each sender writes, by its own documentation. */
const senders: Record<string, SenderRow> = {
  stripe: {
    headers: (t, key, b) => ({ "stripe-signature": `t=${t},v1=${hmac(signedBy(t, ".", b), "hex", "sha256", key)},v0=abc` }),
    signsTime: true,
  },
  shopify: { headers: (_t, key, b) => ({ "x-shopify-hmac-sha256": hmac(b, "base64", "sha256", key) }) },
  woocommerce: { headers: (_t, key, b) => ({ "x-wc-webhook-signature": hmac(b, "base64", "sha256", key) }) },
  calendly: {
    headers: (t, key, b) => ({ "calendly-webhook-signature": `t=${t},v1=${hmac(signedBy(t, ".", b), "hex", "sha256", key)}` }),
    signsTime: true,
  },
  calcom: { headers: (_t, key, b) => ({ "x-cal-signature-256": hmac(b, "hex", "sha256", key) }) },
  typeform: { headers: (_t, key, b) => ({ "typeform-signature": `sha256=${hmac(b, "base64", "sha256", key)}` }) },
  tally: { headers: (_t, key, b) => ({ "tally-signature": hmac(b, "base64", "sha256", key) }) },
  webflow: {
    headers: (t, key, b) => ({
      "x-webflow-timestamp": `${t}000`,
      "x-webflow-signature": hmac(signedBy(`${t}000:`, b), "hex", "sha256", key),
    }),
    signsTime: true,
  },
  callrail: { headers: (_t, key, b) => ({ signature: hmac(b, "base64", "sha1", key) }) },
  paddle: {
    headers: (t, key, b) => ({ "paddle-signature": `ts=${t};h1=${hmac(signedBy(t, ":", b), "hex", "sha256", key)}` }),
    signsTime: true,
  },
  lemonsqueezy: { headers: (_t, key, b) => ({ "x-signature": hmac(b, "hex", "sha256", key) }) },
  hubspot: {
    headers: (t, key, b) => ({
      "x-hubspot-request-timestamp": `${t}000`,
      "x-hubspot-signature-v3": hmac(signedBy("POST", uri, b, `${t}000`), "base64", "sha256", key),
    }),
    signsTime: true,
  },
  "hubspot, second version": {
    kind: "hubspot",
    headers: (_t, key, b) => ({
      "x-hubspot-signature": createHash("sha256")
        .update(signedBy(key, "POST", uri, b))
        .digest("hex"),
    }),
  },
  "hubspot, first version": {
    kind: "hubspot",
    headers: (_t, key, b) => ({ "x-hubspot-signature": createHash("sha256").update(signedBy(key, b)).digest("hex") }),
  },
  "custom, hex": ofCustom("hmac hex", (key, b) => hmac(b, "hex", "sha256", key)),
  "custom, with the algorithm": ofCustom("hmac hex", (key, b) => `sha256=${hmac(b, "hex", "sha256", key)}`),
  "custom, base64": ofCustom("hmac base64", (key, b) => hmac(b, "base64", "sha256", key)),
  "custom, secret in a header": { ...ofCustom("header", (key) => key), signsNoBody: true },
  svix: {
    kind: "standard_webhooks",
    secret: `whsec_${Buffer.from("a key of 24 bytes or more").toString("base64")}`,
    headers: (t, key, b) => ({
      "svix-id": "msg_1",
      "svix-timestamp": t,
      "svix-signature": new Webhook(key).sign("msg_1", new Date(Number(t) * 1000), b.toString()),
    }),
    signsTime: true,
  },
  standard_webhooks: {
    secret: `whsec_${Buffer.from("a key of 24 bytes or more").toString("base64")}`,
    headers: (t, key, b) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": t,
      "webhook-signature": `v1a,xyz ${new Webhook(key).sign("msg_1", new Date(Number(t) * 1000), b.toString())}`,
    }),
    signsTime: true,
  },
  chargebee: {
    headers: (_t, key) => ({ authorization: `Basic ${Buffer.from(`user:${key}`).toString("base64")}` }),
    signsNoBody: true,
  },
  pipedrive: {
    headers: (_t, key) => ({ authorization: `Basic ${Buffer.from(`user:${key}`).toString("base64")}` }),
    signsNoBody: true,
  },
};

const schemesOf = (id: string): readonly Scheme[] => kinds.find((kind) => kind.id === id)?.verification ?? [];
const request = (headers: Headers, bytes = body): SignedRequest => ({
  method: "POST",
  uris: () => ["https://other.example/x", uri],
  headers,
  body: bytes,
});

test("every kind that signs has a row", () => {
  const rows = new Set(Object.entries(senders).map(([name, { kind = name }]) => kind));
  const signing = kinds.filter(({ verification }) => verification.some(({ by }) => by !== "address" && by !== "ed25519"));
  expect([...rows].toSorted()).toEqual(signing.map(({ id }) => id).toSorted());
});

describe.each(Object.entries(senders))("requests of %s", (rowName, row) => {
  const { kind: id = rowName, secret: own = secret, headers, signsTime, signsNoBody, settings = {} } = row;
  const valid =
    (...secrets: string[]) =>
    (setting: string) => {
      const given = settings[setting];
      if (given !== undefined) return [given];
      return setting === "user" ? ["user"] : setting === "signing_secret" || setting === "password" ? secrets : [];
    };
  const check = (given: Headers, { secrets = [own], bytes = body, at = now } = {}) =>
    verify(schemesOf(id), request(given, bytes), valid(...secrets), at);

  test("pass with the right secret, also during a rotation", () => {
    expect(check(headers(seconds, own, body))).toBeNull();
    const other = own.startsWith("whsec_") ? `whsec_${Buffer.from("another key of 24 bytes!").toString("base64")}` : "other";
    expect(check(headers(seconds, own, body), { secrets: [other, own] })).toBeNull();
    expect(check(headers(seconds, own, body), { secrets: [other] })).toBe("wrong signature");
  });

  test("fail without a signature, and with one that is folded from two headers", () => {
    expect(check({})).toBe("no signature");
    const folded = Object.fromEntries(
      Object.entries(headers(seconds, own, body)).map(([name, value]) => [name, `${value}, ${value}`]),
    );
    // Stripe's and Calendly's own form is a list with commas: two times make it ambiguous.
    expect(check(folded)).not.toBeNull();
  });

  test("fail with any flipped bit of body or header", () => {
    const given = headers(seconds, own, body);
    if (!signsNoBody)
      fc.assert(
        fc.property(fc.nat(body.length * 8 - 1), (bit) => {
          const bytes = Buffer.from(body);
          bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          expect(check(given, { bytes })).not.toBeNull();
        }),
      );
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom("0", "1", "A", "b", "=", " "), (at, char) => {
        for (const [name, value] of Object.entries(given)) {
          const place = at % value.length;
          const changed = value.slice(0, place) + char + value.slice(place + 1);
          const isOtherVersion = /v0=|v1a,/.test(value) && !changed.includes(signatureIn(value));
          if (changed === value || (changed.includes(signatureIn(value)) && !isOtherVersion)) continue;
          expect([name, changed, check({ ...given, [name]: changed })]).not.toEqual([name, changed, null]);
        }
      }),
    );
  });

  if (!signsTime) return;
  test("fail when they are older than five minutes, or as far in the future", () => {
    const given = headers(seconds, own, body);
    expect(check(given, { at: now + 299_000 })).toBeNull();
    expect(check(given, { at: now + 301_000 })).toBe("signature too old");
    expect(check(given, { at: now - 299_000 })).toBeNull();
    expect(check(given, { at: now - 301_000 })).toBe("signature from the future");
  });
});

/** The part of a header that proves something. */
const signatureIn = (header: string) => /(?:v1=|h1=|v1,|sha256=|Basic )([A-Za-z0-9+/=]+)/.exec(header)?.[1] ?? header;

test("vectors of vendors: CallRail's kind of signature, and HubSpot's first version", () => {
  const hubspotBody = Buffer.from('[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000}]');
  const key = "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy";
  const v1 = createHash("sha256").update(key).update(hubspotBody).digest("hex");
  const valid = (setting: string) => (setting === "signing_secret" ? [key] : []);
  expect(verify(schemesOf("hubspot"), request({ "x-hubspot-signature": v1 }, hubspotBody), valid, now)).toBeNull();
  const v2 = createHash("sha256").update(`${key}POST${uri}`).update(hubspotBody).digest("hex");
  expect(verify(schemesOf("hubspot"), request({ "x-hubspot-signature": v2 }, hubspotBody), valid, now)).toBeNull();
});

test("an HMAC is Node's own, whatever the length of secret and body", () => {
  const bytesOf = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));
  const secrets = fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 });
  // A secret of a block, of one byte more, and one that is hashed first.
  const examples: [string, Buffer][] = [63, 64, 65, 129].map((length) => ["s".repeat(length), Buffer.alloc(0)]);
  fc.assert(
    fc.property(secrets, bytesOf(300), (own, bytes) => {
      const check = (id: string, header: string, algorithm: string) =>
        verify(schemesOf(id), request({ [header]: hmac(bytes, "base64", algorithm, own) }, bytes), () => [own], now);
      return check("shopify", "x-shopify-hmac-sha256", "sha256") === null && check("callrail", "signature", "sha1") === null;
    }),
    { examples },
  );
});

test("an Ed25519 signature passes for its body alone", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const scheme: Scheme = { by: "ed25519", headers: ["x-ghl-signature"], publicKey: spki };
  const signature = sign(null, body, privateKey).toString("base64");
  const check = (given: string, bytes = body) => verify([scheme], request({ "x-ghl-signature": given }, bytes), () => [], now);
  expect(check(signature)).toBeNull();
  expect(check(signature, Buffer.from("{}"))).toBe("wrong signature");
  expect(check("AAAA")).toBe("wrong signature");
  expect(check(`${signature}, ${signature}`)).toBe("wrong signature");
  const bits = (bytes: Buffer) => fc.nat(bytes.length * 8 - 1);
  const flipped = (bytes: Buffer, bit: number) => {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return changed;
  };
  const raw = Buffer.from(signature, "base64");
  fc.assert(fc.property(bits(body), (bit) => check(signature, flipped(body, bit)) === "wrong signature"));
  fc.assert(fc.property(bits(raw), (bit) => check(flipped(raw, bit).toString("base64")) === "wrong signature"));
  expect(verify([scheme], request({}), () => [], now)).toBe("no signature");
});

test("GoHighLevel's app needs the signature of its own key, its workflow none", () => {
  const valid = (sender: string) => (setting: string) => (setting === "sender" ? [sender] : []);
  expect(verify(schemesOf("gohighlevel"), request({}), valid("workflow"), now)).toBeNull();
  expect(verify(schemesOf("gohighlevel"), request({}), valid("app"), now)).toBe("no signature");
  expect(verify(schemesOf("gohighlevel"), request({ "x-ghl-signature": "A".repeat(88) }), valid("app"), now)).toBe(
    "wrong signature",
  );
});

test("a custom source verifies as its setting says", () => {
  const settings = (verification: string) => (name: string) =>
    ({ verification: [verification], signature_header: ["x-own"], signing_secret: [secret] })[name] ?? [];
  const check = (verification: string, given: string) =>
    verify(schemesOf("custom"), request({ "x-own": given }), settings(verification), now);
  expect(check("hmac hex", hmac(body, "hex"))).toBeNull();
  expect(check("hmac hex", `sha256=${hmac(body, "hex")}`)).toBeNull();
  expect(check("hmac base64", hmac(body, "base64"))).toBeNull();
  expect(check("hmac hex", hmac(body, "base64"))).toBe("wrong signature");
  expect(check("header", secret)).toBeNull();
  expect(check("header", "wrong")).toBe("wrong signature");
  expect(check("address", "")).toBeNull();
});

test("a kind whose optional secret is not set relies on its address; with a secret, the signature is required", () => {
  expect(verify(schemesOf("tally"), request({}), () => [], now)).toBeNull();
  expect(verify(schemesOf("tally"), request({}), () => [secret], now)).toBe("no signature");
});

test("a long body is hashed with a few addresses, and a usual one with all", () => {
  const { headers } = senders.hubspot ?? { headers: () => ({}) };
  const check = (bytes: typeof body, at: number) => {
    const others = Array.from({ length: 200 }, (_, i) => `https://shop${i}.example/x`);
    const signed = {
      ...request(headers(String(Math.floor(now / 1000)), secret, bytes), bytes),
      uris: () => others.with(at, uri),
    };
    const faults: unknown[] = [];
    const valid = (name: string) => (name === "signing_secret" ? [secret] : []);
    expect(cpuMsOf(() => faults.push(verify(schemesOf("hubspot"), signed, valid, now)))).toBeLessThan(300);
    return faults[0];
  };
  expect(check(Buffer.alloc(5000, "a"), 199)).toBeNull();
  expect(check(Buffer.alloc(1_000_000, "a"), 1)).toBeNull();
  expect(check(Buffer.alloc(1_000_000, "a"), 199)).toBe("wrong signature");
});
