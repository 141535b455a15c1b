// How each sender proves itself, as its own documents say.

import { createHash, createHmac, sign as signWith, type KeyObject } from "node:crypto";
import type { ToSign } from "./sheet.ts";

type Part = string | Buffer;

const digest = (algorithm: "sha256" | "sha1", key: Part, encoding: "hex" | "base64", parts: readonly Part[]) => {
  const hash = createHmac(algorithm, key);
  for (const part of parts) hash.update(part);
  return hash.digest(encoding);
};

const seconds = (at: number) => String(Math.floor(at / 1000));
/** Where a sender signs with one secret only, it is the newer one. */
const newest = (secrets: readonly string[]) => secrets[0] ?? "";

type BodyOptions = { prefix?: string; algorithm?: "sha256" | "sha1" };

/** `HEADER: PREFIX` and the HMAC of the body. */
export const ofBody =
  (header: string, encoding: "hex" | "base64", { prefix = "", algorithm = "sha256" }: BodyOptions = {}) =>
  ({ body, secrets }: ToSign) => ({ [header]: prefix + digest(algorithm, newest(secrets), encoding, [body]) });

/** `HEADER: t=TIME,v1=…,v1=…`, over the time, a separator and the body; one signature for each secret. */
export const timed =
  (header: string, names: { time: string; signature: string; separator: string; joinedBy: string }) =>
  ({ body, secrets, at }: ToSign) => {
    const time = seconds(at);
    const signatures = secrets.map((key) => `${names.signature}=${digest("sha256", key, "hex", [time, names.joinedBy, body])}`);
    return { [header]: [`${names.time}=${time}`, ...signatures].join(names.separator) };
  };

export function webflow({ body, secrets, at }: ToSign) {
  const time = String(at);
  return {
    "x-webflow-timestamp": time,
    "x-webflow-signature": digest("sha256", newest(secrets), "hex", [`${time}:`, body]),
  };
}

export function hubspotV3({ method, url, body, secrets, at }: ToSign) {
  const time = String(at);
  return {
    "x-hubspot-request-timestamp": time,
    "x-hubspot-signature-v3": digest("sha256", newest(secrets), "base64", [method, url, body, time]),
  };
}

const hubspotHash = (parts: readonly Part[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

export const hubspotV2 = ({ method, url, body, secrets }: ToSign) => ({
  "x-hubspot-signature-version": "v2",
  "x-hubspot-signature": hubspotHash([newest(secrets), method, url, body]),
});

export const hubspotV1 = ({ body, secrets }: ToSign) => ({
  "x-hubspot-signature-version": "v1",
  "x-hubspot-signature": hubspotHash([newest(secrets), body]),
});

/** The secret is `USER:PASSWORD`. */
export const basic = ({ secrets }: ToSign) => ({
  authorization: `Basic ${Buffer.from(newest(secrets)).toString("base64")}`,
});

/** The id of a message is part of the signature, so that a repeat of the same body has the same id. */
export const standardWebhooks =
  (prefix: "webhook" | "svix") =>
  ({ body, secrets, at }: ToSign) => {
    const id = `msg_${createHash("sha256").update(body).digest("hex").slice(0, 24)}`;
    const time = seconds(at);
    const one = (secret: string) =>
      `v1,${digest("sha256", Buffer.from(secret.replace("whsec_", ""), "base64"), "base64", [`${id}.${time}.`, body])}`;
    return {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: time,
      [`${prefix}-signature`]: secrets.map(one).join(" "),
    };
  };

/** Only the sender has the private key: no test can sign as it does, except with another key. */
export const ed25519 =
  (header: string, privateKey: KeyObject) =>
  ({ body }: ToSign) => ({ [header]: signWith(null, body, privateKey).toString("base64") });
