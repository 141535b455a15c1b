// Verdicts on visits: counts, samples of bots, filtered events and their release.

import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { botHeaders, cookieOf, personsBrowser, report } from "../support/visits.ts";
import { nameOf } from "../../src/traffic/modes.ts";
import { signals } from "../../src/traffic/signals.ts";
import { rulesVersion } from "../../src/traffic/verdict.ts";
import { accepted, filtered, freshEvent, summarize } from "./answers.ts";

const none = { gross: 0, people: 0, bots: 0, "not a visit": 0, suppressed: 0, suspicious: 0 };
/** How a page was used: the mouse was pressed for three milliseconds where it did not move to, on a default screen. All begin in shadow. */
const shortPress = [2, 3, 2, 0, 18, 85, 151, 12, 0, 0, false, true, 0, false, false, 66, 2];
let hosts = 0;

describe.each(endToEndEngines)("visit counts and bot rules on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    relay = await home.start();
  });

  async function newSite(...settings: string[]): Promise<TestSite> {
    hosts += 1;
    const site = await home.addSite(`traffic-${hosts}.example`, ...settings);
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/${site.host}`);
    // The relay reads changes in order: when it knows this last host, it knows the key and the settings too.
    const last = `last.${site.host}`;
    await home.run("host", "add", site.host, last);
    await eventually("the site is known", async () => (await report(relay, last, "consent")).status === 204);
    return site;
  }

  const counts = async (host: string) => (await home.run("traffic", "counts", host)).all;
  const counted = async (host: string, expected: Record<string, number>) => {
    const gross = Object.values(expected).reduce((sum, one) => sum + one, 0);
    await eventually(`${gross} visits are counted`, async () => (await counts(host)).gross >= gross);
    expect(await counts(host)).toMatchObject({ ...none, ...expected, gross });
  };

  test("a person, a bot, a prerendered page and a refusal are each counted once, and add up", async () => {
    const { host } = await newSite();
    for (let i = 0; i < 3; i++) expect((await report(relay, host, "visit")).status).toBe(204);
    expect((await report(relay, host, "visit", {}, botHeaders)).status).toBe(204);
    expect((await report(relay, host, "visit", { browser: [true, "Win32", 0, true] })).status).toBe(204);
    await report(relay, host, "visit", {}, { "Sec-Purpose": "prefetch;prerender" });
    await report(relay, host, "visit", {}, { "X-Purpose": "preview" });
    await report(relay, host, "visit", {}, { "Sec-GPC": "1" });
    // A bot that refuses counts as a refusal; a bot's prefetch is not a visit.
    await report(relay, host, "visit", {}, { ...botHeaders, "Sec-GPC": "1" });
    await report(relay, host, "visit", {}, { ...botHeaders, Purpose: "prefetch" });
    await counted(host, { people: 3, bots: 2, "not a visit": 3, suppressed: 2 });
    const { reasons } = await counts(host);
    expect(reasons).toEqual({ "user agent:named bot": 1, "automation:webdriver": 1 });
    expect(await home.print("traffic", "counts", host)).toContain("automation:webdriver");
  });

  test("a prerendered page counts as a human visit once it is shown", async () => {
    const { host } = await newSite();
    const [first, second] = ["0000-0000-000000000001", "0000-0000-000000000002"];
    await report(relay, host, "visit", { prerendered: 1, visitor: first });
    await report(relay, host, "visit", { prerendered: 1, visitor: second });
    await counted(host, { "not a visit": 2 });
    await report(relay, host, "visit", { visitor: first });
    await eventually("the visit counts as human", async () => (await counts(host)).people === 1);
    await counted(host, { people: 1, "not a visit": 1 });
    // The prerendered visit is counted once as shown; later visits count as new ones.
    for (let i = 0; i < 3; i++) await report(relay, host, "visit", { visitor: first });
    await eventually("the later visits are counted", async () => (await counts(host)).people === 4);
    expect(await counts(host)).toMatchObject({ gross: 5, people: 4, "not a visit": 1 });
  });

  test("in opt-in mode undecided visitors count as suppressed, and bots as bots", async () => {
    const { host } = await newSite("consent_mode=opt-in");
    await report(relay, host, "visit");
    await report(relay, host, "visit", {}, botHeaders);
    await report(relay, host, "visit", { consent: { own: "granted" } });
    await counted(host, { people: 1, bots: 1, suppressed: 1 });
  });

  test("identify and consent reports do not count as visits", async () => {
    const { host } = await newSite();
    await report(relay, host, "identify", { emails: [sha256Of("n@example.com")] });
    await report(relay, host, "consent", { consent: { own: "granted" } });
    await report(relay, host, "visit");
    await counted(host, { people: 1 });
  });

  test("a bot without an email leaves no record and gets no cookie; a person gets one", async () => {
    const { host } = await newSite();
    const fields = { params: { gclid: "one" } };
    expect((await report(relay, host, "visit", fields, botHeaders)).headers["set-cookie"]).toBeUndefined();
    expect((await report(relay, host, "visit", fields)).headers["set-cookie"]).toHaveLength(1);
  });

  test("an event of a person with only bot visits is filtered, and once released it is delivered with its click id", async () => {
    const { host, key } = await newSite();
    const emails = [sha256Of("mia@example.com")];
    await report(relay, host, "identify", { emails, params: { gclid: "mias-click" } }, botHeaders);
    const event = freshEvent({ email: "mia@example.com" });
    expect(summarize(await relay.post(key, event))).toEqual(filtered);

    const { items: events } = await home.run("event", "list", host, "--filtered");
    const { id } = events[0];
    const trace = await home.run("event", "show", id);
    expect(trace.filterReasons).toEqual([{ code: "only bot visits", detail: expect.stringMatching(/^user agent:named bot/) }]);
    expect(trace.deliveries).toEqual([]);
    const why = "The user agent is that of a known bot.";
    expect(trace.filterSignals).toEqual([{ signal: "user agent:named bot", why }]);
    expect(await home.print("event", "show", id)).toContain(`why         ${why}`);

    expect(await home.run("event", "release", id)).toEqual({ deliveries: 1 });
    const got = () => receiver.bodies().filter((body) => body.orderId === event.orderId);
    await eventually("the event is delivered", () => got().length === 1);
    expect(got()[0]).toMatchObject({ clickIds: { gclid: "mias-click" }, emailSha256: emails[0] });
    const after = await home.run("event", "show", id);
    expect(after).toMatchObject({
      status: "accepted",
      releasedAt: expect.any(Number),
      platformEventId: got()[0]?.platformEventId,
    });
    expect(await home.print("event", "show", id)).toContain("released");

    // A second release is refused, and nothing is sent again.
    expect(await home.fails("event", "release", id)).toMatchObject({ field: "event" });
    await eventually("the delivery is marked as sent", async () => {
      const { deliveries } = await home.run("event", "show", id);
      return deliveries[0].state === "sent";
    });
    expect(got()).toHaveLength(1);

    // After a release the same person passes, even if bots use the address again.
    await report(relay, host, "identify", { emails }, botHeaders);
    const again = freshEvent({ email: "mia@example.com" });
    await eventually("the relay knows the released person", async () => {
      const answer = await relay.post(key, { ...again, orderId: `again-${Math.random()}` });
      return summarize(answer).text !== filtered.text;
    });
    expect(summarize(await relay.post(key, again))).toEqual(accepted("purchase", { webhook: { ok: true } }));
    const { items: audit } = await home.run("audit", host);
    const actions = audit.map((line: { action: string }) => line.action);
    expect(actions).toContain("event released");
    expect(JSON.stringify(audit)).not.toContain(emails[0]);
  });

  test("an event that is not filtered cannot be released", async () => {
    const { key } = await newSite();
    await relay.post(key, freshEvent());
    const { items: events } = await home.run("event", "list");
    expect(await home.fails("event", "release", events[0].id)).toMatchObject({
      error: expect.stringContaining("not filtered"),
    });
    expect(await home.fails("event", "release", "nothing")).toMatchObject({ field: "event" });
  });

  test("an allowed person passes every rule", async () => {
    const { host, key } = await newSite("block_domains=spam.test");
    const event = freshEvent({ email: "eve@spam.test" });
    expect(summarize(await relay.post(key, event))).toEqual(filtered);
    await home.run("site", "set", host, `allow_persons=${sha256Of("eve@spam.test")}`);
    await eventually("the relay applies the rule", async () => {
      const answer = await relay.post(key, freshEvent({ email: "eve@spam.test" }));
      return summarize(answer).text !== filtered.text;
    });
  });

  test("bots are kept as a sample, with reasons and a truncated address; replay judges them by today's rules", async () => {
    const { host } = await newSite();
    for (let i = 0; i < 8; i++) await report(relay, host, "visit", {}, botHeaders);
    await counted(host, { bots: 8 });
    const { items: visits } = await home.run("traffic", "bots", host);
    expect(visits).toHaveLength(5);
    expect(visits[0]).toMatchObject({
      reason: "user agent:named bot",
      page: `https://${host}/`,
      verdict: { bot: true, score: 100, rules: rulesVersion },
      network: "203.0.113.0",
      userAgent: botHeaders["User-Agent"],
    });
    const replayed = await home.run("traffic", "replay", visits[0].id);
    expect(replayed.now.verdict).toMatchObject({ bot: true, score: 100 });
    const fired = replayed.now.signals.filter((one: { fired: boolean }) => one.fired);
    expect(fired.map((one: { name: string }) => one.name)).toContain("named bot");

    await home.run("site", "set", host, "allow_user_agents=ahrefsbot");
    const allowed = await home.run("traffic", "replay", visits[0].id);
    expect(allowed.now).toMatchObject({
      verdict: { bot: false, score: 0 },
      siteRule: "allowed by user agent ahrefsbot",
    });
    expect(await home.print("traffic", "replay", visits[0].id)).toMatch(/then: a bot.*\n[^]*a person, score 0/);
    expect(await home.fails("traffic", "replay", "nothing")).toMatchObject({ field: "visit" });
  });

  test("clicks of bots on advertisements are counted by campaign, and listed with what platforms ask for", async () => {
    const { host } = await newSite();
    const clickOf = (gclid: string, campaign: string) => ({ params: { gclid, utm_campaign: campaign } });
    for (const headers of [{}, {}, botHeaders]) await report(relay, host, "visit", clickOf("a", "spring"), headers);
    await report(relay, host, "visit", clickOf("b", "spring"), botHeaders);
    await report(relay, host, "visit", clickOf("c", "=cmd|' /C calc'!A0"), botHeaders);
    await report(relay, host, "visit", { params: { msclkid: "d" } });
    // A visitor who refuses is not counted, and a parameter beside a click id is no click.
    await report(relay, host, "visit", clickOf("e", "spring"), { ...botHeaders, "Sec-GPC": "1" });
    await report(relay, host, "visit", { params: { gad_source: "1" } }, botHeaders);
    const read = () => home.run("traffic", "clicks", host, "--days", "1", "--cost-per-click", "0.8");
    await eventually("the clicks are counted", async () => (await read()).clicks === 4);
    const day = new Date().toISOString().slice(0, 10);
    expect(await read()).toMatchObject({
      clicks: 4,
      invalid: 3,
      spend: 2.4,
      campaigns: [
        { clickId: "gclid", campaign: "spring", clicks: 2, invalid: 2, spend: 1.6, days: [{ day, clicks: 2, invalid: 2 }] },
        { clickId: "gclid", campaign: "=cmd|' /C calc'!A0", clicks: 1, invalid: 1 },
        { clickId: "msclkid", campaign: "", clicks: 1, invalid: 0, spend: 0 },
      ],
    });
    expect(await home.print("traffic", "clicks", host)).toMatch(/gclid +spring +2 +2 +100 %/);
    const lines = (await home.print("traffic", "clicks", host, "--csv")).trim().split(/\r?\n/);
    expect(lines[0]).toBe(
      "time (UTC),click id name,click id,campaign,network,network operator,user agent,landing page,score,reasons",
    );
    expect(lines).toHaveLength(4);
    expect(lines.join("\n")).toContain(",gclid,a,spring,");
    expect(lines.join("\n")).not.toContain(",=cmd");
    expect(lines.join("\n")).not.toContain("127.0.0.1");
  });

  test("a suspicious visit counts as a person's, shows its evidence, and an allowed network takes it back", async () => {
    const { host } = await newSite();
    await report(relay, host, "visit");
    await report(relay, host, "visit", { use: shortPress });
    await report(relay, host, "visit", {}, { "Content-Type": "text/plain" });
    await eventually("the visits are counted", async () => (await counts(host)).gross === 3);
    expect(await counts(host)).toMatchObject({ ...none, gross: 3, people: 3, suspicious: 2 });
    expect(await home.print("traffic", "counts", host)).toMatch(/SUSPICIOUS[^]*all +3 +3 +0 +0 +0 +2/);

    const listed = async () => (await home.run("traffic", "bots", host, "--suspicious")).items;
    await eventually("both are listed", async () => (await listed()).length === 2);
    const [weak, inShadow] = await listed();
    expect(weak).toMatchObject({ reason: "headers:not sent by the tag", range: "203.0.113.0/24", verdict: { score: 40 } });
    expect(inShadow).toMatchObject({
      // The strongest of the three.
      reason: "pointer:no way to the press",
      verdict: {
        bot: false,
        score: 0,
        reasons: [],
        shadows: ["pointer:no way to the press (2 times)", "window:default screen", "pointer:press too short (3 ms)"],
      },
    });
    const text = await home.print("traffic", "replay", inShadow.id);
    expect(text).toContain(
      "in shadow: pointer:no way to the press (2 times); window:default screen; pointer:press too short (3 ms)",
    );
    expect(text).toMatch(
      /shadow +pointer: press too short +20 +The mouse button was down for a shorter time than a finger takes\./,
    );

    await home.run("site", "set", host, `allow_networks=${inShadow.range}`);
    await eventually("the network is allowed", async () => {
      await report(relay, host, "visit", { use: shortPress });
      const { people, suspicious } = await counts(host);
      return people - suspicious > 1;
    });
  });

  test("ad clicks from the networks of one IPv6 customer have one source, and those of other customers have not", async () => {
    const { host } = await newSite();
    const clickFrom = (address: string, n: number) =>
      report(relay, host, "visit", { params: { gclid: `ipv6-${n}` } }, { "X-Forwarded-For": address });
    for (let n = 0; n < 14; n++) await clickFrom(`2001:db8:${n}::1`, n);
    await counted(host, { people: 14 });
    for (let n = 0; n < 14; n++) await clickFrom(`2001:db8:77:${n}::1`, 100 + n);
    await eventually("the visits are counted", async () => (await counts(host)).gross === 28);
    expect(await counts(host)).toMatchObject({ people: 28, suspicious: 3 });
    const { items } = await home.run("traffic", "bots", host, "--suspicious");
    expect(items[0]).toMatchObject({ reason: "volume:many click ids", network: "2001:db8:77::" });
  });

  test("evidence in shadow counts the conversions of the visitors that it touches, and filters none of them", async () => {
    const { host, key } = await newSite();
    const testKey = (await home.run("key", "add", host, "try", "--test")).key;
    for (const [name, use] of [
      ["touched", shortPress],
      ["other", undefined],
    ] as const) {
      const email = `${name}@example.com`;
      const first = await report(relay, host, "visit", { params: { gclid: `${name}-click` }, use });
      await report(relay, host, "identify", { emails: [sha256Of(email)], submit: [9000, 24, false] }, cookieOf(first));
      // A test is no conversion.
      await eventually("the key is known", async () => (await relay.post(testKey, freshEvent({ email }))).status === 200);
      expect(summarize(await relay.post(key, freshEvent({ email })))).not.toEqual(filtered);
    }
    // A person who never visited is no evidence for a signal.
    await relay.post(key, freshEvent({ email: "phone@example.com" }));
    const read = async () => {
      const { emails, conversions, signals: listed } = await home.run("traffic", "evidence", host);
      const found = listed.find(({ signal }: { signal: string }) => signal === "pointer:press too short");
      return { emails, conversions, touched: found };
    };
    await eventually("both conversions are counted", async () => (await read()).conversions >= 2);
    expect(await read()).toMatchObject({
      emails: 2,
      conversions: 2,
      touched: { mode: "shadow", visits: 1, emails: 0, conversions: 1 },
    });
    expect(await home.print("traffic", "evidence", host)).toContain("2 conversions are of people who visited");
    expect(await home.print("traffic", "evidence", host)).not.toContain("To switch on");

    // What no customer has is offered, and the offer keeps what was chosen before.
    await home.run("site", "set", host, "evidence=trap:hidden field filled in=off");
    const short = [2, 92, 0, 0, 18, 5, 151, 12, 0, 0, false, false, 0, false, false, 66, 2];
    await report(relay, host, "visit", { use: short });
    const offered = '"evidence=trap:hidden field filled in=off,typing:keys too short=on"';
    await eventually("it is offered", async () => (await home.print("traffic", "evidence", host)).includes(offered));
    await home.run("site", "set", host, offered.slice(1, -1));
    expect((await read()).conversions).toBe(2);
  });

  test("the API and the command line explain every signal in one sentence", async () => {
    const { host } = await newSite();
    const isSentence = /^[A-Z][^.]*(?:\.[^ ][^.]*|\. [A-Z][^.]*)*\.$/;
    const listed = (await home.run("traffic", "evidence", host)).signals as { signal: string; why: string }[];
    const checked = (await home.run("traffic", "check", host, "--user-agent", botHeaders["User-Agent"])).signals as {
      category: string;
      name: string;
      why: string;
    }[];
    const text = await home.print("traffic", "evidence", host);
    for (const signal of signals) {
      const code = nameOf(signal);
      expect(signal.why, code).toMatch(isSentence);
      expect(listed.find((one) => one.signal === code)?.why, code).toBe(signal.why);
      expect(checked.find((one) => `${one.category}:${one.name}` === code)?.why, code).toBe(signal.why);
      expect(text.split("\n").find((line) => line.includes(` ${code} `)) ?? "", code).toContain(signal.why);
    }
  });

  test("visits that a site's rules deny are bots, those that they allow are human, and allow rules win", async () => {
    const { host } = await newSite("deny_networks=203.0.113.0/24", "deny_user_agents=*OldBrowser/1*");
    await report(relay, host, "visit");
    await report(relay, host, "visit", {}, { "X-Forwarded-For": "198.51.100.4" });
    await report(
      relay,
      host,
      "visit",
      {},
      {
        "X-Forwarded-For": "198.51.100.4",
        "User-Agent": "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) oldbrowser/1.2",
      },
    );
    await counted(host, { people: 1, bots: 2 });
    expect((await counts(host)).reasons).toEqual({ "site rule:denied": 2 });
    await home.run("site", "set", host, "allow_networks=203.0.113.77");
    await eventually("the relay applies the rule", async () => {
      await report(relay, host, "visit");
      return (await counts(host)).people >= 2;
    });
  });

  test("a country rule without a country file warns that it has no effect", async () => {
    const { host } = await newSite();
    const text = await home.print("site", "set", host, "deny_countries=KP,uk");
    expect(text).toContain("deny_countries=KP,GB");
    expect(text).toMatch(/CLEANCAST_COUNTRY_FILE/);
    const doctor = await home.print("doctor", "--offline");
    expect(doctor).toMatch(new RegExp(`${host}.*countr`, "i"));
  });

  test.each([
    ["bot_threshold=0", "bot_threshold"],
    ["bot_threshold=101", "bot_threshold"],
    ["deny_networks=203.0.113.0/33", "deny_networks"],
    ["deny_countries=Germany", "deny_countries"],
    ["deny_user_agents=*", "deny_user_agents"],
    ["allow_persons=mia@example.com", "allow_persons"],
  ])("the traffic rule %s is rejected with an explanation", async (setting, name) => {
    const host = `refused-${++hosts}.example`;
    await home.run("site", "add", host);
    expect((await home.fails("site", "set", host, setting)).error).toMatch(new RegExp(`^${name} must be`));
  });

  test("a visitor without a language and with the emails of many people is a bot; many emails in a data centre are not", async () => {
    const { host, key } = await newSite();
    const dataCentre = { "X-Forwarded-For": "3.120.0.9" };
    const cookies: Record<string, string>[] = [];
    for (const from of [dataCentre, { "Accept-Language": "" }]) {
      const first = await report(relay, host, "visit", { params: { gclid: "x" } }, from);
      cookies.push({ ...from, ...cookieOf(first) });
    }
    const person = async (at: number, name: string, i: number) => {
      const email = `${name}${i}@example.com`;
      await report(relay, host, "identify", { emails: [sha256Of(email)] }, cookies[at]);
      return summarize(await relay.post(key, freshEvent({ email })));
    };
    for (let i = 0; i < 8; i++) expect(await person(0, "hosted", i)).not.toEqual(filtered);
    for (let i = 0; i < 5; i++) expect(await person(1, "silent", i)).not.toEqual(filtered);
    expect(await person(1, "silent", 9)).toEqual(filtered);
  });

  test("a graceful stop loses no visit counts, and a kill none that were written", async () => {
    const { host } = await newSite();
    for (let i = 0; i < 20; i++) await report(relay, host, "visit");
    await report(relay, host, "visit", {}, botHeaders);
    await relay.stop();
    expect(await counts(host)).toMatchObject({ gross: 21, people: 20, bots: 1 });
    relay = await home.start();
    for (let i = 0; i < 5; i++) await report(relay, host, "visit");
    await counted(host, { people: 25, bots: 1 });
    await relay.kill();
    relay = await home.start();
    await report(relay, host, "visit", { browser: personsBrowser });
    await counted(host, { people: 26, bots: 1 });
  });
});

