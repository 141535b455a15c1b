// Writes the demo's history through the store before the relay starts: events, visits, and the changes that members made.

import { unpaced } from "../../src/background/pace.ts";
import { releaseEvent } from "../../src/delivery/release.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../src/kernel/time.ts";
import type { RelayContext } from "../../src/pipeline.ts";
import { pause } from "../../src/sites/connect.ts";
import { createDirectory, type Connection } from "../../src/sites/directory.ts";
import { auditLine, findSite, changeSiteSettings, type SiteContext } from "../../src/sites/manage.ts";
import type { InboundCount } from "../../src/store/statistics/inboundCounts.ts";
import { lockoutRule, type KeyUse } from "../../src/store/sites/keyUse.ts";
import { createStatisticsJob } from "../../src/statistics/worker.ts";
import type { StoreLocation } from "../../src/store/connect.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import { alertActions } from "./alerts.ts";
import { judgeBots, judgeSuspicious } from "./bots.ts";
import { createRandom } from "./random.ts";
import { addMembers, type SignIns } from "./members.ts";
import { replayEvent, createPlanner, type Planned } from "./events.ts";
import { compareOrders } from "./orders.ts";
import { createReplayLanes } from "./platformAnswers.ts";
import { writeRejectedRequests } from "./rejectedRequests.ts";
import { addSources, type DemoSource } from "./sources.ts";
import { createTrafficCurve, drawTimes } from "./trafficCurve.ts";
import {
  createNewSite,
  createSite,
  owner,
  product,
  setOAuthApps,
  setUpAt,
  shop,
  shopActions,
  type Clock,
  type ScheduledAction,
  type CreatedSite,
} from "./sites.ts";
import { writeBotVisits, quarterMs, createVisitWriter } from "./visits.ts";
import { addDemoWebhook, closeAndPush, type Receiver } from "./webhook.ts";

type HistoryOptions = {
  location: StoreLocation;
  encryptionKey: Buffer;
  now: number;
  days: number;
  receiver: Receiver;
  /** Called with what is being done, and the share of it. */
  onProgress?: (step: string, share: number) => void;
};

type History = {
  shop: CreatedSite;
  product: CreatedSite;
  sources: DemoSource[];
  events: number;
  signIns: SignIns;
  /** An order that a platform rejected; null where the history is too short to have one. */
  rejectedOrder: { orderId: string; platform: string } | null;
};

const seed = 20_261_115;
const maxConcurrent = 256;

export async function writeHistory(options: HistoryOptions): Promise<History> {
  // The ids of rows carry the time of the history.
  const clock: Clock = { at: options.now - options.days * dayMs };
  const store = await createStore(options.location, options.encryptionKey, () => ulid(clock.at));
  try {
    return await write(store, clock, options);
  } finally {
    await store.close();
  }
}

