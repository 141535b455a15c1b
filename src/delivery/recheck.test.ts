// The second look at jobs that waited, with a real store on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, newEvent, newSite } from "../../test/support/events.ts";
import { leasedUntil } from "../../test/support/lanes.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { sha256Of } from "../../test/support/sha256.ts";
import { erasePerson, setConsent } from "../identity/people.ts";
import { idAt } from "../kernel/ids.ts";
import { createDirectory } from "../sites/directory.ts";
import type { OpenEvent } from "./ownership.ts";
import { toConversion } from "./conversion.ts";
import type { Job } from "./job.ts";
import { recheckWith } from "./recheck.ts";

const now = Date.UTC(2026, 10, 15);
const byRow = leasedUntil(now + 30_000);
const openEvent: OpenEvent = { settle: async () => {}, close() {}, abandon() {}, leaseLeftMs: () => Infinity };

describe.each(["sqlite", "postgres"] as const)("the second look at a waiting job on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);
  const directory = createDirectory(store);
  const siteId = await newSite(store);
  await directory.refresh();
  const recheck = recheckWith({ store, directory });

  /** An accepted event and the job of node-a for it: its first attempt, or a row that it has leased. */
  async function accept(email: string, isFirst: boolean) {
    const item = newEvent(
      siteId,
      { receivedAt: now, person: { emailSha256: sha256Of(email) } },
      { ownership: isFirst ? byNode() : byRow },
    );
    await store.events.accept(item);
    const { event, attribution } = item;
    const conversion = toConversion(event, event.id, attribution);
    const key = { siteId, eventId: event.id, connectionId: "c1" };
    const ownership = isFirst ? { ...byNode(), event: openEvent } : byRow;
    const job: Job = { ...key, conversion, lookedAt: now, attemptsMade: 0, expiresAt: now + 1e9, ownership };
    const request = { siteId, emailSha256: sha256Of(email), actor: "test", now };
    return { job, request };
  }

  test.each([true, false])("a job that nothing happened to is sent (first attempt: %s)", async (isFirst) => {
    const { job } = await accept(`nothing ${isFirst}`, isFirst);
    expect(await recheck([job])).toEqual(new Set());
  });

  test.each([true, false])("nothing of an erased person is sent (first attempt: %s)", async (isFirst) => {
    const { job, request } = await accept(`erased ${isFirst}`, isFirst);
    await erasePerson(store, request);
    expect(await recheck([job])).toEqual(new Set([job]));
  });

  test.each([true, false])("withdrawn consent stops a job (first attempt: %s)", async (isFirst) => {
    const { job, request } = await accept(`withdrawn ${isFirst}`, isFirst);
    const other = await accept(`other ${isFirst}`, isFirst);
    await setConsent(store, request, "denied");
    expect(await recheck([job, other.job])).toEqual(new Set([job]));
    const withoutPerson = { ...job, conversion: { ...job.conversion, person: null } };
    expect(await recheck([withoutPerson])).toEqual(new Set());
  });

  test("a first attempt whose event was taken over is not sent, also when its node claimed the delivery", async () => {
    const { job } = await accept("taken over", true);
    const { eventId, connectionId } = job;
    await store.nodes.takeOver(siteId, { owner: "node-a", lowWater: idAt(now) }, now);
    expect(await recheck([job])).toEqual(new Set([job]));
    const lease = { by: "row", owner: "node-a", at: now, dueAt: now + 60_000 } as const;
    const claimed = await store.deliveries.claimDue({ siteId, connectionId }, lease, 200);
    expect(claimed.map((one) => one.eventId)).toContain(eventId);
    expect(await recheck([job])).toEqual(new Set([job]));
    expect(await recheck([{ ...job, ownership: byRow }])).toEqual(new Set());
  });

  test("a row that another node has claimed is not sent", async () => {
    const { job } = await accept("claimed", false);
    const lease = { by: "row", owner: "node-b", at: now + 30_000, dueAt: now + 60_000 } as const;
    await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease, 200);
    expect(await recheck([job])).toEqual(new Set([job]));
  });
});
