// Stages of leads: each is sent once for a lead, and the ladder shows all of them.

import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";

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
    await home.run("connect", site.host, "webhook", `url=${receiver.url}/`);
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
});
