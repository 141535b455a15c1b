// The weekly message: once a week and channel, whatever nodes and restarts there are. With real stores, a real mail server and a real
// webhook; only the clock is simulated.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newEvent } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { startReceiver, type Receiver } from "../../test/support/receiver.ts";
import { startMailServer, type MailServer } from "../../test/support/servers/mailServer.ts";
import { createMailer } from "../alerts/mail.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { createSender, type Sender } from "../delivery/send.ts";
import { createDirectory, type Directory } from "../sites/directory.ts";
import { addSite, changeSiteSettings } from "../sites/manage.ts";
import type { Store } from "../store/store.ts";
import { createWeeklyReportJob, nextTime } from "./weekly.ts";

const minute = 60_000;
const day = 1440 * minute;
/** A Sunday. */
const start = Date.UTC(2026, 10, 15, 12);
const monday8 = Date.UTC(2026, 10, 16, 7);

describe("the next time of a schedule", () => {
  test.each([
    ["monday 8", "Europe/Berlin", "2026-11-15T12:00:00Z", "2026-11-16T07:00:00.000Z"],
    ["monday 8", "Europe/Berlin", "2026-11-16T06:59:59Z", "2026-11-16T07:00:00.000Z"],
    // The time itself is over.
    ["monday 8", "Europe/Berlin", "2026-11-16T07:00:00Z", "2026-11-23T07:00:00.000Z"],
    ["sunday 23", "Pacific/Auckland", "2026-11-15T00:00:00Z", "2026-11-15T10:00:00.000Z"],
    // Clocks are set forward on this day: 02:00 does not exist.
    ["sunday 2", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00.000Z"],
    ["sunday 8", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T06:00:00.000Z"],
    // In the last hour of the Sunday before, seven times 24 hours lead to the Monday after it.
    ["sunday 23", "Europe/Berlin", "2027-03-21T22:30:00Z", "2027-03-28T21:00:00.000Z"],
    ["monday 0", "America/Los_Angeles", "2026-11-16T07:59:00Z", "2026-11-16T08:00:00.000Z"],
  ])("%s in %s after %s is %s", (schedule, zone, after, expected) => {
    expect(new Date(nextTime(schedule, zone, Date.parse(after))).toISOString()).toBe(expected);
  });
});

describe.each(["sqlite", "postgres"] as const)("the weekly report on %s", (engine) => {
  let store: Store;
  let close: () => Promise<void>;
  let directory: Directory;
  let sender: Sender;
  let mail: MailServer;
  let chat: Receiver;
  let now = start;
  let sites = 0;
  const defects: unknown[] = [];

  beforeAll(async () => {
    ({ store, close } = await createNodes(engine));
    directory = createDirectory(store);
    mail = await startMailServer();
    chat = await startReceiver();
    const allow = readAllowList("127.0.0.0/8") as AllowList;
    sender = createSender({ connectMs: 60_000, attemptMs: 60_000, allow, origins: {} });
  });
  afterAll(async () => {
    await sender.close();
    await close();
    expect(defects).toEqual([]);
  });

  const nodeOf = (owner: string, leases: Store["leases"] = store.leases) =>
    createWeeklyReportJob({
      store: { ...store, leases },
      directory,
      channels: {
        mailer: createMailer({ url: mail.url, from: "Cleancast <cc@example.com>" }),
        sender,
        publicUrl: "https://cc.example.com",
      },
      owner,
      now: () => now,
      elapsed: () => now,
      onDefect: (error) => defects.push(error),
    });
  /** A lease that both nodes believe to hold, as after a pause longer than it. */
  const alwaysLeads = () => ({ ...store.leases, acquire: async () => true });

  async function newSite(settings: Record<string, string> = {}): Promise<{ id: string; host: string }> {
    now = start;
    sites += 1;
    const host = `week${sites}.example`;
    const by = { actor: "test", now, checkAddress: () => null };
    const site = await addSite({ store, directory }, host, by);
    const chosen = {
      alert_emails: "team@example.com",
      alert_webhook: `${chat.url}/T0K3N`,
      time_zone: "Europe/Berlin",
      weekly_report: "monday 8",
    };
    await changeSiteSettings({ store, directory }, site, { ...chosen, ...settings }, by);
    for (const i of [1, 2])
      await store.events.accept(
        newEvent(site.id, { orderId: `W-${i}`, value: 50, currency: "EUR", receivedAt: now - day, time: now - day }),
      );
    return { id: site.id, host };
  }
  const mailsOf = ({ host }: { host: string }) => mail.got.filter(({ subject }) => subject.includes(host));
  const postsOf = ({ id }: { id: string }) => chat.bodies().filter((one) => (one["site"] as { id: string }).id === id);

  test("comes once at its time, on whichever node, also after a restart, and again a week later", async () => {
    const site = await newSite();
    const [a, b] = [nodeOf("a"), nodeOf("b")];
    await a.run();
    now = monday8 - minute;
    await a.run();
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([0, 0]);
    now = monday8 + minute;
    await Promise.all([a.run(), b.run()]);
    await a.release();
    await b.run();
    await b.release();
    // A restart is a node with another name.
    now += minute;
    await nodeOf("c").run();
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([1, 1]);
    now = monday8 + 7 * day;
    now += 10 * minute;
    await nodeOf("d").run();
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([2, 2]);
  });

  test("two nodes that both believe to lead send one message for each channel", async () => {
    const site = await newSite();
    await nodeOf("a").run();
    now = monday8 + minute;
    await Promise.all(["e", "f", "g"].map((owner) => nodeOf(owner, alwaysLeads()).run()));
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([1, 1]);
  });

  test("a node that dies while it sends leaves a message that is not repeated", async () => {
    const site = await newSite();
    await nodeOf("a", alwaysLeads()).run();
    now = monday8 + minute;
    const report = (await store.weeklyReports.listAll()).find(({ siteId }) => siteId === site.id);
    if (!report) throw new Error("no schedule");
    await store.weeklyReports.begin(report, monday8 + 7 * day);
    const begun = await store.weeklyReports.find(site.id);
    if (!begun) throw new Error("no message");
    const dead = { state: "sending", at: now, tries: 1, error: null, by: "dead" } as const;
    await store.weeklyReports.saveResult(begun, "mail", dead);
    for (let i = 0; i < 4; i++) {
      now += 20 * minute;
      await nodeOf("h", alwaysLeads()).run();
    }
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([0, 1]);
  });

  test("a channel that fails is tried again without the others, and not forever", async () => {
    const site = await newSite();
    await nodeOf("a", alwaysLeads()).run();
    const answer = chat.behave;
    chat.behave = (_request, response) => response.writeHead(500).end();
    now = monday8 + minute;
    await nodeOf("a", alwaysLeads()).run();
    now += minute;
    await nodeOf("a", alwaysLeads()).run();
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([1, 1]);
    chat.behave = answer;
    now += 15 * minute;
    await nodeOf("a", alwaysLeads()).run();
    now += 15 * minute;
    await nodeOf("a", alwaysLeads()).run();
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([1, 2]);
    expect((await store.weeklyReports.find(site.id))?.results["webhook"]?.state).toBe("sent");
  });

  test("a relay that was away for more than a day leaves the message out", async () => {
    const site = await newSite();
    await nodeOf("a", alwaysLeads()).run();
    now = monday8 + 2 * day;
    await nodeOf("a", alwaysLeads()).run();
    expect([mailsOf(site).length, postsOf(site).length]).toEqual([0, 0]);
    now = monday8 + 7 * day + minute;
    await nodeOf("a", alwaysLeads()).run();
    expect(mailsOf(site).length).toBe(1);
  });

  test("a time that is over when it is chosen sends nothing until next week, and off forgets it", async () => {
    const site = await newSite({ weekly_report: "off" });
    now = monday8 + minute;
    const by = { actor: "test", now, checkAddress: () => null };
    const set = async (weekly: string) => {
      const found = directory.site(site.id);
      if (found) await changeSiteSettings({ store, directory }, found, { weekly_report: weekly }, by);
    };
    await set("monday 8");
    await nodeOf("a", alwaysLeads()).run();
    await nodeOf("a", alwaysLeads()).run();
    expect(mailsOf(site).length).toBe(0);
    await set("off");
    await nodeOf("a", alwaysLeads()).run();
    expect(await store.weeklyReports.find(site.id)).toBeNull();
  });

  test("the message has the numbers in the site's language, the report attached, and nothing personal", async () => {
    const site = await newSite({ report_language: "de" });
    await nodeOf("a", alwaysLeads()).run();
    now = monday8 + minute;
    await nodeOf("a", alwaysLeads()).run();
    const [letter] = mailsOf(site);
    expect(letter?.subject).toContain("Wochenbericht");
    const [post] = postsOf(site);
    expect(post?.["text"]).toContain("2 Conversions empfangen.");
    const whole = `${JSON.stringify(letter)} ${JSON.stringify(post)}`;
    expect(whole).toContain("application/pdf");
    expect(whole).toContain(`${site.host}-2026-11-15.pdf`);
    for (const word of ["W-1", "T0K3N", "@example.org", "sha256"]) expect(whole).not.toContain(word);
  });
});
