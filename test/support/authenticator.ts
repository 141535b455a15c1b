import { createHmac } from "node:crypto";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const stepMs = 30_000;

/** The code that an authenticator app shows for a base32 secret (RFC 6238), some steps of 30 seconds from now. */
export function authenticatorCode(secret: string, stepsAhead = 0): string {
  const bits = Array.from(secret.toUpperCase().replace(/[^A-Z2-7]/g, ""))
    .map((one) => alphabet.indexOf(one).toString(2).padStart(5, "0"))
    .join("");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / stepMs) + stepsAhead));
  const mac = createHmac("sha1", key).update(counter).digest();
  const start = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(start) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0");
}
