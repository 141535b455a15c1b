// Rejected requests to the demo's inbound endpoint: a sender with mistakes, and one with wrong keys.

import { ulid } from "../../src/kernel/ids.ts";
import { hourMs } from "../../src/kernel/time.ts";
import type { InboundCount } from "../../src/store/statistics/inboundCounts.ts";
import type { RejectedRequest } from "../../src/store/statistics/rejectedRequests.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "./random.ts";
import type { CreatedSite } from "./sites.ts";

const causes = [
  { weight: 5, status: 401, error: "Invalid API key", knowsKey: false },
  { weight: 3, status: 400, error: "value must be a finite JSON number", knowsKey: true },
  { weight: 3, status: 400, error: "email is not an email address", knowsKey: true },
  { weight: 2, status: 400, error: "currency must be an ISO 4217 code such as USD or EUR", knowsKey: true },
  { weight: 1, status: 415, error: "Content-Type must be application/json", knowsKey: true },
];

export async function writeRejectedRequests(
  store: Store,
  random: Random,
  { siteId, keyId, demo }: CreatedSite,
  { from, now }: { from: number; now: number },
  counted: Map<string, InboundCount>,
): Promise<void> {
  const calls: RejectedRequest[] = [];
  for (let i = 0; i < 60; i++) {
    const at = Math.floor(now - random.number() ** 2 * (now - from));
    const { status, error, knowsKey } = random.pickWeighted(causes);
    calls.push({
      siteId,
      id: ulid(at),
      at,
      status,
      error,
      host: random.chance(0.8) ? demo.host : `checkout.${demo.host}`,
      keyId: knowsKey ? keyId : null,
      address: knowsKey ? "198.51.100.0" : "203.0.113.0",
    });
    const hour = Math.floor(at / hourMs);
    const kind = `refused:${status}` as const;
    const key = `${siteId} ${hour} ${kind}`;
    const count = counted.get(key) ?? { siteId, hour, kind, count: 0 };
    count.count += 1;
    counted.set(key, count);
  }
  await store.rejectedRequests.add(calls);
}
