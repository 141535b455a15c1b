// Queries of metrics, /readyz and the doctor, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../../../test/support/databases.ts";
import { newEvent } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import type { DeliveryState, Mode } from "../../kernel/event.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import { probeSchema } from "../schema/schemaProbe.ts";
import { createStore } from "../store.ts";
import { sha256 } from "../../../test/support/sha256.ts";

const now = Date.UTC(2026, 10, 15, 12);
type Given = {
  at?: number;
  mode?: Mode;
  orderId?: string | null;
  email?: string;
  deliveries?: { connectionId: string; state: DeliveryState }[];
};

describe.each(["sqlite", "postgres"] as const)("health and doctor queries on %s", async (engine) => {
  // From an empty database, because the time of the migration is read.
  const { store, close } = await createNodes(engine, freshDatabase);
  afterAll(close);

  async function accept(siteId: string, given: Given = {}): Promise<string> {
    const { at = now, mode = "live", email = "aa", deliveries = [] } = given;
    const id = ulid(at);
    const orderId = given.orderId === undefined ? id : given.orderId;
    const person = { emailSha256: sha256(email) };
    await store.events.accept(
      newEvent(
        siteId,
        { id, receivedAt: at, mode, orderId, person },
        { deliveries: deliveries.map((one) => ({ ...one, platform: "meta", reason: null })) },
      ),
    );
    return id;
  }

  test("the pulse has the schema, the time of its migration, and the database's clock if it has one", async () => {
    const pulse = await store.health.readPulse();
    expect(pulse.schema).toBe(store.migrated.to);
    expect(Math.abs(pulse.migratedAt - Date.now())).toBeLessThan(3_600_000);
    if (engine === "sqlite") expect(pulse.clock).toBeNull();
    else expect(Math.abs((pulse.clock ?? 0) - Date.now())).toBeLessThan(3_600_000);
  });

  test("the backlog is measured per connection, with its oldest event", async () => {
    const siteId = shortId();
    const queued = (connectionId: string) => [{ connectionId, state: "queued" as const }];
    const oldest = await accept(siteId, { at: now - 5000, deliveries: queued("c1") });
    await accept(siteId, { deliveries: queued("c1") });
    await accept(siteId, { deliveries: queued("c2") });
    await accept(siteId, { deliveries: [{ connectionId: "c1", state: "skipped" }] });
    expect(await store.health.measureBacklog(siteId, "c1")).toEqual({
      count: 2,
      dueAt: now - 5000 + 30_000,
      oldestEvent: oldest,
    });
    expect(await store.health.measureBacklog(siteId, "c3")).toEqual({
      count: 0,
      dueAt: null,
      oldestEvent: null,
    });
  });

  test("every active webhook reports its oldest queued period, and a disabled one none", async () => {
    const siteId = shortId();
    const line = (at: number) => ({ siteId, actor: "test", action: "test", detail: {}, at });
    const address = { url: "https://a.example/", secrets: { current: "whsec_b25l", previous: null } };
    const id = shortId();
    await store.webhooks.add(line(now), { siteId, id, sendEmpty: true }, address);
    expect(await store.health.oldestPushes()).toEqual([]);
    for (const quarter of [1, 2]) {
      const heads = await store.periods.listHeads(Number.MAX_SAFE_INTEGER, 0);
      const head = heads.find((one) => one.siteId === siteId);
      if (!head) throw new Error("no head");
      const endsAt = now + quarter * 900_000;
      await store.periods.close({
        siteId,
        number: head.number,
        startsAt: head.endsAt,
        endsAt,
        now,
        dueAt: 0,
      });
    }
    expect(await store.health.oldestPushes()).toEqual([now + 900_000]);
    await store.webhooks.setState(line(now), id, "disabled", "test");
    expect(await store.health.oldestPushes()).toEqual([]);
  });

  test("the doctor reads first events, modes, shared order ids and consent", async () => {
    const siteId = shortId();
    const { doctorQueries } = store;
    expect(await doctorQueries.firstEventAt(siteId)).toBeNull();
    expect(await doctorQueries.countModes(siteId)).toEqual({});
    expect(await doctorQueries.findSharedOrder(siteId)).toBeNull();
    expect(await doctorQueries.hasConsent(siteId)).toBe(false);
    await accept(siteId, { at: now - 1000, orderId: null });
    for (const email of ["aa", "bb", "cc"]) await accept(siteId, { orderId: "N/A", email, mode: "test" });
    await accept(siteId, { orderId: "7", email: "aa" });
    await store.people.change(siteId, (rows) => rows.decide("aa", "operator", "granted", now));
    expect(await doctorQueries.firstEventAt(siteId)).toBe(now - 1000);
    expect(await doctorQueries.countModes(siteId)).toEqual({ live: 2, test: 3 });
    expect(await doctorQueries.findSharedOrder(siteId)).toEqual({ orderId: "N/A", people: 3 });
    expect(await doctorQueries.hasConsent(siteId)).toBe(true);
  });

  test("only PostgreSQL has server settings", async () => {
    const settings = await store.doctorQueries.serverSettings();
    if (engine === "sqlite") return expect(settings).toEqual({});
    expect(Number(settings.max_connections)).toBeGreaterThan(0);
    expect(Number(settings.open_connections)).toBeGreaterThan(0);
    expect(settings.fsync).toMatch(/^(?:on|off)$/);
  });
});

test("a schema probe finds version 0 where there is no database, and the known version after the first start", async () => {
  const location = { engine: "sqlite", file: `${freshFolder()}/store.db` } as const;
  expect((await probeSchema(location)).found).toBe(0);
  const store = await createStore(location, Buffer.alloc(32, 7), ulid);
  await store.close();
  const { found, known } = await probeSchema(location);
  expect(found).toBe(known);
});
