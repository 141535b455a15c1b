// Stages of leads: each is sent once for a lead, and the ladder shows all of them.

import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  call,
  endToEndEngines,
  eventually,
  newInstallation,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";

describe.each(endToEndEngines)("lead stages on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  const leadId = "123456789012345";

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    site = await home.addSite("leads.example");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/`);
    relay = await home.start();
  });

  /** Sends a stage that happened some days ago, and returns the result of the platform. */
  async function stage(event: string, daysAgo: number, changes: Record<string, unknown> = {}) {
    const eventTime = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    const answer = await relay.post(site.key, { email: "lea@example.com", event, eventTime, leadId, ...changes });
    expect(answer.status, answer.text).toBe(200);
    return (JSON.parse(answer.text) as { results: { webhook?: unknown } }).results.webhook;
  }

  test("a stage that the lead reaches again is shown and not sent again, under any of its names", async () => {
    const sent = { ok: true };
    const repeated = { ok: false, status: "skipped", error: "the lead has reached this stage before" };
    expect(await stage("lead", 9)).toEqual(sent);
    expect(await stage("MQL", 7)).toEqual(sent);
    expect(await stage("lead", 5)).toEqual(repeated);
    expect(await stage("Lead Qualified", 3)).toEqual(repeated);
    // Another lead of the same person, and events without a lead id, are not stages of this one.
    expect(await stage("lead", 2, { leadId: "543210987654321" })).toEqual(sent);
    expect(await stage("lead", 1, { leadId: undefined, email: "other@example.com" })).toEqual(sent);
    expect(receiver.got).toHaveLength(4);
    const { items } = await home.run("event", "list", site.host);
    expect(items).toHaveLength(6);
    const trace = await home.run("event", "show", items[5].id);
    expect(trace).toMatchObject({ leadId, deliveries: [{ state: "sent" }] });
  });

  test("the ladder has every lead once, and the one that went back", async () => {
    const ladder = await home.run("event", "stages", site.host);
    expect(ladder).toMatchObject({
      stages: ["lead", "qualified_lead", "closed_won"],
      isComplete: true,
      sources: [{ source: "(none)", leads: 3, wentBack: 1, steps: [{ leads: 3 }, { leads: 1 }, { leads: 0 }] }],
      back: [{ stage: "lead", from: "qualified_lead" }],
    });
    expect(Math.round(ladder.sources[0].steps[1].medianMs / 86_400_000)).toBe(2);
    expect(await home.print("event", "stages", site.host, "--stages", "lead,closed_won")).toMatch(/\(none\) +3 +0 +0/);
  });

  test("of events at the same moment that reach one stage one is sent, in a batch or in requests of their own", async () => {
    const countSent = (answers: { text: string }[]) =>
      answers.reduce((sum, { text }) => sum + text.split('"webhook":{"ok":true}').length - 1, 0);
    const before = receiver.got.length;
    const lead = (id: number, value: number) => ({
      email: "sam@example.com",
      event: "lead",
      leadId: `20000000000000${id}`,
      value,
    });
    const batch = await call(relay.url, {
      path: "/__cc/inbound/batch",
      headers: { "X-CC-Api-Key": site.key, "Content-Type": "application/json" },
      body: JSON.stringify({ events: [lead(1, 101), lead(1, 102), lead(1, 103)] }),
    });
    expect(countSent([batch])).toBe(1);
    const single = await Promise.all(Array.from({ length: 20 }, (_, value) => relay.post(site.key, lead(2, value))));
    expect(countSent(single)).toBe(1);
    expect(receiver.got).toHaveLength(before + 2);
  });

  test("two sales of one lead are two, and one sale under two names of its stage is one", async () => {
    const of = { leadId: "200000000000003", email: "kim@example.com" };
    expect(await stage("closed_won", 4, { ...of, orderId: "D-1" })).toEqual({ ok: true });
    expect(await stage("closed_won", 3, { ...of, orderId: "D-2" })).toEqual({ ok: true });
    expect(await stage("Deal Won", 2, { ...of, orderId: "#d-2" })).toMatchObject({ status: "skipped" });
    const byOrder = await home.run("why", "D-2");
    expect(byOrder.answers.map(({ outcome }: { outcome: string }) => outcome).toSorted()).toEqual(["accepted", "stage_repeated"]);
    // Asked by its own id, an event of an order is named by the order.
    const { answers } = await home.run("why", byOrder.answers[0].event.id);
    expect(answers).toMatchObject([
      { answer: expect.stringMatching(/^Order #d-2 \(Deal Won\) was not sent to Webhook: the lead/) },
    ]);
  });

  test("neither a replay nor a backfill sends a stage again", async () => {
    const before = receiver.got.length;
    const replaying = home.run("delivery", "replay", site.host, "--state", "skipped", "--yes");
    await expect(replaying).rejects.toThrow("Nothing to replay: 24 × their lead has reached the stage before.");
    const later = await startReceiver();
    const { connection } = await home.run("connection", "add", site.host, "webhook", `url=${later.url}/`);
    await home.run("backfill", "start", connection.id, "--days", "30", "--yes");
    const find = async () => (await home.run("backfill", "list", site.host)).items[0].backfill;
    await eventually("the backfill ends", async () => (await find()).state === "done");
    expect((await find()).leftOut).toEqual({ "of a stage that the lead has reached before": 24 });
    expect(later.got).toHaveLength(before);
    expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
    expect(receiver.got).toHaveLength(before);
  });
});
