// Requests of a site's sources that wait: none holds up another one, and none waits for ever.

import { afterAll, describe, expect, test, vi } from "vitest";
import { createNodes } from "../../../test/support/nodes.ts";
import { createRowOwnership } from "../../delivery/ownership.ts";
import { erasePerson, exportPerson, type PersonRequest } from "../../identity/people.ts";
import { hashPerson, readEmail } from "../../identity/person.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import { acceptBatch } from "../../pipeline.ts";
import { createDirectory, type Site, type Source } from "../../sites/directory.ts";
import { addSite } from "../../sites/manage.ts";
import type { Mapped } from "../../sources/run.ts";
import type { Store } from "../../store/store.ts";
import { createLookUpJob } from "./lookUpJob.ts";
import { relayOutcomes, type RelayOptions } from "./relayOutcomes.ts";

const sale: Mapped = {
  is: "conversion",
  type: "sale",
  deliveryId: null,
  deliveredAt: "",
  mode: "live",
  fields: { event: "purchase", email: "ada@example.com", value: 30, currency: "USD", orderId: "A-1" },
  customer: null,
  orderRef: null,
  link: null,
  lookUp: null,
};
const refund: Mapped = { ...sale, is: "refund", type: "refund", fields: { orderId: "A-1", currency: "USD" } };
const refundOf = (orderId: string, more: Partial<Mapped["fields"]> = {}, rest: Partial<Mapped> = {}): Mapped => ({
  ...refund,
  ...rest,
  fields: { ...refund.fields, orderId, ...more },
});
const saleOf = (orderId: string, more: Partial<Mapped["fields"]> = {}): Mapped => ({
  ...sale,
  fields: { ...sale.fields, orderId, ...more },
});

function adaOf(siteId: string): PersonRequest {
  const email = readEmail("ada@example.com") ?? expect.unreachable();
  return { siteId, emailSha256: hashPerson({ email }).emailSha256, actor: "test", now: Date.now() };
}

