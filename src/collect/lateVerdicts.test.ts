import { describe, expect, test } from "vitest";
import { withDefaults } from "../sites/settings.ts";
import { observeDescription } from "../traffic/explain.ts";
import { createTrafficMemory, quiet } from "../traffic/frequency.ts";
import { readHeaders, type Observation } from "../traffic/observation.ts";
import { judge } from "../traffic/verdict.ts";
import { watchLateVerdicts } from "./lateVerdicts.ts";

const rules = withDefaults({});
const observe = (userAgent: string): Observation =>
  observeDescription({ userAgent, address: "93.192.10.20", headers: null }, () => null);
const person = observe("Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0");
const bot = observe("curl/8.5.0");

function watch() {
  const moved: { page: string; seen: Observation; reason: string }[] = [];
  const memory = createTrafficMemory();
  const late = watchLateVerdicts(memory, ({ page }, seen, { primary }) => moved.push({ page, seen, reason: primary }));
  const recounted: string[] = [];
  const add = (visitorId: string | null, page: string, at = 0, siteId = "s") =>
    late.add({ siteId, visitorId, page, at, brought: null, recount: (bucket) => recounted.push(`${page} ${bucket}`) });
  const showBot = (visitorId: string, siteId = "s") => late.noteBot(siteId, visitorId, bot, judge(bot, rules));
  return { late, memory, add, showBot, moved, recounted };
}

describe("late verdicts", () => {
  test("all visits of a browser that shows itself as a bot's become a bot's, once, with what was seen then", () => {
    const { add, showBot, moved, recounted } = watch();
    add("v", "/");
    add("v", "/cart");
    add("other", "/");
    add(null, "/nobody");
    showBot("v");
    showBot("v");
    expect(recounted).toEqual(["/ bots", "/cart bots"]);
    expect(moved).toEqual([
      { page: "/", seen: bot, reason: "user agent:named bot" },
      { page: "/cart", seen: bot, reason: "user agent:named bot" },
    ]);
    showBot("other");
    expect(recounted).toHaveLength(3);
  });

  test("visits are forgotten after an hour, and the oldest when there are too many", async () => {
    const { late, add, showBot, recounted } = watch();
    add("early", "/early");
    add("late", "/late", 3_000_000);
    await late.sweep(3_700_000);
    showBot("early");
    showBot("late");
    expect(recounted).toEqual(["/late bots"]);

    add("first", "/first", 4_000_000);
    add("again", "/one", 4_000_000);
    for (let i = 0; i < 4998; i++) add(`v${i}`, "/", 4_000_000);
    add("again", "/two", 4_000_000);
    add("last", "/last", 4_000_000);
    for (const visitor of ["first", "again", "last"]) showBot(visitor);
    expect(recounted).toEqual(["/late bots", "/two bots", "/last bots"]);
  });

  test("many visits to one site displace only their own", () => {
    const { add, showBot, recounted } = watch();
    add("guest", "/other site", 0, "other");
    add("first", "/first");
    for (let i = 0; i < 10_000; i++) add(`v${i}`, "/");
    showBot("guest", "other");
    for (const visitor of ["first", "v5000", "v5001"]) showBot(visitor);
    expect(recounted).toEqual(["/other site bots", "/ bots"]);
    // A site without visits finds room.
    add("stranger", "/third site", 0, "third");
    showBot("stranger", "third");
    expect(recounted).toEqual(["/other site bots", "/ bots", "/third site bots"]);
  });

  test("a site with very many visits makes room for others, which displace nothing of each other", () => {
    const { add, showBot, recounted } = watch();
    const sites = ["one", "two", "three"];
    for (const siteId of sites) {
      for (let i = 0; i < 1000; i++) add(`guest ${i}`, `/${i}`, 0, siteId);
      for (let i = 0; i < 10_000; i++) add(`v${i}`, "/");
    }
    for (const siteId of sites) for (let i = 0; i < 1000; i++) showBot(`guest ${i}`, siteId);
    expect(recounted).toHaveLength(3000);
  });

  test("of a browser with thousands of visits, the newest hundred become a bot's at once", () => {
    const { add, showBot, recounted } = watch();
    for (let i = 0; i < 4900; i++) add("v", `/${i}`);
    add("other", "/other");
    showBot("v");
    expect(recounted).toHaveLength(100);
    expect([recounted.at(0), recounted.at(-1)]).toEqual(["/4800 bots", "/4899 bots"]);
    showBot("other");
    expect(recounted.at(-1)).toBe("/other bots");
  });

  test("a bot at one site is none at another, though its id is the same there", () => {
    const { add, showBot, recounted } = watch();
    add("v", "/");
    add("v", "/other site", 0, "other");
    showBot("v");
    expect(recounted).toEqual(["/ bots"]);
  });

  test("the first ad clicks of a farm become a bot's when its network is recognised", async () => {
    const { late, memory, moved } = watch();
    const source = { siteId: "s", network: "93.192.10.20", userAgent: person.userAgent };
    // One kind of evidence alone, which removes no visit.
    const seen = {
      ...person,
      headers: readHeaders({ accept: "*/*", "accept-language": "de", "content-type": "text/plain" }, false),
    };
    const brought = { click: { name: "gclid", value: "x", campaign: "" }, source, seen, rules };
    late.add({ siteId: "s", visitorId: null, page: "/", at: 0, brought, recount: () => {} });
    const hit = { ...source, visitor: null, pageId: null, isVisit: true, isInput: false, emailSha256: null };
    const click = (n: number) =>
      memory.observe({ ...hit, clickIds: [`click ${n}`], submitDigest: null, form: null, hasRefused: false, at: 1000 });
    for (let n = 0; n < 11; n++) click(n);
    await late.sweep(20_000);
    expect(moved).toEqual([]);
    click(11);
    // An hour earlier: the clock was set back.
    await late.sweep(20_000 - 3_600_000);
    expect(moved).toMatchObject([
      { page: "/", reason: "headers:not sent by the tag", seen: { frequency: { clickIdsOfSource: 12 } } },
    ]);
  });

  test("many sources are looked at in slices, so that conversions do not wait for all of them", async () => {
    let recalled = 0;
    /** Takes half of a slice. */
    const recall = () => {
      recalled += 1;
      for (const end = performance.now() + 0.5; performance.now() < end;);
      return quiet;
    };
    const late = watchLateVerdicts({ keysOf: createTrafficMemory().keysOf, recall }, () => {});
    for (let n = 0; n < 20; n += 1) {
      const source = { siteId: "s", network: `network ${n}`, userAgent: "Firefox" };
      const brought = { click: { name: "gclid", value: `${n}`, campaign: "" }, source, seen: person, rules };
      late.add({ siteId: "s", visitorId: null, page: "/", at: 0, brought, recount: () => {} });
    }
    const sweeping = late.sweep(20_000);
    expect(recalled).toBeLessThan(5);
    // The next report comes before the end.
    await late.sweep(40_000);
    expect(recalled).toBeLessThan(5);
    await sweeping;
    expect(recalled).toBe(20);
  });
});
