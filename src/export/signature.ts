// Signs a request to an S3-compatible store (AWS Signature Version 4, one chunk, headers only).

import { createHash, createHmac } from "node:crypto";

export type S3Credentials = { keyId: string; secret: string; region: string };

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();

/** Encodes a key as S3 does: everything but the unreserved characters, and the slashes stay. */
export const encodeKey = (key: string) =>
  encodeURIComponent(key)
    .replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%2F", "/");

/** Returns the headers of the request, the signature among them. The address has an encoded path and no query. */
export function signRequest(
  { method, url, body }: { method: string; url: URL; body: Uint8Array },
  { keyId, secret, region }: S3Credentials,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const signed: Record<string, string> = {
    host: url.host,
    "x-amz-content-sha256": sha256(body),
    "x-amz-date": time,
  };
  const names = Object.keys(signed).toSorted();
  const canonical = [
    method,
    url.pathname,
    "",
    ...names.map((name) => `${name}:${signed[name]?.trim()}`),
    "",
    names.join(";"),
    signed["x-amz-content-sha256"],
  ].join("\n");
  const key = ["aws4_request", "s3", region, day].reduceRight<string | Buffer>((from, part) => hmac(from, part), `AWS4${secret}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${keyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return { ...signed, authorization };
}
