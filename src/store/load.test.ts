// A small load on PostgreSQL, from two nodes at once: everything is there once, and how fast it went is printed.

import { expect, test } from "vitest";
import { newEvent } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";

/** `npm run test:store -- DATABASE_URL` sends more. */
const events = Number(process.env["STORE_LOAD_EVENTS"] ?? 400);
const siteCount = 8;

const loadEvent = (i: number, owner: string, now: number) =>
  newEvent(
    `load-${i % siteCount}`,
    { receivedAt: now, orderId: `o-${i}` },
    // Due at once: workers claim them concurrently.
    { claim: `claim-${i}`, ownership: { by: "row", owner, at: now, dueAt: 0 } },
  );

test("two nodes accept each event once, and deliver each once", { timeout: 300_000 }, async () => {
  const { store, other, close } = await createNodes("postgres");
  try {
    const now = Date.now();
    const startedAt = performance.now();
    const won = { accepted: 0, duplicate: 0 };
    for (let at = 0; at < events; at += 200) {
      const some = Array.from({ length: Math.min(200, events - at) }, (_, i) => at + i);
      const answers = await Promise.all(
        some.flatMap((i) => [store.events.accept(loadEvent(i, "node-a", now)), other.events.accept(loadEvent(i, "node-b", now))]),
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
          const lease = { by: "row", owner, at: at, dueAt: at + 600_000 } as const;
          const batch = await node.deliveries.claimDue(due, lease, 20);
          for (const { siteId, eventId } of batch) {
            const key = `${siteId} ${eventId}`;
            claimed.set(key, (claimed.get(key) ?? 0) + 1);
          }
          await Promise.all(
            batch.map((one) =>
              node.deliveries.settle({ ...one, owner, state: "sent", reason: null, dueAt: 0, attempts: 1, at, attempt: null }),
            ),
          );
          if (batch.length === 0) break;
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
