// A backfill through real relays and a stand-in: it goes on after a crash in the middle, sends every conversion to the
// platform once, and lets live events pass.

import { afterAll, describe, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { startStandins } from "../../standins/shared/start.ts";
import { listDeliveries } from "../support/installation.ts";
import { endToEndEngines, eventually, newInstallation } from "../support/relay.ts";

const standins = await startStandins({ rateLimits: false });
const meta = standins.of("meta");
afterAll(() => standins.close());

const past = 24;

describe.concurrent.each(endToEndEngines)("on %s", (engine) => {
  test("a backfill survives a crash in its middle, and every conversion is accepted once", async () => {
    const host = `${engine}.example.com`;
    const home = await newInstallation(engine, {
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
      CLEANCAST_ATTEMPT_SECONDS: "3",
      CLEANCAST_ANSWER_SECONDS: "4",
      CLEANCAST_LEASE_SECONDS: "9",
      CLEANCAST_RETRY_SECONDS: "1",
    });
    const site = await home.addSite(host);
    let relay = await home.start();
    const send = async (orderId: string, more: Record<string, unknown> = {}) => {
      const event = { email: `${orderId}@customers.example`, event: "purchase", value: 5, orderId, ...more };
      expect((await relay.post(site.key, event)).status).toBe(200);
    };
    const orders = Array.from({ length: past }, (_, i) => `${engine}-${i}`);
    for (const orderId of orders) await send(orderId);
    const tenDays = new Date(Date.now() - 10 * 86_400_000).toISOString();
    await send(`${engine}-old`, { eventTime: tenDays });

    const pairs = Object.entries(standinConnections.meta).map(([name, value]) => `${name}=${value}`);
    const connect = ["connection", "add", host, "meta", ...pairs, "--backfill-days", "30"];
    const connected = await home.run(...connect);
    expect(connected.connection.verification.state).toBe("verified");
    const counted = { found: past + 1, sendable: past, leftOut: { "too old for Meta": 1 }, isComplete: true };
    expect(connected).toMatchObject({ counted, backfill: null });
    // It is connected, and the backfill was refused.
    expect(await home.exitCode(...connect)).toBe(4);
    const start = ["backfill", "start", connected.connection.id, "--days", "30", "--per-minute", "480"];
    expect(await home.fails(...start)).toMatchObject({
      field: "yes",
      error:
        `${past} conversions of the last 30 days can be sent; left out: 1 too old for Meta. ` +
        "This sends them to Meta. Add --yes to do it.",
    });
    expect(await home.exitCode(...start)).toBe(4);
    expect((await home.run("backfill", "list", host)).items).toEqual([]);
    const started = await home.run(...start, "--yes");
    expect(started).toMatchObject({ counted, backfill: { state: "running", total: past } });

    const acceptedOrders = () =>
      meta.accepted.flatMap(({ event }) => {
        const { custom_data: data } = event as { custom_data?: { order_id?: string } };
        return data?.order_id?.startsWith(`${engine}-`) ? [data.order_id] : [];
      });
    await eventually("the backfill is in its middle", async () => acceptedOrders().length >= 8);
    await relay.kill();
    const atCrash = acceptedOrders().length;
    relay = await home.start();
    await send(`${engine}-live`);
    await eventually("the backfill is done", async () => {
      const { items: backfills } = await home.run("backfill", "list", host);
      return backfills[0]?.backfill.state === "done";
    });

    const accepted = acceptedOrders();
    expect(atCrash).toBeLessThan(past);
    expect(new Set(accepted)).toEqual(new Set([...orders, `${engine}-live`]));
    // A crash between the platform's answer and its record repeats an event under the same id, which counts once.
    expect(accepted.length).toBe(past + 1);
    const deliveries = (await listDeliveries(home)).filter(({ platform }) => platform === "meta");
    expect(deliveries.map(({ state }) => state)).toEqual(Array(past + 1).fill("sent"));
    const { items: backfills } = await home.run("backfill", "list", host);
    expect(backfills[0]).toMatchObject({
      connection: connected.connection.id,
      backfill: { total: past, queued: past, leftOut: { "too old for Meta": 1 } },
    });
    expect((await home.fails("backfill", "cancel", connected.connection.id)).error).toMatch(/^No backfill/);
  });
});
