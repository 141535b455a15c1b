// Whole requests that are kept, the erasure of people, and requests that wait.

import { afterAll, describe, expect, test } from "vitest";
import { auditLine, newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { ulid } from "../../kernel/ids.ts";
import { dayMs, minuteMs } from "../../kernel/time.ts";
import { erasedAction } from "./sourceRequests.ts";

describe.each(["sqlite", "postgres"] as const)("kept requests on %s", async (engine) => {
  const { store, other, close } = await createNodes(engine);
  afterAll(close);

  const shapeOf = (siteId: string, at: number) => ({ siteId, sourceId: "src1", id: ulid(at), at, type: "", shape: "[]" });
  const kept = async (siteId: string) =>
    (await store.sourceRequests.listShapes(siteId, "src1", Date.now())).map(({ request }) => request);
  const erase = async (siteId: string) => {
    await store.audit.add({ ...auditLine(siteId), action: erasedAction, at: Date.now() });
    await store.sourceRequests.forgetRequests(siteId);
  };

  test("a request that a node held in memory while a person was erased is not kept", async () => {
    const siteId = await newSite(store);
    const at = Date.now();
    await erase(siteId);
    await other.sourceRequests.addShape({ ...shapeOf(siteId, at), request: "before" });
    expect(await kept(siteId)).toEqual([null]);
    await other.sourceRequests.addShape({ ...shapeOf(siteId, at + 10 * minuteMs), request: "after" });
    expect((await kept(siteId)).toSorted()).toEqual(["after", null].toSorted());
  });

  test("an erasure and the writing of requests at the same moment leave none", async () => {
    const siteId = await newSite(store);
    const at = Date.now();
    for (let round = 0; round < 10; round++) {
      const writing = Array.from({ length: 5 }, () => other.sourceRequests.addShape({ ...shapeOf(siteId, at), request: "x" }));
      await Promise.all([...writing, erase(siteId)]);
      expect(await kept(siteId)).not.toContain("x");
    }
  });

  test("a request waits until its look-up ends, whatever is purged, and then nothing of it is left", async () => {
    const siteId = await newSite(store);
    const at = Date.now();
    const about = { reason: "look-up", detail: null, type: "", deliveryId: null, eventId: null };
    const request = { ...about, siteId, sourceId: "src1", id: ulid(at), at, outcome: "waiting", dueAt: at, attempts: 0 } as const;
    expect(await store.sourceRequests.addWaiting([{ ...request, waiting: '{"a":1}' }])).toEqual([]);
    const due = (now: number) => other.sourceRequests.listDue(siteId, "src1", { isLookUp: true, now, limit: 10 });
    expect(await due(at - 1)).toEqual([]);
    expect(await due(at)).toMatchObject([{ id: request.id, waiting: '{"a":1}', attempts: 0 }]);
    const refused = { outcome: "waiting", reason: "look-up", detail: "the key is not valid", eventId: null } as const;
    await store.sourceRequests.noteLookUp(request, { ...refused, dueAt: at + 1000 });
    expect(await due(at)).toEqual([]);
    await store.sourceRequests.purge(siteId, "src1", at + 40 * dayMs);
    expect(await due(at + 1000)).toMatchObject([{ detail: "the key is not valid", waiting: '{"a":1}', attempts: 1 }]);
    await store.sourceRequests.noteLookUp(request, { ...about, outcome: "accepted", eventId: "e", dueAt: null });
    expect(await due(at + dayMs)).toEqual([]);
    const [listed] = await store.sourceRequests.list(siteId, "src1", { limit: 9 });
    expect(listed).toMatchObject({ outcome: "accepted", eventId: "e", dueAt: null, attempts: 2 });
  });

  test("however many sales wait, refunds and look-ups may wait as well", async () => {
    const siteId = await newSite(store);
    const at = Date.now();
    const some = (reason: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        siteId,
        sourceId: "src1",
        id: ulid(at),
        at,
        outcome: "waiting" as const,
        reason,
        detail: null,
        type: String(i),
        deliveryId: null,
        eventId: null,
        dueAt: at,
        attempts: 0,
        waiting: "{}",
      }));
    expect(await store.sourceRequests.addWaiting(some("unknown customer", 9999))).toEqual([]);
    const mixed = [
      ...some("unknown customer", 1),
      ...some("unknown order", 1),
      ...some("other refunds", 2),
      ...some("look-up", 2),
    ];
    expect(await store.sourceRequests.addWaiting(mixed)).toEqual(mixed.slice(0, 2));
    expect(await store.sourceRequests.addWaiting(some("other refunds", 9998))).toEqual([]);
    const [excess = expect.unreachable()] = some("other refunds", 1);
    expect(await store.sourceRequests.addWaiting([excess])).toEqual([excess]);
    expect(await store.sourceRequests.addWaiting(some("look-up", 1))).toEqual([]);
    expect(await store.sourceRequests.addWaiting(some("unknown customer", 1))).toEqual([]);
  });
});
