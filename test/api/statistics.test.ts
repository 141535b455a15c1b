// A site's statistics, events, sync log, people and live feed through the management API.

import { get } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { contract } from "../../src/contract/contract.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";

const hourMs = 3_600_000;
const hostile = '=HYPERLINK("http://evil.example"),"<script>"';

describe.each(engines)("a site's data on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  let owner: Person;
  let connection: string;

  beforeAll(async () => {
    home = await newInstallation(engine);
    site = await home.addSite("shop.example", "block_domains=spam.test");
    connection = (await home.run("connection", "add", site.host, "sandbox")).connection.id;
    await home.run("identity", "put", site.host, "--email", "known@example.com", "gclid=abc");
    const testKey = await home.run("key", "add", site.host, "tests", "--test");
    relay = await home.start();
    owner = await becomeOwner(relay);
    for (const [key, event] of [
      [
        site.key,
        {
          email: "known@example.com",
          event: "purchase",
          orderId: "A-1",
          value: 10.1,
          currency: "EUR",
          items: [{ id: "SKU-1", name: "Mug", price: 5, quantity: 2 }, { id: "SKU-2" }],
        },
      ],
      [site.key, { email: "known@example.com", event: "purchase", orderId: "A-1", value: 10.1, currency: "EUR" }],
      [site.key, { email: "b@example.com", event: "purchase", orderId: "A-2", value: 10.2, currency: "EUR" }],
      [site.key, { email: "b@example.com", event: "purchase", orderId: "A-3", value: 500, currency: "USD" }],
      [site.key, { email: "c@example.com", event: "lead", orderId: hostile }],
      [site.key, { email: "b@example.com", event: "Refund", orderId: "A-4", value: 900, currency: "USD" }],
      [site.key, { email: "c@spam.test", event: "lead", orderId: "A-5" }],
      [testKey.key, { email: "c@example.com", event: "lead", orderId: "A-6" }],
    ] as const)
      expect((await relay.post(key, event)).status).toBe(200);
  });

  const of = (path: string) => `/sites/${site.id}${path}`;

  test("statistics of the last day count conversions, value, duplicates, filtered and test events", async () => {
    const now = Date.now();
    const path = of(`/statistics?from=${now - 24 * hourMs}&to=${now}&step=hour`);
    // The relay writes counts of duplicates in batches.
    let json = (await owner.ask(`GET ${path}`)).json;
    await eventually("the duplicate is counted", async () => {
      json = (await owner.ask(`GET ${path}`)).json;
      return json.totals?.duplicates === 1;
    });
    contract["GET /sites/:site/statistics"].answer.parse(json);
    const values = [
      { currency: "EUR", value: 20.3 },
      { currency: "USD", value: 500 },
    ];
    const refunds = [{ currency: "USD", value: 900 }];
    expect(json.totals).toEqual({
      conversions: 5,
      values,
      refunds,
      duplicates: 1,
      filtered: 1,
      botEvents: 0,
      withClickId: 1,
      due: 5,
      sent: 5,
      bots: 0,
      people: 0,
      test: 1,
    });
    expect(json.before).toEqual({
      conversions: 0,
      values: [],
      refunds: [],
      duplicates: 0,
      filtered: 0,
      botEvents: 0,
      withClickId: 0,
      due: 0,
      sent: 0,
      bots: 0,
    });
    expect(json.steps.length).toBeGreaterThanOrEqual(24);
    // Tomorrow at these hours, today's figures are those of the earlier period.
    const then = Math.floor(now / hourMs) * hourMs + 24 * hourMs;
    const range = `from=${then - hourMs}&to=${then + hourMs}`;
    const { before, steps } = (await owner.ask(`GET ${of(`/statistics?${range}&step=hour`)}`)).json;
    expect(before).toEqual({ ...json.totals, people: undefined, test: undefined });
    type Step = { before: { startsAt: number; conversions: number; values: unknown[] } };
    expect(steps.map((step: Step) => step.before.startsAt)).toEqual([then - 25 * hourMs, then - 24 * hourMs]);
    expect(steps.reduce((sum: number, step: Step) => sum + step.before.conversions, 0)).toBe(5);
    expect(steps.flatMap((step: Step) => step.before.values)).toEqual(expect.arrayContaining([values[1]]));
    expect(json.events).toEqual([
      { name: "purchase", conversions: 3, values },
      { name: "lead", conversions: 1, values: [] },
      { name: "Refund", conversions: 1, values: refunds },
    ]);
    expect(json.platforms).toEqual([{ platform: "sandbox", states: { sent: 5 }, conversions: 5, values, confirmations: null }]);
    expect(json.sources).toEqual([
      {
        name: "(none)",
        conversions: 4,
        values: [
          { currency: "EUR", value: 10.2 },
          { currency: "USD", value: 500 },
        ],
      },
      { name: "google", conversions: 1, values: [{ currency: "EUR", value: 10.1 }] },
    ]);
    expect(json.campaigns).toEqual([{ name: "(none)", conversions: 5, values }]);
    expect(json.match).toEqual({
      conversions: 5,
      identified: 1,
      withheld: 0,
      withClickId: 1,
      clickIds: [{ name: "gclid", conversions: 1 }],
    });
    expect(json.removed).toEqual([{ reason: "blocked domain", visits: 0, events: 1 }]);

    // A click on a name filters the whole report: it counts as many conversions as the name has.
    for (const [kind, name, conversions] of [
      ["event", "lead", 1],
      ["source", "(none)", 4],
      ["campaign", "(none)", 5],
      ["platform", "sandbox", 5],
      ["source", "nothing", 0],
    ] as const) {
      const filtered = (await owner.ask(`GET ${path}&${kind}=${encodeURIComponent(name)}`)).json;
      contract["GET /sites/:site/statistics"].answer.parse(filtered);
      expect([kind, filtered.totals.conversions, filtered.totals.sent]).toEqual([kind, conversions, conversions]);
      expect(filtered.totals).toMatchObject({ duplicates: 0, filtered: 0, bots: 0 });
    }
  });

  test.each([
    ["from=5&to=5", "from"],
    ["from=-1&to=5", "from"],
    [`from=0&to=${500 * 24 * hourMs}`, "to"],
    [`from=0&to=${40 * 24 * hourMs}&step=hour`, "to"],
    ["from=0&to=5&step=week", "step"],
    ["to=5", "from"],
    ["from=0&to=5&platform=sandbx", "platform"],
    ["from=0&to=5&event=lead&source=google", "source"],
  ])("the invalid range %s is refused with the name of the wrong field", async (query, field) => {
    const { status, json } = await owner.ask(`GET ${of(`/statistics?${query}`)}`);
    expect([status, json.error.field]).toEqual([400, field]);
  });

  const orders = async (query: string) => {
    const { status, json } = await owner.ask(`GET ${of(`/events?${query}`)}`);
    expect(status, JSON.stringify(json)).toBe(200);
    contract["GET /sites/:site/events"].answer.parse(json);
    return json.items.map(({ orderId }: { orderId: string }) => orderId);
  };

  test("events are found by order id, email, hash and event ids, and read in pages", async () => {
    const all = ["A-6", "A-5", "A-4", hostile, "A-3", "A-2", "A-1"];
    expect(await orders("")).toEqual(all);
    expect(await orders("status=filtered")).toEqual(["A-5"]);
    expect(await orders("status=accepted&limit=2")).toEqual(["A-6", "A-4"]);
    expect(await orders("mode=test")).toEqual(["A-6"]);
    expect(await orders("mode=live&status=filtered")).toEqual(["A-5"]);
    expect(await orders("mode=test&status=filtered")).toEqual([]);
    expect(await orders("event=LEAD%20")).toEqual(["A-6", "A-5", hostile]);
    expect(await orders("event=lead&mode=live&status=accepted")).toEqual([hostile]);
    expect(await orders("clickId=gclid")).toEqual(["A-1"]);
    expect(await orders("clickId=none&event=purchase")).toEqual(["A-3", "A-2"]);
    expect(await orders("search=A-2")).toEqual(["A-2"]);
    expect(await orders("search=B@Example.com%20")).toEqual(["A-4", "A-3", "A-2"]);
    expect(await orders(`search=${sha256Of("b@example.com").toUpperCase()}`)).toEqual(["A-4", "A-3", "A-2"]);
    expect(await orders(`search=${encodeURIComponent(hostile)}`)).toEqual([hostile]);
    expect(await orders("search=nothing")).toEqual([]);
    // A part of an id finds the orders that begin with it, read in pages too.
    const begun = all.filter((id) => id !== hostile);
    expect(await orders("search=a-")).toEqual(begun);
    expect(await orders("search=a-&event=lead")).toEqual(["A-6", "A-5"]);
    expect(await orders("search=a")).toEqual([]);
    const part = (await owner.ask(`GET ${of("/events?search=a-&limit=4")}`)).json;
    expect(part.items.map(({ orderId }: { orderId: string }) => orderId)).toEqual(begun.slice(0, 4));
    expect(await orders(`search=a-&limit=4&cursor=${part.next}`)).toEqual(begun.slice(4));
    expect(await orders(`to=${Date.now() - hourMs}`)).toEqual([]);
    const first = (await owner.ask(`GET ${of("/events?limit=4")}`)).json;
    expect(await orders(`limit=4&cursor=${first.next}`)).toEqual(all.slice(4));
    const [event] = (await owner.ask(`GET ${of("/events?search=A-1")}`)).json.items;
    expect(await orders(`search=${event.id}`)).toEqual(["A-1"]);
    expect(await orders(`search=${event.platformEventId}`)).toEqual(["A-1"]);
    expect(await orders(`search=${event.id}&status=filtered`)).toEqual([]);
    expect(await orders(`search=${event.id}&mode=live&clickId=gclid`)).toEqual(["A-1"]);
    expect(await orders(`search=${event.id}&clickId=none`)).toEqual([]);
    expect(event).toMatchObject({ identity: "found", clickIds: ["gclid"] });
    expect(event.deliveries).toEqual([{ connection, platform: "sandbox", state: "sent", reason: null, reasonPersists: false }]);
    expect((await owner.ask(`GET ${of("/events?cursor=x")}`)).json.error.field).toBe("cursor");

    const trace = (await owner.ask(`GET ${of(`/events/${event.platformEventId}`)}`)).json;
    contract["GET /sites/:site/events/:event"].answer.parse(trace);
    expect(trace).toMatchObject({ id: event.id, emailSha256: sha256Of("known@example.com") });
    expect(trace.deliveries[0].log).toHaveLength(1);
    expect(trace.attribution.clickIds.gclid.value).toBe("abc");
    expect(trace.items).toEqual([
      { id: "SKU-1", name: "Mug", category: null, brand: null, price: 5, quantity: 2 },
      { id: "SKU-2", name: null, category: null, brand: null, price: null, quantity: 1 },
    ]);
    expect((await owner.ask(`GET ${of("/events/none")}`)).status).toBe(404);
  });

  test("a CSV file holds every row, and no cell is a formula", async () => {
    const { answer } = await owner.ask(`GET ${of("/events.csv")}`);
    expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(answer.headers["content-disposition"]).toMatch(/^attachment; filename="events-shop\.example-[\d-]+\.csv"$/);
    const lines = answer.text.trim().split("\n");
    expect(lines).toHaveLength(8);
    expect(lines[0]).toContain("click ids,row of the event,platform,connection,state,reason,id,");
    expect(lines.filter((line) => line.includes(`,1,sandbox,${connection},sent,,`))).toHaveLength(6);
    expect(lines[4]).toContain(`"'=HYPERLINK(""http://evil.example""),""<script>"""`);
    const log = await owner.ask(`GET ${of("/deliveries.csv?state=sent")}`);
    expect(log.answer.text.trim().split("\n")).toHaveLength(7);
    const tests = await owner.ask(`GET ${of("/deliveries.csv?mode=test")}`);
    expect(tests.answer.text.trim().split("\n")).toHaveLength(2);
  });

  test("the sync log lists deliveries, which a dry run counts and a replay sends again", async () => {
    const read = async (query: string) => {
      const { json } = await owner.ask(`GET ${of(`/deliveries?${query}`)}`);
      contract["GET /sites/:site/deliveries"].answer.parse(json);
      return json;
    };
    expect((await read("")).items).toHaveLength(6);
    const first = await read("limit=2");
    expect(first.items).toHaveLength(2);
    expect((await read(`limit=200&cursor=${encodeURIComponent(first.next)}`)).items).toHaveLength(4);
    for (const [query, count] of [
      ["search=A-2", 1],
      ["search=b@example.com", 3],
      ["state=rejected", 0],
      ["platform=sandbox&event=LEAD", 2],
      [`connection=${connection}&state=sent`, 6],
      ["mode=test", 1],
      ["mode=live&event=lead", 1],
      ["mode=test&search=A-2", 0],
    ] as const)
      expect([query, (await read(query)).items.length]).toEqual([query, count]);

    // A mistyped filter is refused instead of finding nothing.
    for (const wrong of [{ connection: "nothing" }, { platform: "sandbx" }]) {
      const query = new URLSearchParams(wrong).toString();
      for (const { status, json } of [
        await owner.ask(`GET ${of(`/deliveries?${query}`)}`),
        await owner.ask(`GET ${of(`/deliveries.csv?${query}`)}`),
        await owner.ask(`POST ${of("/deliveries/replay")}`, wrong),
        await owner.ask(`POST ${of("/deliveries/cancel")}`, wrong),
      ])
        expect([status, json.error.field]).toEqual([400, Object.keys(wrong)[0]]);
    }
    const misspelled = await owner.ask(`POST ${of("/deliveries/replay")}`, { platfrom: "sandbox" });
    expect([misspelled.status, misspelled.json.error.field]).toEqual([400, "platfrom"]);
    for (const everything of [{}, { mode: "live" }, { unselected: "exclude" }]) {
      const nothing = await owner.ask(`POST ${of("/deliveries/replay")}`, everything);
      expect([nothing.status, nothing.json.error.field]).toEqual([400, "filter"]);
    }
    const would = await owner.ask(`POST ${of("/deliveries/replay")}`, { search: "A-2", state: "sent" });
    expect(would.json).toEqual({ found: 1, changed: 1, leftAlone: {}, waiting: {} });
    const event = first.items[0].event.id;
    const did = await owner.ask(`POST ${of("/deliveries/replay")}`, {
      eventId: event,
      state: "sent",
      dryRun: false,
    });
    expect(did.json).toMatchObject({ changed: 1 });
    await eventually("the event was sent again", async () => {
      const trace = (await owner.ask(`GET ${of(`/events/${event}`)}`)).json;
      return trace.deliveries[0].log.length === 2;
    });
    expect((await owner.ask(`POST ${of("/deliveries/cancel")}`, { search: "A-2" })).json.found).toBe(0);
  });

  test("events are filtered by delivery, source and value, page by page, and an unknown filter is refused", async () => {
    const read = async (query: string) => (await owner.ask(`GET ${of(`/events?${query}`)}`)).json;
    const ordersOf = async (query: string) => (await read(query)).items.map(({ orderId }: { orderId: string }) => orderId);
    expect(await ordersOf("state=sent&platform=sandbox&mode=live")).toEqual(["A-4", hostile, "A-3", "A-2", "A-1"]);
    expect(await ordersOf("state=rejected")).toEqual([]);
    expect(await ordersOf("state=sent&event=purchase&minValue=10.15")).toEqual(["A-3", "A-2"]);
    expect(await ordersOf("minValue=10.15&currency=eur")).toEqual(["A-2"]);
    expect(await ordersOf("maxValue=10.1")).toEqual(["A-1"]);
    expect(await ordersOf("source=Google")).toEqual(["A-1"]);
    expect(await ordersOf("source=(none)&event=purchase")).toEqual(["A-3", "A-2"]);
    expect(await ordersOf("campaign=(none)&state=sent&search=known@example.com")).toEqual(["A-1"]);
    const [{ id }] = (await read("search=A-1")).items;
    expect(await ordersOf(`search=${id}&state=sent`)).toEqual(["A-1"]);
    expect(await ordersOf(`search=${id}&source=bing`)).toEqual([]);
    const seen: string[] = [];
    for (let cursor = ""; ;) {
      const { items, next } = await read(`state=sent&limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...items.map(({ orderId }: { orderId: string }) => orderId));
      if (next === null) break;
      cursor = next;
    }
    expect(seen).toEqual(await ordersOf("state=sent"));

    for (const wrong of ["stat=sent", "state=nothing", "status=rejected", "platform=sandbx", "minValue=much"]) {
      const { status, json } = await owner.ask(`GET ${of(`/events?${wrong}`)}`);
      expect([status, json.error.field]).toEqual([400, wrong.split("=")[0]]);
    }

    // Chosen rows are replayed, and no others.
    const chosen = async (deliveries: unknown) =>
      (await owner.ask(`POST ${of("/deliveries/replay")}`, { deliveries, state: "sent" })).json.found;
    const ids = (await read("event=purchase&state=sent")).items.map((one: { id: string }) => one.id);
    expect(await chosen(ids.slice(0, 2).map((event: string) => ({ event })))).toBe(2);
    expect(
      await chosen([
        { event: ids[0], connection },
        { event: ids[1], connection: "other" },
      ]),
    ).toBe(1);
  });

  test("a described visit gets a verdict, and an empty description is refused", async () => {
    const check = async (body: unknown) => (await owner.ask(`POST ${of("/traffic/check")}`, body)).json;
    const json = await check({ userAgent: "AhrefsBot/7.0" });
    contract["POST /sites/:site/traffic/check"].answer.parse(json);
    expect(json.verdict.bot).toBe(true);
    expect((await check({})).error.field).toBe("userAgent");
    expect((await check({ address: "shop" })).error.field).toBe("address");
    expect((await owner.ask(`GET ${of("/bots")}`)).json).toEqual({ items: [], next: null });
    expect((await owner.ask(`GET ${of("/bots/none")}`)).status).toBe(404);
  });

  test("events arrive in the live feed with their outcome", async () => {
    const order = `live-${engine}`;
    let received = "";
    const listening = get(`${relay.url}/api/v1${of("/feed")}`, { headers: { Cookie: owner.cookie } }, (response) => {
      expect(response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
      response.setEncoding("utf8").on("data", (text: string) => (received += text));
    });
    await eventually("the stream is open", () => received.startsWith("retry:"));
    await relay.post(site.key, { email: "d@example.com", event: "purchase", orderId: order });
    await eventually("the event arrives with its outcome", () =>
      received.split("\n\n").some((one) => one.includes(order) && one.includes('"state":"sent"')),
    );
    const message = received.split("\n\n").findLast((one) => one.includes(order)) ?? "";
    contract["GET /sites/:site/events"].answer.shape.items.element.parse(JSON.parse(message.slice("data: ".length)));
    listening.destroy();
  });

  test("a member can open only a few live feeds", async () => {
    const open = Array.from({ length: 6 }, () =>
      get(`${relay.url}/api/v1${of("/feed")}`, { headers: { Cookie: owner.cookie } }).on("error", () => {}),
    );
    const statuses = await Promise.all(
      open.map((one) => new Promise<number>((resolve) => one.on("response", ({ statusCode }) => resolve(statusCode ?? 0)))),
    );
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    for (const one of open) one.destroy();
    await eventually("the closed feeds no longer count", async () => {
      const next = get(`${relay.url}/api/v1${of("/feed")}`, { headers: { Cookie: owner.cookie } });
      next.on("error", () => {});
      const status = await new Promise<number>((resolve) => next.on("response", ({ statusCode }) => resolve(statusCode ?? 0)));
      next.destroy();
      return status === 200;
    });
  });

  test("a person is found, exported, opted out and erased, each with an audit line", async () => {
    const about = (what: string, body: object) => owner.ask(`POST ${of(`/people/${what}`)}`, body);
    const email = "known@example.com";
    const found = (await about("find", { email })).json;
    contract["POST /sites/:site/people/find"].answer.parse(found);
    expect(found).toMatchObject({ emailSha256: sha256Of(email), consent: "unknown", decisions: [] });
    expect(found.visits[0].clickIds).toEqual({ gclid: "abc" });
    expect(found.events).toHaveLength(1);
    const same = (await about("find", { email: sha256Of(email) })).json;
    expect(same).toEqual(found);
    const wrong = await about("find", { email: "somebody" });
    expect([wrong.status, wrong.json.error.field]).toEqual([400, "email"]);
    expect((await about("export", { email })).json.events).toHaveLength(1);
    expect((await about("consent", { email, decision: "denied" })).json).toEqual({});
    expect((await about("erase", { email })).json).toMatchObject({ events: 1 });
    const after = (await about("find", { email })).json;
    expect(after).toMatchObject({ consent: "denied", visits: [], events: [] });
    const audit = (await owner.ask(`GET ${of("/audit?limit=200")}`)).json.items as { action: string }[];
    const actions = audit.map(({ action }) => action).filter((action) => /person|consent/.test(action));
    expect(new Set(actions)).toEqual(new Set(["person looked up", "person exported", "consent set", "person erased"]));
    expect(JSON.stringify(audit)).not.toContain(sha256Of(email));
  });

  test("a filtered event can be released", async () => {
    const [event] = (await owner.ask(`GET ${of("/events?status=filtered")}`)).json.items;
    const released = await owner.ask(`POST ${of(`/events/${event.id}/release`)}`);
    expect(released.json).toEqual({ deliveries: 1 });
    const again = await owner.ask(`POST ${of(`/events/${event.id}/release`)}`);
    expect([again.status, again.json.error.field]).toEqual([400, "event"]);
  });
});
