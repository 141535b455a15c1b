// The second look at jobs that waited, with a real store on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newEvent, newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { sha256Of } from "../../test/support/sha256.ts";
import { erasePerson, setConsent } from "../identity/people.ts";
import { idAt } from "../kernel/ids.ts";
import { createDirectory } from "../sites/directory.ts";
import { toConversion, type Job } from "./plan.ts";
import { recheckWith } from "./recheck.ts";

const now = Date.UTC(2026, 10, 15);

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
      { leaseUntil: isFirst ? null : now + 30_000 },
    );
    await store.events.accept(item);
    const { event, attribution } = item;
    const conversion = toConversion(event, event.id, attribution);
    const key = { siteId, eventId: event.id, connectionId: "c1" };
    const times = { attemptsMade: 0, expiresAt: now + 1e9, leaseUntil: now + 30_000 };
    const job: Job = { ...key, conversion, ...times, owner: "node-a" };
    const request = { siteId, emailSha256: event.person.emailSha256, actor: "test", now };
    return { waiting: { job, isFirst }, request };
  }

  test.each([true, false])("a job that nothing happened to is sent (first attempt: %s)", async (isFirst) => {
    const { waiting } = await accept(`nothing ${isFirst}`, isFirst);
    expect(await recheck([waiting])).toEqual(new Set());
  });

  test.each([true, false])("nothing of an erased person is sent (first attempt: %s)", async (isFirst) => {
    const { waiting, request } = await accept(`erased ${isFirst}`, isFirst);
    await erasePerson(store, request);
    expect(await recheck([waiting])).toEqual(new Set([waiting.job]));
  });

  test.each([true, false])("withdrawn consent stops a job (first attempt: %s)", async (isFirst) => {
    const { waiting, request } = await accept(`withdrawn ${isFirst}`, isFirst);
    const other = await accept(`other ${isFirst}`, isFirst);
    await setConsent(store, request, "denied");
    expect(await recheck([waiting, other.waiting])).toEqual(new Set([waiting.job]));
    const { conversion } = waiting.job;
    const withoutPerson = {
      ...waiting,
      job: { ...waiting.job, conversion: { ...conversion, person: null } },
    };
    expect(await recheck([withoutPerson])).toEqual(new Set());
  });

  test("a first attempt whose event was taken over is not sent, also when its node claimed the delivery", async () => {
    const { waiting } = await accept("taken over", true);
    const { eventId, connectionId } = waiting.job;
    await store.nodes.takeOver(siteId, { owner: "node-a", lowWater: idAt(now) }, now);
    expect(await recheck([waiting])).toEqual(new Set([waiting.job]));
    const lease = { now, owner: "node-a", until: now + 60_000, limit: 200 };
    const claimed = await store.deliveries.claimDue({ siteId, connectionId }, lease);
    expect(claimed.map((one) => one.eventId)).toContain(eventId);
    expect(await recheck([waiting])).toEqual(new Set([waiting.job]));
    expect(await recheck([{ ...waiting, isFirst: false }])).toEqual(new Set());
  });

  test("a row that another node has claimed is not sent", async () => {
    const { waiting } = await accept("claimed", false);
    const lease = { now: now + 30_000, owner: "node-b", until: now + 60_000, limit: 200 };
    await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease);
    expect(await recheck([waiting])).toEqual(new Set([waiting.job]));
  });
});
