// Sealing at rest: AES-256-GCM. A sealed text is bound to the place it belongs to, so that a value copied from
// one row into another cannot be opened there.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

export type Seal = {
  close(plain: string, place: string): string;
  open(sealed: string, place: string): string;
};

const version = "v1.";

export function sealWith(key: Buffer): Seal {
  return {
    close(plain, place) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
      return version + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString("base64url");
    },
    open(sealed, place) {
      if (!sealed.startsWith(version)) throw new Error("not a sealed value");
      const bytes = Buffer.from(sealed.slice(version.length), "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(place))
        .setAuthTag(bytes.subarray(12, 28));
      return decipher.update(bytes.subarray(28), undefined, "utf8") + decipher.final("utf8");
    },
  };
}
