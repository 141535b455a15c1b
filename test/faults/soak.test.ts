// A soak test: three calls in ten to a platform fail or are slow, tokens are revoked for a while, and nodes are killed every few
// seconds. Every accepted event is delivered once. This is a short run; `npm run test:long` is the long one.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import type { StandinId } from "../../standins/index.ts";
import { startStandins, type Standins } from "../../standins/shared/start.ts";
import { engines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { deliveryStates, keepAliveAgent, postOver, rows, setUpSite, withStore } from "../support/installation.ts";

const total = Number(process.env.SOAK_EVENTS ?? 200);
const killEveryMs = 4000;
const platforms = ["x", "tiktok", "pinterest", "reddit"] as const satisfies readonly StandinId[];

/** Three calls in ten fail or are slow. */
const trouble = (seed: number) =>
  (
    [
      { kind: "server_error", probability: 0.06 },
      { kind: "throttle", probability: 0.06, retryAfterSeconds: 1 },
      { kind: "reset", probability: 0.06 },
      { kind: "answer_lost", probability: 0.04 },
      // Longer than an attempt may take.
      { kind: "slow", probability: 0.04, ms: 2500 },
      { kind: "slow", probability: 0.04, ms: 300 },
    ] as const
  ).map((fault, i) => ({ ...fault, seed: seed * 100 + i }));

describe.each(engines)("a soak on %s", (engine) => {
  const nodes = engine === "postgres" ? 2 : 1;
  let standins: Standins;
  let home: Installation;
  let key: string;
  const relays: Relay[] = [];
  const kills = { count: 0 };

  beforeAll(async () => {
    standins = await startStandins({ only: platforms, rateLimits: false });
    home = await newInstallation(engine, {
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
      CLEANCAST_RETRY_SECONDS: "1,1,2,3",
      CLEANCAST_ATTEMPT_SECONDS: "2",
      CLEANCAST_ANSWER_SECONDS: "3",
      CLEANCAST_LEASE_SECONDS: "6",
    });
    ({ key } = await setUpSite(
      home,
      platforms.map((id) => [id, standinConnections[id]] as const),
    ));
    for (let i = 0; i < nodes; i++) relays.push(await home.start());
    platforms.forEach((id, i) => standins.of(id).fault(trouble(i + 1)));
  });
  afterAll(() => standins.close());

  const fields = (n: number) => ({
    email: `soak${n}@customers.example`,
    event: "lead",
    orderId: `soak-${n}`,
    value: 10,
    currency: "EUR",
    phone: "+14255551234",
  });

  /** Retries on any node until one accepts the event. */
  async function sendUntilAccepted(n: number, agent: ReturnType<typeof keepAliveAgent>): Promise<void> {
    for (let tries = 0; ; tries++) {
      const relay = relays[(n + tries) % relays.length] as Relay;
      const answer = await postOver(agent, relay, key, fields(n)).catch(() => null);
      if (answer?.status === 200) return;
      if (tries > 200) throw new Error(`event ${n} was never accepted: ${answer?.text}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async function killAndRestart(): Promise<void> {
    const at = kills.count % relays.length;
    kills.count += 1;
    await (relays[at] as Relay).kill();
    relays[at] = await home.start();
  }

  test(
    `${total} events are each delivered to every platform, and counted once there`,
    async () => {
      const agent = keepAliveAgent(32);
      let next = 0;
      let isSending = true;
      const killer = (async () => {
        while (isSending || kills.count < 2) {
          await new Promise((resolve) => setTimeout(resolve, killEveryMs));
          await killAndRestart();
        }
      })();
      const senders = Array.from({ length: 16 }, async () => {
        for (let n = next++; n < total; n = next++) await sendUntilAccepted(n, agent);
      });
      // Half-way the customer revokes a permission, and grants it again.
      await eventually("half of the events are sent", () => next > total / 2, 600);
      standins.of("tiktok").revokeTokens();
      await Promise.all(senders);
      isSending = false;
      await killer;
      // Resetting the stand-in clears its list of accepted events, so the test copies it first.
      const earlier = standins.of("tiktok").accepted.map((event) => event.id);
      standins.of("tiktok").reset();
      standins.of("tiktok").fault(trouble(9));
      const words = Object.entries(standinConnections.tiktok).map(([name, value]) => `${name}=${value}`);
      await home.run("connection", "add", "shop.example.com", "tiktok", ...words);

      const expected = total * platforms.length;
      await eventually("everything is sent", async () => (await deliveryStates(home)).sent === expected, 600);
      expect(await deliveryStates(home)).toEqual({ sent: expected });

      const events = await withStore(home, async (store, directory) => {
        const [site] = directory.sites();
        return store.events.list(site?.id ?? "", { limit: 2 * total });
      });
      expect(events).toHaveLength(total);
      // A sent event is never sent again.
      const after = await rows(
        home,
        `SELECT COUNT(*) AS n FROM attempts AS late JOIN attempts AS done
           ON done.site_id = late.site_id AND done.event_id = late.event_id
          AND done.connection_id = late.connection_id AND done.number < late.number
         WHERE done.state = 'sent'`,
      );
      expect(Number(after[0]?.n)).toBe(0);

      const atTiktok = new Set([...earlier, ...standins.of("tiktok").accepted.map((event) => event.id)]);
      for (const { platformEventId } of events) expect(atTiktok.has(platformEventId), `tiktok got ${platformEventId}`).toBe(true);

      const repeated: Record<string, number> = {};
      for (const id of platforms.filter((one) => one !== "tiktok")) {
        const accepted = new Map(standins.of(id).accepted.map((event) => [event.id, event]));
        for (const { platformEventId } of events) {
          const event = accepted.get(platformEventId) ?? expect.unreachable(`${id} never got ${platformEventId}`);
          expect(event.counted, `${id} counts ${platformEventId}`).toBe(1);
          repeated[id] = (repeated[id] ?? 0) + event.count - 1;
        }
        expect(accepted.size).toBe(total);
      }
      console.log(
        `${engine}: ${total} events, ${platforms.length} platforms, ${kills.count} kills; repeated to a platform because its answer ` +
          `was lost, late, or fell into a crash: ${JSON.stringify(repeated)}; each of those counted it once.`,
      );
    },
    Math.max(600_000, total * 100),
  );
});