test("a farm whose clicks are spread over two nodes on postgres is recognised as by one, from its first click on", async () => {
  const home = await newInstallation("postgres");
  const { host, key } = await home.addSite("farm.example");
  const nodes = [await home.start(), await home.start()] as const;
  // One kind of evidence alone, which removes no visit.
  const headers = { "Content-Type": "text/plain", "X-Forwarded-For": "198.51.100.20" };
  let clicks = 0;
  const click = (node: Relay, more = {}, endpoint: "visit" | "identify" = "visit") => {
    clicks += 1;
    return report(node, host, endpoint, { params: { gclid: `farm-click-${clicks}` }, ...more }, headers);
  };
  const event = (email: string) => nodes[1].post(key, freshEvent({ email }));
  const email = "first@example.com";
  await click(nodes[0], { emails: [sha256Of(email)] }, "identify");
  expect(summarize(await event(email))).not.toEqual(filtered);

  // Seven on each node: fewer than make a farm.
  for (let i = 0; i < 7; i++) for (const node of nodes) await click(node);
  const counts = async () => (await home.run("traffic", "counts", host)).all;
  // Nodes tell each other what they observed, and judge earlier visits again when any report arrives.
  await eventually("all clicks are a bot's", async () => {
    for (const node of nodes) await report(node, host, "consent");
    const { gross, bots } = await counts();
    return gross === 14 && bots === gross;
  });
  expect(summarize(await event(email))).toEqual(filtered);
  const [{ id }] = (await home.run("event", "list", host, "--filtered")).items;
  const { filterReasons } = await home.run("event", "show", id);
  expect(filterReasons).toEqual([
    { code: "only bot visits", detail: "headers:not sent by the tag" },
    { code: "late verdict", detail: "40" },
  ]);
  expect(await home.print("event", "show", id)).toContain("late verdict: counted as a person's when it came, with score 40");
});
