// A small load on PostgreSQL, from two nodes at once: everything is there once, and how fast it went is printed.

import { expect, test } from "vitest";
import { openNodes } from "../../test/support/nodes.ts";
import { uuidv7 } from "../kernel/ids.ts";
import type { NewEvent } from "./events/events.ts";
import { sha256 } from "../../test/support/sha256.ts";

/** `npm run test:store -- DATABASE_URL` has more. */
const events = Number(process.env["STORE_LOAD_EVENTS"] ?? 400);
const siteCount = 8;

const attribution = { consent: "unknown", withheld: null, identity: "none", clickIds: {}, browserIds: {}, utm: {}, browser: null } as const; // prettier-ignore

function newEvent(i: number, owner: string, now: number): NewEvent {
  const siteId = `load-${i % siteCount}`;
  const id = uuidv7(now);
  return {
    event: { id, siteId, keyId: "k", mode: "live", name: "purchase", value: 5, currency: "EUR", orderId: `o-${i}`, time: now, receivedAt: now, person: { emailSha256: sha256("e".repeat(64)) }, extra: null },
    attribution,
    filterReasons: [],
    claim: `claim-${i}`,
    claimUntil: now + 3_600_000,
    orderEventId: null,
    deliveries: [{ connectionId: "c1", platform: "sandbox", state: "queued", reason: null }],
    owner,
    // Due at once: workers take them from each other's hands.
    leaseUntil: 0,
  }; // prettier-ignore
}

test("two nodes accept each event once, and deliver each once", { timeout: 300_000 }, async () => {
  const { store, other, close } = await openNodes("postgres");
  try {
    const now = Date.now();
    const startedAt = performance.now();
    const won = { accepted: 0, duplicate: 0 };
    for (let at = 0; at < events; at += 200) {
      const some = Array.from({ length: Math.min(200, events - at) }, (_, i) => at + i);
      const answers = await Promise.all(
        some.flatMap((i) => [
          store.events.accept(newEvent(i, "node-a", now)),
          other.events.accept(newEvent(i, "node-b", now)),
        ]),
      );
      for (const { duplicate } of answers) won[duplicate ? "duplicate" : "accepted"] += 1;
    }
    const acceptedMs = performance.now() - startedAt;
    expect(won).toEqual({ accepted: events, duplicate: events });

    const claimed = new Map<string, number>();
    const deliveringFrom = performance.now();
    const work = async (node: typeof store, owner: string) => {
      for (let site = 0; site < siteCount; site += 1) {
        const due = { siteId: `load-${site}`, connectionId: "c1" };
        for (;;) {
          const at = Date.now();
          const lease = { now: at, owner, until: at + 600_000, limit: 20 };
          const hand = await node.deliveries.claimDue(due, lease);
          for (const { siteId, eventId } of hand) {
            const key = `${siteId} ${eventId}`;
            claimed.set(key, (claimed.get(key) ?? 0) + 1);
          }
          await Promise.all(
            hand.map((one) =>
              node.deliveries.settle({ ...one, owner, state: "sent", reason: null, dueAt: 0, attempts: 1, at, attempt: null }),
            ),
          ); // prettier-ignore
          if (hand.length === 0) break;
        }
      }
    };
    await Promise.all([work(store, "a1"), work(store, "a2"), work(other, "b1"), work(other, "b2")]);
    expect(claimed.size).toBe(events);
    expect([...claimed.values()].every((times) => times === 1)).toBe(true);
    const rate = (ms: number) => Math.round((events / ms) * 1000);
    console.log(
      `load: ${events} events on ${siteCount} sites, two nodes: ${rate(acceptedMs)} accepted/s, ${rate(performance.now() - deliveringFrom)} delivered/s`,
    );
  } finally {
    await close();
  }
});
