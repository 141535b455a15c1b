// Creates ids. A node creates them itself, so that it need not ask the database for one.

import { hash, randomBytes, randomFillSync } from "node:crypto";
import type { Event } from "./event.ts";
import { orderKey } from "./reconciliation.ts";

const pool = new Uint32Array(1024);
let used = pool.length;

/** Returns 32 random bits of a pool, because asking for them one by one is expensive. */
function random(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++] ?? 0;
}

// Crockford's base 32 in lower case. Its digits sort before its letters in every collation, so ids sort by time everywhere.
const base32 = "0123456789abcdefghjkmnpqrstvwxyz";

/** The two digits of every number of ten bits. */
const pairs = Array.from({ length: 1024 }, (_, i) => `${base32[i >> 5]}${base32[i & 31]}`);

/** Six digits of 30 bits. */
const sixDigits = (bits: number) => `${pairs[(bits >>> 20) & 1023]}${pairs[(bits >>> 10) & 1023]}${pairs[bits & 1023]}`;

function toBase32(number: number, length: number): string {
  let text = "";
  for (let rest = number; text.length < length; rest = Math.floor(rest / 32)) text = base32[rest % 32] + text;
  return text;
}

/**
 * Makes ULIDs, which sort by time, so that newest-first lists need no index of their own: ten characters for the
 * milliseconds, three that count within one of them, thirteen at random. Monotonic ones never decrease, also when the clock
 * does.
 */
export function createUlids({ isMonotonic }: { isMonotonic: boolean }): (now?: number) => string {
  let lastMs = -1;
  let time = "";
  let sequence = 0;
  return (now = Date.now()) => {
    const isSame = now === lastMs || (isMonotonic && now < lastMs);
    if (isSame && sequence < 0x7fff) {
      sequence += 1;
    } else {
      lastMs = isSame ? lastMs + 1 : now;
      time = toBase32(lastMs, 10);
      // The count begins in the lower half, so that it seldom reaches its end.
      sequence = random() & 0x3fff;
    }
    const count = `${base32[sequence >> 10]}${pairs[sequence & 1023]}`;
    return `${time}${count}${sixDigits(random())}${sixDigits(random())}${base32[random() & 31]}`;
  };
}

/** A secret in the form of Standard Webhooks. */
export const newSigningSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

export const ulid = createUlids({ isMonotonic: false });

/** `idAt` sorts before every id that was created at `ms` or later; `lastId` sorts after every id. */
export const idAt = (ms: number) => `${toBase32(ms, 10)}${"0".repeat(16)}`;
export const lastId = "z".repeat(26);

/** The time at which a ULID was created. */
export function timeOfId(id: string): number {
  let ms = 0;
  for (let at = 0; at < 10; at++) ms = ms * 32 + base32.indexOf(id.charAt(at));
  return ms;
}

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

/** Returns the order event id of an event; null without an order id. */
export function orderEventIdOf({
  siteId,
  name,
  orderId,
  orderEventId: known,
}: Pick<Event, "siteId" | "name" | "orderId" | "orderEventId">): string | null {
  return orderId === null ? null : (known ?? orderEventId(siteId, name, orderId));
}

/**
 * The platform event id of an event with an order id. A browser can compute it too, so that a pixel and the relay report
 * one conversion under one id. It has the form of a UUID because some platforms limit the length.
 */
export function orderEventId(siteId: string, event: string, orderId: string): string {
  const hex = hash("sha256", `${siteId}\n${event.trim().toLowerCase()}\n${orderKey(orderId)}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
