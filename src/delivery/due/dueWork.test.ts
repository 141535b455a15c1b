// DueWork at a sharded database, which is simulated by one PostgreSQL and a given division of the sites. The store is real.

import { afterAll, expect, onTestFinished, test } from "vitest";
import { auditLine, newEvent, newSite, queuedDelivery } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { eventually } from "../../../test/support/relay.ts";
import { localClock } from "../../background/sharedClock.ts";
import { shortId } from "../../kernel/ids.ts";
import type { Store } from "../../store/store.ts";
import { startSharedDueWork } from "./dueWork.ts";

const { store, location, close } = await createNodes("postgres");
afterAll(close);
const everyMs = 200;

/** Sites on two machines, with two slices each. */
async function addSites() {
  const ids = await Promise.all(Array.from({ length: 4 }, () => newSite(store)));
  const [a = "", b = "", c = "", d = ""] = ids;
  const run = shortId();
  const divided = new Map([
    [
      "1",
      new Map([
        [`${run}-1`, [a]],
        [`${run}-2`, [b]],
      ]),
    ],
    [
      "2",
      new Map([
        [`${run}-3`, [c]],
        [`${run}-4`, [d]],
      ]),
    ],
  ]);
  return { ids, divided };
}

type Division = Awaited<ReturnType<typeof addSites>>;

const findAll: Store["waiting"]["find"] = (siteIds, bounds) => store.waiting.find(siteIds, bounds);

function startNode({ ids, divided }: Division, find = findAll, backfills = store.backfills) {
  const owner = shortId();
  const seen: string[][] = [];
  const defects: unknown[] = [];
  const dueWork = startSharedDueWork({
    store: {
      ...store,
      backfills,
      slices: { ...store.slices, divide: async () => divided },
      waiting: {
        find(siteIds, bounds) {
          seen.push([...siteIds]);
          return find(siteIds, bounds);
        },
      },
    },
    sites: () => ids.map((id) => ({ id })),
    owner,
    clock: localClock(Date.now),
    pushMs: 900_000,
    onDefect: (error) => defects.push(error),
    everyMs,
  });
  onTestFinished(async () => {
    await dueWork.stop();
    await store.nodes.remove(owner);
  });
  /** The sites of the next whole look. */
  async function looksAt(): Promise<string[]> {
    seen.length = 0;
    await eventually("it has looked", () => seen.length >= 4);
    return [...new Set(seen.flat())].toSorted();
  }
  return { owner, dueWork, seen, defects, looksAt };
}

const live = (owner: string) => store.nodes.renew(owner, "0", 60_000);

async function queue(siteId: string, dueAt: number, connectionId = "c1"): Promise<void> {
  const item = newEvent(siteId, { orderId: shortId() }, { deliveries: [queuedDelivery(connectionId)] });
  await store.events.accept(item);
  await sql(location, `UPDATE deliveries SET due_at = ${dueAt}, owner = '' WHERE event_id = '${item.event.id}'`);
}

test("nodes divide the slices among each other, and those of a dead node are taken over", async () => {
  const division = await addSites();
  const all = division.ids.toSorted();
  const first = startNode(division);
  await live(first.owner);
  expect(await first.looksAt()).toEqual(all);
  const second = startNode(division);
  await live(second.owner);
  await eventually("each has its share", async () => {
    const [one, other] = await Promise.all([first.looksAt(), second.looksAt()]);
    // One of them has a slice less, because it watches the nodes.
    return one.length <= 3 && other.length <= 3 && [...one, ...other].toSorted().join() === all.join();
  });
  // A node that dies neither renews nor releases.
  await store.nodes.remove(second.owner);
  await second.dueWork.stop();
  await eventually("all slices are taken over", async () => (await first.looksAt()).length === 4);
  expect([...first.defects, ...second.defects]).toEqual([]);
});

test("one node watches the others, and lists each that died once in a look", async () => {
  const division = await addSites();
  const nodes = [startNode(division), startNode(division)];
  for (const { owner } of nodes) await live(owner);
  const dead = shortId();
  await store.nodes.renew(dead, "0", -1);
  onTestFinished(() => store.nodes.remove(dead));
  /** What a node lists the next two times that it asks. */
  async function listings({ dueWork }: (typeof nodes)[number]): Promise<string> {
    const listed: string[] = [];
    await eventually("it has looked twice", async () => {
      const found = await dueWork.expiredNodes();
      if (found) listed.push(found.map(({ node }) => node.owner).join());
      return listed.length === 2;
    });
    return listed.join(" ");
  }
  await eventually("one lists it, the other does not", async () => {
    const both = await Promise.all(nodes.map(listings));
    return both.toSorted().join("|") === ` |${dead} ${dead}`;
  });
});

