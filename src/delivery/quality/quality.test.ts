// Match quality: which keys a platform receives, the score, and what would raise it.

import { afterAll, describe, expect, test, vi } from "vitest";
import { newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { storeSent } from "../../../test/support/sentEvents.ts";
import { standinConnections } from "../../../scripts/standinConnections.ts";
import type { StandinId } from "../../../standins/index.ts";
import type { Conversion } from "../../kernel/event.ts";
import { matchKeys, type MatchKey } from "../../kernel/quality.ts";
import { hourMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import { googleAds } from "../../platforms/google_ads/index.ts";
import { meta } from "../../platforms/meta/index.ts";
import { fullPerson, fullSample } from "../../platforms/shared/sample.ts";
import { connectPlatform } from "../../sites/connect.ts";
import { createDirectory } from "../../sites/directory.ts";
import { addKey, findSite } from "../../sites/manage.ts";
import { sentKeys } from "./matchKeys.ts";
import { describeImprovement, readQuality } from "./read.ts";
import { scoreMatch, type ScoredConversion } from "./score.ts";
import { english } from "../../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 15, 12);
const googleSettings = { customer_id: "1234567890", access_token: "token", conversion_action: "7700000001" };
const metaSettings = { pixel_id: "1234567890", access_token: "token" };

describe("the keys of a request", () => {
  const full = fullSample({ time: now, receivedAt: now });

  test("are all that the platform receives of a full conversion", () => {
    expect([...sentKeys(meta, metaSettings, full, now)]).toEqual([...matchKeys]);
  });

  const seconds = Math.floor(now / 1000) - 3600;
  /** The click of the full sample, as each platform's own script keeps it. */
  const cookies: readonly [StandinId, Record<string, string>][] = [
    ["google_ads", { _gcl_aw: `GCL.${seconds}.EAIaIQobChMI-Example_1` }],
    ["meta", { _fbc: `fb.1.${seconds}000.IwAR2F4-Example_Click` }],
    ["linkedin", { li_fat_id: "a3b1f0c2-9d4e-4f6a-8b7c-1d2e3f4a5b6c" }],
    ["pinterest", { _epik: "dj0yJnU9ZXhhbXBsZQ" }],
    ["x", { _twclid: "26l6412g5p4iyj65a2oic2ayg2" }],
    ["openai_ads", { __oppref: "gAAAAABo-Example_Click" }],
    ["nextdoor", { _ndclid: "nd-Example_Click-1" }],
    ["axon", { _axeid: "ax-Example_Click-1", _axart: "ax-Example_Visitor-1" }],
    ["quora", { quora_qclid: "Example_Click|4711|0" }],
  ];

  test.each(cookies)("of %s have the click that the address, its own cookie, or both carry", (id, own) => {
    const platform = platformOf(id) ?? expect.unreachable(id);
    const keys = (conversion: Partial<Conversion>) => sentKeys(platform, standinConnections[id], { ...full, ...conversion }, now);
    const both = { ...full.browserIds, ...own };
    expect(keys({})).toContain("click id");
    expect(keys({ browserIds: both })).toContain("click id");
    expect(keys({ browserIds: both, clickIds: {} })).toContain("click id");
    expect(keys({ clickIds: {} })).not.toContain("click id");
    expect(keys({ browserIds: own })).not.toContain("browser id");
  });

  test("depend on the settings of the connection", () => {
    const keys = (settings: Record<string, string>) =>
      [...sentKeys(googleAds, { ...googleSettings, ...settings }, full, now)].toSorted();
    expect(keys({})).toEqual(["address and user agent", "click id"]);
    expect(keys({ visit_data: "none" })).toEqual(["click id"]);
    expect(keys({ visit_data: "none", enhanced_conversions_for_leads: "on" })).toEqual(["click id", "email", "phone"]);
  });

  test("are those that the conversion has: a click id of another platform is none", () => {
    const { msclkid } = full.clickIds;
    const bare = {
      ...full,
      person: null,
      browserIds: {},
      browser: null,
      clickIds: msclkid ? { msclkid } : {},
    };
    expect([...sentKeys(meta, metaSettings, bare, now)]).toEqual([]);
  });
});

describe("the score", () => {
  const one = (sent: MatchKey[], changes: Partial<ScoredConversion["event"]> = {}): ScoredConversion => ({
    sent: new Set(sent),
    event: {
      keyId: "crm",
      time: now,
      receivedAt: now,
      attribution: { identity: "found", withheld: null },
      ...changes,
    },
  });
  const supported = new Set<MatchKey>(["email", "phone", "click id"]);

  test("is ten where every conversion carries every key that the connection can send", () => {
    expect(scoreMatch(supported, [one(["email", "phone", "click id"])])).toMatchObject({
      score: 10,
      improvements: [],
      withinHour: 1,
    });
  });

  test("weighs the coverage of each key", () => {
    const { score, keys, withinHour } = scoreMatch(supported, [
      one(["email", "click id"]),
      one(["email"], { time: now - 2 * hourMs }),
    ]);
    // (3 × 1 + 2 × 0 + 3 × 0.5) of 8
    expect(score).toBe(5.6);
    expect(keys).toEqual([
      { key: "email", coverage: 1 },
      { key: "phone", coverage: 0 },
      { key: "click id", coverage: 0.5 },
    ]);
    expect(withinHour).toBe(0.5);
  });

  test("is null where nothing was sent, or the platform takes no key", () => {
    expect(scoreMatch(supported, [])).toMatchObject({ conversions: 0, score: null });
    expect(scoreMatch(new Set(), [one([])])).toMatchObject({ conversions: 1, score: null });
  });

  test("improves most where one sender leaves out a key that most conversions lack", () => {
    const unrecognised = { attribution: { identity: "none", withheld: null } } as const;
    const { improvements } = scoreMatch(supported, [
      one(["email"], { keyId: "shop", ...unrecognised }),
      one(["email", "click id"], { keyId: "crm" }),
      one(["email", "click id"], { keyId: "crm" }),
      one(["email", "phone", "click id"], { keyId: "shop" }),
    ]);
    expect(improvements).toEqual([
      { kind: "send", key: "phone", keyId: "crm", gain: 0.5 },
      { kind: "identify", key: "click id", keyId: null, gain: 0.25 },
      { kind: "send", key: "phone", keyId: "shop", gain: 0.25 },
    ]);
  });

  test("suggests nothing for people who refused, or whose visit is known and had no ad click", () => {
    const refused = { attribution: { identity: "none", withheld: "opted out" } } as const;
    expect(scoreMatch(supported, [one([], refused), one(["email", "phone"])]).improvements).toEqual([]);
  });
});

describe.each(["sqlite", "postgres"] as const)("the quality of a site on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  test("is read from the conversions that each connection sent in the last week", async () => {
    const siteId = await newSite(store);
    await directory.refresh();
    const by = { actor: "test", now, checkAddress: () => null };
    const site = findSite(context, siteId);
    const { connection } = await connectPlatform(context, site, "meta", { settings: metaSettings }, by);
    const idle = await connectPlatform(context, site, "google_ads", { settings: googleSettings }, by);
    await addKey(context, site, { name: "HubSpot", mode: "live", expiresAt: null }, by);
    await directory.refresh();
    const current = findSite(context, siteId);
    const [key] = current.keys;
    const withPhone = {
      emailSha256: fullPerson.emailSha256,
      phoneDigitsSha256: fullPerson.phoneDigitsSha256,
    };
    const keyId = key?.id ?? "";
    await storeSent(store, connection, "{}", now - hourMs, { keyId, person: withPhone });
    await storeSent(store, connection, "{}", now - hourMs, { keyId });
    await storeSent(store, connection, "{}", now - 8 * 24 * hourMs, { keyId });
    await storeSent(store, connection, "{}", now - hourMs, { keyId, mode: "test" });
    const [first, second] = await readQuality(store, current, now);
    const ofMeta = first?.connection.id === connection.id ? first : second;
    const ofGoogle = first?.connection.id === connection.id ? second : first;
    expect(ofMeta).toMatchObject({ conversions: 2, withinHour: 1 });
    expect(ofMeta?.keys).toContainEqual({ key: "phone", coverage: 0.5 });
    expect(ofMeta?.keys).toContainEqual({ key: "click id", coverage: 0 });
    expect(ofMeta?.improvements.map((one) => english(describeImprovement(one, () => "HubSpot")))).toEqual([
      "Install the tag where people enter their email, or call identifyEmail there: up to +100 % of the conversions would carry a click id.",
      "Send phone from HubSpot: +50 % of the conversions would carry a phone.",
      "Send firstName and lastName from HubSpot: +100 % of the conversions would carry a name.",
    ]);
    expect(ofGoogle?.connection.id).toBe(idle.connection.id);
    expect(ofGoogle).toMatchObject({ conversions: 0, score: null });
  });

  test("is worked out in slices: however often it is asked for, few requests are built in a turn of the event loop", async () => {
    const siteId = await newSite(store);
    await directory.refresh();
    const by = { actor: "test", now, checkAddress: () => null };
    const { connection } = await connectPlatform(context, findSite(context, siteId), "meta", { settings: metaSettings }, by);
    const person = fullPerson;
    await Promise.all(Array.from({ length: 100 }, () => storeSent(store, connection, "{}", now - hourMs, { person })));
    await directory.refresh();
    const site = findSite(context, siteId);
    const turns: number[] = [];
    let turn = 0;
    let isOver = false;
    const countTurns = () => {
      turn += 1;
      if (!isOver) setImmediate(countTurns);
    };
    countTurns();
    const { toRequest } = meta;
    const building = vi.spyOn(meta, "toRequest").mockImplementation((...given) => {
      turns.push(turn);
      // As for a slow platform.
      for (const until = performance.now() + 0.2; performance.now() < until;);
      return toRequest(...given);
    });
    const found = await Promise.all(Array.from({ length: 5 }, () => readQuality(store, site, now)));
    building.mockRestore();
    isOver = true;
    expect(found.map(([one]) => one?.conversions)).toEqual(Array(5).fill(100));
    const perTurn = Map.groupBy(turns, (at) => at)
      .values()
      .map(({ length }) => length);
    expect(turns.length).toBeGreaterThan(2000);
    expect(Math.max(...perTurn)).toBeLessThan(50);
  });
});
