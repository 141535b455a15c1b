// Totals, periods and pushes on both engines: every conversion and every removal is in exactly one period.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, auditLine, newEvent as eventWith, unattributed } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import type { FilterReason, Mode } from "../../kernel/event.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import type { Period } from "./periods.ts";
import type { PushCall } from "./pushes.ts";

const now = Date.UTC(2026, 10, 15, 12);
const quarter = 15 * 60_000;
const bot: FilterReason = { code: "only bot visits", detail: "user agent" };
const address = {
  url: "https://receiver.example/hook?token=s3cret",
  secrets: { current: "whsec_b25l", previous: null },
};

describe.each(["sqlite", "postgres"] as const)("totals and periods on %s", async (engine) => {
  const { store, other, close: closeNodes } = await createNodes(engine);
  afterAll(closeNodes);

  const line = (siteId: string, at = now) => auditLine(siteId, "test", at);

  async function addWebhook(siteId: string, sendEmpty = true, at = now): Promise<string> {
    const id = shortId();
    await store.webhooks.add(line(siteId, at), { siteId, id, sendEmpty }, address);
    return id;
  }

  const newEvent = (
    siteId: string,
    { mode = "live", reasons = [], owner = "node" }: { mode?: Mode; reasons?: FilterReason[]; owner?: string } = {},
  ) => eventWith(siteId, { receivedAt: now, mode }, { filterReasons: reasons, ownership: byNode(owner), deliveries: [] });

  const soFar = async (siteId: string) => {
    const open = await store.periods.readOpen(siteId);
    return [open?.conversions, open?.removed];
  };

  let quarters = 0;
  /** Closes the open period, whatever the time, as `node` would. */
  async function close(siteId: string, node = store, dueAt = 0): Promise<Period | null> {
    const heads = await store.periods.listHeads(Number.MAX_SAFE_INTEGER, 0);
    const head = heads.find((one) => one.siteId === siteId);
    if (!head) throw new Error("no head");
    quarters += 1;
    const endsAt = now + quarters * quarter;
    return node.periods.close({ siteId, number: head.number, startsAt: head.endsAt, endsAt, now, dueAt });
  }

  describe("totals", () => {
    test("totals count live conversions and live events filtered as bots, and nothing else", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      await Promise.all([
        store.events.accept(newEvent(siteId)),
        store.events.accept(newEvent(siteId, { owner: "other node" })),
        other.events.accept(newEvent(siteId)),
        store.events.accept(newEvent(siteId, { mode: "test" })),
        store.events.accept(newEvent(siteId, { mode: "test", reasons: [bot] })),
        store.events.accept(newEvent(siteId, { reasons: [bot] })),
        store.events.accept(newEvent(siteId, { reasons: [{ code: "blocked person", detail: null }] })),
        store.events.accept(newEvent(siteId, { reasons: [{ code: "disposable domain", detail: "x" }, bot] })),
      ]);
      expect(await soFar(siteId)).toEqual([3, 2]);
    });

    test("totals count neither a duplicate nor an event that is written again after an unconfirmed commit", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      const event = newEvent(siteId);
      await store.events.accept(event);
      expect(await store.events.accept(event)).toMatchObject({ duplicate: false });
      const sameClaim = { ...newEvent(siteId), claim: event.claim };
      expect(await store.events.accept(sameClaim)).toEqual({ duplicate: true });
      expect(await soFar(siteId)).toEqual([1, 0]);
    });

    test("equal requests on two nodes at the same moment are one conversion", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      const claims = Array.from({ length: 20 }, () => shortId());
      await Promise.all(
        claims.flatMap((claim) =>
          [store, other].map((node, i) => node.events.accept({ ...newEvent(siteId, { owner: `node ${i}` }), claim })),
        ),
      );
      expect(await soFar(siteId)).toEqual([20, 0]);
    });

    test("a released event becomes a conversion once; that it was removed stays counted", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      const release = (eventId: string, at: number) =>
        store.events.release({
          siteId,
          eventId,
          attribution: unattributed,
          deliveries: [],
          orderEventId: null,
          claimUntil: now,
          now: at,
        });
      const filtered = newEvent(siteId, { reasons: [bot] });
      const tested = newEvent(siteId, { mode: "test", reasons: [bot] });
      for (const item of [filtered, tested]) await store.events.accept(item);
      for (const { event } of [filtered, tested]) {
        expect(await release(event.id, now)).toEqual([]);
        // As after a commit that was not confirmed.
        expect(await release(event.id, now)).toEqual([]);
        expect(await release(event.id, now + 1)).toBeNull();
      }
      expect(await soFar(siteId)).toEqual([1, 1]);
    });

    test("bot visits are an all-time count per process: repeated and late reports change nothing", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      const report = (writer: string, bots: number) =>
        store.traffic.saveCounts(
          writer,
          [{ siteId, hour: 1, bucket: "bots", reason: "x", visits: bots }],
          new Map([[siteId, bots]]),
        );
      await report("a", 3);
      await report("a", 5);
      await report("a", 5);
      await report("a", 4);
      await report("b", 2);
      await store.events.accept(newEvent(siteId, { owner: "a", reasons: [bot] }));
      expect(await soFar(siteId)).toEqual([0, 8]);
    });

    test("totals do not count visits of people, and belong to their site", async () => {
      const [siteId, neighbour] = [shortId(), shortId()];
      await addWebhook(siteId);
      await addWebhook(neighbour);
      const counts = [
        { siteId, hour: 1, bucket: "people" as const, reason: "", visits: 9 },
        { siteId: neighbour, hour: 1, bucket: "bots" as const, reason: "x", visits: 4 },
      ];
      await store.traffic.saveCounts("a", counts, new Map([[neighbour, 4]]));
      expect(await soFar(siteId)).toEqual([0, 0]);
      expect(await soFar(neighbour)).toEqual([0, 4]);
    });
  });

  describe("closing", () => {
    test("a period holds what came since the last one, and the next begins where it ended", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      await store.events.accept(newEvent(siteId));
      const first = await close(siteId);
      expect(first).toMatchObject({ number: 1, conversions: 1, removed: 0, startsAt: now });
      await store.events.accept(newEvent(siteId));
      await store.events.accept(newEvent(siteId, { reasons: [bot] }));
      const second = await close(siteId);
      expect(second).toMatchObject({ number: 2, conversions: 1, removed: 1, startsAt: first?.endsAt });
      expect(await close(siteId)).toMatchObject({ number: 3, conversions: 0, removed: 0 });
    });

    test("events before the first webhook are in no period", async () => {
      const siteId = shortId();
      await store.events.accept(newEvent(siteId));
      await addWebhook(siteId);
      await store.events.accept(newEvent(siteId));
      // A second webhook does not start new periods.
      await addWebhook(siteId);
      expect(await close(siteId)).toMatchObject({ conversions: 1 });
    });

    test("a site that had no webhook for a while starts new periods", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await store.webhooks.remove(line(siteId), id);
      await store.events.accept(newEvent(siteId));
      expect((await store.periods.listHeads(Number.MAX_SAFE_INTEGER, 0)).map((one) => one.siteId)).not.toContain(siteId);
      await addWebhook(siteId, true, now + 5);
      await store.events.accept(newEvent(siteId));
      expect(await close(siteId)).toMatchObject({ startsAt: now + 5, conversions: 1 });
    });

    test("only one of several concurrent nodes closes a period, and an outdated head closes nothing", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      await store.events.accept(newEvent(siteId));
      const closing = { siteId, number: 0, startsAt: 0, endsAt: now, now, dueAt: 0 };
      const closed = await Promise.all([store, other, store, other].map((node) => node.periods.close(closing)));
      expect(closed.filter((one) => one !== null)).toHaveLength(1);
      expect(await store.periods.close(closing)).toBeNull();
      expect(await close(siteId)).toMatchObject({ number: 2, conversions: 0 });
    });

    test("every event is in exactly one period while two nodes accept and close", async () => {
      const siteId = shortId();
      await addWebhook(siteId);
      const total = 300;
      let accepted = 0;
      const periods: Period[] = [];
      const sending = Promise.all(
        [store, other].map(async (node, i) => {
          for (let n = 0; n < total / 2; n++) {
            const reasons = n % 3 === 0 ? [bot] : [];
            await node.events.accept(newEvent(siteId, { owner: `node ${i}`, reasons }));
            accepted += 1;
            // Otherwise one loop would never yield to the other on the embedded store.
            await new Promise((resolve) => setImmediate(resolve));
          }
        }),
      );
      while (accepted < total) {
        const closed = await Promise.all([close(siteId, store), close(siteId, other)]);
        periods.push(...closed.filter((one) => one !== null));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await sending;
      periods.push((await close(siteId)) as Period);
      const sum = (key: "conversions" | "removed") => periods.reduce((all, one) => all + one[key], 0);
      expect(periods.length).toBeGreaterThan(3);
      expect([sum("conversions"), sum("removed")]).toEqual([200, 100]);
      const numbers = periods.map((one) => one.number).toSorted((one, next) => one - next);
      expect(numbers).toEqual(periods.map((_, i) => i + 1));
    });

    test("periods may repeat hours after a clock was set back", async () => {
      const siteId = shortId();
      const webhookId = await addWebhook(siteId);
      const at = { startsAt: now, endsAt: now + quarter, now, dueAt: 0 };
      for (const number of [0, 1, 2]) expect(await store.periods.close({ siteId, number, ...at })).not.toBeNull();
      const numbers: number[] = [];
      for (let push = await claim(siteId, webhookId); push; push = await claim(siteId, webhookId)) {
        numbers.push(push.period.number);
        await settle(siteId, webhookId, push.period.number);
      }
      expect(numbers).toEqual([1, 2, 3]);
    });
  });

  const claim = (siteId: string, webhookId: string, at = now, owner = "node", node = store) =>
    node.pushes.claim({ siteId, webhookId }, { owner, now: at, until: at + 20_000 });

  let calls = 0;
  const callOf = (ok: boolean): PushCall => ({
    id: ulid(now + calls++),
    startedAt: now,
    durationMs: 12,
    ok,
    httpStatus: ok ? 200 : 500,
    error: ok ? null : "HTTP 500",
    response: "",
  });

  const settle = (siteId: string, webhookId: string, number: number, owner = "node") =>
    store.pushes.settle({ siteId, webhookId, number, owner, at: now, calls: [callOf(true)], ok: true });

  const fail = (siteId: string, webhookId: string, number: number, more: { dueAt?: number; gone?: boolean } = {}) =>
    store.pushes.settle({
      siteId,
      webhookId,
      number,
      owner: "node",
      at: now,
      calls: [callOf(false)],
      ok: false,
      failures: 1,
      failingSince: now,
      dueAt: more.dueAt ?? now + 5000,
      disabled: more.gone ? { ...line(siteId), action: "webhook disabled", detail: { id: webhookId, reason: "gone" } } : null,
    });

  describe("pushes", () => {
    test("every webhook gets every period in order, each after the one before was accepted", async () => {
      const siteId = shortId();
      const ids = [await addWebhook(siteId), await addWebhook(siteId)];
      for (let i = 0; i < 3; i++) {
        await store.events.accept(newEvent(siteId));
        await close(siteId);
      }
      for (const id of ids) {
        for (const number of [1, 2, 3]) {
          const push = await claim(siteId, id);
          expect(push).toMatchObject({ address, period: { number, conversions: 1 }, failures: 0 });
          expect(await settle(siteId, id, number)).toBe(true);
        }
        expect(await claim(siteId, id)).toBeNull();
        expect(await store.pushes.sumQueued({ siteId, webhookId: id })).toMatchObject({ periods: 0 });
      }
    });

    test("a webhook can leave out empty periods", async () => {
      const siteId = shortId();
      const [all, some] = [await addWebhook(siteId), await addWebhook(siteId, false)];
      await close(siteId);
      await store.events.accept(newEvent(siteId));
      await close(siteId);
      const waiting = async (webhookId: string) => (await store.pushes.sumQueued({ siteId, webhookId })).periods;
      expect([await waiting(all), await waiting(some)]).toEqual([2, 1]);
      expect((await claim(siteId, some))?.period.number).toBe(2);
    });

    test("one node leases a webhook, and another takes over when the lease has ended", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      const claims = await Promise.all(
        ["a", "b", "c", "d"].map((owner, i) => claim(siteId, id, now, owner, i % 2 ? other : store)),
      );
      expect(claims.filter((one) => one !== null)).toHaveLength(1);
      const owner = ["a", "b", "c", "d"][claims.findIndex((one) => one !== null)] as string;
      expect(await claim(siteId, id, now + 19_999, "next")).toBeNull();
      expect((await claim(siteId, id, now + 20_000, "next"))?.period.number).toBe(1);
      expect(await settle(siteId, id, 1, owner)).toBe(false);
      const key = { siteId, webhookId: id };
      expect(await store.pushes.renewLease(key, { owner, now, until: now })).toBe(false);
      expect(await store.pushes.renewLease(key, { owner: "next", now, until: now + 60_000 })).toBe(true);
      expect(await claim(siteId, id, now + 59_999, "third")).toBeNull();
      expect(await settle(siteId, id, 1, "next")).toBe(true);
    });

    test("a claim that runs again after an unconfirmed commit gets the same push", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      expect(await claim(siteId, id)).toEqual(await claim(siteId, id));
    });

    test("a failed push delays later ones until its retry, and a success resets the failures", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      await claim(siteId, id);
      await fail(siteId, id, 1);
      await close(siteId, store, now + 100);
      expect(await claim(siteId, id, now + 4999)).toBeNull();
      expect((await store.pushes.findDue(now + 4999)).map((one) => one.webhookId)).not.toContain(id);
      expect((await store.pushes.findDue(now + 5000)).map((one) => one.webhookId)).toContain(id);
      const again = await claim(siteId, id, now + 5000);
      expect(again).toMatchObject({ period: { number: 1 }, failures: 1, failingSince: now });
      await settle(siteId, id, 1);
      expect(await claim(siteId, id)).toMatchObject({
        period: { number: 2 },
        failures: 0,
        failingSince: null,
      });
    });

    test("a period of an idle webhook is pushed after a delay, which a later period does not extend", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId, store, now + 400);
      await close(siteId, store, now + 900);
      expect(await claim(siteId, id, now + 399)).toBeNull();
      expect((await claim(siteId, id, now + 400))?.period.number).toBe(1);
    });

    test("a disabled webhook keeps its queue and gets it in order when it is enabled", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      await claim(siteId, id);
      await fail(siteId, id, 1, { gone: true });
      expect(await store.webhooks.listWithSecrets(siteId)).toMatchObject([{ id, state: "disabled", stateReason: "gone" }]);
      expect(await store.audit.list(siteId, 1)).toMatchObject([{ action: "webhook disabled", detail: { reason: "gone" } }]);
      await close(siteId);
      expect(await claim(siteId, id, now + 10 * quarter)).toBeNull();
      await store.webhooks.setState(line(siteId), id, "active", null);
      for (const number of [1, 2]) {
        expect(await claim(siteId, id)).toMatchObject({ period: { number }, failures: 0 });
        await settle(siteId, id, number);
      }
    });

    test("enabling a webhook during a push does not let a second node push", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      await claim(siteId, id);
      await store.webhooks.setState(line(siteId), id, "disabled", "by hand");
      await store.webhooks.setState(line(siteId), id, "active", null);
      expect(await claim(siteId, id, now + 1, "other", other)).toBeNull();
      expect(await settle(siteId, id, 1)).toBe(true);
    });

    test("a webhook that a member disables during a push keeps their reason", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      await claim(siteId, id);
      await store.webhooks.setState(line(siteId), id, "disabled", "by hand");
      await fail(siteId, id, 1, { gone: true });
      expect(await store.webhooks.listWithSecrets(siteId)).toMatchObject([{ state: "disabled", stateReason: "by hand" }]);
    });

    test("a replay queues the periods of a time range again, before newer ones", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      const at = (i: number) => now + i * quarter;
      for (const number of [0, 1, 2, 3]) {
        const times = { startsAt: at(number), endsAt: at(number + 1), now, dueAt: 0 };
        await store.periods.close({ siteId, number, ...times });
        if (number === 3) break;
        await claim(siteId, id);
        await settle(siteId, id, number + 1);
      }
      const key = { siteId, webhookId: id };
      expect(await store.pushes.requeue(key, at(1), at(2), line(siteId))).toEqual([2]);
      expect(await store.pushes.requeue(key, at(1) + 1, at(1) + 2, line(siteId))).toEqual([2]);
      expect(await store.pushes.requeue(key, at(9), at(10), line(siteId))).toEqual([]);
      expect(await store.pushes.requeue({ siteId, webhookId: "x" }, at(0), at(9), line(siteId))).toEqual([]);
      const numbers: number[] = [];
      for (let push = await claim(siteId, id); push; push = await claim(siteId, id)) {
        numbers.push(push.period.number);
        await settle(siteId, id, push.period.number);
      }
      expect(numbers).toEqual([2, 4]);
    });

    test("the push log has every call, tests included, newest first", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      const period = await close(siteId);
      await claim(siteId, id);
      await fail(siteId, id, 1, { dueAt: 0 });
      await claim(siteId, id);
      await settle(siteId, id, 1);
      await store.pushes.logTest({ siteId, webhookId: id }, [callOf(true)]);
      const log = await store.pushes.listLog({ siteId, webhookId: id }, 10);
      const about = {
        number: 1,
        startsAt: period?.startsAt,
        endsAt: period?.endsAt,
        conversions: period?.conversions,
        removed: period?.removed,
      };
      expect(log.map((one) => [one.ok, one.httpStatus, one.error, one.period])).toEqual([
        [true, 200, null, null],
        [true, 200, null, about],
        [false, 500, "HTTP 500", about],
      ]);
      expect(await store.pushes.listLog({ siteId, webhookId: id }, 1)).toHaveLength(1);
    });

    test("the purge deletes old pushes and log lines, and keeps queued pushes", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      for (const number of [0, 1]) {
        await store.periods.close({ siteId, number, startsAt: 0, endsAt: 1, now: 1, dueAt: 0 });
      }
      await claim(siteId, id);
      await settle(siteId, id, 1);
      await store.pushes.purge(siteId, now);
      expect(await store.pushes.listLog({ siteId, webhookId: id }, 10)).toHaveLength(1);
      await store.pushes.purge(siteId, now + 1);
      expect(await store.pushes.listLog({ siteId, webhookId: id }, 10)).toEqual([]);
      expect((await claim(siteId, id))?.period.number).toBe(2);
      expect(await store.pushes.requeue({ siteId, webhookId: id }, 0, now, line(siteId))).toEqual([2]);
    });

    test("a rotated secret leaves the previous one valid for its time", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await store.webhooks.rotate(line(siteId), id, "whsec_dHdv", now + 1000);
      const rotated = { current: "whsec_dHdv", previous: { secret: "whsec_b25l", until: now + 1000 } };
      expect(await store.webhooks.listWithSecrets(siteId)).toMatchObject([
        { url: address.url, secrets: rotated, rotatingUntil: now + 1000 },
      ]);
      // A transaction that runs again after an unconfirmed commit keeps the previous secret.
      await store.webhooks.rotate(line(siteId), id, "whsec_dHdv", now + 1000);
      expect(await store.webhooks.listWithSecrets(siteId)).toMatchObject([{ secrets: rotated }]);
    });

    test("a shown webhook has neither path nor secret, and a removed one leaves no rows", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      const shown = (await store.webhooks.list()).find((one) => one.id === id);
      expect(shown).toMatchObject({ siteId, origin: "https://receiver.example", state: "active" });
      expect(JSON.stringify(shown)).not.toMatch(/s3cret|whsec/);
      await close(siteId);
      await store.webhooks.remove(line(siteId), id);
      expect(await store.webhooks.listWithSecrets(siteId)).toEqual([]);
      expect(await store.pushes.sumQueued({ siteId, webhookId: id })).toMatchObject({ periods: 0 });
    });

    test("releasing the leases of a dead process makes its webhooks due", async () => {
      const siteId = shortId();
      const id = await addWebhook(siteId);
      await close(siteId);
      await claim(siteId, id);
      await store.pushes.releaseLeases();
      expect(await claim(siteId, id, now, "next")).not.toBeNull();
    });
  });
});
