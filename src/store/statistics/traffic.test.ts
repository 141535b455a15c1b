// Counts of visits and the sample of bots, on both engines.

import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { createNodes } from "../../../test/support/nodes.ts";
import type { VisitBucket } from "../../kernel/event.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import { hourMs } from "../../kernel/time.ts";
import type { BotVisit, VisitCount } from "./traffic.ts";

const now = Date.UTC(2026, 10, 15, 12);
const thisHour = now / hourMs;

describe.each(["sqlite", "postgres"] as const)("traffic on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);

  const count = (siteId: string, bucket: VisitBucket, visits: number, more: Partial<VisitCount> = {}) => ({
    siteId,
    hour: thisHour,
    bucket,
    reason: "",
    visits,
    ...more,
  });
  const sums = async (siteId: string) =>
    (await store.traffic.listCounts(siteId, 0, thisHour + 1)).map(({ hour, bucket, reason, visits }) => [
      hour - thisHour,
      bucket,
      reason,
      visits,
    ]);

  test("a writer's counts replace its earlier ones, and those of several writers add up", async () => {
    const siteId = shortId();
    await store.traffic.saveCounts("a", [count(siteId, "people", 3), count(siteId, "bots", 1, { reason: "x:y" })]);
    await store.traffic.saveCounts("a", [count(siteId, "people", 5)]);
    await store.traffic.saveCounts("a", [count(siteId, "people", 5)]);
    await store.traffic.saveCounts("b", [count(siteId, "people", 2)]);
    expect(await sums(siteId)).toEqual([
      [0, "bots", "x:y", 1],
      [0, "people", "", 7],
    ]);
  });

  test("visit counts are read by hour and belong to their site", async () => {
    const [siteId, other] = [shortId(), shortId()];
    for (const hour of [thisHour - 2, thisHour - 1, thisHour])
      await store.traffic.saveCounts("a", [count(siteId, "people", 1, { hour })]);
    await store.traffic.saveCounts("a", [count(other, "people", 9)]);
    const middle = await store.traffic.listCounts(siteId, thisHour - 1, thisHour);
    expect(middle).toEqual([count(siteId, "people", 1, { hour: thisHour - 1 })]);
  });

  test("merging old counts of several writers changes no sum", async () => {
    const siteId = shortId();
    const hour = thisHour - 30;
    for (const writer of ["a", "b", "c"]) {
      await store.traffic.saveCounts(writer, [
        count(siteId, "people", 10, { hour }),
        count(siteId, "bots", 1, { hour, reason: "r" }),
        count(siteId, "people", 4),
      ]);
    }
    const before = await sums(siteId);
    for (let i = 0; i < 3; i++) await store.traffic.purge(siteId, { before: 0, clicksBefore: 0 }, now);
    expect(await sums(siteId)).toEqual(before);
    // A late count of such an hour still adds up.
    await store.traffic.saveCounts("late", [count(siteId, "people", 1, { hour })]);
    await store.traffic.purge(siteId, { before: 0, clicksBefore: 0 }, now);
    expect((await sums(siteId)).find(([at, bucket]) => at === -30 && bucket === "people")?.[3]).toBe(31);
  });

  const bot = (siteId: string, seenAt: number): BotVisit => ({
    siteId,
    id: ulid(seenAt),
    seenAt,
    reason: "user agent:named bot",
    verdict: { bot: true, score: 100, reasons: ["user agent:named bot (Testbot)"], rules: 1 },
    page: "https://shop.example/",
    seen: { userAgent: "Testbot/1.0" },
    click: null,
  });

  test("bot visits read back as they were written, newest first, and are purged", async () => {
    const siteId = shortId();
    const [old, young] = [bot(siteId, now - 20 * 24 * hourMs), bot(siteId, now)];
    for (const visit of [old, young]) await store.traffic.addBotVisit(visit);
    await store.traffic.addBotVisit(young);
    expect(await store.traffic.listBotVisits(siteId, 10)).toEqual([young, old]);
    expect(await store.traffic.listBotVisits(siteId, 1)).toEqual([young]);
    expect(await store.traffic.findBotVisit(siteId, old.id)).toEqual(old);
    expect(await store.traffic.findBotVisit(shortId(), old.id)).toBeNull();
    await store.traffic.purge(siteId, { before: now - 14 * 24 * hourMs, clicksBefore: 0 }, now);
    expect(await store.traffic.listBotVisits(siteId, 10)).toEqual([young]);
  });

  test("bot visits with a click are kept longer, listed by themselves, and deleted with the click's person", async () => {
    const siteId = shortId();
    const clicked = { ...bot(siteId, now - 20 * 24 * hourMs), click: { name: "gclid", value: "g1", campaign: "spring" } };
    const other = { ...bot(siteId, now), click: { name: "msclkid", value: "m1", campaign: "" } };
    for (const visit of [clicked, other, bot(siteId, now - 1)]) await store.traffic.addBotVisit(visit);
    const ages = { before: now - 14 * 24 * hourMs, clicksBefore: now - 30 * 24 * hourMs };
    await store.traffic.purge(siteId, ages, now);
    expect(await store.traffic.listBotVisits(siteId, 10, undefined, "clicks")).toEqual([other, clicked]);
    expect(await store.traffic.listBotVisits(siteId, 10, undefined, "clicks", { from: now - hourMs })).toEqual([other]);
    expect(await store.traffic.listBotVisits(siteId, 10, undefined, "clicks", { to: now })).toEqual([clicked]);
    expect(await store.traffic.listBotVisits(siteId, 10)).toHaveLength(3);
    await store.traffic.eraseClicks(siteId, ["g1", "unknown"]);
    expect(await store.traffic.listBotVisits(siteId, 10, undefined, "clicks")).toEqual([other]);
    await store.traffic.purge(siteId, { ...ages, clicksBefore: now + 1 }, now);
    expect(await store.traffic.listBotVisits(siteId, 10)).toEqual([]);
  });

  test("clicks are summed by day and campaign, apart from visits", async () => {
    const siteId = shortId();
    const day = Math.floor(now / (24 * hourMs));
    const clicks = (bucket: "clicks" | "clicks of bots", hour: number, visits: number) =>
      ({ siteId, bucket, hour: day * 24 + hour, reason: "gclid spring", visits }) as const;
    await store.traffic.saveCounts("a", [clicks("clicks", 0, 3), clicks("clicks", 23, 2), clicks("clicks of bots", 23, 1)]);
    await store.traffic.saveCounts("b", [clicks("clicks", 0, 4), clicks("clicks", 24, 8)]);
    expect(await store.traffic.listClickCounts(siteId, day, day + 1)).toEqual([
      { bucket: "clicks", day, reason: "gclid spring", clicks: 9 },
      { bucket: "clicks of bots", day, reason: "gclid spring", clicks: 1 },
    ]);
    expect(await store.traffic.listCounts(siteId, 0, day * 24 + 48)).toEqual([]);
    expect(await store.traffic.listEvidence(siteId, 0, day * 24 + 48)).toEqual([]);
  });
});

test("an erasure waits for another process that writes to the embedded database", async () => {
  const { store, location, close } = await createNodes("sqlite");
  if (location.engine !== "sqlite") expect.unreachable();
  const other = new DatabaseSync(location.file);
  other.exec("BEGIN IMMEDIATE");
  let isErased = false;
  const erasing = store.traffic.eraseClicks("s", ["g1"]).then(() => (isErased = true));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isErased).toBe(false);
  other.exec("COMMIT");
  other.close();
  await erasing;
  await close();
});
