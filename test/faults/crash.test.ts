import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { hourMs } from "../../src/kernel/time.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Answer, type Installation } from "../support/relay.ts";
import { change, deliveryStates, listDeliveries, setUpSite, rows, type SiteSetup } from "../support/installation.ts";

const total = 500;
const orders = Array.from({ length: total }, (_, i) => `order-${i}`);

// Nodes on PostgreSQL wait until a lease expires, and a lease is longer than answer + attempt. Both are short, but long
// enough for a busy machine to reach the moment of the crash.
const shortTimes = {
  CLEANCAST_ATTEMPT_SECONDS: "3",
  CLEANCAST_ANSWER_SECONDS: "15",
  CLEANCAST_LEASE_SECONDS: "18",
  CLEANCAST_RETRY_SECONDS: "1",
};

let last: Promise<unknown> = Promise.resolve();

/** Runs one crash at a time, so that each has the whole machine; the waiting afterwards may overlap. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const next = last.then(work);
  last = next.catch(() => {});
  return next;
}

/** By order id, the platform event ids under which the platform accepted the order. */
type Accepted = Map<string, Set<string>>;

function accept(accepted: Accepted, got: ReceivedRequest, response: ServerResponse): void {
  const { platformEventId, orderId } = JSON.parse(got.text) as { platformEventId: string; orderId: string };
  accepted.set(orderId, (accepted.get(orderId) ?? new Set()).add(platformEventId));
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
}

type Scene = {
  receiver: Receiver;
  accepted: Accepted;
  /** By order id, the answer that its sender got. */
  answered: Map<string, Answer>;
  /** Sends SIGKILL to the relay; later calls do nothing. */
  kill: () => void;
};

type Moment = {
  title: string;
  /** Makes the receiver behave, and kills the relay when the moment has come. */
  stage: (scene: Scene) => void;
  /** Checks that the crash did happen at that moment. */
  prove: (scene: Scene, home: Installation) => Promise<void>;
};

const moments: Moment[] = [
  {
    title: "right after accept",
    stage: ({ receiver, kill }) => {
      receiver.behave = () => {
        if (receiver.got.length === 20) kill();
      };
    },
    prove: async ({ accepted, answered }, home) => {
      expect(accepted.size).toBe(0);
      expect(answered.size).toBe(0);
      expect((await deliveryStates(home)).queued).toBeGreaterThanOrEqual(20);
    },
  },
  {
    title: "while platforms are answering",
    stage: ({ receiver, accepted, answered, kill }) => {
      receiver.behave = (got, response) => {
        setTimeout(() => {
          accept(accepted, got, response);
          if (answered.size >= 100) kill();
        }, 40);
      };
    },
    prove: async ({ answered }, home) => {
      expect(answered.size).toBeGreaterThanOrEqual(100);
      expect(answered.size).toBeLessThan(total);
      const states = await deliveryStates(home);
      expect(states.sent).toBeGreaterThan(0);
      expect(states.queued).toBeGreaterThan(0);
    },
  },
  {
    title: "before outcomes are written",
    stage: ({ receiver, accepted, kill }) => {
      receiver.behave = (got, response) => {
        if (receiver.got.length === 100) kill();
        accept(accepted, got, response);
      };
    },
    prove: async ({ accepted }, home) => {
      const open = (await listDeliveries(home)).filter(({ state }) => state === "queued");
      const events = await rows(home, `SELECT id, order_id FROM events`);
      const orderOf = new Map(events.map((row) => [row.id, String(row.order_id)]));
      expect(open.some(({ eventId }) => accepted.has(orderOf.get(eventId) ?? ""))).toBe(true);
    },
  },
];

function eventOf(order: string) {
  return { email: `${order}@example.com`, event: "purchase", orderId: order, value: 10 };
}

