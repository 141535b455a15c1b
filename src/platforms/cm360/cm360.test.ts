import { describe, expect, test } from "vitest";
import { platformFixture } from "../../../test/platforms/fixture.ts";
import { dayMs } from "../../kernel/time.ts";
import { sampleConversion, withheld } from "../shared/sample.ts";
import { cm360 } from "./index.ts";

const { request, skipReason, settingFault } = platformFixture(cm360, {
  floodlight_configuration: "8765432",
  access_token: "EXAMPLE-TOKEN",
  activity: "4400001",
});

type Ingested = { destinations: object[]; encoding?: string; events: Record<string, unknown>[] };
const bodyOf = (...given: Parameters<typeof request>) => JSON.parse(request(...given).body) as Ingested;
const identifiers = (...given: Parameters<typeof request>) => bodyOf(...given).events[0]?.adIdentifiers;

const { time } = sampleConversion();
const seen = (value: string, daysAgo = 1) => ({ value, seenAt: time - daysAgo * dayMs });

describe("the identifier", () => {
  test("is the dclid, alone, also where there is a gclid", () => {
    const clickIds = { gclid: seen("g-1"), dclid: seen("d-1"), wbraid: seen("w-1") };
    expect(identifiers({ clickIds })).toEqual({ dclid: "d-1" });
  });

  test("is the gclid of the last sixty days where there is no valid dclid", () => {
    expect(identifiers({ clickIds: { gclid: seen("g-1", 60), dclid: seen("not an id") } })).toEqual({
      gclid: "g-1",
    });
    const cookie = (daysAgo: number) => `GCL.${Math.floor(time / 1000) - daysAgo * 86_400}.g-2`;
    const old = { gclid: seen("g-1", 61) };
    expect(identifiers({ clickIds: old, browserIds: { _gcl_aw: cookie(3) } })).toEqual({ gclid: "g-2" });
    expect(skipReason({ clickIds: old, browserIds: { _gcl_aw: cookie(61) } })).toBe("no dclid or gclid");
  });

  test("is required: without one, or after an opt-out, the event is skipped", () => {
    expect(skipReason({ clickIds: { wbraid: seen("w-1"), gbraid: seen("b-1") } })).toBe("no dclid or gclid");
    expect(skipReason(withheld)).toBe("opted out");
  });
});

describe("a request", () => {
  test("has no contact data, address, items or login account", () => {
    const body = bodyOf({ items: [{ id: "SKU-1", price: 49.9, quantity: 1 }] });
    expect(Object.keys(body.events[0] ?? {}).toSorted()).toEqual([
      "adIdentifiers",
      "consent",
      "conversionValue",
      "currency",
      "eventSource",
      "eventTimestamp",
      "transactionId",
    ]);
    expect(body.encoding).toBeUndefined();
    expect(body.destinations).toEqual([
      {
        operatingAccount: { accountType: "FLOODLIGHT_CONFIG", accountId: "8765432" },
        productDestinationId: "4400001",
      },
    ]);
  });

  test("has the event id where another person has the order id", () => {
    const platformEventId = "01m7fhdq905xfr2156e43jmfec";
    expect(bodyOf({ orderId: "0" }).events[0]?.transactionId).toBe("0");
    expect(bodyOf({ orderId: "0", platformEventId }).events[0]?.transactionId).toBe(platformEventId);
  });

  test("is about one set of activities", () => {
    const settings = { activity: "4400001", "event.lead": "4400002" };
    expect(cm360.group(sampleConversion(), settings)).not.toBe(
      cm360.group(sampleConversion({ name: "generate_lead" }), settings),
    );
  });
});

test("without an activity an event is skipped, and activities are numbers", () => {
  expect(skipReason({}, { activity: "" })).toBe("no Floodlight activity for this event");
  expect(skipReason({ name: "Order Refunded" })).toBe("Campaign Manager 360 takes no refunds");
  expect(settingFault("activity", "4400001, 4400002")).toBeNull();
  expect(settingFault("activity", "purch0")).toBe("must be the number of a Floodlight activity, digits only");
});
