// OAuth 1.0a with HMAC-SHA1 (RFC 5849). The JSON body is not signed; method, URL, query and oauth_* are.

import { createHmac, timingSafeEqual } from "node:crypto";
import type { Call, Context } from "../shared/standin.ts";

export type Signed = Readonly<Record<string, string | undefined>>;

/** The allowed difference of the sender's clock. */
const clockSeconds = 300;

/** Encodes as RFC 3986 requires: also `! ' ( ) *`, which encodeURIComponent leaves unchanged. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (found) => `%${(found.codePointAt(0) ?? 0).toString(16).toUpperCase()}`);

/** The parameters of `Authorization: OAuth …`, or null. */
export function readSignature(call: Call): Signed | null {
  const header = /^OAuth\s+(.*)$/is.exec(call.headers.authorization ?? "")?.[1];
  if (header === undefined) return null;
  const found: Record<string, string> = {};
  for (const part of header.split(",")) {
    const pair = /^\s*([\w%.~-]+)="([^"]*)"\s*$/.exec(part);
    if (!pair) return null;
    try {
      const name = decodeURIComponent(pair[1] ?? "");
      if (Object.hasOwn(found, name)) return null;
      found[name] = decodeURIComponent(pair[2] ?? "");
    } catch {
      return null;
    }
  }
  return found;
}

function baseString(method: string, address: string, parameters: readonly (readonly [string, string])[]): string {
  const pairs = parameters
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted((one, other) => compare(one[0], other[0]) || compare(one[1], other[1]))
    .map(([name, value]) => `${name}=${value}`);
  return [method.toUpperCase(), encode(address), encode(pairs.join("&"))].join("&");
}

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);

/** Null when the signature is valid, recent and not seen before. */
export function verifySignature(
  call: Call,
  signed: Signed,
  consumerSecret: string,
  tokenSecret: string,
  context: Context,
): string | null {
  const { oauth_signature: given, oauth_nonce: nonce, oauth_timestamp: time } = signed;
  if (signed.oauth_signature_method !== "HMAC-SHA1") return "the signature method is not HMAC-SHA1";
  if ((signed.oauth_version ?? "1.0") !== "1.0") return "the version is not 1.0";
  if (!given || !nonce || !time) return "signature, nonce or timestamp is missing";
  if (!/^\d{10}$/.test(time) || Math.abs(Number(time) - context.now() / 1000) > clockSeconds)
    return "the timestamp is out of bounds";

  const isForm = /^application\/x-www-form-urlencoded\b/i.test(call.headers["content-type"] ?? "");
  const parameters = [
    ...Object.entries(signed).flatMap(([name, value]) =>
      name === "oauth_signature" || name === "realm" || value === undefined ? [] : [[name, value] as const],
    ),
    ...call.query,
    ...(isForm ? new URLSearchParams(call.text) : []),
  ];
  const key = `${encode(consumerSecret)}&${encode(tokenSecret)}`;
  // The sender signs the platform's URL, or the stand-in's when it was configured to call that.
  const isRight = ["https://ads-api.x.com", "https://api.x.com", `http://${call.headers.host ?? ""}`].some((origin) => {
    const expected = createHmac("sha1", key)
      .update(baseString(call.method, origin + call.path, parameters))
      .digest();
    const received = Buffer.from(given, "base64");
    return received.length === expected.length && timingSafeEqual(received, expected);
  });
  if (!isRight) return "the signature does not match";
  // Checked after the signature, so that unsigned calls cannot use up a nonce.
  const nonces = context.remember("x nonces", () => new Map<string, string>());
  const used = `${signed.oauth_consumer_key}/${signed.oauth_token}/${nonce}`;
  if (nonces.get(used) === time) return "the nonce was used before";
  nonces.set(used, time);
  if (nonces.size > 100_000) nonces.delete(nonces.keys().next().value ?? "");
  return null;
}
