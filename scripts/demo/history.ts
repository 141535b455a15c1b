// Thirty days of the demo, written through the store before the relay starts: what people did, and the events between.

import { releaseEvent } from "../../src/delivery/release.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import type { Relay } from "../../src/pipeline.ts";
import { pause } from "../../src/sites/connect.ts";
import { directoryOf, type Connection } from "../../src/sites/directory.ts";
import { change, findSite, setSite } from "../../src/sites/manage.ts";
import type { InboundCount } from "../../src/store/statistics/inboundCounts.ts";
import { lockoutRule, type KeyUse } from "../../src/store/sites/keyUse.ts";
import { statisticsWorker } from "../../src/statistics/worker.ts";
import type { StoreLocation } from "../../src/store/open.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { alertMoments } from "./alerts.ts";
import { botsOf } from "./bots.ts";
import { chanceOf } from "./chance.ts";
import { happen, plannerOf, type Planned } from "./events.ts";
import { lanesOfThePast } from "./platforms.ts";
import { refusedInThePast } from "./refused.ts";
import { dayMs, hourMs, momentsIn, rhythmOf } from "./rhythm.ts";
import {
  openNewSite,
  openSite,
  owner,
  product,
  setOAuthApps,
  shop,
  shopMoments,
  type Desk,
  type Moment,
  type Opened,
} from "./sites.ts";
import { keepBots, quarterMs, visitWriter } from "./visits.ts";
import { addDemoWebhook, closeAndPush, type Receiver } from "./webhook.ts";

export type HistoryOptions = {
  location: StoreLocation;
  encryptionKey: Buffer;
  now: number;
  days: number;
  receiver: Receiver;
  /** Whatever else is to be written while the store is open. */
  also: (desk: Desk, sites: { shop: Opened; product: Opened }, clock: Clock) => Promise<void>;
};

/** What ids are made by. */
export type Clock = { at: number };

export type History = { shop: Opened; product: Opened; events: number };

const seed = 20_261_115;
const atOnce = 256;
const minuteMs = 60_000;

export async function writeHistory(options: HistoryOptions): Promise<History> {
  // Ids of what is written carry the time that it is written for.
  const clock: Clock = { at: options.now - options.days * dayMs };
  const store = await openStore(options.location, options.encryptionKey, () => uuidv7(clock.at));
  try {
    return await write(store, clock, options);
  } finally {
    await store.close();
  }
}

