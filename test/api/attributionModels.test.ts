// The path of visits to a conversion, from the tag to the trace and the statistics: by the last touch, the first, or all of them.

import { beforeAll, describe, expect, test } from "vitest";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { hashEmail } from "../support/person.ts";
import { endToEndEngines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { cookieOf, report, type ReportBody } from "../support/visits.ts";

const dayMs = 86_400_000;

type Named = { name: string; conversions: number; values: { currency: string; value: number }[] };

describe.each(endToEndEngines)("attribution models on %s", (engine) => {
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
    await visit("ada@example.com", [
      { params: { fbclid: "First" } },
      { params: { utm_source: "newsletter", utm_campaign: "spring" } },
      { params: { gclid: "Last" } },
    ]);
    await visit("refused@example.com", [{ params: { gclid: "A" } }, { params: { fbclid: "B" } }]);
    await home.run("consent", "set", site.host, "denied", "--email", "refused@example.com");
    await visit("once@example.com", [{ params: { gclid: "Only", utm_campaign: "brand" } }]);
    await order("ada@example.com", "A-1", 10);
    await order("refused@example.com", "A-2", 5);
    await order("once@example.com", "A-3", 7);
    await order("unknown@example.com", "A-4", 3);
  });

  let visitors = 0;
  /** The visits of one browser, which submits the email with the last of them. */
  async function visit(email: string, pages: ReportBody[]): Promise<void> {
    const from = { "X-Forwarded-For": `203.0.113.${++visitors}` };
    let browser: Record<string, string> = from;
    for (const page of pages) {
      const answer = await report(relay, site.host, "visit", page, browser);
      browser = { ...browser, ...cookieOf(answer) };
    }
    await report(relay, site.host, "identify", { ...pages.at(-1), emails: [hashEmail(email)], submit: [5000, 3, 0] }, browser);
  }
  async function order(email: string, orderId: string, value: number): Promise<void> {
    const answer = await relay.post(site.key, { email, event: "purchase", orderId, value, currency: "EUR" });
    expect(answer.status).toBe(200);
  }
  const ask = async (path: string) => (await owner.ask(`GET /sites/${site.id}${path}`)).json;
  async function statistics(model: string): Promise<{ sources: Named[]; campaigns: Named[] }> {
    const now = Date.now();
    return ask(`/statistics?from=${now - dayMs}&to=${now}&model=${model}`);
  }
  const inShort = (items: Named[]) =>
    Object.fromEntries(items.map(({ name, conversions, values }) => [name, [conversions, values[0]?.value]]));
  const trace = async (orderId: string) => {
    const { items } = await ask(`/events?orderId=${orderId}`);
    return ask(`/events/${items[0].id}`);
  };

  test("sources and campaigns follow the model, with the same totals", async () => {
    const none = [2, 8];
    expect(inShort((await statistics("last")).sources)).toEqual({ google: [2, 17], "(none)": none });
    expect(inShort((await statistics("first")).sources)).toEqual({ google: [1, 7], facebook: [1, 10], "(none)": none });
    expect(inShort((await statistics("linear")).sources)).toEqual({
      google: [4 / 3, 10.34],
      facebook: [1 / 3, 3.33],
      newsletter: [1 / 3, 3.33],
      "(none)": none,
    });
    expect(inShort((await statistics("linear")).campaigns)).toEqual({
      spring: [1 / 3, 3.33],
      brand: [1, 7],
      "(none)": [2 + 2 / 3, 14.67],
    });
    for (const model of ["last", "first", "linear"]) {
      const { sources } = await statistics(model);
      expect(sources.reduce((sum, { conversions }) => sum + conversions, 0)).toBeCloseTo(4, 9);
      expect(sources.reduce((sum, { values }) => sum + (values[0]?.value ?? 0), 0)).toBeCloseTo(25, 9);
    }
    expect((await owner.ask(`GET /sites/${site.id}/statistics?from=0&to=${dayMs}&model=best`)).status).toBe(400);
  });

  test("the trace shows the path, and none after a refusal", async () => {
    const { attribution } = await trace("A-1");
    const at = expect.any(Number) as number;
    expect(attribution.path).toEqual([
      { at, source: "facebook", campaign: null, clickId: "fbclid", hasForm: false },
      { at, source: "newsletter", campaign: "spring", clickId: null, hasForm: false },
      { at, source: "google", campaign: null, clickId: "gclid", hasForm: true },
    ]);
    expect((await trace("A-2")).attribution.path).toEqual([]);
    expect((await trace("A-3")).attribution.path).toEqual([
      { at, source: "google", campaign: "brand", clickId: "gclid", hasForm: false },
    ]);
    expect((await trace("A-4")).attribution.path).toEqual([]);
  });

  test("the command line shows models and the path", async () => {
    const shown = await home.print("event", "sources", site.host, "--model", "linear");
    expect(shown).toMatch(/google\s+1\.33\s+10\.34 EUR/);
    expect(await home.print("event", "sources", site.host, "--by", "campaign", "--model", "first")).toMatch(/brand\s+1\s+7 EUR/);
    const { id } = await trace("A-1");
    const text = await home.print("event", "show", id);
    expect(text).toMatch(/ad click from facebook, 0 min before/);
    expect(text).toMatch(/visit from newsletter, campaign spring, 0 min before/);
    expect(text).toMatch(/ad click from google, form, 0 min before/);
  });

  test("an erasure takes the path with it", async () => {
    await home.run("person", "erase", site.host, "--email", "ada@example.com", "--yes");
    expect((await trace("A-1")).attribution.path).toEqual([]);
  });
});
