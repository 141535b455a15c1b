// Batches against the stand-ins, with the real delivery code: an invalid event must not cost another one in its batch,
// every field, choice and value rule that a connection may have must be one that its platform accepts, and a wrong setting must cost
// no event.

import { describe, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import type { Conversion } from "../../src/kernel/event.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { mappingFault } from "../../src/platforms/shared/mapping.ts";
import { sampleItems } from "../../src/platforms/shared/sample.ts";
import { skipOf } from "../../src/platforms/shared/skips.ts";
import { standins as list, type StandinId } from "../../standins/index.ts";
import { sha256 } from "../support/sha256.ts";
import { acceptedAt, connectionOf, lastReasons, createStandinDelivery } from "./standinDelivery.ts";

const { clock, standins, conversionOf, delivery } = await createStandinDelivery();
const ids = list.map(({ id }) => id);

describe("mapped fields", () => {
  /** For fields that do not accept any text or number. */
  const validValues: Readonly<Record<string, string>> = {
    eventSource: "PHONE",
    "userProperties.customerType": "RETURNING",
    "customData.pageType": "cart",
    "conversionValue.currencyCode": "CHF",
    "user_data.country": "DE",
    "user.countries": "DE",
    "customer.country": "US",
    "customer.state": "tx",
    "custom.delivery_category": "curbside",
    "user_data.country_code": "US",
    countryCode: "US",
    "match.STATE": "tx",
    "user_data.zip": "94035",
    "user_data.zp": "10115",
    "user_data.lead_id": "1234567890123456",
    "custom_data.content_type": "product",
    "properties.content_type": "product_group",
    "custom_data.content_ids": "sku-1, sku-2",
    "custom_data.content_category": "shoes, boots",
    objectId: "608051",
    "properties.hs_touchpoint_source": "PAID_SEARCH",
    "consent.tcf": "CQExampleAAAAAAAAAAENAPCgAAAAAAAAAAAA.YAAAAAAAAAAA",
    "consent.gpp": "DBABMA~CQExampleAAAAAAAAAAENAPCgAAAAAAAAA",
    "customVariables.1": "1",
    "customVariables.2": "2",
    "customVariables.3": "3",
    "original_event_data.event_time": "2026-11-01T10:00:00Z",
    "params.page_location": "https://shop.example.com/thanks",
    "params.page_referrer": "https://www.example.com/",
  };
  const cases = ids.flatMap((id) => (platformOf(id)?.fields ?? []).map((field) => [id, field] as const));
  const valueFor = ({ name, type }: (typeof cases)[number][1]) =>
    `const:${validValues[name] ?? (type === "number" ? "3" : "Sample")}`;

  test.each(cases)("%s accepts the mapped field $name", async (id, field) => {
    const platform = platformOf(id) ?? expect.unreachable(id);
    const source = valueFor(field);
    expect(mappingFault(field.name, source, platform.fields ?? [])).toBeNull();
    const handle = standins.of(id);
    const before = acceptedAt(handle);
    const { deliver } = delivery(id, { [`map.${field.name}`]: source });
    const [outcome] = await deliver([conversionOf()], 1);
    expect(outcome?.state, lastReasons(handle)).toBe("sent");
    expect(acceptedAt(handle), lastReasons(handle)).toBe(before + 1);
    // The field was sent, and not left out as invalid.
    const key = field.name.split(".").at(-1) ?? "";
    expect(JSON.stringify(handle.received.at(-1)?.body)).toContain(`"${key}"`);
  });

  test.each(ids)("%s accepts all mapped fields at once", async (id) => {
    const handle = standins.of(id);
    const before = acceptedAt(handle);
    const mapped = cases.filter(([of]) => of === id).map(([, field]) => [`map.${field.name}`, valueFor(field)]);
    const [outcome] = await delivery(id, Object.fromEntries(mapped)).deliver([conversionOf()], 1);
    expect(outcome?.state, lastReasons(handle)).toBe("sent");
    expect(acceptedAt(handle), lastReasons(handle)).toBe(before + 1);
  });
});

describe("settings with a choice", () => {
  /** What a value must be, read from the sentence that refuses any other. */
  const choicesOf = (refusal: string | null | undefined) =>
    /^must be (?:one of )?([\w-]+(?:(?:, | or )[\w-]+)+)$/.exec(refusal ?? "")?.[1]?.split(/, | or /) ?? [];
  const all = ids.flatMap((id) =>
    (platformOf(id)?.settings ?? []).flatMap(({ name, check }) =>
      choicesOf(check?.("?")).map((choice): [StandinId, string, string] => [id, name, choice]),
    ),
  );
  // Sources differ on this form, and the stand-in takes the other one.
  const cases = all.filter(([, name, choice]) => name !== "uuid_form" || choice !== "cookie");

  test("the new modes are among them", () => {
    const named = cases.map((one) => one.join(" "));
    expect(named).toEqual(
      expect.arrayContaining(["meta conversion_leads on", "tiktok event_source crm", "google_ads tag_conversions on"]),
    );
    expect(named).toEqual(
      expect.arrayContaining(["google_ads visit_data session_and_ip", "meta dedup_id order", "klaviyo dedup_id order"]),
    );
  });

  test.each(cases)("%s takes conversions with %s=%s, or says why not", async (id, name, choice) => {
    const platform = platformOf(id) ?? expect.unreachable(id);
    const handle = standins.of(id);
    const settings = { [name]: choice };
    const conversions = ["purchase", "lead", "qualified_lead"].map((event) =>
      conversionOf({ name: event, leadId: "123456789012345" }),
    );
    const sendable = conversions.filter((one) => !skipOf(platform, one, connectionOf(id, settings).settings));
    expect(sendable).not.toEqual([]);
    for (const one of sendable) {
      const before = acceptedAt(handle);
      const [outcome] = await delivery(id, settings).deliver([one], 1);
      expect(outcome?.state, lastReasons(handle)).toBe("sent");
      expect(acceptedAt(handle), lastReasons(handle)).toBe(before + 1);
    }
  });
});

describe("value rules", () => {
  const rules: [rule: string, value: number][] = [
    ["20%", 9.98],
    ["15 EUR", 15],
    ["net", 41.9],
    ["net 50%", 20.95],
    ["Kitchen 10%, others 50%", 16.99],
  ];
  const sent = (body: unknown) => (JSON.stringify(body).match(/\d+(?:\.\d+)?/g) ?? []).map(Number);
  const cases = ids.flatMap((id) => rules.map(([rule, value]) => [id, rule, value] as const));

  test.each(cases)("%s gets the value of the rule %s, %d", async (id, rule, value) => {
    const handle = standins.of(id);
    const [before, received] = [acceptedAt(handle), handle.received.length];
    const conversion = conversionOf({ value: 49.9, currency: "EUR", items: sampleItems, costs: 8 });
    const [outcome] = await delivery(id, { "value.purchase": rule }).deliver([conversion], 1);
    expect(outcome?.state, lastReasons(handle)).toBe("sent");
    expect(acceptedAt(handle), lastReasons(handle)).toBe(before + 1);
    const numbers = handle.received.slice(received).flatMap(({ path, body }) => sent([path, body]));
    expect(
      numbers.some((one) => one === value || one === Math.round(value * 100)),
      String(numbers),
    ).toBe(true);
    expect(numbers).not.toContain(49.9);
    expect(numbers).not.toContain(4990);
  });
});

describe("batches of five with one invalid event", () => {
  const old = () => conversionOf({ time: clock.now - 200 * dayMs });
  const badHash = () =>
    conversionOf({
      person: { emailSha256: sha256("jane@example.com"), emailRedditSha256: sha256("jane@example.com") },
    });
  // Microsoft only leaves out an invalid hash, X, Axon and Spotify have no maximum age, and Google Analytics and Nextdoor no batches.
  const cases: [id: StandinId, fault: string, bad: () => Conversion, settings: Record<string, string>][] = [
    ["google_ads", "too old", old, {}],
    ["google_ads", "not hashed", badHash, { enhanced_conversions_for_leads: "on" }],
    ["cm360", "too old", old, {}],
    ["microsoft_ads", "too old for an offline conversion", old, { tag_token: "" }],
    ["microsoft_ads", "too old for the Conversions API", () => conversionOf(delayed()), {}],
    ["meta", "too old", old, {}],
    ["meta", "not hashed", badHash, {}],
    ["tiktok", "too old", old, {}],
    ["tiktok", "not hashed", badHash, {}],
    ["linkedin", "too old", old, {}],
    ["linkedin", "not hashed", badHash, {}],
    ["pinterest", "too old", old, {}],
    ["pinterest", "not hashed", badHash, {}],
    ["snapchat", "too old", old, {}],
    ["snapchat", "not hashed", badHash, {}],
    ["reddit", "too old", old, {}],
    ["reddit", "not hashed", badHash, {}],
    ["x", "not hashed", badHash, {}],
    ["openai_ads", "too old", old, {}],
    ["openai_ads", "not hashed", badHash, {}],
    ["axon", "not hashed", badHash, {}],
    ["spotify", "not hashed", badHash, {}],
    ["amazon_ads", "not hashed", badHash, {}],
    ["hubspot", "not hashed", badHash, {}],
  ];
  /** Recent on receipt, so that it goes to the Conversions API, where it is now too old. */
  function delayed(): Partial<Conversion> {
    const time = clock.now - 8 * dayMs;
    return { time, receivedAt: time + 1000 };
  }

  test.each(cases)(
    "%s rejects only the event of a batch that is %s, and the others are sent once each",
    async (id, _fault, makeBad, settings) => {
      const handle = standins.of(id);
      for (const bad of [0, 2, 4]) {
        const batch = Array.from({ length: 5 }, (_, i) => (i === bad ? makeBad() : conversionOf()));
        const acceptedBefore = handle.accepted.length;
        const before = acceptedAt(handle);
        const { deliver, reconnections } = delivery(id, settings);
        const states = (await deliver(batch, 5)).map(({ state }) => state);
        const expected = Array.from({ length: 5 }, (_, i) => (i === bad ? "rejected" : "sent"));
        expect(states, lastReasons(handle)).toEqual(expected);
        expect(handle.accepted.length - acceptedBefore).toBe(4);
        expect(acceptedAt(handle) - before).toBe(4);
        expect(reconnections).toEqual([]);
      }
    },
  );

  test("Segment drops an invalid event without an error and accepts the others", async () => {
    const handle = standins.of("segment");
    const before = acceptedAt(handle);
    const bad = conversionOf({ platformEventId: "x".repeat(120) });
    const batch = [conversionOf(), conversionOf(), bad, conversionOf(), conversionOf()];
    const outcomes = await delivery("segment").deliver(batch, 1);
    expect(outcomes.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "sent"));
    expect(acceptedAt(handle) - before).toBe(4);
  });
});