describe.each(["sqlite", "postgres"] as const)("what waits on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);
  const directory = createDirectory(store);

  async function setUp({ kinds = ["paddle"], settings = {} }: { kinds?: string[]; settings?: Partial<Site["settings"]> } = {}) {
    const { id: siteId } = await addSite({ store, directory }, `${shortId()}.example`, { actor: "test", now: Date.now() });
    const known = directory.site(siteId) ?? expect.unreachable("it was made here");
    const sources = kinds.map((kind, i) => {
      const secrets = { api_key: [{ value: "key", until: null }] };
      return { siteId, id: `src${i}`, kind, state: "active", settings: {}, secrets, tokens: [] } as unknown as Source;
    });
    const site: Site = { ...known, settings: { ...known.settings, ...settings }, sources };
    let now = Date.now();
    const asked: string[] = [];
    const defects: unknown[] = [];
    const refused = new Set<string>();
    const sender = { answer: () => Promise.resolve({ ok: true, response: { status: 503, headers: {}, body: "" } }) };
    const ownRows = createRowOwnership({ owner: "node-a", leaseMs: minuteMs, now: () => now, elapsed: () => performance.now() });
    const lanes = { send: () => expect.unreachable("the site has no connections"), withdraw: () => false } as never;
    /** The orders that were read, by turn of the event loop. */
    const reads: (string | undefined)[][] = [];
    let inTurn: (string | undefined)[] | null = null;
    const list: typeof store.events.list = (id, filter) => {
      if (!inTurn) {
        reads.push((inTurn = []));
        setImmediate(() => (inTurn = null));
      }
      inTurn.push(filter.orderId);
      return store.events.list(id, filter);
    };
    const options: RelayOptions = {
      store: { ...store, events: { ...store.events, list } },
      links: { open: () => null } as never,
      acceptBatch: async (batch, of, deadline) => {
        if (batch.some(({ event }) => refused.has(event.orderId ?? ""))) throw new Error("the store refuses it");
        return acceptBatch(batch, of, deadline, { store, lanes, now: () => now });
      },
      reserveId: (at) => ({ id: ulid(at), own: (_site, _deliveries, from) => ownRows(from), release: () => {} }),
      now: () => now,
      onDefect: (error) => void defects.push(error),
    };
    const job = createLookUpJob({
      ...options,
      store,
      owner: siteId,
      elapsed: () => now,
      directory: { sites: () => [site] },
      sender: {
        send: ({ url }: { url: string }) => {
          asked.push(url);
          return sender.answer();
        },
      } as never,
      retry: { scheduleMs: [10_000, minuteMs, hourMs], random: () => 0.5 },
      answerMs: 10_000,
      onLookedUp: () => {},
    });
    return {
      site,
      asked,
      sender,
      reads,
      defects,
      refused,
      relay: (outcomes: readonly Mapped[], source = 0) => {
        const context = { site, source: sources[source] ?? expect.unreachable(), receivedAt: now, deadline: now + 10_000 };
        return relayOutcomes(outcomes, context, options);
      },
      pass: async (ms = 0) => {
        now += ms;
        await job.run();
        await job.release();
      },
      list: (source = 0) => store.sourceRequests.list(siteId, `src${source}`, { limit: 200 }),
      refundsOf: async (orderId: string) =>
        (await store.events.list(siteId, { orderId, name: "refund", status: "accepted", limit: 50 })).map(({ value }) => value),
    };
  }

  test("a refund that the store refuses each time holds up none behind it, and ends after three days", async () => {
    const { relay, pass, list, refused, refundsOf, defects } = await setUp();
    await relay([saleOf("bad"), saleOf("good")]);
    refused.add("bad");
    await relay([refundOf("bad")]);
    await relay([refundOf("good")]);
    await pass();
    expect(await refundsOf("good")).toEqual([30]);
    expect(defects).toHaveLength(1);
    const ofBad = async () => (await list()).filter(({ outcome }) => outcome !== "accepted");
    expect(await ofBad()).toMatchObject([{ outcome: "waiting", reason: "other refunds", attempts: 1 }]);
    for (let days = 0; days < 4; days++) await pass(dayMs);
    expect(await ofBad()).toMatchObject([{ outcome: "ignored", reason: "unavailable", dueAt: null }]);
  });

  test("the many entries of a request are read in slices, between which others are answered", async () => {
    const { relay, refused } = await setUp();
    const items = Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, name: "tea", quantity: 1, price: 1 }));
    let turns = 0;
    const count = () => {
      turns += 1;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    refused.add("many");
    await expect(relay(Array.from({ length: 500 }, () => saleOf("many", { items })))).rejects.toThrow("the store refuses it");
    clearImmediate(turning);
    expect(turns).toBeGreaterThan(5);
  });

  test("two sources that report one repayment at the same moment count it once", async () => {
    const { relay, pass, list, refundsOf } = await setUp({ kinds: ["paddle", "shopify"] });
    await relay([sale]);
    await Promise.all([relay([refundOf("A-1", { refundId: "1" })]), relay([refundOf("A-1", { refundId: "2" })], 1)]);
    await pass();
    expect(await refundsOf("A-1")).toEqual([30]);
    const outcomes = [...(await list(0)), ...(await list(1))].map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(["accepted", "ignored"]);
  });

  test("look-ups that fail keep no refund waiting that needs none", async () => {
    const { relay, pass, asked, refundsOf } = await setUp({ kinds: ["stripe"] });
    await relay([saleOf("known")]);
    const unknown = Array.from({ length: 60 }, (_, i) => refundOf(`pi_${i}`, {}, { lookUp: "order", orderRef: `pi_${i}` }));
    expect(new Set((await relay(unknown)).map(({ reason }) => reason))).toEqual(new Set(["look-up"]));
    await relay([refundOf("known")]);
    await pass();
    expect(await refundsOf("known")).toEqual([30]);
    // What one look-up met, the next one would meet too.
    expect(asked).toHaveLength(1);
  });

  test("a sender that lets look-ups wait delays no refund of any site", async () => {
    const { relay, pass, sender, asked, refundsOf } = await setUp({ kinds: ["stripe"] });
    await relay([saleOf("known"), refundOf("pi_1", {}, { lookUp: "order", orderRef: "pi_1" })]);
    const hanging = Promise.withResolvers<Awaited<ReturnType<typeof sender.answer>>>();
    const { answer } = sender;
    sender.answer = () => hanging.promise;
    const passing = pass();
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    await relay([refundOf("known")]);
    await vi.waitFor(async () => expect(await refundsOf("known")).toEqual([30]), { timeout: 30_000 });
    hanging.resolve(await answer());
    await passing;
  });

  test("what waits ends, although the mapping of its source gives no refunds any more", async () => {
    const { relay, pass, list } = await setUp({ kinds: ["custom"] });
    await relay([sale, refund]);
    await relay([refund]);
    await pass(minuteMs);
    await pass(minuteMs);
    expect((await list()).map(({ outcome }) => outcome)).not.toContain("waiting");
  });

  test.each(["stripe", "paddle"])("a refund of %s whose email is filtered does not wait, and is not counted", async (kind) => {
    const { relay, pass, list, asked, refundsOf } = await setUp({
      kinds: [kind],
      settings: { blockedDomains: ["test.example"] },
    });
    const email = "ada@test.example";
    expect(await relay([saleOf("A-1", { email })])).toMatchObject([{ outcome: "filtered" }]);
    const withEmail = refundOf("A-1", { email, value: 10 }, { lookUp: kind === "stripe" ? "order" : null, orderRef: "A-1" });
    expect(await relay([withEmail])).toMatchObject([{ outcome: "filtered" }]);
    await pass();
    expect(await refundsOf("A-1")).toEqual([]);
    expect(await list()).toEqual([]);
    expect(asked).toEqual([]);
  });

  test("an export and an erasure of a person cover what waits and names the person, and nothing else", async () => {
    const { site, relay, pass, list } = await setUp({ kinds: ["stripe"] });
    const named = (name: string) =>
      refundOf(`pi_${name}`, { email: `${name}@example.com` }, { type: name, lookUp: "order", orderRef: `pi_${name}` });
    await relay([named("ada"), named("bob")]);
    const { waiting } = await exportPerson(store, adaOf(site.id));
    expect(waiting).toMatchObject([{ sourceId: "src0", type: "ada" }]);
    await erasePerson(store, adaOf(site.id));
    const due = await store.sourceRequests.listDue(site.id, "src0", { isLookUp: true, now: Date.now() + dayMs, limit: 9 });
    expect(due).toMatchObject([{ type: "bob" }]);
    await pass();
    expect((await list()).find(({ type }) => type === "ada")).toMatchObject({ outcome: "ignored", reason: "no person" });
  });

  test("a refund that waits while its person is erased does not bring the person back", async () => {
    const { site, relay, pass, refundsOf } = await setUp();
    await relay([sale]);
    await relay([refund]);
    const erase: Store["erase"] = {
      ...store.erase,
      events: async (...given) => {
        const erased = await store.erase.events(...given);
        await pass();
        return erased;
      },
    };
    const ada = adaOf(site.id);
    await erasePerson({ ...store, erase }, ada);
    expect(await refundsOf("A-1")).toEqual([]);
    expect(await store.events.list(site.id, { emailSha256: ada.emailSha256, limit: 9 })).toEqual([]);
  });

  test("a refund that needs its order waits for that of its person, though another one has the same order id", async () => {
    const { site, relay, pass, list, refundsOf } = await setUp();
    const refundOfAda = (more: Partial<Mapped["fields"]>) =>
      refundOf("812", { email: "ada@example.com", ...more }, { needsOrder: true });
    await relay([saleOf("812", { email: "bob@example.com", value: 70 })]);
    expect(await relay([refundOfAda({ value: 10, refundId: "1" })])).toMatchObject([
      { outcome: "waiting", reason: "unknown order" },
    ]);
    await pass();
    expect(await refundsOf("812")).toEqual([]);
    expect(await list()).toContainEqual(expect.objectContaining({ outcome: "waiting", reason: "unknown order" }));
    await relay([saleOf("812")]);
    await pass(minuteMs);
    expect(await refundsOf("812")).toEqual([10]);
    // All that is left is of the order of this person.
    await relay([refundOfAda({ refundId: "cancelled" })]);
    await pass();
    expect((await refundsOf("812")).toSorted()).toEqual([10, 20]);
    const { emailSha256 } = adaOf(site.id);
    const refunds = await store.events.list(site.id, { orderId: "812", name: "refund", limit: 9 });
    expect(refunds.map(({ person }) => person.emailSha256)).toEqual([emailSha256, emailSha256]);
  });

  test("a refund that needs its order counts with one whose person is not known", async () => {
    const { relay, pass, refundsOf } = await setUp({ settings: { conversionsWithoutEmail: true } });
    const { email: _email, ...fields } = saleOf("813", { clickIds: { gclid: "Cj0-1" } }).fields;
    await relay([{ ...sale, fields }]);
    await relay([refundOf("813", { email: "ada@example.com", value: 10 }, { needsOrder: true })]);
    await pass();
    expect(await refundsOf("813")).toEqual([10]);
  });

  test("the refunds of a request read each order once, and other work runs in between", async () => {
    const { relay, reads } = await setUp();
    const orders = Array.from({ length: 100 }, (_, i) => `B-${i}`);
    await relay(orders.map((orderId) => saleOf(orderId)));
    const results = await relay(
      orders.flatMap((orderId) => [1, 2, 3].map((value) => refundOf(orderId, { value, refundId: String(value) }))),
    );
    expect(results.every(({ outcome }) => outcome === "waiting")).toBe(true);
    expect(reads.flat().toSorted()).toEqual(orders.toSorted());
    expect(Math.max(...reads.map(({ length }) => length))).toBeLessThan(50);
  });
});
