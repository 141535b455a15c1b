import { describe, expect, test } from "vitest";
import type { Attribution, Event } from "../kernel/event.ts";
import type { Connection } from "../sites/directory.ts";
import { toConversion } from "./conversion.ts";
import { planDeliveries } from "./plan.ts";
import { sha256 } from "../../test/support/sha256.ts";
import { say } from "../kernel/messages/message.ts";

const event: Event = {
  id: "0193-event",
  siteId: "site",
  keyId: "key",
  mode: "live",
  name: "Purchase",
  value: 0,
  currency: "EUR",
  orderId: "A-1",
  orderEventId: null,
  time: 1000,
  receivedAt: 2000,
  person: { emailSha256: sha256("e".repeat(64)), phoneSha256: sha256("p".repeat(64)) },
  extra: { plan: "gold" },
};
const attribution: Attribution = {
  consent: "granted",
  withheld: null,
  identity: "found",
  clickIds: { gclid: { value: "G", seenAt: 1 } },
  browserIds: { _fbp: "fb.1" },
  utm: { utm_source: "x" },
  browser: { page: "https://x.example/", referrer: "", address: "192.0.2.1", userAgent: "UA" },
};

describe("what platforms see of an event", () => {
  test("with consent platforms see everything, under the platform event id", () => {
    expect(toConversion(event, "platform-event-id", attribution)).toEqual({
      platformEventId: "platform-event-id",
      name: "Purchase",
      mode: "live",
      value: 0,
      currency: "EUR",
      orderId: "A-1",
      time: 1000,
      receivedAt: event.receivedAt,
      person: event.person,
      clickIds: attribution.clickIds,
      browserIds: attribution.browserIds,
      utm: attribution.utm,
      browser: attribution.browser,
      consent: "granted",
      extra: { plan: "gold" },
    });
  });

  test.each([
    ["opted out", "denied"],
    ["consent unreadable", "unreadable"],
    ["no consent", "unknown"],
  ] as const)("%s: the conversion is sent without anything that identifies the person", (withheld, consent) => {
    expect(toConversion(event, "platform-event-id", { ...attribution, withheld, consent })).toEqual({
      platformEventId: "platform-event-id",
      name: "Purchase",
      mode: "live",
      value: 0,
      currency: "EUR",
      orderId: "A-1",
      time: 1000,
      receivedAt: event.receivedAt,
      person: null,
      clickIds: {},
      browserIds: {},
      utm: {},
      browser: null,
      consent: "denied",
      extra: {},
    });
  });

  test("items go wherever the conversion goes, also after an opt-out; without them there is no such property", () => {
    const items = [{ id: "SKU-1", quantity: 2 }];
    const denied = { ...attribution, withheld: "opted out", consent: "denied" } as const;
    for (const one of [attribution, denied]) {
      expect(toConversion({ ...event, items }, "id", one).items).toBe(items);
      expect(Object.keys(toConversion(event, "id", one))).not.toContain("items");
    }
  });

  test("tax and shipping are known to value rules, also after an opt-out; what is no amount does not count", () => {
    const denied = { ...attribution, withheld: "opted out", consent: "denied" } as const;
    const costsOf = (extra: Record<string, unknown>, one: typeof attribution | typeof denied = attribution) =>
      toConversion({ ...event, extra }, "id", one).costs;
    expect(costsOf({ tax: 9.5, shipping: "4.90" })).toBeCloseTo(14.4);
    expect(costsOf({ tax: 9.5 }, denied)).toBe(9.5);
    for (const tax of ["19%", -3, true, "", Number.POSITIVE_INFINITY]) expect(costsOf({ tax })).toBeUndefined();
  });

  test("no decision in opt-out mode is sent as unknown, not as granted", () => {
    expect(toConversion(event, "id", { ...attribution, consent: "unknown" }).consent).toBe("unknown");
  });

  test("the relay's own ids are never sent", () => {
    const text = JSON.stringify(toConversion(event, "platform-event-id", attribution));
    for (const own of ["0193-event", '"site"', '"key"']) expect(text).not.toContain(own);
  });
});

describe("the plan of an event", () => {
  const connection: Connection = {
    siteId: "site",
    id: "c1",
    platform: "sandbox",
    account: "",
    settings: {},
    events: null,
    state: "active",
    stateReason: null,
    createdAt: 0,
  };
  const plan = (changes: Partial<Connection>, now = event.receivedAt) =>
    planDeliveries(toConversion(event, "planned-id", attribution), [{ ...connection, ...changes }], now);

  test("a delivery that can be sent is queued, with the time at which it expires", () => {
    const expiresAt = event.receivedAt + 7 * 86_400_000;
    expect(plan({})).toEqual([{ connectionId: "c1", platform: "sandbox", state: "queued", reason: null, expiresAt }]);
  });

  test.each<[string, Partial<Connection>, string, string]>([
    ["an unknown platform", { platform: "from_the_future" }, "skipped", "this version does not know the platform"],
    ["a deselected event", { events: ["lead"] }, "skipped", "event not selected"],
    ["a paused connection", { state: "paused" }, "parked", "paused"],
  ])("the delivery for %s has a reason and is not sent", (_what, changes, state, reason) => {
    expect(plan(changes)).toMatchObject([{ state, reason, expiresAt: null }]);
  });

  test("an event that is released after weeks is sent where the platform sets no age limit", () => {
    const later = event.receivedAt + 30 * 86_400_000;
    expect(plan({}, later)).toMatchObject([{ state: "queued", expiresAt: later + 7 * 86_400_000 }]);
  });

  test("an event that is too old for the platform is skipped", () => {
    const old = plan({ platform: "meta" }, event.time + 8 * 86_400_000);
    expect(old).toMatchObject([{ state: "skipped", reason: say("too_old", { days: 7, platform: "Meta" }), expiresAt: null }]);
  });

  test("event names are selected regardless of case and separators", () => {
    expect(plan({ events: ["PUR_CHASE"] })).toMatchObject([{ state: "queued" }]);
  });
});
