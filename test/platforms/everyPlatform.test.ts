// Walks every platform, against its stand-in and with the real delivery code: each name of each usual event, people, amounts,
// items, ages and the test mode. everyAnswer.test.ts walks what platforms answer. A new platform is in these tests as soon as it is
// in the lists.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { english, inEnglish } from "../../src/kernel/messages/message.ts";
import { toConversion } from "../../src/delivery/conversion.ts";
import { planDeliveries } from "../../src/delivery/plan.ts";
import { maxAgeDaysOf } from "../../src/delivery/expiry.ts";
import { previewRequest } from "../../src/delivery/testDelivery.ts";
import type { Attribution, Conversion, Event } from "../../src/kernel/event.ts";
import { dayMs, minuteMs } from "../../src/kernel/time.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { resolveName, usualEventOf } from "../../src/platforms/shared/eventNames.ts";
import { fullSample, sampleItems, withheld } from "../../src/platforms/shared/sample.ts";
import { skipOf } from "../../src/platforms/shared/skips.ts";
import { usualEvents } from "../../src/platforms/shared/usualEvents.ts";
import { standins as list } from "../../standins/index.ts";
import { personOf } from "../support/person.ts";
import { sha256Of } from "../support/sha256.ts";
import { acceptedAt, connectionOf, lastReasons, createStandinDelivery } from "./standinDelivery.ts";

/** Platforms without a field for the products of an order, and those that have one only for the number of pieces. */
const withoutItems = new Set<string>(["linkedin", "spotify", "quora", "outbrain", "cm360", "hubspot"]);
const withPiecesOnly = new Set<string>(["taboola", "amazon_ads"]);
/** Platforms that take an event with invalid items, and drop the items or nothing. */
const lenientOnItems = new Set<string>(["segment", "microsoft_ads"]);
/** Platforms that may count test events too, so that their stand-ins do. */
const countingTests = new Set<string>(["meta"]);

/** The sentences about hashed phone numbers: platforms that hash the number with its plus, and those that do not. */
const phonePlatforms =
  /A hashed phone .*? The others take no phone/
    .exec(readFileSync(join(import.meta.dirname, "../../docs/reference/inbound.md"), "utf8").replace(/\s+/g, " "))?.[0]
    .split(/\. (?=Meta)/) ?? [];

const { clock, standins, conversionOf, delivery } = await createStandinDelivery();

