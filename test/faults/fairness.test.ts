// A site with a large backlog and sites with one delivery each, one poll of the worker at a time: a poll takes a limited part
// of the backlog and everything of the other sites. The worker, lanes, store and sender are real; only the clock is fake.

import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/installation/config.ts";
import { createBreaker } from "../../src/delivery/lanes/breaker.ts";
import { createLanes, type Lanes } from "../../src/delivery/lanes/lanes.ts";
import { createQuota } from "../../src/delivery/lanes/quota.ts";
import { createSender } from "../../src/delivery/send.ts";
import { createTokens } from "../../src/delivery/oauth/tokens.ts";
import { startWorker } from "../../src/delivery/due/worker.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { pause, resume } from "../../src/sites/connect.ts";
import type { Directory } from "../../src/sites/directory.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import type { Store } from "../../src/store/store.ts";
import { newEvent, queuedDelivery } from "../support/events.ts";
import { startReceiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Engine, type Installation } from "../support/relay.ts";
import { change, setUpSite, rows, withStore, type SiteSetup } from "../support/installation.ts";

const backlog = 600;
const quietSites = 5;
const startedAt = Date.UTC(2026, 10, 15, 12);
const owner = "this node";

type Setup = {
  home: Installation;
  store: Store;
  directory: Directory;
  busy: SiteSetup;
  clock: { now: number };
  /** Runs one poll of the worker. */
  poll: () => Promise<void>;
  /** Counts the deliveries of the busy site that match. */
  count: (condition: string) => Promise<number>;
  lanes: Lanes;
};

/** Sets up a busy site, which comes first in the order of sites, and quiet sites. */
async function withBacklog(engine: Engine, busyUrl: string | null, work: (setup: Setup) => Promise<void>): Promise<void> {
  const home = await newInstallation(engine, {
    CLEANCAST_RETRY_SECONDS: "3600",
    CLEANCAST_ATTEMPT_SECONDS: "20",
    CLEANCAST_ANSWER_SECONDS: "1",
  });
  const busy = await setUpSite(home, [busyUrl ? ["webhook", { url: busyUrl }] : ["sandbox", {}]]);
  const receiver = await startReceiver();
  const quiet: SiteSetup[] = [];
  for (let n = 0; n < quietSites; n++)
    quiet.push(await setUpSite(home, [["webhook", { url: receiver.url }]], `quiet-${n}.example.com`));
  await withStore(home, async (store, directory) => {
    const config = readConfig(home.env);
    const clock = { now: startedAt };
    const now = () => clock.now;
    const accept = (site: SiteSetup, platform: string) => store.events.accept(waiting(site, platform));
    await Promise.all(Array.from({ length: backlog }, () => accept(busy, busyUrl ? "webhook" : "sandbox")));
    await Promise.all(quiet.map((site) => accept(site, "webhook")));
    // The deliveries of the busy site have been due for longer.
    await change(
      home,
      `UPDATE deliveries SET owner = '', due_at = ${startedAt}`,
      `UPDATE deliveries SET due_at = ${startedAt - 60_000} WHERE site_id = '${busy.siteId}'`,
    );

    const sender = createSender({ ...config, allow: config.allowPrivate, origins: {} });
    const fail = (error: unknown) => {
      throw error;
    };
    const lanes = createLanes({
      directory,
      sender,
      settle: store.deliveries.settle,
      tokens: createTokens({ store, directory, sender, owner, now, elapsed: now, renewalMs: 1000 }),
      breaker: createBreaker(),
      quota: createQuota(),
      retry: { scheduleMs: config.retryScheduleMs, random: () => 0.5 },
      attemptMs: config.attemptMs,
      now,
      elapsed: now,
      onDefect: fail,
      markForReconnection: fail,
    });
    const ofOthers = (condition: string) =>
      rows(home, `SELECT site_id FROM deliveries WHERE site_id <> '${busy.siteId}' AND ${condition}`);
    const poll = async () => {
      await new Promise<void>((resolve) => {
        const worker = startWorker({
          store,
          directory,
          lanes,
          owner,
          leaseMs: config.leaseMs,
          now,
          elapsed: now,
          onPoll: () => {
            void worker.stop().then(resolve);
          },
          onDefect: fail,
        });
      });
      // The first poll has taken the deliveries of all quiet sites.
      expect(await ofOthers("owner = '' AND state = 'queued'")).toEqual([]);
    };
    const count = async (condition: string) => {
      const where = `site_id = '${busy.siteId}' AND ${condition}`;
      return Number((await rows(home, `SELECT COUNT(*) AS n FROM deliveries WHERE ${where}`))[0]?.n);
    };
    try {
      await work({ home, store, directory, busy, clock, poll, count, lanes });
      const areSent = async () => (await ofOthers("state = 'sent'")).length === quietSites;
      await eventually("the deliveries of the quiet sites are sent", areSent);
      expect(receiver.got).toHaveLength(quietSites);
    } finally {
      // Ends the calls that hang, which the lanes wait for.
      await sender.close();
      await lanes.close();
    }
  });
}

