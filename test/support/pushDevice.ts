// A browser's side of Web Push: makes the keys of a subscription, and decrypts what its push service receives (RFC 8291). It uses the
// browsers' own interface of cryptography, and nothing of the relay.

import { webcrypto } from "node:crypto";

const { subtle } = webcrypto;
const curve = { name: "ECDH", namedCurve: "P-256" } as const;

export type Device = { keys: { p256dh: string; auth: string }; decrypt(body: Buffer): Promise<Record<string, unknown>> };

export async function newDevice(): Promise<Device> {
  const pair = await subtle.generateKey(curve, true, ["deriveBits"]);
  const own = Buffer.from(await subtle.exportKey("raw", pair.publicKey));
  const auth = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)));

  async function derive(secret: Buffer, salt: Buffer, info: Buffer, length: number): Promise<Buffer> {
    const key = await subtle.importKey("raw", new Uint8Array(secret), "HKDF", false, ["deriveBits"]);
    const how = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(salt), info: new Uint8Array(info) };
    return Buffer.from(await subtle.deriveBits(how, key, length * 8));
  }

  return {
    keys: { p256dh: own.toString("base64url"), auth: auth.toString("base64url") },
    async decrypt(body) {
      const [salt, recordSize, idLength] = [body.subarray(0, 16), body.readUInt32BE(16), body.readUInt8(20)];
      const theirs = body.subarray(21, 21 + idLength);
      const sealed = body.subarray(21 + idLength);
      if (sealed.length > recordSize) throw new Error("more than one record");
      const sender = await subtle.importKey("raw", new Uint8Array(theirs), curve, false, []);
      const shared = Buffer.from(await subtle.deriveBits({ name: "ECDH", public: sender }, pair.privateKey, 256));
      const input = await derive(shared, auth, Buffer.concat([Buffer.from("WebPush: info\0"), own, theirs]), 32);
      const key = await derive(input, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
      const iv = await derive(input, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
      const aes = await subtle.importKey("raw", new Uint8Array(key), "AES-GCM", false, ["decrypt"]);
      const plain = Buffer.from(await subtle.decrypt({ name: "AES-GCM", iv: new Uint8Array(iv) }, aes, new Uint8Array(sealed)));
      const end = plain.lastIndexOf(2);
      return JSON.parse(plain.subarray(0, end).toString()) as Record<string, unknown>;
    },
  };
}

/** Verifies the header of VAPID (RFC 8292) with the key that it names; returns the claims and the key. */
export async function readVapid(header = ""): Promise<{ claims: Record<string, unknown>; publicKey: string }> {
  const [, token = "", publicKey = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const signer = { name: "ECDSA", namedCurve: "P-256" } as const;
  const key = await subtle.importKey("raw", new Uint8Array(Buffer.from(publicKey, "base64url")), signer, false, ["verify"]);
  const isValid = await subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    key,
    new Uint8Array(Buffer.from(signature, "base64url")),
    new Uint8Array(Buffer.from(`${head}.${claims}`)),
  );
  if (!isValid) throw new Error("the signature is wrong");
  return { claims: JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>, publicKey };
}