describe.each(list.map(({ id }) => id))("%s", (id) => {
  const platform = platformOf(id) ?? expect.unreachable(id);
  const handle = standins.of(id);
  const { settings } = connectionOf(id);
  const skipReason = (conversion: Conversion) => skipOf(platform, conversion, settings)?.reason ?? null;

  /** Delivers conversions in the batches that lanes would make of them, and returns their states. */
  async function deliverAll(conversions: readonly Conversion[]): Promise<string[]> {
    const { deliver } = delivery(id);
    const groups = Map.groupBy(conversions, (one) => platform.group?.(one, settings, clock.now) ?? "");
    const states: string[] = [];
    for (const group of groups.values())
      for (let from = 0; from < group.length; from += platform.batch) {
        const outcomes = await deliver(group.slice(from, from + platform.batch), 1);
        states.push(...outcomes.map(({ state, reason }) => `${state} ${reason ?? ""}`.trim()));
      }
    return states;
  }

  test("every name of a usual event leads to the same name at the platform", () => {
    const { events } = platform;
    if (!events) return;
    for (const [usual, others] of Object.entries(usualEvents)) {
      const { names, by } = resolveName(usual, settings, events);
      for (const other of others) {
        const found = resolveName(other, settings, events);
        // Google Analytics has two names for some usual events, and keeps each.
        if (events.standard[other] === other) expect(found.names, other).toEqual([other]);
        else expect([found.by, found.names], other).toEqual([by, names]);
      }
    }
  });

  test("a preview says under which name an event is sent, or only why it is not sent", () => {
    const own = Object.values(platform.events?.standard ?? {});
    for (const name of [...Object.keys(usualEvents), ...own, "MQL", "Quiz Done"]) {
      const { request, skipped, naming } = previewRequest(connectionOf(id), conversionOf({ name }), clock.now);
      if (request) expect(english(naming ?? ""), name).toMatch(/ is sent as /);
      else expect([skipped, naming], name).toEqual([expect.stringMatching(/\S/), null]);
    }
  });

  test("every usual event is accepted under each of its names, or is one that the platform cannot take, and says so", async () => {
    const names = Object.entries(usualEvents).flatMap(([usual, others]) => [usual, ...others]);
    const conversions = names.map((name) => conversionOf({ name }));
    const sendable = conversions.filter((one) => skipReason(one) === null);
    for (const one of conversions)
      if (!sendable.includes(one)) {
        const isRefund = usualEventOf(one.name) === "refund";
        expect(skipReason(one), one.name).toMatch(
          isRefund ? /takes no refunds(?:; with corrections=on, the purchase is corrected)?$/ : /has no name for page views/,
        );
      }
    const before = acceptedAt(handle);
    const states = await deliverAll(sendable);
    expect(new Set(states), lastReasons(handle)).toEqual(new Set(["sent"]));
    expect(acceptedAt(handle) - before).toBe(sendable.length);
  });

  test("an event that no table knows is accepted too, whatever its name", async () => {
    const names = ["Quiz Done", "注文", "x".repeat(100), "7 days", "ga_hello", "Checkout", "error", "😀"];
    const conversions = names.map((name) => conversionOf({ name }));
    expect(conversions.map(skipReason)).toEqual(names.map(() => null));
    const states = await deliverAll(conversions);
    expect(new Set(states), lastReasons(handle)).toEqual(new Set(["sent"]));
  });

  /** Expects a conversion to be sent and to count, or to be skipped without a call; returns the reason. */
  async function sentOrSkipped(conversion: Conversion): Promise<string | null> {
    const [accepted, received] = [acceptedAt(handle), handle.received.length];
    const skipped = skipReason(conversion);
    if (skipped === null) expect(await deliverAll([conversion]), lastReasons(handle)).toEqual(["sent"]);
    expect(acceptedAt(handle) - accepted).toBe(skipped === null ? 1 : 0);
    if (skipped !== null) expect(handle.received).toHaveLength(received);
    return skipped;
  }

  test("an event with a click needs no more than an email and a name; some platforms require a value with a purchase", async () => {
    const person = personOf({ email: sha256Of("jane@example.com") });
    expect((await sentOrSkipped(conversionOf({ person, value: null }))) ?? "requires a value").toContain("requires a value");
    expect(await sentOrSkipped(conversionOf({ person, name: "lead", value: null, orderId: null }))).toBeNull();
    expect(await sentOrSkipped(conversionOf({ person, value: 10, currency: "USD" }))).toBeNull();
  });

  test("an event without a click, or with an email only, is accepted or skipped with the reason", async () => {
    const nothing = { clickIds: {}, browserIds: {}, browser: null };
    const reason = expect.stringMatching(/^no /);
    for (const conversion of [conversionOf({ ...nothing, browser: fullSample().browser }), conversionOf(nothing)])
      expect((await sentOrSkipped(conversion)) ?? "no reason").toEqual(reason);
  });

  test("an event after an opt-out is accepted without identifiers, or skipped", async () => {
    const before = handle.received.length;
    expect((await sentOrSkipped(conversionOf(withheld))) ?? "opted out").toBe("opted out");
    const calls = JSON.stringify(handle.received.slice(before));
    const { person, clickIds } = fullSample();
    const ids = [...Object.values(person ?? {}), ...Object.values(clickIds).map(({ value }) => value)];
    for (const value of ids) expect(calls).not.toContain(value);
  });

  test("small and large amounts in several currencies are accepted", async () => {
    const amounts = { EUR: 0, USD: 0.1 + 0.2, GBP: 1_234_567.89, JPY: 1500, KWD: 12.345 };
    for (const [currency, value] of Object.entries(amounts))
      expect(await sentOrSkipped(conversionOf({ value, currency })), currency).toBeNull();
  });

  test("no request has personal data in plain text", () => {
    const contact = {
      email: "Jane.Miller+shop@Example.com",
      phone: "+1 415 555 0100",
      firstName: "Jane-Ann",
      lastName: "O'Miller",
    };
    for (const mode of ["live", "test"] as const) {
      const conversion = conversionOf({ person: personOf(contact), mode });
      if (skipReason(conversion) !== null) continue;
      const text = JSON.stringify(platform.toRequest([conversion], settings, clock.now));
      expect(text).not.toMatch(/jane|miller|415.?555|5550100/i);
    }
  });

  test("the page of the inbound endpoint says if the platform gets a phone number that came as a hash", () => {
    const more = { ...settings, phone_form: "plus", enhanced_conversions_for_leads: "on" };
    const hashed = sha256Of("+14155550100");
    const textWith = (phone?: string) => {
      const person = personOf({ email: "jane@example.com", ...(phone && { phone }) });
      return JSON.stringify(platform.toRequest([fullSample({ person })], more, clock.now));
    };
    const isSent = textWith(hashed).includes(hashed);
    const takesPhones = textWith("+14155550100") !== textWith();
    const [withPlus = "", withoutPlus = ""] = phonePlatforms;
    const name = new RegExp(`\\b${platform.name.replace(/^AppLovin | 4$/, "")}\\b`);
    expect([name.test(withPlus), name.test(withoutPlus)]).toEqual([isSent, takesPhones && !isSent]);
  });

  /** The body and the query, as text. */
  function sentText(conversion: Conversion): string {
    const { url, body } = platform.toRequest([conversion], settings, clock.now);
    return `${url} ${body}`;
  }

  test("the items of a purchase arrive in the platform's form, or it has no field for them", async () => {
    const conversion = conversionOf({ items: sampleItems });
    const text = sentText(conversion);
    const [has, hasPieces] = [!withoutItems.has(id) && !withPiecesOnly.has(id), !withoutItems.has(id)];
    for (const { id: product } of sampleItems) expect(text.includes(product), product).toBe(has);
    if (has) expect(JSON.parse(text.slice(text.indexOf(" ")))).toSatisfy(hasItems);
    expect(text === sentText({ ...conversion, items: undefined })).toBe(!hasPieces);
    const before = acceptedAt(handle);
    expect(await deliverAll([conversion]), lastReasons(handle)).toEqual(["sent"]);
    expect(acceptedAt(handle) - before).toBe(1);
  });

  test("every usual event may have items: without prices, long ones, and as many as inbound takes", async () => {
    const lists = [
      [{ id: "SKU-1", quantity: 1 }],
      [
        {
          id: "x".repeat(128),
          name: "é".repeat(512),
          category: "c".repeat(512),
          brand: "b".repeat(512),
          quantity: 9,
        },
      ],
      Array.from({ length: 100 }, (_, i) => ({ id: `SKU-${i}`, name: "Mug", price: 1.5, quantity: i + 1 })),
    ];
    for (const items of lists) {
      const conversions = [...Object.keys(usualEvents), "Quiz Done"].map((name) => conversionOf({ name, items }));
      const sendable = conversions.filter((one) => skipReason(one) === null);
      expect(sendable.length).toBeGreaterThanOrEqual(conversions.length - 2);
      const before = acceptedAt(handle);
      expect(new Set(await deliverAll(sendable)), lastReasons(handle)).toEqual(new Set(["sent"]));
      expect(acceptedAt(handle) - before).toBe(sendable.length);
    }
  });

  test("items that are not as documented are not accepted", async () => {
    if (withoutItems.has(id) || lenientOnItems.has(id)) return;
    const wrong = withPiecesOnly.has(id)
      ? { id: "SKU-1", quantity: -1 }
      : { id: 5 as unknown as string, price: 49.9, quantity: 1 };
    const before = acceptedAt(handle);
    await deliverAll([conversionOf({ items: [wrong] })]);
    expect(acceptedAt(handle) - before).toBe(0);
  });

  test("the request of an event without items has no field for them", () => {
    // Axon requires items, so that an order without any is one item.
    const text = sentText(conversionOf()).replace(/"items":\[\{"item_id":"order"[^\]]*\]/, "");
    expect(text).not.toMatch(/\w*(?:items?|contents|content_ids|products|product_context|cart|units|quantity)\w*":/i);
  });

  test("the time of an event is in its request, or the platform dates events on arrival", () => {
    const conversion = conversionOf();
    const earlier = sentText({ ...conversion, time: conversion.time - 3_600_000 });
    expect(sentText(conversion) === earlier).toBe("countsOnArrival" in platform);
  });

  test("an event that just reaches the age limit is accepted, and an older one is skipped", async () => {
    const limit = maxAgeDaysOf(conversionOf(), platform, settings);
    // Inbound accepts nothing older.
    const days = limit ?? 90;
    const time = clock.now - days * dayMs + 10 * minuteMs;
    const late = conversionOf({ time, receivedAt: time + 1000 });
    expect(skipReason(late)).toBeNull();
    expect(await deliverAll([late]), lastReasons(handle)).toEqual(["sent"]);

    const event = eventAt(clock.now - 91 * dayMs);
    const [planned] = planDeliveries(toConversion(event, late.platformEventId, attribution), [connectionOf(id)], clock.now);
    const reason = expect.stringMatching(/^older than the \d+ days that /);
    expect(inEnglish(planned)).toMatchObject(limit === undefined ? { state: "queued" } : { state: "skipped", reason });
  });

  test("a test event is validated or shown as a test, or skipped because the platform has no test mode", async () => {
    const conversion = conversionOf({ mode: "test" });
    const skipped = skipReason(conversion);
    if (skipped !== null) return expect(skipped).toMatch(/has no test mode$/);
    const before = acceptedAt(handle);
    expect(await deliverAll([conversion]), lastReasons(handle)).toEqual(["sent"]);
    expect(acceptedAt(handle) - before).toBe(countingTests.has(id) ? 1 : 0);
    if (!countingTests.has(id)) expect(handle.received.at(-1)?.verdict).toBe("tested");
  });
});

/** True where somewhere there is a list with an object for each item, whose values include those that every platform takes. */
function hasItems(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const isList =
    Array.isArray(node) &&
    node.length === sampleItems.length &&
    sampleItems.every(({ id, quantity }, at) => {
      const values = Object.values((node[at] ?? {}) as object);
      return values.includes(id) && values.includes(quantity);
    });
  return isList || Object.values(node).some(hasItems);
}

const attribution: Attribution = {
  consent: "granted",
  withheld: null,
  identity: "found",
  clickIds: fullSample().clickIds,
  browserIds: fullSample().browserIds,
  utm: {},
  browser: fullSample().browser,
};

function eventAt(time: number): Event {
  const { name, mode, value, currency, orderId } = fullSample();
  return {
    id: "event",
    siteId: "site",
    keyId: "key",
    mode,
    name,
    value,
    currency,
    orderId,
    orderEventId: null,
    time,
    receivedAt: clock.now,
    person: personOf({ email: "jane@example.com" }),
    extra: null,
  };
}