function waiting({ siteId, connections }: SiteSetup, platform: string): NewEvent {
  const id = ulid(startedAt);
  return newEvent(
    siteId,
    { id, name: "lead", orderId: id, receivedAt: startedAt },
    {
      deliveries: [queuedDelivery(connections[0], platform)],
      ownership: { by: "row", owner: "another node", at: startedAt, dueAt: startedAt },
    },
  );
}

describe.each(engines)("a backlog and quiet sites on %s", (engine) => {
  test("a hanging platform gets only what its lanes hold, and the other sites are served in the same poll", async () => {
    const receiver = await startReceiver();
    receiver.behave = () => {};
    await withBacklog(engine, receiver.url, async ({ poll, count }) => {
      await poll();
      expect(await count("owner <> ''")).toBe(32);
      await poll();
      expect(await count("owner <> ''")).toBe(32);
    });
  });

  test("a working platform gets at most two hundred deliveries per poll", async () => {
    await withBacklog(engine, null, async ({ poll, count, lanes }) => {
      await poll();
      await lanes.idle();
      expect(await count("state = 'sent'")).toBe(200);
    });
  });

  test("a platform that is down is called once by each lane, and then with one request at a time", async () => {
    const receiver = await startReceiver();
    // Answers wait until every lane has called, because a slow lane would find the breaker open.
    const held: (() => void)[] = [];
    receiver.behave = (_got, response) => {
      held.push(() => response.writeHead(503).end());
      if (held.length >= 32) for (const answer of held.splice(0, Infinity)) answer();
    };
    await withBacklog(engine, receiver.url, async ({ clock, poll, count, lanes }) => {
      await poll();
      await lanes.idle();
      receiver.behave = (_got, response) => response.writeHead(503).end();
      expect(receiver.got).toHaveLength(32);
      const untouched = `attempts = 0 AND due_at = ${startedAt - 60_000} AND owner = ''`;
      expect(await count(untouched)).toBe(backlog - 32);
      // While the breaker is open, nothing of the backlog changes.
      for (let second = 1; second <= 4; second++) {
        clock.now += 1000;
        await poll();
      }
      await lanes.idle();
      expect(await count(untouched)).toBe(backlog - 32);
      clock.now += 2000;
      await poll();
      await lanes.idle();
      expect(receiver.got).toHaveLength(33);
      expect(await count(untouched)).toBe(backlog - 33);
    });
  });

  test("deliveries of a paused connection are parked, and released once it is resumed, 100 per poll", async () => {
    await withBacklog(engine, null, async ({ store, directory, busy, clock, poll, count, lanes }) => {
      const [id = ""] = busy.connections;
      const connection = { siteId: busy.siteId, id };
      await pause({ store, directory }, connection, { actor: "test", now: clock.now });
      await poll();
      expect(await count("state = 'parked'")).toBe(100);
      await poll();
      expect(await count("state = 'parked'")).toBe(200);
      while ((await count("state = 'parked'")) < backlog) await poll();

      // Another node may have parked them before it read this change.
      const line = {
        siteId: busy.siteId,
        actor: "test",
        action: "connection resumed",
        detail: { id },
        at: 0,
      };
      await store.configuration.setConnectionState(line, id, "active", null);
      await directory.refresh();
      await poll();
      await lanes.idle();
      expect(await count("state = 'parked'")).toBe(backlog - 100);
      expect(await count("state = 'sent'")).toBe(100);
      await resume({ store, directory }, connection, { actor: "test", now: clock.now });
      expect(await count("state = 'parked'")).toBe(0);
    });
  });

  test("releasing a backlog does not delay senders", async () => {
    await withBacklog(engine, null, async ({ store, directory, busy, clock, poll, count }) => {
      const [id = ""] = busy.connections;
      await poll();
      await store.deliveries.endPending(
        { siteId: busy.siteId, connectionId: id },
        { state: "parked", reason: "paused" },
        clock.now,
      );
      const parked = await count("state = 'parked'");
      expect(parked).toBeGreaterThanOrEqual(backlog - 200);
      // An event could have been accepted in each iteration of the event loop.
      let iterations = 0;
      const counting = setInterval(() => (iterations += 1), 0);
      const by = { actor: "test", now: clock.now };
      expect(await resume({ store, directory }, { siteId: busy.siteId, id }, by)).toBe(parked);
      clearInterval(counting);
      expect(iterations).toBeGreaterThanOrEqual(Math.floor(parked / 100) - 1);
    });
  });
});
