// Web Push: encrypts a message for one browser (RFC 8291), and signs the request so that its push service knows who sends (VAPID,
// RFC 8292). The push service sees neither text nor site.

import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  sign,
  type ECDH,
  type JsonWebKey,
} from "node:crypto";
import type { PushSubscription } from "../../store/access/pushDevices.ts";

/** Push services take a body of 4,096 bytes: the header has 86, the padding mark 1, the authentication tag 16. */
const maxPlainBytes = 4096 - 86 - 1 - 16;
const validSeconds = 12 * 3600;

/** Makes the key pair of an installation, as a JSON Web Key. */
export const newPushKey = (): string =>
  JSON.stringify(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }));

/** Returns the public half, which a browser subscribes with. */
export function publicPushKey(key: string): string {
  const { x = "", y = "" } = JSON.parse(key) as JsonWebKey;
  return Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]).toString("base64url");
}

type Ephemeral = { own?: ECDH; salt?: Buffer };

/** `own` and `salt` are new for each message. Throws where a key of the browser is no point of the curve. */
export function encryptPush(
  text: string,
  keys: PushSubscription["keys"],
  { own = newPair(), salt = randomBytes(16) }: Ephemeral = {},
) {
  const plain = Buffer.from(text);
  if (plain.length > maxPlainBytes) throw new Error(`a push message of ${plain.length} bytes is too long`);
  const [theirs, auth] = [Buffer.from(keys.p256dh, "base64url"), Buffer.from(keys.auth, "base64url")];
  const mine = own.getPublicKey();
  const derive = (secret: Buffer, from: Buffer, info: Buffer | string, length: number) =>
    Buffer.from(hkdfSync("sha256", secret, from, info, length));
  const shared = derive(own.computeSecret(theirs), auth, Buffer.concat([Buffer.from("WebPush: info\0"), theirs, mine]), 32);
  const key = derive(shared, salt, "Content-Encoding: aes128gcm\0", 16);
  const cipher = createCipheriv("aes-128-gcm", key, derive(shared, salt, "Content-Encoding: nonce\0", 12));
  const recordSize = Buffer.alloc(4);
  recordSize.writeUInt32BE(4096);
  // The mark of the last record; no padding follows it.
  const sealed = [cipher.update(plain), cipher.update(Buffer.of(2)), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, recordSize, Buffer.of(mine.length), mine, ...sealed]);
}

function newPair(): ECDH {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  return pair;
}

/** Returns the header that names this installation to the push service. */
export function pushAuthorization(key: string, endpoint: string, publicUrl: string, now: number): string {
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(now / 1000) + validSeconds,
    // Whom the push service may ask about our messages. It must be public.
    ...(publicUrl.startsWith("https:") ? { sub: publicUrl } : {}),
  };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ typ: "JWT", alg: "ES256" })}.${encode(claims)}`;
  const privateKey = createPrivateKey({ key: JSON.parse(key) as JsonWebKey, format: "jwk" });
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicPushKey(key)}`;
}
