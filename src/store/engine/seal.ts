// Seals values at rest with AES-256-GCM. A sealed text is bound to its place, so that a value copied from one row into another
// cannot be opened there.

import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from "node:crypto";

export type Seal = {
  seal(plain: string, place: string): string;
  unseal(sealed: string, place: string): string;
};

/** The first key seals. While the key is changed there is a second one, which only opens. */
export type Keys = () => readonly Buffer[];

const version = "v1.";

/** A cipher takes four times as long to make from bytes as from a key object. */
const keyObjects = new WeakMap<Buffer, KeyObject>();

function keyObjectOf(key: Buffer): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, known);
  return known;
}

export function sealWith(key: Buffer | Keys): Seal {
  const keys = typeof key === "function" ? key : () => [key];
  return {
    seal(plain, place) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", keyObjectOf(keys()[0] as Buffer), nonce).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return version + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64url");
    },
    unseal(sealed, place) {
      if (!sealed.startsWith(version)) throw new Error("not a sealed value");
      const bytes = Buffer.from(sealed.slice(version.length), "base64url");
      let failure: unknown;
      for (const one of keys()) {
        try {
          return unsealWith(one, bytes, place);
        } catch (error) {
          failure ??= error;
        }
      }
      throw failure;
    },
  };
}

function unsealWith(key: Buffer, bytes: Buffer, place: string): string {
  const decipher = createDecipheriv("aes-256-gcm", keyObjectOf(key), bytes.subarray(0, 12), {
    authTagLength: 16,
  })
    .setAAD(Buffer.from(place))
    .setAuthTag(bytes.subarray(12, 28));
  return decipher.update(bytes.subarray(28), undefined, "utf8") + decipher.final("utf8");
}

/** Returns null where none of the keys opens it. */
export function tryUnseal(seal: Seal, sealed: string, place: string): string | null {
  try {
    return seal.unseal(sealed, place);
  } catch {
    return null;
  }
}

/** Derives a secret for one purpose from the installation's key. */
export const secretFor = (purpose: string, key: Buffer) => Buffer.from(hkdfSync("sha256", key, "", purpose, 32)).toString("hex");