/** Sends all 500 events at the same time to a relay that is killed in between. */
async function crashAmid(home: Installation, site: SiteSetup, scene: Omit<Scene, "kill">, moment: Moment) {
  const relay = await home.start();
  let killed = false;
  const kill = () => {
    if (killed) return;
    killed = true;
    relay.process.kill("SIGKILL");
  };
  moment.stage({ ...scene, kill });
  await Promise.all(
    orders.map((order) =>
      relay.post(site.key, eventOf(order)).then(
        (answer) => scene.answered.set(order, answer),
        () => {},
      ),
    ),
  );
  expect(killed).toBe(true);
  await relay.kill();
}

async function storedOrders(home: Installation): Promise<Set<string>> {
  return new Set((await rows(home, `SELECT order_id FROM events`)).map((row) => String(row.order_id)));
}

function lost(stored: Iterable<string>, accepted: Accepted): string[] {
  return [...stored].filter((order) => !accepted.has(order));
}

describe.concurrent.each(engines)("kill -9 amid 500 requests on %s", { timeout: 600_000 }, (engine) => {
  test.each(moments)("a kill $title loses nothing that was answered or stored", async (moment) => {
    const home = await newInstallation(engine, shortTimes);
    const receiver = await startReceiver();
    const accepted: Accepted = new Map();
    const site = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const answered = new Map<string, Answer>();
    await oneAtATime(() => crashAmid(home, site, { receiver, accepted, answered }, moment));
    await moment.prove({ receiver, accepted, answered, kill: () => {} }, home);

    const stored = await storedOrders(home);
    for (const [order, { status }] of answered) {
      expect(status).toBe(200);
      expect(stored).toContain(order);
    }

    receiver.behave = (got, response) => accept(accepted, got, response);
    const again = await home.start();
    await eventually(
      "every stored event was delivered",
      async () => lost(stored, accepted).length === 0 && Object.keys(await deliveryStates(home)).join() === "sent",
    );

    // Senders without an answer retry: the platform gets each order as one event under one id.
    const unanswered = orders.filter((order) => !answered.has(order));
    expect(unanswered.length).toBeGreaterThan(0);
    await Promise.all(
      unanswered.map((order) =>
        // On a busy machine the short deadline of this test may pass, which is answered 503.
        eventually(`${order} is accepted`, async () => {
          const { status } = await again.post(site.key, eventOf(order));
          expect([200, 503]).toContain(status);
          return status === 200;
        }),
      ),
    );
    await eventually("every order was delivered", () => accepted.size === total);
    expect(await storedOrders(home)).toEqual(new Set(orders));
    expect([...accepted.values()].filter((ids) => ids.size !== 1)).toEqual([]);
    expect(await again.stop()).toBe(0);
    expect(await deliveryStates(home)).toEqual({ sent: total });
  });
});

test.concurrent("on PostgreSQL another node delivers what a killed node was sending", { timeout: 600_000 }, async () => {
  const home = await newInstallation("postgres", shortTimes);
  const receiver = await startReceiver();
  const accepted: Accepted = new Map();
  const site = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  const living = await home.start();
  const answered = new Map<string, Answer>();
  await oneAtATime(() => crashAmid(home, site, { receiver, accepted, answered }, moments[0] as Moment));
  const stored = await storedOrders(home);
  expect(stored.size).toBeGreaterThan(0);

  receiver.behave = (got, response) => accept(accepted, got, response);
  await eventually("the living node delivered everything", () => lost(stored, accepted).length === 0);
  expect(await living.stop()).toBe(0);
  expect(await deliveryStates(home)).toEqual({ sent: stored.size });
});

test("an embedded relay that was killed does not wait for its own leases: its jobs go on at once", async () => {
  const home = await newInstallation("sqlite");
  const first = await home.start();
  await first.kill();
  const until = Date.now() + hourMs;
  for (const [name, owner] of [
    ["alerts", "the dead relay"],
    ["backups", "command line 1"],
  ])
    await change(home, `INSERT INTO leases (site_id, name, owner, until) VALUES ('', '${name}', '${owner}', ${until})`);
  const second = await home.start();
  const held = await rows(home, `SELECT name FROM leases WHERE owner <> '0' AND until > ${Date.now()}`);
  // A command may still run.
  expect(held.map(({ name }) => name)).toEqual(["backups"]);
  await second.stop();
});
