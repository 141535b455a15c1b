// Alerts notify once when they begin, once a day, and once when they are over: with real stores, a real mail server and a
// real webhook; only the clock is simulated.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAttempt, newEvent, queuedDelivery, settlementOf } from "../../test/support/events.ts";
import { createNodes, sql } from "../../test/support/nodes.ts";
import { startReceiver, type Receiver } from "../../test/support/receiver.ts";
import { startMailServer, type MailServer } from "../../test/support/servers/mailServer.ts";
import { createSender, type Sender } from "../delivery/send.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import type { DeliveryState } from "../kernel/event.ts";
import { ulid } from "../kernel/ids.ts";
import { connect, disconnect, pause, resume } from "../sites/connect.ts";
import { createDirectory, type Connection, type Directory, type Site } from "../sites/directory.ts";
import { addKey, addSite, changeSiteSettings } from "../sites/manage.ts";
import { lockoutRule } from "../store/sites/keyUse.ts";
import type { StoreLocation } from "../store/connect.ts";
import { createStore, type Store } from "../store/store.ts";
import { checkSite, mayHaveProblem, newCheckMemory, quietMs, type Facts } from "./conditions.ts";
import { createMailer } from "./mail.ts";
import { anyNode } from "../store/deliveries/ownership.ts";
import { createAlertJob } from "./monitor.ts";
import { english } from "../kernel/messages/message.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.UTC(2026, 10, 16, 14, 30);
describe.each(["sqlite", "postgres"] as const)("alerts on %s", (engine) => {
  let location: StoreLocation;
  let store: Store;
  let close: () => Promise<void>;
  let directory: Directory;
  let sender: Sender;
  let mail: MailServer;
  let receiver: Receiver;
  let now = start;
  let sites = 0;

  beforeAll(async () => {
    ({ store, location, close } = await createNodes(engine));
    directory = createDirectory(store);
    await directory.refresh();
    mail = await startMailServer();
    receiver = await startReceiver();
    const allow = readAllowList("127.0.0.0/8") as AllowList;
    sender = createSender({ connectMs: 60_000, attemptMs: 60_000, allow, origins: {} });
  });
  afterAll(async () => {
    await sender.close();
    await close();
  });

  const by = () => ({ actor: "test", now, checkAddress: () => null });
  const defects: unknown[] = [];
  const monitorWith = (owner: string, stores: Store = store, places: Directory = directory, everyMs = minute) =>
    createAlertJob({
      store: stores,
      directory: places,
      channels: {
        mailer: createMailer({ url: mail.url, from: "Cleancast <cc@example.com>" }),
        sender,
        publicUrl: "https://cc.example.com",
      },
      owner,
      everyMs,
      now: () => now,
      elapsed: () => now,
      onDefect: (error) => defects.push(error),
    });

  /** Adds a site for one test, with both channels and one connection. */
  async function newSite(...settings: [string, string][]): Promise<Site> {
    sites += 1;
    const site = await addSite({ store, directory }, `shop${sites}.example`, by());
    const chosen = {
      alert_emails: "ops@example.com",
      alert_webhook: `${receiver.url}/T0K3N`,
      time_zone: "Europe/Berlin",
    };
    await changeSiteSettings({ store, directory }, site, { ...chosen, ...Object.fromEntries(settings) }, by());
    await connect({ store, directory }, site, "webhook", { url: "https://hooks.example.com/" }, by());
    return directory.site(site.id) as Site;
  }
  const current = (site: Site) => directory.site(site.id) as Site;
  const connectionOf = (site: Site) => current(site).connections[0]?.id as string;
  const mailsTo = (site: Site) =>
    mail.got.filter((one) => one.subject.includes(`${site.hosts[0]}:`)).map((one) => one.subject.split(": ").slice(1).join(": "));
  const posts = (site: Site) =>
    receiver
      .bodies()
      .filter((one) => (one.site as { id: string }).id === site.id)
      .map((one) => `${String(one.type)} ${String(one.kind)}`);

  async function attempt(siteId: string, connectionId: string, state: DeliveryState, at = now): Promise<string> {
    // A queued one is in no node's hands: leases end by the database's clock, which is not the test's.
    const item = newEvent(
      siteId,
      { receivedAt: at, value: null, orderId: null },
      {
        deliveries: [queuedDelivery(connectionId, "webhook")],
        ownership: { by: "row", owner: state === "queued" ? anyNode : "node-a", at, dueAt: at },
      },
    );
    await store.events.accept(item);
    if (state !== "queued") {
      const entry = newAttempt(state, { startedAt: at });
      await store.deliveries.settle(settlementOf(item, state, { connectionId, at, attempt: entry }));
    }
    return item.event.id;
  }

  test("a rejected token notifies each channel once, again after a day, and when the alert is over", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    const monitor = monitorWith("a");
    await monitor.run();
    expect(mailsTo(site)).toEqual([]);

    const change = { siteId: site.id, actor: "relay", action: "x", detail: {}, at: now };
    await store.configuration.setConnectionState(change, id, "needs reconnection", "token of ada@example.com is dead");
    await directory.refresh();
    for (let checks = 0; checks < 3; checks++) {
      now += minute;
      await monitor.run();
    }
    expect(mailsTo(site)).toEqual([`Webhook (${id}) needs reconnection`]);
    expect(posts(site)).toEqual(["began needs reconnection"]);

    now += day;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(mailsTo(site)).toEqual([`Webhook (${id}) needs reconnection`, `still: Webhook (${id}) needs reconnection`]);

    await store.configuration.setConnectionState(change, id, "active", null);
    await directory.refresh();
    for (let checks = 0; checks < 3; checks++) {
      now += minute;
      await monitor.run();
    }
    expect(mailsTo(site).at(-1)).toBe(`over: Webhook (${id}) needs reconnection`);
    expect(mailsTo(site)).toHaveLength(3);
    expect(posts(site)).toEqual(["began", "reminder", "over"].map((type) => `${type} needs reconnection`));
    const [alert] = await store.alerts.listSince(site.id, 0);
    expect(alert?.endedAt).not.toBeNull();
    expect(alert?.notifiedAt).not.toBeNull();
  });

  test("reconnecting or resuming a connection ends its alert immediately, and the notified channels are notified of the end", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    const stale = createDirectory(store);
    const change = { siteId: site.id, actor: "relay", action: "x", detail: {}, at: now };
    const open = async () => (await store.alerts.listSince(site.id, Number.MAX_SAFE_INTEGER)).length;
    const again = () => connect({ store, directory }, current(site), "webhook", { url: "https://hooks.example.com/" }, by());
    for (const repair of [again, () => resume({ store, directory }, { siteId: site.id, id }, by())]) {
      await store.configuration.setConnectionState(change, id, "needs reconnection", null);
      await directory.refresh();
      await stale.refresh();
      now += minute;
      await monitorWith("a").run();
      expect(await open()).toBe(1);
      now += 1000;
      await repair();
      expect(await open()).toBe(0);
      // A node with an outdated directory does not raise the alert again.
      now += minute;
      await monitorWith("a", store, stale).run();
      expect(await open()).toBe(0);
    }
    expect(posts(site)).toEqual(["began", "over", "began", "over"].map((type) => `${type} needs reconnection`));
  });

  test("removing a connection ends its alerts", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    const findings = (["queue", "success rate"] as const).map((kind) => ({ kind, subject: id, text: "" }));
    await store.alerts.reconcile(site.id, [...findings, { kind: "silence", subject: "", text: "" }], now, quietMs);
    await disconnect({ store, directory }, current(site).connections[0] as Connection, by());
    expect(await store.alerts.listSince(site.id, Number.MAX_SAFE_INTEGER)).toMatchObject([{ kind: "silence" }]);
  });

  test("a message says what happened, since when and what to do, and contains no personal data", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    const change = { siteId: site.id, actor: "relay", action: "x", detail: {}, at: now };
    await store.configuration.setConnectionState(change, id, "needs reconnection", "ada@example.com");
    await directory.refresh();
    await monitorWith("a").run();
    const got = mail.got.at(-1);
    expect(got).toMatchObject({ from: "cc@example.com", to: ["ops@example.com"] });
    expect(got?.subject).toBe(`[Cleancast] ${site.hosts[0]}: Webhook (${id}) needs reconnection`);
    expect(got?.raw).not.toContain("ada@");
    expect(got?.text).toContain("no longer accepts our credentials");
    expect(got?.text).toContain(`cleancast connection set ${id} headers=@headers.txt`);
    expect(got?.text).toContain(`\nPage:    https://cc.example.com/dashboard/sites/${site.id}/integrations/webhook`);
    expect(got?.text).toMatch(/Noticed: 2026-11-1\d \d\d:\d\d Europe\/Berlin/);
    const body = receiver.bodies().at(-1);
    expect(Object.keys(body ?? {})).toEqual([
      "type",
      "site",
      "kind",
      "subject",
      "title",
      "text",
      "what",
      "whatToDo",
      "url",
      "beganAt",
      "endedAt",
    ]);
    expect(body).toMatchObject({
      type: "began",
      site: { id: site.id, host: site.hosts[0] },
      subject: id,
      endedAt: null,
    });
    expect(receiver.got.at(-1)).toMatchObject({ method: "POST", path: "/T0K3N" });
  });

  test("the success rate alert needs twenty attempts, and ends when attempts succeed again", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    const monitor = monitorWith("a");
    for (let n = 0; n < 19; n++) await attempt(site.id, id, n < 10 ? "sent" : "rejected");
    await monitor.run();
    expect(posts(site)).toEqual([]);
    // Deliveries that wait for credentials count neither way.
    await attempt(site.id, id, "parked");
    await attempt(site.id, id, "expired");
    now += minute;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began success rate"]);
    expect(receiver.bodies().at(-1)?.what).toBe(
      `Of the last 20 attempts to reach Webhook (${id}), 50% succeeded; the limit is 80%.`,
    );
    // Without attempts for hours it is unknown whether the connection works.
    now += 3 * hour;
    await monitor.run();
    expect(posts(site)).toEqual(["began success rate"]);
    for (let n = 0; n < 9; n++) await attempt(site.id, id, "sent");
    now += minute;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(posts(site)).toContain("over success rate");
    expect(posts(site).filter((one) => one.startsWith("over"))).toHaveLength(1);
  });

  test("a success rate just above the limit keeps an open alert; a site that turned the alert off and a paused connection raise none", async () => {
    const low = async (site: Site) => {
      for (let n = 0; n < 100; n++) await attempt(site.id, connectionOf(site), n < 79 ? "sent" : "rejected");
    };
    const [wavering, off, paused] = [await newSite(), await newSite(["alert_success_rate", "off"]), await newSite()];
    for (const site of [wavering, off, paused]) await low(site);
    await pause({ store, directory }, { siteId: paused.id, id: connectionOf(paused) }, by());
    const monitor = monitorWith("a");
    await monitor.run();
    expect(posts(wavering)).toEqual(["began success rate"]);
    expect([...posts(off), ...posts(paused)]).toEqual([]);
    for (let n = 0; n < 10; n++) await attempt(wavering.id, connectionOf(wavering), "sent");
    now += minute;
    await monitor.run();
    expect(posts(wavering)).toEqual(["began success rate"]);
  });

  test("the silence alert begins when a pause is unusual, and ends with the next event", async () => {
    const site = await newSite();
    const { id: keyId } = await addKey({ store, directory }, site, { name: "crm", mode: "live", expiresAt: null }, by());
    const last = now - 5 * hour;
    const uses = Array.from({ length: 29 * 24 }, (_, n) => {
      const at = last - n * hour;
      return { siteId: site.id, keyId, hour: Math.floor(at / hour), uses: 10, lastUsedAt: at };
    });
    await store.keyUse.addUses(uses);
    // Each row says when its key was last used; the newest counts.
    const monitor = monitorWith("a");
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began silence"]);
    await store.keyUse.addUses([{ siteId: site.id, keyId, hour: Math.floor((now + 1) / hour), uses: 1, lastUsedAt: now + 1 }]);
    now += minute;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began silence", "over silence"]);
  });

  test("a webhook that fails for an hour and is then disabled raises one alert; a webhook that a person disabled raises none", async () => {
    const site = await newSite();
    const add = (id: string) =>
      store.webhooks.add(
        { siteId: site.id, actor: "test", action: "webhook added", detail: {}, at: now },
        { siteId: site.id, id, sendEmpty: true },
        { url: "https://totals.example.com/x", secrets: { current: "whsec_AAAA", previous: null } },
      );
    await add(`w1${sites}`);
    await add(`w2${sites}`);
    const line = { siteId: site.id, actor: "ada", action: "webhook disabled", detail: {}, at: now };
    await store.webhooks.setState(line, `w2${sites}`, "disabled", "not needed any more", "person");
    const failing = (since: number | null) =>
      sql(location, `UPDATE webhooks SET failing_since = ${since} WHERE site_id = '${site.id}' AND id = 'w1${sites}'`);
    const monitor = monitorWith("a");
    await failing(now - 59 * minute);
    await monitor.run();
    expect(posts(site)).toEqual([]);
    now += 2 * minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began webhook"]);
    await store.webhooks.setState(line, `w1${sites}`, "disabled", "disabled by the receiver with 410 Gone");
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began webhook"]);
    expect(english((await store.alerts.listSince(site.id, now))[0]?.text ?? "")).toContain(
      "is disabled: disabled by the receiver with 410 Gone",
    );
    await store.webhooks.setState(line, `w1${sites}`, "active", null);
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began webhook", "over webhook"]);
  });

  test("a flood of wrong keys raises one alert, even if the host is locked several times", async () => {
    const site = await newSite();
    const host = site.hosts[0] as string;
    const monitor = monitorWith("a");
    for (let locks = 0; locks < 4; locks++) {
      for (let n = 0; n < 10; n++) await store.keyUse.countWrongKey(site.id, host, now, lockoutRule);
      await monitor.run();
      now += 20 * minute;
      await monitor.run();
    }
    expect(posts(site)).toEqual(["began wrong keys"]);
    now += hour;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began wrong keys", "over wrong keys"]);
  });

  test("deliveries that are 15 minutes overdue raise the queue alert", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    await attempt(site.id, id, "queued");
    const monitor = monitorWith("a");
    now += 14 * minute;
    await monitor.run();
    expect(posts(site)).toEqual([]);
    now += 2 * minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began queue"]);
    await store.deliveries.endPending({ siteId: site.id, connectionId: id }, { state: "skipped", reason: "x" }, now);
    now += 5 * minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began queue"]);
    now += 6 * minute;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(posts(site)).toEqual(["began queue", "over queue"]);
  });

  test("a check reads the facts of those sites alone that may have a problem", async () => {
    const site = await newSite(["inbound", "on"]);
    const id = connectionOf(site);
    const read: string[] = [];
    const counted: Store = {
      ...store,
      alerts: {
        ...store.alerts,
        listSince(siteId, ...asked) {
          if (siteId === site.id) read.push(siteId);
          return store.alerts.listSince(siteId, ...asked);
        },
      },
    };
    const monitor = monitorWith("a", counted);
    const isRead = async () => {
      read.length = 0;
      now += minute;
      await monitor.run();
      return read.length > 0;
    };
    await monitor.release();
    // The first check finds out how long a pause is usual.
    expect([await isRead(), await isRead(), await isRead()]).toEqual([true, false, false]);
    now += 2 * hour;
    expect([await isRead(), await isRead()]).toEqual([true, false]);
    const eventId = await attempt(site.id, id, "queued");
    expect([await isRead(), await isRead()]).toEqual([true, true]);
    await sql(location, `UPDATE deliveries SET state = 'sent' WHERE event_id = '${eventId}'`);
    expect(await isRead()).toBe(false);
    await attempt(site.id, id, "rejected");
    expect(await isRead()).toBe(true);
    now += 2 * hour;
    expect([await isRead(), await isRead()]).toEqual([true, false]);
    await sql(
      location,
      `INSERT INTO lockouts (site_id, host, started_at, locked_until)
      VALUES ('${site.id}', 'h', ${now}, ${now + 1.5 * minute})`,
    );
    // The alert ends an hour after the lockout, and channels may have to be notified of the end for a day.
    expect([await isRead(), await isRead()]).toEqual([true, true]);
  });

  test("of failing hosts, only one that would raise an alert lets a check read the facts of its site", async () => {
    const site = await newSite();
    const isChecked = (host: Partial<Site["hostRows"][number]>) => {
      const hostRows = site.hostRows.map((one) => ({ ...one, ...host }));
      return mayHaveProblem({ ...site, hostRows }, newCheckMemory(), now);
    };
    const failing = { failingSince: now - 2 * hour, checkedAt: now, verifiedAt: now - 3 * hour };
    expect(isChecked({})).toBe(false);
    expect(isChecked(failing)).toBe(true);
    // Thousands of hosts may wait for their DNS record.
    expect(isChecked({ ...failing, verifiedAt: null })).toBe(false);
    expect(isChecked({ ...failing, pausedAt: now })).toBe(false);
  });

  test("a long queue raises an alert only while it grows", async () => {
    const site = await newSite();
    let count = 20_000;
    const facts: Facts = {
      ...store,
      alerts: { ...store.alerts, measureQueue: async () => ({ count, isAtLeast: false, oldestDueAt: now }) },
    };
    const memory = newCheckMemory();
    const kinds = async () => (await checkSite({ facts, site, memory, now }, [])).map(({ kind }) => kind);
    for (let checks = 0; checks < 12; checks++) {
      expect(await kinds()).toEqual([]);
      count -= 100;
      now += minute;
    }
    count = 30_000;
    expect(await kinds()).toEqual(["queue"]);
    count = 9000;
    expect(await kinds()).toEqual([]);
  });

  test("a channel that failed is retried at the next check, and the other channel is not notified twice", async () => {
    const site = await newSite();
    const id = connectionOf(site);
    const change = { siteId: site.id, actor: "relay", action: "x", detail: {}, at: now };
    await store.configuration.setConnectionState(change, id, "needs reconnection", null);
    await directory.refresh();
    const monitor = monitorWith("a");
    mail.rejectsRecipients = true;
    receiver.behave = (_got, response) => response.writeHead(500).end("secret words");
    const before = receiver.got.length;
    await monitor.run();
    expect(receiver.got.length).toBe(before + 1);
    const [failed] = await store.alerts.listSince(site.id, now);
    expect(failed?.notifiedAt).toBeNull();
    expect(failed?.notifications.mail?.error).toBe("the mail server refuses the sender or a recipient");
    expect(english(failed?.notifications.webhook?.error ?? "")).toBe("it answered with HTTP 500");

    mail.rejectsRecipients = false;
    now += minute;
    await monitor.run();
    expect(mailsTo(site)).toHaveLength(1);
    receiver.behave = (_got, response) => response.writeHead(204).end();
    now += minute;
    await monitor.run();
    now += minute;
    await monitor.run();
    expect(mailsTo(site)).toHaveLength(1);
    expect(posts(site)).toHaveLength(3);
    const [notified] = await store.alerts.listSince(site.id, now);
    expect(notified?.notifications.webhook).toMatchObject({ notified: "began", error: null });
  });

  test("sites whose alert webhooks hang keep no other site from being notified", async () => {
    const change = (siteId: string) => ({ siteId, actor: "relay", action: "x", detail: {}, at: now });
    const alarm = async (path: string, connections: number) => {
      const site = await newSite(["alert_emails", ""], ["alert_webhook", `${receiver.url}${path}`]);
      for (let i = 1; i < connections; i++)
        await connect({ store, directory }, current(site), "webhook", { url: `https://hooks.example.com/${i}` }, by());
      for (const { id } of current(site).connections)
        await store.configuration.setConnectionState(change(site.id), id, "needs reconnection", null);
      return site;
    };
    receiver.behave = ({ path }, response) => {
      // Longer than a check may send.
      if (path === "/hanging") now += 2 * minute;
      response.writeHead(path === "/hanging" ? 500 : 204).end();
    };
    for (let i = 0; i < 6; i++) await alarm("/hanging", 4);
    const site = await alarm("/working", 2);
    await directory.refresh();
    const monitor = monitorWith("a");
    for (let checks = 0; checks < 4; checks++) {
      now += minute;
      await monitor.run();
    }
    receiver.behave = (_got, response) => response.writeHead(204).end();
    expect(posts(site)).toEqual(["began needs reconnection", "began needs reconnection"]);
  });

  test("the alerts of a site without a channel are still recorded", async () => {
    const site = await newSite(["alert_emails", ""], ["alert_webhook", "none"]);
    const change = { siteId: site.id, actor: "relay", action: "x", detail: {}, at: now };
    await store.configuration.setConnectionState(change, connectionOf(site), "needs reconnection", null);
    await directory.refresh();
    await monitorWith("a").run();
    expect(await store.alerts.listSince(site.id, now)).toMatchObject([{ kind: "needs reconnection", notifiedAt: null }]);
  });

  test("several nodes notify once, both at the same moment and when one node takes over from another", async () => {
    const otherStore = engine === "postgres" ? await createStore(location, Buffer.alloc(32, 7), ulid) : store;
    const otherDirectory = createDirectory(otherStore);
    try {
      const site = await newSite();
      const id = connectionOf(site);
      const change = { siteId: site.id, actor: "relay", action: "x", detail: {}, at: now };
      await store.configuration.setConnectionState(change, id, "needs reconnection", null);
      await directory.refresh();
      await otherDirectory.refresh();
      // With a lease of no length both nodes believe that they hold it.
      const nodes = [monitorWith("a", store, directory, 0), monitorWith("b", otherStore, otherDirectory, 0)];
      for (let checks = 0; checks < 5; checks++) await Promise.all(nodes.map((node) => node.run()));
      expect(posts(site)).toEqual(["began needs reconnection"]);
      expect(mailsTo(site)).toHaveLength(1);

      // The node that held the lease is gone; another takes it when it ends.
      now += 10 * minute;
      await monitorWith("c", otherStore, otherDirectory).run();
      expect(posts(site)).toEqual(["began needs reconnection"]);
      await store.configuration.setConnectionState(change, id, "active", null);
      await Promise.all([directory.refresh(), otherDirectory.refresh()]);
      now += 10 * minute;
      await Promise.all([monitorWith("d").run(), monitorWith("e", otherStore, otherDirectory).run()]);
      now += 10 * minute;
      await monitorWith("f").run();
      expect(posts(site)).toEqual(["began needs reconnection", "over needs reconnection"]);
    } finally {
      if (otherStore !== store) await otherStore.close();
    }
  });

  test("no check reported a defect", () => {
    expect(defects).toEqual([]);
  });
});
