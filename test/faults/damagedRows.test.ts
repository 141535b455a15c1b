// Damages single rows by SQL, under a running relay: the damaged thing says so and waits, and everything else goes on.

import { beforeAll, describe, expect, test } from "vitest";
import { change, rows, setUpSite, type SiteSetup } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { call, endToEndEngines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";

/** Changes the nonce, so that the value can no longer be decrypted. */
const damaged = (column: string) => `${column} = 'v1.AAAA' || SUBSTR(${column}, 8)`;

let orders = 0;
const event = (orderId = `A-${++orders}`) => ({ email: "ada@example.com", event: "purchase", orderId });

describe.each(endToEndEngines)("a damaged row on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let shop: SiteSetup;
  let other: SiteSetup;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, { CLEANCAST_ALERT_SECONDS: "1", CLEANCAST_PUSH_SECONDS: "1" });
    shop = await setUpSite(home, [["webhook", { url: receiver.url }]], "shop.example.com");
    other = await setUpSite(home, [["sandbox", {}]], "other.example.com");
    relay = await home.start();
  });

  const ready = async () => JSON.parse((await call(relay.url, { method: "GET", path: "/readyz" })).text);
  const openAlerts = async (kind: string): Promise<{ subject: string; text: string }[]> =>
    (await home.run("alert", "list")).open.filter((one: { kind: string }) => one.kind === kind);
  const orderIds = () => receiver.bodies().map(({ orderId }) => orderId);

  test("a connection whose credentials cannot be read waits for reconnection, and all else goes on", async () => {
    const [id = ""] = shop.connections;
    expect((await relay.post(shop.key, event("before"))).status).toBe(200);
    // On a busy machine the receiver may answer later than the sender waits.
    await eventually("the first event is sent", () => orderIds().includes("before"));
    await change(home, `UPDATE connections SET ${damaged("credentials")} WHERE id = '${id}'`);
    // Any change makes the relay read the site again.
    await home.run("site", "set", "shop.example.com", "dedup_order=30d");
    const parked = { ok: false, status: "parked", error: "needs reconnection: cannot be read" };
    await eventually("the connection is parked", async () => {
      const { results } = JSON.parse((await relay.post(shop.key, event())).text);
      return JSON.stringify(results.webhook) === JSON.stringify(parked);
    });
    const sentBefore = orderIds();
    expect((await home.run("connection", "list", "shop.example.com")).items).toMatchObject([
      { id, state: "needs reconnection", stateReason: "cannot be read" },
    ]);
    expect(await home.print("connection", "list")).toContain("needs reconnection: cannot be read");

    const { items: keys } = await home.run("key", "list", "other.example.com");
    expect((await relay.post(other.key, event())).status).toBe(200);
    await home.run("key", "remove", keys[0].id);
    await eventually("the other site's key is revoked", async () => {
      const { status } = await relay.post(other.key, event());
      return status === 401;
    });
    other.key = (await home.run("key", "add", "other.example.com", "next")).key;
    expect(await ready()).toMatchObject({ ok: true, checks: { configuration: "ok" } });
    await eventually("the alert is open", async () => (await openAlerts("needs reconnection")).length > 0);
    expect(await openAlerts("needs reconnection")).toMatchObject([
      { subject: id, text: expect.stringContaining("its row in the database is damaged") },
    ]);
    const { findings } = await home.run("doctor", "--offline");
    expect(JSON.stringify(findings)).toContain("cannot be read: its row in the database is damaged (credentials)");
    for (const command of ["resume", "test", "preview"])
      expect(await home.fails("connection", command, id)).toMatchObject({
        error: expect.stringContaining("Connect it again."),
      });

    expect(await relay.stop()).toBe(0);
    relay = await home.start();
    const late = event("after the restart");
    expect(JSON.parse((await relay.post(shop.key, late)).text).results).toEqual({ webhook: parked });
    expect((await relay.post(other.key, event())).status).toBe(200);
    expect(orderIds()).toEqual(sentBefore);

    // The address is the account, so this is the same connection.
    const again = await home.run("connection", "add", "shop.example.com", "webhook", `url=${receiver.url}`);
    expect(again).toMatchObject({ connection: { id }, isNew: false });
    expect(again.released).toBeGreaterThanOrEqual(2);
    await eventually("what waited is sent", () => orderIds().includes("after the restart"));
    const sent = await rows(home, `SELECT order_id FROM events WHERE site_id = '${shop.siteId}'`);
    await eventually("every event was sent", () => orderIds().length === sent.length);
    await eventually("the alert is closed", async () => (await openAlerts("needs reconnection")).length === 0);
  });

  test("a connection whose settings or events are not JSON waits too, and asks for its events again", async () => {
    const [id = ""] = shop.connections;
    await change(home, `UPDATE connections SET settings = '{', events = '[' WHERE id = '${id}'`);
    await home.run("site", "set", "shop.example.com", "dedup_order=31d");
    expect((await home.run("connection", "list", "shop.example.com")).items).toMatchObject([
      { id, state: "needs reconnection", stateReason: "cannot be read" },
    ]);
    expect(await home.fails("connection", "add", "shop.example.com", "webhook", `url=${receiver.url}`)).toMatchObject({
      field: "events",
      error: `The event selection of connection ${id} cannot be read: give events=all, or events=a,b.`,
    });
    await eventually("the connection is parked", async () => {
      const { results } = JSON.parse((await relay.post(shop.key, event())).text);
      return results.webhook.status === "parked";
    });
    const [wanted, unwanted] = [event("wanted"), { ...event("unwanted"), event: "lead" }];
    for (const one of [wanted, unwanted]) expect((await relay.post(shop.key, one)).status).toBe(200);
    await home.run("connection", "add", "shop.example.com", "webhook", `url=${receiver.url}`, "events=purchase");
    await eventually("what waited is sent", () => orderIds().includes("wanted"));
    await eventually("what is not selected is skipped", async () => {
      const { items: deliveries } = await home.run("delivery", "list", "shop.example.com", "--state", "skipped");
      return deliveries.some((one: { reason: string }) => one.reason === "event not selected");
    });
    expect(orderIds()).not.toContain("unwanted");
  });

  test("a site whose settings cannot be read asks its senders to retry, until they are set again", async () => {
    await change(home, `UPDATE sites SET settings = '{"inbound":tr' WHERE site_id = '${shop.siteId}'`);
    await home.run("site", "set", "other.example.com", "dedup_order=32d");
    // The row of the site itself is read again when its revision changes.
    await home.run("key", "add", "shop.example.com", "another");
    await eventually("senders are asked to retry", async () => {
      const { status, headers } = await relay.post(shop.key, event());
      return status === 503 && headers["retry-after"] !== undefined;
    });
    expect((await relay.post(other.key, event())).status).toBe(200);
    expect(await ready()).toMatchObject({ ok: true });
    await eventually("the alert is open", async () => (await openAlerts("damaged data")).length > 0);
    expect(await openAlerts("damaged data")).toMatchObject([{ subject: "settings" }]);
    const { items: sites } = await home.run("site", "list");
    expect(sites).toMatchObject([{ isReadable: false }, { id: other.siteId, isReadable: true }]);

    const set = await home.run("site", "set", "shop.example.com", "inbound=on");
    expect(set.items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "inbound", value: "on" }),
        expect.objectContaining({ name: "consent_mode", value: "opt-in" }),
      ]),
    );
    expect(set.notes).toEqual([
      "The other settings could not be read. They have their defaults now, and consent_mode is opt-in.",
    ]);
    await eventually("events are accepted", async () => (await relay.post(shop.key, event())).status === 200);
    expect(await openAlerts("damaged data")).toEqual([]);
  });

  test("a webhook that cannot be read keeps its periods until it is repaired, and others are pushed", async () => {
    const [broken, whole] = [await startReceiver(), await startReceiver()];
    const add = async (url: string) => (await home.run("webhook", "add", "shop.example.com", url)).webhook.id;
    const [id] = [await add(`${broken.url}/hook`), await add(`${whole.url}/hook`)];
    await eventually("both are pushed", () => broken.got.length > 0 && whole.got.length > 0);
    await change(home, `UPDATE webhooks SET ${damaged("secrets")} WHERE id = '${id}'`);
    await eventually("the relay has found that it cannot be read", async () => {
      const [row] = await rows(home, `SELECT due_at FROM webhooks WHERE id = '${id}' AND owner = ''`);
      return Number(row?.due_at) > Date.now() + 10_000;
    });
    const pushed = broken.got.length;
    const { items: webhooks } = await home.run("webhook", "list", "shop.example.com");
    expect(webhooks).toMatchObject([
      { id, url: "(cannot be read)", state: "disabled", stateReason: "cannot be read" },
      { state: "active" },
    ]);
    for (const command of ["enable", "rotate", "test"])
      expect((await home.fails("webhook", command, id)).error).toContain(`cleancast webhook repair ${id}`);
    const others = whole.got.length;
    await eventually("the other is pushed", () => whole.got.length > others + 1);
    await eventually("the alert is open", async () => (await openAlerts("webhook")).length > 0);
    expect(broken.got).toHaveLength(pushed);

    const repaired = await home.run("webhook", "repair", id, `${broken.url}/hook`);
    expect(repaired.waiting).toBeGreaterThan(0);
    await eventually("its periods are pushed", () => broken.got.length >= pushed + repaired.waiting);
    const periods = broken.got.map((got) => Number(String(got.headers["webhook-id"]).split("_")[2]));
    expect(periods).toEqual(periods.map((_, i) => (periods[0] ?? 0) + i));
    expect(broken.got.at(-1)?.headers.authorization).toBe(`Bearer ${repaired.secret}`);
  });

  test("an OAuth app that cannot be read is listed as such, and replaced by a new one", async () => {
    const set = () => home.run("oauth", "app", "set", "google_ads", "client_id=c", "client_secret=s3cret");
    const googleApp = async () =>
      (await home.run("oauth", "app", "list")).items.find((one: { platform: string }) => one.platform === "google_ads");
    await set();
    await change(home, `UPDATE oauth_apps SET ${damaged("credentials")}`);
    expect(await googleApp()).toMatchObject({ readable: false });
    const begin = () => home.fails("sign-in", "shop.example.com", "google_ads", "--no-wait");
    expect((await begin()).error).toMatch(/^The OAuth app for Google Ads cannot be read: cleancast oauth app set/);
    await set();
    expect(await googleApp()).toMatchObject({ readable: true });
  });

  // The check is the same on both engines, and takes seconds.
  test.runIf(engine === "sqlite")(
    "a configuration that cannot be read at all makes the relay not ready, and ready again",
    async () => {
      const [{ value }] = (await rows(home, "SELECT value FROM settings WHERE name = 'revision'")) as [{ value: string }];
      await change(home, "UPDATE settings SET value = 'x' WHERE name = 'revision'");
      await eventually("it is not ready", async () => (await ready()).checks.configuration === "failing");
      expect(await ready()).toMatchObject({ ok: false, checks: { store: "ok", writes: "ok" } });
      await change(home, `UPDATE settings SET value = '${value}' WHERE name = 'revision'`);
      await eventually("it is ready", async () => (await ready()).ok);
    },
  );

  test("the installation's own sealed values are written again when they are damaged, and a wrong key still stops a start", async () => {
    expect(await relay.stop()).toBe(0);
    await change(home, `UPDATE settings SET ${damaged("value")} WHERE name IN ('seal check', 'access secret')`);
    relay = await home.start();
    expect((await relay.post(other.key, event())).status).toBe(200);
    const wrong = home.with({ CLEANCAST_ENCRYPTION_KEY: "a1".repeat(32) });
    expect(await wrong.fails("site", "list")).toMatchObject({
      error: expect.stringMatching(/is not the key that this database was sealed with/),
    });
    expect((await home.run("site", "list")).items).toHaveLength(2);
  });
});
