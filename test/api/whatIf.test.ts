// The question what changed settings would have done, asked as the dashboard and the command line ask it: it changes nothing, and what it
// says is what happens to the same visits and orders once the settings are saved.

import { beforeAll, describe, expect, test } from "vitest";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { hashEmail } from "../support/person.ts";
import { endToEndEngines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { personsAgent, report } from "../support/visits.ts";

describe.each(endToEndEngines)("what if, on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  let owner: Person;

  beforeAll(async () => {
    home = await newInstallation(engine);
    site = await home.addSite("shop.example");
    await home.run("connection", "add", site.host, "sandbox");
    relay = await home.start();
    owner = await becomeOwner(relay);
    await order("first");
  });

  /** One person whose browser will be denied, and one with another. */
  async function order(round: string): Promise<boolean[]> {
    const agents = { special: `${personsAgent} Special/1.0`, usual: personsAgent };
    const filtered: boolean[] = [];
    for (const [kind, agent] of Object.entries(agents)) {
      const email = `${kind}-${round}@example.com`;
      const from = { "User-Agent": agent, "X-Forwarded-For": kind === "usual" ? "203.0.113.1" : "203.0.113.2" };
      await report(relay, site.host, "identify", { emails: [hashEmail(email)], submit: [5000, 3, 0] }, from);
      const answer = await relay.post(site.key, { email, event: "purchase", orderId: email, value: 10, currency: "EUR" });
      expect(answer.status, answer.text).toBe(200);
      filtered.push(answer.text.includes('"filtered":true'));
    }
    return filtered;
  }

  const denied = { settings: { deny_user_agents: "*Special*" } };
  const whatIf = (body: object) => owner.ask(`POST /sites/${site.id}/what-if`, body);

  test("it tells what is filtered once the rule is saved, and changes nothing itself", async () => {
    const before = await owner.ask(`GET /sites/${site.id}/events`);
    const audit = await owner.ask(`GET /sites/${site.id}/audit`);
    const told = await whatIf(denied);
    expect(told.status, told.answer.text).toBe(200);
    expect(told.json.differences).toMatchObject({
      events: 2,
      filtered: { before: { events: 0 }, after: { events: 1, values: { EUR: 10 } } },
    });
    expect(told.json.examples).toHaveLength(1);
    const printed = await home.run("what-if", site.host, "deny_user_agents=*Special*", "--days", "1");
    expect(printed).toMatchObject({ differences: told.json.differences, next: null, isComplete: true });
    expect((await owner.ask(`GET /sites/${site.id}/events`)).json).toEqual(before.json);
    expect((await owner.ask(`GET /sites/${site.id}/audit`)).json).toEqual(audit.json);

    expect((await owner.ask(`PATCH /sites/${site.id}/settings`, denied)).status).toBe(200);
    expect(await order("second")).toEqual([true, false]);
    await owner.ask(`PATCH /sites/${site.id}/settings`, { settings: { deny_user_agents: "" } });
  });

  test("settings that change no event are refused, and so are unknown cursors and events", async () => {
    expect((await whatIf({ settings: { time_zone: "UTC" } })).status).toBe(400);
    expect((await whatIf({ ...denied, cursor: "x" })).status).toBe(400);
    expect((await whatIf({ ...denied, event: "unknown" })).status).toBe(404);
  });
});
