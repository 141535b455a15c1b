// Reads the pushes of the outbound webhook as a receiver does: the totals, once for each id.

import { Webhook } from "standardwebhooks";
import type { ReceivedRequest } from "./receiver.ts";

export type Push = { id: string; conversions: number; removed: number; from: number; to: number };

/** Reads one push, and fails unless it is exactly as promised: method, type, bearer, signature, period, body. */
export function readPush(got: ReceivedRequest, secret: string): Push {
  const header = (name: string) => String(got.headers[name]);
  if (got.method !== "POST") throw new Error(`method ${got.method}`);
  if (header("content-type") !== "application/json") throw new Error("content type");
  if (header("authorization") !== `Bearer ${secret}`) throw new Error("bearer");
  new Webhook(secret).verify(got.text, {
    "webhook-id": header("webhook-id"),
    "webhook-timestamp": header("webhook-timestamp"),
    "webhook-signature": header("webhook-signature"),
  });
  const body = /^\{"conversions":(\d+),"bot_traffic_removed":(\d+)\}$/.exec(got.text);
  if (!body) throw new Error(`body ${got.text}`);
  const period = /^(\S+Z)\/(\S+Z)$/.exec(header("x-cc-period"));
  if (!period) throw new Error("period");
  return {
    id: header("webhook-id"),
    conversions: Number(body[1]),
    removed: Number(body[2]),
    from: Date.parse(period[1] as string),
    to: Date.parse(period[2] as string),
  };
}

/** Sums the pushed totals, each id once; fails where one id was pushed with different numbers. */
export function sumOf(pushes: readonly Push[]): { conversions: number; removed: number } {
  const once = new Map<string, Push>();
  for (const one of pushes) {
    const known = once.get(one.id);
    if (known && JSON.stringify(known) !== JSON.stringify(one)) throw new Error(`${one.id} was pushed with different totals`);
    once.set(one.id, one);
  }
  const sum = { conversions: 0, removed: 0 };
  for (const { conversions, removed } of once.values()) {
    sum.conversions += conversions;
    sum.removed += removed;
  }
  return sum;
}

/** True when each period begins where the one before ended. */
export function areInOrder(pushes: readonly Push[]): boolean {
  return pushes.every((one, i) => i === 0 || one.from === pushes[i - 1]?.to);
}