test("what falls due before the next look is listed by one statement, and returned when it is due", async () => {
  const division = await addSites();
  const [siteId = ""] = division.ids;
  const dueAt = Date.now() + 150;
  await queue(siteId, dueAt);
  await queue(siteId, Date.now() + 3_600_000, "c2");
  const node = startNode(division);
  await live(node.owner);
  await eventually("it is listed", async () => (await node.dueWork.dueConnections(dueAt)).length === 1);
  expect(await node.dueWork.dueConnections(dueAt - 1)).toEqual([]);
  node.dueWork.note({ siteId, connectionId: "c2" }, 50);
  expect(await node.dueWork.dueConnections(49)).toEqual([]);
  expect(await node.dueWork.dueConnections(50)).toEqual([{ siteId, connectionId: "c2" }]);
  expect(node.seen.every((sites) => sites.length === 2)).toBe(true);
});

test("parked deliveries are listed, and those of a machine that fails keep no others from being listed", async () => {
  const division = await addSites();
  const [onFirst = "", , onSecond = ""] = division.ids;
  for (const siteId of [onFirst, onSecond]) await queue(siteId, 1);
  await sql(location, `UPDATE deliveries SET state = 'parked' WHERE site_id = '${onSecond}'`);
  let isDown = true;
  const node = startNode(division, (siteIds, bounds) =>
    isDown && siteIds.includes(onFirst) ? Promise.reject(new Error("down")) : store.waiting.find(siteIds, bounds),
  );
  await live(node.owner);
  await eventually("the other machine's are listed", async () => {
    const parked = await node.dueWork.parkedConnections();
    return parked.some((one) => one.siteId === onSecond);
  });
  expect([await node.dueWork.dueConnections(Date.now()), node.defects.length > 0]).toEqual([[], true]);
  isDown = false;
  await eventually("it is back", async () => (await node.dueWork.dueConnections(Date.now())).length === 1);
});

test("running reconciliations and feeds that are due are listed", async () => {
  const division = await addSites();
  const [siteId = "", other = ""] = division.ids;
  const run = {
    siteId,
    id: shortId(),
    state: "running",
    phase: "orders",
    cursor: "",
    from: 0,
    to: 1,
    event: "purchase",
    tolerance: 1,
    tally: {},
    isReadable: true,
    startedBy: "test",
    startedAt: 1,
    updatedAt: 1,
  } as const;
  expect(await store.reconciliations.start(run, auditLine(siteId))).toBe(true);
  await store.orderFeeds.set(auditLine(other), { url: "https://shop.example/orders", header: null }, {});
  const node = startNode(division);
  await live(node.owner);
  const found = { reconciliation: "", feed: "" };
  const list = (kind: keyof typeof found) => {
    for (const one of node.dueWork.listed(kind, Date.now()) ?? []) found[kind] = `${one.siteId} ${one.id}`;
    return found[kind] !== "";
  };
  await eventually("both are listed", () => list("reconciliation") && list("feed"));
  expect(found).toEqual({ reconciliation: `${siteId} ${run.id}`, feed: `${other} ${other}` });
  expect(node.defects).toEqual([]);
});

test("a backfill that cannot be read stays listed, and keeps no other from being returned", async () => {
  const division = await addSites();
  const [damaged = "", sound = ""] = division.ids;
  const wanted = { days: 1, perMinute: 1, fromId: "", toId: "z", total: 1, startedBy: "test", startedAt: 1 };
  for (const siteId of [damaged, sound])
    await store.backfills.start({ ...wanted, siteId, connectionId: "c1" }, auditLine(siteId));
  let isDown = true;
  const asked = new Set<string>();
  const bothAsked = Promise.withResolvers<void>();
  const node = startNode(division, findAll, {
    ...store.backfills,
    async find(siteId, id) {
      asked.add(siteId);
      if (asked.size === 2) bothAsked.resolve();
      // Neither waits until the other was read.
      await bothAsked.promise;
      if (isDown && siteId === damaged) throw new Error("damaged");
      return store.backfills.find(siteId, id);
    },
  });
  await live(node.owner);
  const isFound = (siteId: string) => async () =>
    (await node.dueWork.runningBackfills(Date.now())).some((row) => row.siteId === siteId);
  await eventually("the other is returned", isFound(sound));
  await eventually("the error is reported", () => node.defects.length > 0);
  isDown = false;
  await eventually("it is read", isFound(damaged));
});

test("while leases cannot be read every node looks at all sites", async () => {
  const division = await addSites();
  const node = startNode(division);
  const readHolders = () => Promise.reject(new Error("down"));
  const blind = startSharedDueWork({
    store: {
      ...store,
      slices: { ...store.slices, divide: async () => division.divided, readHolders },
    },
    sites: () => division.ids.map((id) => ({ id })),
    owner: shortId(),
    clock: localClock(Date.now),
    pushMs: 900_000,
    onDefect: () => {},
    everyMs,
  });
  onTestFinished(() => blind.stop());
  await live(node.owner);
  await node.looksAt();
  for (const siteId of division.ids) await queue(siteId, 1);
  const found = new Set<string>();
  await eventually("it has found all", async () => {
    for (const { siteId } of await blind.dueConnections(Date.now())) found.add(siteId);
    return found.size === 4;
  });
});
