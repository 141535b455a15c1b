// Kills a relay before steps of its way from accepting an event to the last outcome, one step after the other. Whatever the
// step, the event is delivered as if nothing had happened, and nothing is sent whose outcome was recorded.

import { randomInt } from "node:crypto";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startReceiver, type ReceivedRequest, type Receiver } from "../../support/receiver.ts";
import { engines, eventually, newInstallation, type Engine, type Installation, type Relay } from "../../support/relay.ts";
import { buildVersion } from "../../support/schema/versions.ts";
import { change, listDeliveries, rows, setUpSite, type SiteSetup } from "../../support/installation.ts";

// Built, because it starts dozens of times.
const program = await buildVersion("0.2.0", [], fileURLToPath(new URL("./mortalRelay.ts", import.meta.url)));

/** `npm run test:long` kills before each step. Other runs kill before every third, from a random one on, to save time. */
const walks: readonly Walk[] =
  process.env["KILL_STEPS"] === "all"
    ? [
        { first: 0, stride: 2 },
        { first: 1, stride: 2 },
      ]
    : [{ first: Number(process.env["KILL_FIRST"] ?? randomInt(3)), stride: 3 }];
type Walk = { first: number; stride: number };

const times = {
  CLEANCAST_ATTEMPT_SECONDS: "5",
  CLEANCAST_ANSWER_SECONDS: "10",
  CLEANCAST_LEASE_SECONDS: "30",
  CLEANCAST_RETRY_SECONDS: "0.1",
};

const paths = ["accepts", "rejects", "retries"] as const;
type Path = (typeof paths)[number];
/** How each connection's delivery must end. */
const ends: Record<Path, string> = { accepts: "sent", rejects: "rejected", retries: "sent" };

type Scene = {
  home: Installation;
  site: SiteSetup;
  receiver: Receiver;
  /** Calls by order and path. */
  calls: Map<string, number>;
  /** Calls for deliveries that had ended. */
  wrong: string[];
  /** Orders that get no answer. */
  hanging: Set<string>;
};

async function setTheScene(engine: Engine): Promise<Scene> {
  const home = await newInstallation(engine, times);
  const receiver = await startReceiver();
  const site = await setUpSite(
    home,
    paths.map((path) => ["webhook", { url: `${receiver.url}/${path}` }]),
  );
  const scene: Scene = { home, site, receiver, calls: new Map(), wrong: [], hanging: new Set() };
  receiver.behave = (got, response) => void answer(scene, got, response);
  return scene;
}

async function answer(scene: Scene, got: ReceivedRequest, response: ServerResponse): Promise<void> {
  const { orderId } = JSON.parse(got.text) as { orderId: string };
  const path = got.path.slice(1) as Path;
  const key = `${orderId} ${path}`;
  const state = (await statesOf(scene, orderId))[path];
  if (state !== "queued") scene.wrong.push(`${key}: ${state}`);
  const calls = (scene.calls.get(key) ?? 0) + 1;
  scene.calls.set(key, calls);
  if (scene.hanging.has(orderId)) return;
  const status = path === "rejects" ? 400 : path === "retries" && calls === 1 ? 503 : 200;
  response.writeHead(status, { "content-type": "application/json" }).end("{}");
}

/** The states of an order's deliveries; none where it is not stored. */
async function statesOf({ home, site }: Scene, orderId: string): Promise<Partial<Record<Path, string>>> {
  const [event] = await rows(home, `SELECT id FROM events WHERE order_id = '${orderId}'`);
  const deliveries = (await listDeliveries(home)).filter(({ eventId }) => eventId === event?.id);
  return Object.fromEntries(deliveries.map(({ connectionId, state }) => [paths[site.connections.indexOf(connectionId)], state]));
}

const hasEnded = async (scene: Scene, orderId: string) =>
  JSON.stringify(Object.entries(await statesOf(scene, orderId)).toSorted()) === JSON.stringify(Object.entries(ends).toSorted());

const isDead = ({ process: { exitCode, signalCode } }: Relay) => exitCode !== null || signalCode !== null;

