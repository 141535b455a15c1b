// Creates ids. A node creates them itself, so that it need not ask the database for one.

import { hash, randomBytes, randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4096);
let used = pool.length;

function random(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

let lastMs = 0;
let sequence = 0;

/**
 * A UUIDv7 sorts by time, so that newest-first lists need no index of their own. Within one millisecond a node counts up, so
 * that at least its first 2,048 ids sort in the order of their creation.
 */
export function uuidv7(now: number = Date.now()): string {
  const bytes = random(10);
  sequence = now === lastMs ? (sequence + 1) & 0x0fff : bytes.readUInt16BE(0) & 0x07ff;
  lastMs = now;
  const time = now.toString(16).padStart(12, "0");
  const a = (0x7000 | sequence).toString(16);
  const b = ((bytes.readUInt16BE(2) & 0x3fff) | 0x8000).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${bytes.toString("hex", 4, 10)}`;
}

/** `idAt` sorts before every id that was created at `ms` or later; `lastId` sorts after every id. */
export const idAt = (ms: number) =>
  `${ms
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-0000-0000-000000000000`;
export const lastId = "g";

/** Returns the time at which a UUIDv7 was created. */
export const timeOfId = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export function randomBase62(length: number): string {
  let text = "";
  while (text.length < length) {
    // 248 = 4 × 62: larger bytes would make the first characters more frequent.
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}

/** Makes ten letters and digits for sites, keys and connections: short, because every row contains the site's id. */
export function shortId(): string {
  return randomBase62(10).toLowerCase();
}

export function toBase62(number: number, length: number): string {
  let text = "";
  for (let rest = number; text.length < length; rest = Math.floor(rest / 62)) text = base62[rest % 62] + text;
  return text;
}

/**
 * The platform event id of an event with an order id. A browser can compute it too, so that a pixel and the relay report
 * one conversion under one id. It has the form of a UUID because some platforms limit the length.
 */
export function orderEventId(siteId: string, event: string, orderId: string): string {
  const hex = hash("sha256", `${siteId}\n${event.trim().toLowerCase()}\n${orderId}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