async function write(store: Store, clock: Clock, options: HistoryOptions): Promise<History> {
  const { now, days, receiver, onProgress = () => {} } = options;
  const random = createRandom(seed);
  const from = now - days * dayMs;
  const atShare = (share: number) => Math.floor(from + share * (now - from));
  const directory = createDirectory(store);
  await directory.refresh();
  const context: SiteContext = { store, directory };

  const began = setUpAt(from);
  clock.at = began;
  await setOAuthApps(context, began);
  const shopSite = await createSite(context, shop, began, clock);
  await changeSiteSettings(
    context,
    findSite(context, shopSite.siteId),
    { alert_webhook: `${receiver.url}/alerts` },
    { actor: owner, now: (clock.at += 3 * minuteMs) },
  );
  const productSite = await createSite(context, product, began + 40 * minuteMs, clock);
  const sources = await addSources(context, { shop: shopSite, product: productSite }, clock);
  const { settings } = findSite(context, shopSite.siteId);
  const [bots, people] = [judgeBots(settings), judgeSuspicious(settings)];

  // In the evening, when traffic is highest.
  const outageFrom = Math.floor(atShare(0.64) / dayMs) * dayMs + 17.4 * hourMs;
  const outage = { platform: "tiktok", from: outageFrom, to: outageFrom + 130 * minuteMs };
  const revokedAt = atShare(0.945);
  const marked = new Set<string>();
  const relayContext: RelayContext = {
    store,
    now: Date.now,
    lanes: createReplayLanes({
      store,
      connectionOf: (siteId, id) => directory.connection(siteId, id),
      random: createRandom(seed + 1),
      now,
      outage,
      revoked: { platform: "linkedin", siteId: shopSite.siteId, at: revokedAt },
      async onRevoked(connection, reason, at) {
        if (marked.has(connection.id)) return;
        marked.add(connection.id);
        const before = clock.at;
        clock.at = at;
        await markRevoked(context, connection, reason, at);
        clock.at = before;
      },
    }),
  };

  const uses = new Map<string, KeyUse>();
  const inbound = new Map<string, InboundCount>();
  let events = 0;
  async function replay(planned: Planned): Promise<void> {
    const { created, mode, at, repeats } = planned;
    const { siteId } = created;
    const duplicates = await replayEvent(planned, findSite(context, siteId), relayContext);
    events += 1;
    const hour = Math.floor(at / hourMs);
    const keyId = mode === "live" ? created.keyId : created.test.id;
    const use = uses.get(`${keyId} ${hour}`) ?? { siteId, keyId, hour, uses: 0, lastUsedAt: 0 };
    use.uses += 1 + repeats;
    use.lastUsedAt = Math.max(use.lastUsedAt, at);
    uses.set(`${keyId} ${hour}`, use);
    if (!duplicates) return;
    const count = inbound.get(`${siteId} ${hour}`) ?? { siteId, hour, kind: "duplicate", count: 0 };
    count.count += duplicates;
    inbound.set(`${siteId} ${hour}`, count);
  }

  const until = now - 20_000;
  const sites = [
    { created: shopSite, botVisits: 90 },
    { created: productSite, botVisits: 12 },
  ].map((site) => ({ ...site, curve: createTrafficCurve(site.created.demo, from, now) }));
  const plans: Planned[] = [];
  for (const { created, curve } of sites) {
    const plan = createPlanner(created, bots, random);
    for (const at of drawTimes(random, { from, to: until, perDay: created.demo.perDay }, curve)) plans.push(plan(at));
    for (const share of [0.2, 0.41, 0.77, 0.93, 0.985]) plans.push({ ...plan(atShare(share)), mode: "test", repeats: 0 });
  }
  plans.sort((one, other) => one.at - other.at);

  const flows = sites.map(({ created: { siteId, demo }, curve }) =>
    createVisitWriter(store, random, { siteId, perDay: demo.perDay * demo.visitsPerEvent, curve, bots }),
  );

  // From this time on periods are closed, so visits must be written in order too.
  const webhookFrom = Math.ceil(atShare(1 - 1 / 30) / quarterMs) * quarterMs;
  for (let at = Math.ceil(from / quarterMs) * quarterMs; at < webhookFrom; at += quarterMs)
    for (const flow of flows) flow.countQuarter(at);
  let webhookId = "";
  const actions: ScheduledAction[] = [
    ...shopActions(context, shopSite, atShare),
    {
      at: webhookFrom,
      act: async () => {
        for (const flow of flows) await flow.write();
        webhookId = await addDemoWebhook(context, shopSite.siteId, receiver, webhookFrom);
      },
    },
    { at: atShare(0.86), act: () => pauseOne(context, shopSite, "snapchat", atShare(0.86)) },
    ...alertActions(context, shopSite, outage, revokedAt),
  ];
  for (let mark = webhookFrom + quarterMs; mark < now; mark += quarterMs) {
    actions.push({
      at: mark,
      act: async () => {
        for (const flow of flows) flow.countQuarter(mark - quarterMs);
        await flows[0]?.write();
        await closeAndPush(store, random, { siteId: shopSite.siteId, webhookId }, mark);
      },
    });
  }
  actions.sort((one, other) => one.at - other.at);

  for (const action of [...actions, { at: now, act: () => Promise.resolve() }]) {
    while (plans[0] && plans[0].at < action.at) {
      const later = plans.findIndex(({ at }) => at >= action.at);
      const batch = plans.splice(0, Math.min(maxConcurrent, later < 0 ? plans.length : later));
      clock.at = batch[0]?.at ?? clock.at;
      onProgress("events", (clock.at - from) / (now - from));
      await Promise.all(batch.map(replay));
      await directory.refresh();
    }
    clock.at = action.at;
    await action.act();
    await directory.refresh();
  }

  for (const flow of flows) await flow.write();

  const newSite = await createNewSite(context, now - 3 * hourMs, clock);
  const studioFlow = createVisitWriter(store, random, {
    siteId: newSite.id,
    perDay: 90,
    curve: () => 1,
    bots,
  });
  for (let at = now - 2 * hourMs; at < now - quarterMs; at += quarterMs) studioFlow.countQuarter(at);
  await studioFlow.write();

  await writeRejectedRequests(store, random, shopSite, { from, now }, inbound);
  await store.inboundCounts.save("demo", [...inbound.values()]);
  await store.keyUse.addUses([...uses.values()]);
  for (const { created, botVisits: count } of sites) {
    const site = { siteId: created.siteId, host: created.demo.host };
    await writeBotVisits(store, random, { ...site, bots, count }, { from, now });
    await writeBotVisits(store, random, { ...site, bots: people, count: Math.floor(count / 4) }, { from, now });
  }
  clock.at = now - 25 * minuteMs;
  await releaseOne(context, shopSite, now - 25 * minuteMs);
  for (let tries = 0; tries < lockoutRule.keys; tries++)
    await store.keyUse.countWrongKey(shopSite.siteId, `checkout.${shop.host}`, now - 3 * minuteMs + tries * 900, lockoutRule);
  const signIns = await addMembers(store, { shop: shopSite.siteId, product: productSite.siteId }, { from, now }, clock);
  clock.at = now - 5 * hourMs;
  await compareOrders(context, createRandom(seed + 2), shopSite, { from, now });
  await countAll(context, { from, now }, (share) => onProgress("statistics", share));
  const rejectedOrder = await findRejectedOrder(store, shopSite.siteId);
  return { shop: shopSite, product: productSite, sources, events, signIns, rejectedOrder };
}