/** Another node would wait until the dead one's leases end. */
async function endLeases({ home }: Scene): Promise<void> {
  if (home.engine === "sqlite") return;
  await change(home, `UPDATE nodes SET until = 5`, `UPDATE deliveries SET due_at = 5 WHERE state = 'queued' AND owner <> ''`);
}

const send = ({ site }: Scene, relay: Relay, orderId: string) =>
  relay.post(site.key, { email: `${orderId}@example.com`, event: "purchase", orderId, value: 10 }).catch(() => null);

/** Waits until the relay died, or has delivered the order and was stopped. True if it died. */
async function endOf(scene: Scene, relay: Relay, orderId: string): Promise<boolean> {
  await eventually("the end", async () => isDead(relay) || (await hasEnded(scene, orderId)));
  // Stopping has steps, too.
  return (await relay.stop()) !== 0;
}

/** A sender without an answer sends again. Then the order is delivered to all, however far it had come before. */
async function recover(scene: Scene, relay: Relay, orderId: string): Promise<void> {
  await eventually(`${orderId} is accepted`, async () => (await send(scene, relay, orderId))?.status === 200);
  await eventually(`${orderId} is delivered`, () => hasEnded(scene, orderId));
}

async function check({ home, wrong }: Scene): Promise<void> {
  expect(wrong).toEqual([]);
  expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
}

/** Kills a relay before steps of one event. Returns the number of kills. */
async function walkEvent(scene: Scene, { first, stride }: Walk): Promise<number> {
  let previous = "";
  for (let step = first; ; step += stride) {
    const env = {
      CLEANCAST_TEST_STEP: String(step),
      CLEANCAST_TEST_TABLES: "dedup_claims|events|totals|outcomes|deliveries|attempts",
      CLEANCAST_TEST_ON_SIGNAL: "1",
    };
    const relay = await scene.home.start(env, program);
    if (previous) await recover(scene, relay, previous);
    relay.process.kill("SIGUSR2");
    await eventually("it counts", () => relay.output().includes("counting steps"));

    const orderId = `order-${step}`;
    const answered = await send(scene, relay, orderId);
    if (answered) expect([answered.status, await isStored(scene, orderId)]).toEqual([200, true]);
    const hasDied = await endOf(scene, relay, orderId);
    await check(scene);
    if (!hasDied) return (step - first) / stride;
    await endLeases(scene);
    previous = orderId;
  }
}

const isStored = async ({ home }: Scene, orderId: string) =>
  (await rows(home, `SELECT id FROM events WHERE order_id = '${orderId}'`)).length === 1;

/** Kills a relay before steps of taking over what a killed one left open. Returns the number of kills. */
async function walkTakeover(scene: Scene, { first, stride }: Walk): Promise<number> {
  let previous = "";
  for (let step = first; ; step += stride) {
    const dying = await scene.home.start();
    if (previous) await recover(scene, dying, previous);
    const orderId = `taken-${step}`;
    scene.hanging.add(orderId);
    const sending = send(scene, dying, orderId);
    await eventually("the platforms were called", () => paths.every((path) => scene.calls.has(`${orderId} ${path}`)));
    await dying.kill();
    await sending;
    scene.hanging.delete(orderId);
    await check(scene);
    await endLeases(scene);

    const env = { CLEANCAST_TEST_STEP: String(step), CLEANCAST_TEST_TABLES: "outcomes|nodes" };
    // It may die before it listens.
    const second = await scene.home.start(env, program).catch(() => null);
    const hasDied = !second || (await endOf(scene, second, orderId));
    await check(scene);
    if (!hasDied) return (step - first) / stride;
    await endLeases(scene);
    previous = orderId;
  }
}

describe.concurrent.each(engines)("kills on %s", { timeout: 900_000 }, (engine) => {
  describe.each(walks)("before step $first and every $stride. step after it", (walk) => {
    test("lose nothing while an event is accepted and settled", async () => {
      expect(await walkEvent(await setTheScene(engine), walk)).toBeGreaterThan(2);
    });

    test("lose nothing while a node takes over", async () => {
      expect(await walkTakeover(await setTheScene(engine), walk)).toBeGreaterThan(0);
    });
  });
});