async function write(store: Store, clock: Clock, options: HistoryOptions): Promise<History> {
  const { now, days, receiver } = options;
  const chance = chanceOf(seed);
  const from = now - days * dayMs;
  const part = (of: number) => Math.floor(from + of * (now - from));
  const directory = directoryOf(store);
  await directory.refresh();
  const desk: Desk = { store, directory };

  clock.at = from - 2 * hourMs;
  await setOAuthApps(desk, clock.at);
  const shopSite = await openSite(desk, shop, clock.at);
  const productSite = await openSite(desk, product, clock.at + 40 * minuteMs);
  await setSite(
    desk,
    findSite(desk, shopSite.siteId),
    { alert_webhook: `${receiver.url}/alerts` },
    { actor: owner, now: clock.at },
  );
  const bots = botsOf(findSite(desk, shopSite.siteId).settings);

  // In the evening, when it hurts.
  const outageFrom = Math.floor(part(0.64) / dayMs) * dayMs + 17.4 * hourMs;
  const outage = { platform: "tiktok", from: outageFrom, to: outageFrom + 130 * minuteMs };
  const revokedAt = part(0.945);
  const known = new Set<string>();
  const relayed: Relay = {
    store,
    owner: "demo",
    leaseMs: 30_000,
    now: Date.now,
    lanes: lanesOfThePast({
      store,
      connectionOf: (siteId, id) => directory.connection(siteId, id),
      chance: chanceOf(seed + 1),
      now,
      outages: [outage],
      revoked: [{ platform: "linkedin", siteId: shopSite.siteId, at: revokedAt }],
      async onRevoked(connection, reason, at) {
        if (known.has(connection.id)) return;
        known.add(connection.id);
        await markRevoked(desk, connection, reason, at);
      },
    }),
  };

  const uses = new Map<string, KeyUse>();
  const inbound = new Map<string, InboundCount>();
  let events = 0;
  async function happened(planned: Planned): Promise<void> {
    const { opened, mode, at, again } = planned;
    const { siteId } = opened;
    const { duplicates } = await happen(planned, findSite(desk, siteId), relayed);
    events += 1;
    const hour = Math.floor(at / hourMs);
    const keyId = mode === "live" ? opened.keyId : opened.test.id;
    const use = uses.get(`${keyId} ${hour}`) ?? { siteId, keyId, hour, uses: 0, lastUsedAt: 0 };
    use.uses += 1 + again;
    use.lastUsedAt = Math.max(use.lastUsedAt, at);
    uses.set(`${keyId} ${hour}`, use);
    if (!duplicates) return;
    const count = inbound.get(`${siteId} ${hour}`) ?? { siteId, hour, kind: "duplicate", count: 0 };
    count.count += duplicates;
    inbound.set(`${siteId} ${hour}`, count);
  }

  const until = now - 20_000;
  const rhythms = { shop: rhythmOf(shop, from, now), product: rhythmOf(product, from, now) };
  const plans: Planned[] = [];
  for (const [opened, rhythm] of [
    [shopSite, rhythms.shop],
    [productSite, rhythms.product],
  ] as const) {
    const plan = plannerOf(opened, bots, chance);
    for (const at of momentsIn(chance, { from, to: until, perDay: opened.demo.perDay }, rhythm))
      plans.push(plan(at));
    for (const passed of [0.2, 0.41, 0.77, 0.93, 0.985])
      plans.push({ ...plan(part(passed)), mode: "test", again: 0 });
  }
  plans.sort((one, other) => one.at - other.at);

  const flows = [
    { siteId: shopSite.siteId, demo: shop, rhythm: rhythms.shop },
    { siteId: productSite.siteId, demo: product, rhythm: rhythms.product },
  ].map(({ siteId, demo, rhythm }) =>
    visitWriter(store, chance, { siteId, perDay: demo.perDay * demo.visitsPerEvent, rhythm, bots }),
  );

  // From here on periods are closed, so that visits have to be written in order too.
  const webhookFrom = Math.ceil(part(1 - 1 / 30) / quarterMs) * quarterMs;
  for (let at = Math.ceil(from / quarterMs) * quarterMs; at < webhookFrom; at += quarterMs)
    for (const flow of flows) flow.pass(at);
  let webhookId = "";
  const moments: Moment[] = [
    ...shopMoments(desk, shopSite, part),
    {
      at: webhookFrom,
      act: async () => {
        for (const flow of flows) await flow.write();
        webhookId = await addDemoWebhook(desk, shopSite.siteId, receiver, webhookFrom);
      },
    },
    { at: part(0.86), act: () => pauseOne(desk, shopSite, "snapchat", part(0.86)) },
    ...alertMoments(desk, shopSite, outage, revokedAt),
  ];
  for (let mark = webhookFrom + quarterMs; mark < now; mark += quarterMs) {
    moments.push({
      at: mark,
      act: async () => {
        for (const flow of flows) flow.pass(mark - quarterMs);
        await flows[0]?.write();
        await closeAndPush(store, chance, { siteId: shopSite.siteId, webhookId }, mark);
      },
    });
  }
  moments.sort((one, other) => one.at - other.at);

  for (const moment of [...moments, { at: now, act: () => Promise.resolve() }]) {
    while (plans[0] && plans[0].at < moment.at) {
      const later = plans.findIndex(({ at }) => at >= moment.at);
      const some = plans.splice(0, Math.min(atOnce, later < 0 ? plans.length : later));
      clock.at = some[0]?.at ?? clock.at;
      await Promise.all(some.map(happened));
      await directory.refresh();
    }
    clock.at = moment.at;
    await moment.act();
    await directory.refresh();
  }

  for (const flow of flows) await flow.write();

  clock.at = now - 3 * hourMs;
  const newSite = await openNewSite(desk, now - 3 * hourMs);
  const studioFlow = visitWriter(store, chance, { siteId: newSite.id, perDay: 90, rhythm: () => 1, bots });
  for (let at = now - 2 * hourMs; at < now - quarterMs; at += quarterMs) studioFlow.pass(at);
  await studioFlow.write();

  await refusedInThePast(store, chance, shopSite, { from, now }, inbound);
  await store.inboundCounts.save("demo", [...inbound.values()]);
  await store.keyUse.addUses([...uses.values()]);
  const length = now - from;
  await keepBots(store, chance, { siteId: shopSite.siteId, host: shop.host, bots, count: 90, now }, length);
  await keepBots(
    store,
    chance,
    { siteId: productSite.siteId, host: product.host, bots, count: 12, now },
    length,
  );
  clock.at = now - 25 * minuteMs;
  await releaseOne(desk, shopSite, now - 25 * minuteMs);
  for (let tries = 0; tries < lockoutRule.keys; tries++)
    await store.keyUse.countWrongKey(
      shopSite.siteId,
      `checkout.${shop.host}`,
      now - 3 * minuteMs + tries * 900,
      lockoutRule,
    );
  await options.also(desk, { shop: shopSite, product: productSite }, clock);
  await countAll(desk, now);
  return { shop: shopSite, product: productSite, events };
}

/** The relay would make the numbers of the past in its own time; here they are to be there at once. */
async function countAll({ store, directory }: Desk, now: number): Promise<void> {
  const worker = statisticsWorker({
    store,
    sites: () => directory.sites(),
    owner: "demo",
    now: () => now,
    onDefect: (error) => {
      throw error;
    },
  });
  await worker.run();
  await worker.lease.release();
}

/** What the relay does when a platform refuses its token. */
async function markRevoked(desk: Desk, connection: Connection, reason: string, at: number): Promise<void> {
  const { siteId, id, platform } = connection;
  const line = change(
    siteId,
    "connection needs reconnection",
    { id, platform, reason },
    { actor: "relay", now: at },
  );
  await desk.store.configuration.setConnectionState(line, id, "needs reconnection", reason);
  await desk.directory.refresh();
}

async function pauseOne(desk: Desk, { siteId }: Opened, platform: string, at: number): Promise<void> {
  const connection = findSite(desk, siteId).connections.find((one) => one.platform === platform);
  if (connection) await pause(desk, connection, { actor: owner, now: at });
}

/** Somebody looked at the filtered events and found a person among them. */
async function releaseOne(desk: Desk, { siteId }: Opened, at: number): Promise<void> {
  const filtered = await desk.store.events.list(siteId, { status: "filtered", limit: 30 });
  const wronged = filtered.find(({ filterReasons }) => filterReasons[0]?.code === "only bot visits");
  if (wronged) await releaseEvent(desk, findSite(desk, siteId), wronged, { actor: owner, now: at });
}
