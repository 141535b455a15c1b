import { describe, expect, test } from "vitest";
import type { Attribution, Event } from "../kernel/event.ts";
import { toConversion } from "./plan.ts";
import { sha256 } from "../../test/support/sha256.ts";

const event: Event = {
  id: "0193-event",
  siteId: "site",
  keyId: "key",
  mode: "live",
  name: "Purchase",
  value: 0,
  currency: "EUR",
  orderId: "A-1",
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
  test("with consent: everything, under the id of the dispatch", () => {
    expect(toConversion(event, "dispatch-id", attribution)).toEqual({
      platformEventId: "dispatch-id",
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
  ] as const)("%s: the conversion goes, without anything that identifies the person", (withheld, consent) => {
    expect(toConversion(event, "dispatch-id", { ...attribution, withheld, consent })).toEqual({
      platformEventId: "dispatch-id",
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

  test("no decision in opt-out mode is passed on as unknown, not as granted", () => {
    expect(toConversion(event, "id", { ...attribution, consent: "unknown" }).consent).toBe("unknown");
  });

  test("the relay's own ids never leave it", () => {
    const text = JSON.stringify(toConversion(event, "dispatch-id", attribution));
    for (const own of ["0193-event", '"site"', '"key"']) expect(text).not.toContain(own);
  });
});
