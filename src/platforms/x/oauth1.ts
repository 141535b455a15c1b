// OAuth 1.0a signatures (RFC 5849) with HMAC-SHA1. A signature covers the method, the URL and the header; a JSON body is not
// part of the base string.

import { createHmac } from "node:crypto";

type OAuth1Keys = {
  consumerKey: string;
  consumerSecret: string;
  token: string;
  tokenSecret: string;
};

export type Parameter = readonly [name: string, value: string];

/** Encodes as RFC 3986 requires: also `! ' ( ) *`, which encodeURIComponent leaves unchanged. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns the text to sign: the method, the URL without its query, and every parameter of query and header, sorted. */
export function signatureBase(method: string, address: string, parameters: readonly Parameter[]): string {
  const url = new URL(address);
  const encoded = [...url.searchParams, ...parameters].map(
    ([name, value]) => [percentEncode(name), percentEncode(value)] as const,
  );
  // The RFC sorts by bytes. Encoded text is ASCII, so its code units are bytes.
  const joined = encoded
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  return [method.toUpperCase(), `${url.origin}${url.pathname}`, joined].map(percentEncode).join("&");
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export function hmacSha1(base: string, consumerSecret: string, tokenSecret: string): string {
  const key = `${percentEncode(consumerSecret)}&${percentEncode(tokenSecret)}`;
  return createHmac("sha1", key).update(base).digest("base64");
}

/** Returns the Authorization header. A nonce must never be used twice with the same timestamp, in seconds. */
export function oauth1Header(
  request: { method: string; url: string },
  keys: OAuth1Keys,
  { nonce, timestamp }: { nonce: string; timestamp: number },
): string {
  const parameters: Parameter[] = [
    ["oauth_consumer_key", keys.consumerKey],
    ["oauth_nonce", nonce],
    ["oauth_signature_method", "HMAC-SHA1"],
    ["oauth_timestamp", String(timestamp)],
    ["oauth_token", keys.token],
    ["oauth_version", "1.0"],
  ];
  const base = signatureBase(request.method, request.url, parameters);
  const signature = hmacSha1(base, keys.consumerSecret, keys.tokenSecret);
  const shown = [...parameters, ["oauth_signature", signature] as const];
  return `OAuth ${shown.map(([name, value]) => `${name}="${percentEncode(value)}"`).join(", ")}`;
}