async function findRejectedOrder({ syncLog }: Store, siteId: string): Promise<History["rejectedOrder"]> {
  const filter = { states: ["rejected"], eventName: "purchase", mode: "live" } as const;
  const { lines } = await syncLog.listPage(siteId, filter, { before: null, limit: 50 });
  for (const { orderId, platform } of lines) if (orderId !== null) return { orderId, platform };
  return null;
}

/** Counts all statistics now: the relay would take minutes, and show a site without a past until then. */
async function countAll(
  { store, directory }: SiteContext,
  { from, now }: { from: number; now: number },
  onProgress: (share: number) => void,
): Promise<void> {
  // The worker goes from the newest hour to the oldest one, a few hours of each site in turn.
  const shares = new Map([...directory.sites()].map(({ id }) => [id, 0]));
  const counted: Store["statistics"] = {
    ...store.statistics,
    replaceHour(siteId, hour, ...figures) {
      shares.set(siteId, Math.max(shares.get(siteId) ?? 0, 1 - (hour * hourMs - from) / (now - from)));
      onProgress([...shares.values()].reduce((sum, share) => sum + share, 0) / shares.size);
      return store.statistics.replaceHour(siteId, hour, ...figures);
    },
  };
  const job = createStatisticsJob({
    store: { ...store, statistics: counted },
    sites: () => directory.sites(),
    owner: "demo",
    pace: unpaced,
    now: () => now,
    // A clock that stands still: a run ends when nothing is left, and not after a minute.
    elapsed: () => 0,
    onDefect: (error) => {
      throw error;
    },
  });
  await job.run();
  await job.release();
  for (const { id } of directory.sites()) {
    const head = await store.statistics.findHead(id);
    if (head && head.fromHour > 0) throw new Error(`the statistics of ${id} are incomplete`);
  }
}

/** Marks the connection as the relay does when a platform rejects its token. */
async function markRevoked(context: SiteContext, connection: Connection, reason: string, at: number): Promise<void> {
  const { siteId, id, platform } = connection;
  const line = auditLine(siteId, "connection needs reconnection", { id, platform, reason }, { actor: "relay", now: at });
  await context.store.configuration.setConnectionState(line, id, "needs reconnection", reason);
  await context.directory.refresh();
}

async function pauseOne(context: SiteContext, { siteId }: CreatedSite, platform: string, at: number): Promise<void> {
  const connection = findSite(context, siteId).connections.find((one) => one.platform === platform);
  if (connection) await pause(context, connection, { actor: owner, now: at });
}

/** Releases a filtered event, as a member does who recognises a person. */
async function releaseOne(context: SiteContext, { siteId }: CreatedSite, at: number): Promise<void> {
  const filtered = await context.store.events.list(siteId, { status: "filtered", limit: 30 });
  const event = filtered.find(({ filterReasons }) => filterReasons[0]?.code === "only bot visits");
  if (event) await releaseEvent(context, findSite(context, siteId), event, { actor: owner, now: at });
}