describe("wrong settings", () => {
  const cases: [id: StandinId, wrong: string, right: string][] = [
    ["google_ads", "9900000001", standinConnections.google_ads.conversion_action ?? ""],
    ["cm360", "4400009", standinConnections.cm360.activity ?? ""],
    ["linkedin", "999999", standinConnections.linkedin.default_rule ?? ""],
    ["linkedin", "555003", standinConnections.linkedin.default_rule ?? ""],
    ["linkedin", "555004", standinConnections.linkedin.default_rule ?? ""],
    ["x", "tw-o8z6j-nosuch", standinConnections.x.default_event ?? ""],
    ["x", "tw-o8z6j-o87ng", standinConnections.x.default_event ?? ""],
  ];

  test.each(cases)("%s: event.lead=%s stops leads only, until it is corrected", async (id, wrong, right) => {
    const platform = platformOf(id) ?? expect.unreachable(id);
    const { deliver, change, reconnections } = delivery(id, { "event.lead": wrong });
    const leads = [conversionOf({ name: "Lead" }), conversionOf({ name: "lead" })];
    const purchases = [conversionOf(), conversionOf()];
    const settings = { ...standinConnections[id], "event.lead": wrong };
    const groupOf = (one: Conversion | undefined) => one && platform.group?.(one, settings, clock.now);
    expect(groupOf(leads[0])).not.toBe(groupOf(purchases[0]));

    const waiting = await deliver(leads, 2);
    for (const { state, reason } of waiting) {
      expect(state, reason ?? "").toBe("queued");
      expect(reason).toMatch(/event\.lead is corrected$/i);
    }
    expect((await deliver(purchases, 1)).map(({ state }) => state)).toEqual(["sent", "sent"]);
    expect(reconnections).toEqual([]);
    change({ "event.lead": right });
    expect((await deliver(leads, 1)).map(({ state }) => state)).toEqual(["sent", "sent"]);
  });

  test("microsoft_ads: an unknown offline goal stops only its own events", async () => {
    const goals = (goal: string) => ({ tag_token: "", offline_goals: JSON.stringify({ Lead: goal }) });
    const { deliver, change, reconnections } = delivery("microsoft_ads", goals("No such goal"));
    const batch = [conversionOf({ name: "lead" }), conversionOf()];
    expect((await deliver(batch, 2)).map(({ state }) => state)).toEqual(["queued", "sent"]);
    change(goals(standinConnections.microsoft_ads.offline_goal ?? ""));
    expect((await deliver(batch.slice(0, 1), 1)).map(({ state }) => state)).toEqual(["sent"]);
    expect(reconnections).toEqual([]);
  });

  test("hubspot: an unknown custom event stops only its own events", async () => {
    const { deliver, change, reconnections } = delivery("hubspot", { "event.lead": "pe1234567_gone" });
    const leads = [conversionOf({ name: "lead" })];
    expect((await deliver(leads, 1)).map(({ state }) => state)).toEqual(["queued"]);
    expect((await deliver([conversionOf()], 1)).map(({ state }) => state)).toEqual(["sent"]);
    change({ "event.lead": standinConnections.hubspot.default_event ?? "" });
    expect((await deliver(leads, 1)).map(({ state }) => state)).toEqual(["sent"]);
    expect(reconnections).toEqual([]);
  });

  test.each([
    ["meta", { api_version: "v19.0" }],
    ["meta", { api_version: "v99.0" }],
    ["meta", { pixel_id: "4000000000000077" }],
    ["x", { pixel_id: "nosuch" }],
    ["openai_ads", { pixel_id: "nosuch" }],
    ["quora", { account_id: "999" }],
    ["amazon_ads", { advertiser_id: "5790000000000099" }],
    ["spotify", { connection_id: "9eb0bb5f-0000-4000-8000-0000000000ff" }],
    ["nextdoor", { data_source_id: "fe411d2f-0000-4000-8000-0000000000ff" }],
    ["reddit", { pixel_id: "a2_nosuch" }],
    ["tiktok", { pixel_code: "C0NOSUCHPIXEL" }],
    ["google_ads", { customer_id: "999-999-9999" }],
    ["cm360", { floodlight_configuration: "8765433" }],
    ["linkedin", { api_version: "202401" }],
    ["pinterest", { ad_account_id: "111" }],
    ["snapchat", { pixel_id: "d4000000-0000-4000-8000-000000000009" }],
  ] as const)("%s: %j is wrong for all events, so the connection is parked", async (id, wrong) => {
    const { deliver, reconnections } = delivery(id, { ...wrong });
    expect((await deliver([conversionOf()], 1)).map(({ state }) => state)).toEqual(["parked"]);
    expect(reconnections).toHaveLength(1);
  });
});
