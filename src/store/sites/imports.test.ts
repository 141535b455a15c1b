import { afterAll, describe, expect, test } from "vitest";
import { newEvent, queuedDelivery } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { ulid } from "../../kernel/ids.ts";
import type { AuditLine } from "./audit.ts";
import type { ImportRow, NewImport } from "./imports.ts";
import { finalAt } from "../statistics/statistics.ts";
import { ownedByAny } from "../deliveries/ownership.ts";
import { hourMs } from "../../kernel/time.ts";

const now = Date.UTC(2026, 10, 15);
const line: AuditLine = { siteId: "s", actor: "test", action: "import started", detail: {}, at: now };
const newImport = (id: string): NewImport => ({
  siteId: "s",
  id,
  kind: "conversions",
  file: "orders.csv",
  options: { deliver: "none" },
  tally: { rows: 0 },
});
const leaseOf = (owner: string) => ({ owner, now, until: now + 30_000 });

describe.each(["sqlite", "postgres"] as const)("imports on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);

  const claim = (id: string, seen: ImportRow | null, owner: string) =>
    store.imports.claim(newImport(id), seen, leaseOf(owner), line);

  test("only one of several concurrent processes starts an import, with one audit line", async () => {
    const before = (await store.audit.list("s", 100)).length;
    const got = await Promise.all(["a", "b", "c", "d"].map((owner) => claim("one", null, owner)));
    expect(got.filter((row) => row !== null)).toHaveLength(1);
    expect((await store.audit.list("s", 100)).length - before).toBe(1);
  });

  test("only one of several concurrent processes takes over an abandoned import", async () => {
    const row = await claim("two", null, "dead");
    const got = await Promise.all(["a", "b", "c"].map((owner) => claim("two", row, owner)));
    expect(got.filter((one) => one !== null)).toHaveLength(1);
    // The row has changed since this process read it.
    expect(await claim("two", row, "late")).toBeNull();
  });

  test("only the owner of an import's lease writes its progress", async () => {
    await claim("three", null, "a");
    const key = { siteId: "s", id: "three" };
    expect(await store.imports.save(key, { line: 7, tally: { rows: 6 } }, leaseOf("b"))).toBe(false);
    expect(await store.imports.save(key, { line: 7, tally: { rows: 6 } }, leaseOf("a"))).toBe(true);
    expect(await store.imports.find(key)).toMatchObject({ line: 7, tally: { rows: 6 }, state: "running" });
    await store.imports.end(key, "done", { line: 9, tally: { rows: 8 } }, { owner: "b", now }, line);
    expect(await store.imports.find(key)).toMatchObject({ line: 7, state: "running" });
    await store.imports.end(key, "done", { line: 9, tally: { rows: 8 } }, { owner: "a", now }, line);
    const done = await store.imports.find(key);
    expect(done).toMatchObject({ line: 9, tally: { rows: 8 }, state: "done", owner: "", leaseUntil: 0 });
    // A finished import is not started again.
    expect(await claim("three", done, "a")).toBeNull();
    expect((await store.imports.list("s")).map(({ id }) => id).toSorted()).toContain("three");
    expect(await store.imports.list("other")).toEqual([]);
  });

  test("hours of imported events become due again, unless their figures are final", async () => {
    const [hour, gone] = [Math.floor(now / hourMs) - 50, Math.floor(now / hourMs) - 60];
    await store.statistics.replaceHour("s", hour, [], { rolledAt: now, dueAt: finalAt });
    await store.statistics.replaceHour("s", gone, [], { rolledAt: finalAt, dueAt: finalAt });
    await store.imports.markHours("s", [ulid(hour * hourMs), ulid(gone * hourMs)], now);
    expect(await store.statistics.listDueHours("s", now + hourMs, 10)).toEqual([hour]);
  });

  test("the original of a duplicate is found, and queued deliveries are counted", async () => {
    const item = newEvent(
      "s",
      { receivedAt: now },
      {
        claim: "claim",
        claimUntil: now + 1000,
        deliveries: [queuedDelivery("c1"), { ...queuedDelivery("c2"), state: "parked" }],
        ownership: ownedByAny(now),
      },
    );
    await store.events.accept(item);
    expect(await store.imports.findOriginal(item, now)).toBe(item.event.id);
    expect(await store.imports.findOriginal(item, now + 1000)).toBeNull();
    const elsewhere = { ...item, event: { ...item.event, siteId: "other" } };
    expect(await store.imports.findOriginal(elsewhere, now)).toBeNull();
    expect(await Promise.all(["c1", "c2", "c3"].map((id) => store.imports.countQueued("s", id, 10)))).toEqual([1, 0, 0]);
    expect(await store.imports.countQueued("s", "c1", 0)).toBe(0);
    // The queued delivery has no owner and is due at once.
    const lease = { by: "row", owner: "node", at: now, dueAt: now + 1000 } as const;
    expect(await store.deliveries.claimDue({ siteId: "s", connectionId: "c1" }, lease, 10)).toHaveLength(1);
  });
});
