// Promises that several platforms keep in the same way. Those of a single platform are in its own folder, and those of
// every platform in ../index.test.ts.

import { describe, expect, test } from "vitest";
import { firstEvent, now, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { Conversion } from "../../kernel/event.ts";
import { dayMs } from "../../kernel/time.ts";
import { platforms } from "../index.ts";
import { googleAds } from "../google_ads/index.ts";
import { meta } from "../meta/index.ts";
import { pinterest } from "../pinterest/index.ts";
import type { Platform } from "../platform.ts";
import { snapchat } from "../snapchat/index.ts";
import { tiktok } from "../tiktok/index.ts";
import { nameFault } from "./eventNames.ts";
import { hashed } from "./mapping.ts";
import { exampleSettings } from "../examples.ts";
import { bareConversion, sampleBrowser, withheldConversion } from "../example.ts";
import { fullPerson, fullSample, sampleConversion } from "./sample.ts";

const settingsOf = ({ id }: Platform) => exampleSettings(id);
const fixtureOf = (platform: Platform) => platformFixture(platform, settingsOf(platform));
const named = (list: readonly Platform[]) => list.map((platform) => [platform.name, platform] as const);
const having = (setting: string) => named(platforms.filter(({ settings }) => settings.some(({ name }) => name === setting)));

test("the platforms that count a pixel and the relay once have that setting", () => {
  const ids = having("dedup_id").map(([, { id }]) => id);
  expect(ids).toEqual(expect.arrayContaining(["meta", "tiktok", "snapchat", "pinterest", "microsoft_ads"]));
});

test.each([
  "EVENT_SOURCE_AND_DESTINATION_MISMATCH",
  "INVALID_MERCHANT_ID",
  "INVALID_MERCHANT_FEED_LANGUAGE_CODE",
  "ACCOUNT_INELIGIBLE_FOR_STORE_SALES",
  "EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED",
])("Google's %s is a fault of the settings: the conversions wait for a person, and are not lost", (reason) => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason },
    { fieldViolations: [{ field: "events.events[0]", description: "It does not fit.", reason }] },
  ];
  for (const detail of details) {
    const body = JSON.stringify({
      error: { code: 400, status: "INVALID_ARGUMENT", message: "It does not fit.", details: [detail] },
    });
    const response = { status: 400, headers: {}, body };
    const readings = googleAds.readResponse(response, [sampleConversion()], settingsOf(googleAds), now);
    expect(readings.map(({ kind }) => kind)).toEqual(["unauthorized"]);
  }
});

test("a conversion for a new action of Google is sent again", () => {
  const status = {
    requestStatus: "FAILED",
    errorInfo: { errorCounts: [{ recordCount: "1", reason: "PROCESSING_ERROR_REASON_DESTINATION_TOO_RECENTLY_CREATED" }] },
    eventsIngestionStatus: { recordCount: "1" },
  };
  const body = JSON.stringify({ requestStatusPerDestination: [status] });
  const question = { subject: "t", conversions: 1, keys: [], settings: settingsOf(googleAds) };
  expect(googleAds.confirmations.read({ status: 200, headers: {}, body }, question, now)).toMatchObject({
    confirmations: [{ state: "not counted", isTemporary: true }],
  });
});

test("an unknown ad account at Pinterest stops the connection, and loses nothing", () => {
  const response = { status: 404, headers: {}, body: '{"code":404,"message":"Advertiser not found."}' };
  const readings = pinterest.readResponse(response, [sampleConversion()], settingsOf(pinterest), now);
  expect(readings.map(({ kind }) => kind)).toEqual(["unauthorized"]);
});

test("a mapped hash in capitals is a hash", () => {
  const hash = "a".repeat(63) + "b";
  expect(hashed((text) => text)(hash.toUpperCase())).toBe(hash);
});

const acceptingRefunds = ["ga4", "segment", "klaviyo", "webhook", "sandbox"];

test.each(named(platforms.filter(({ id }) => !acceptingRefunds.includes(id))))(
  "%s gets no refund, which would count as revenue, unless the connection chooses a name for it",
  (name, platform) => {
    const { skipReason } = fixtureOf(platform);
    // Some platforms take nothing without their click id or cookie.
    const { clickIds, browserIds } = fullSample();
    const { choices, standard, defaultSetting = "" } = platform.events ?? {};
    const remedy = platform.corrections ? "; with corrections=on, the purchase is corrected" : "";
    const chosen = choices?.[0] ?? Object.values(standard ?? {})[0] ?? settingsOf(platform)[defaultSetting] ?? "777";
    expect(platform.events && nameFault(chosen, platform.events)).toBeNull();
    for (const refund of ["refund", " Refund ", "RE-FUND"]) {
      expect(skipReason({ name: refund, clickIds, browserIds })).toBe(`${name} takes no refunds${remedy}`);
      expect(skipReason({ name: refund, clickIds, browserIds }, { "event.refund": chosen })).toBeNull();
    }
  },
);

test.each(having("dedup_id"))(
  "%s deduplicates by the event id, or by the order id if there is one and the connection is set so",
  (_name, platform) => {
    const { request } = fixtureOf(platform);
    const { platformEventId, orderId } = sampleConversion();
    const idsIn = (changes: Partial<Conversion>, dedup_id: string) => {
      // Some platforms have a field of its own for the order id.
      const body = request(changes, { dedup_id }).body.replace(
        /"(?:order_id|transaction_id|transactionId|OrderId)":"[^"]*"/g,
        "",
      );
      return [platformEventId, orderId ?? ""].filter((id) => body.includes(`"${id}"`));
    };
    expect(idsIn({}, "event")).toEqual([platformEventId]);
    expect(idsIn({}, "order")).toEqual([orderId]);
    expect(idsIn({ orderId: null }, "order")).toEqual([platformEventId]);
  },
);

test.each(having("test_event_code"))(
  "%s gets the connection's test event code with a test event, and never with a live one",
  (_name, platform) => {
    const bodyOf = (mode: "live" | "test") => JSON.parse(fixtureOf(platform).request({ mode }).body) as object;
    expect(bodyOf("test")).toHaveProperty("test_event_code", "TEST12345");
    expect(bodyOf("live")).not.toHaveProperty("test_event_code");
  },
);

test.each(having("test_event_code"))(
  "%s gets no test event without a test event code, and none can become a live request",
  (_name, platform) => {
    const { test_event_code: _code, ...withoutCode } = settingsOf(platform);
    const { request, skipReason } = platformFixture(platform, withoutCode);
    expect(skipReason({ mode: "test" })).toBe("test event, but the connection has no test event code");
    expect(() => request({ mode: "test" })).toThrow("test event code");
  },
);

describe("pickers", () => {
  const pickers = platforms.flatMap((platform) =>
    (platform.pickers ?? []).map((picker) => [platform.name, picker.setting, platform, picker] as const),
  );

  test.each(pickers)("the picker of %s for %s has secrets in headers only", (_name, _setting, platform, picker) => {
    const secrets = platform.settings.filter(({ secret }) => secret).map(({ name }) => [name, `s3cr3t-${name}`]);
    const { url, body, headers } = picker.toRequest({
      ...settingsOf(platform),
      ...Object.fromEntries(secrets),
    });
    expect(url + body).not.toContain("s3cr3t");
    expect(JSON.stringify(headers)).toContain("s3cr3t-access_token");
  });

  test.each(pickers)("the picker of %s for %s offers nothing when the response is no list", (...[, , , picker]) => {
    const lists = ["data", "elements", "items", "organizations", "pixels", "resourceNames", "results"];
    const odd = [3, {}, [null], [1, "x"], { pixels: 3 }].flatMap((value) =>
      lists.map((name) => JSON.stringify({ [name]: value })),
    );
    for (const body of ["", "{", "null", "[]", "[{}]", '[null,"x"]', ...odd]) expect(picker.read(body), body).toEqual([]);
  });
});

describe("the web events of Meta, Pinterest, Snapchat and TikTok", () => {
  const cases: [name: string, platform: Platform, maxAgeDays: number, user: string, emailOnly: object][] = [
    ["Meta", meta, 7, "user_data", { em: [fullPerson.emailSha256] }],
    ["Pinterest", pinterest, 7, "user_data", { em: [fullPerson.emailSha256] }],
    ["Snapchat", snapchat, 37, "user_data", { em: [fullPerson.emailSha256] }],
    ["TikTok", tiktok, 7, "user", { email: fullPerson.emailSha256 }],
  ];
  const eventOf = (platform: Platform, changes: Partial<Conversion>) => firstEvent(fixtureOf(platform).request(changes));

  test.each(cases)(
    "%s gets the event time in seconds, also of a late event, and never one in the future",
    (_name, platform, maxAgeDays) => {
      const secondsOf = (time: number) => eventOf(platform, { time }).event_time;
      const limit: Platform["maxAgeDays"] = platform.maxAgeDays;
      expect(typeof limit === "function" ? limit(sampleConversion(), settingsOf(platform)) : limit).toBe(maxAgeDays);
      expect(secondsOf(1_794_648_600_999)).toBe(1_794_648_600);
      expect(secondsOf(now - (maxAgeDays - 0.5) * dayMs)).toBe((now - (maxAgeDays - 0.5) * dayMs) / 1000);
      expect(secondsOf(now + 240_000)).toBe(now / 1000);
    },
  );

  test.each(cases)(
    "%s gets no other match key for a person with only a hashed email",
    (_name, platform, _maxAgeDays, user, emailOnly) => {
      expect(eventOf(platform, bareConversion())[user]).toEqual(emailOnly);
    },
  );

  test.each(cases.slice(0, 3))("%s gets no phone hash that includes the plus", (_name, platform) => {
    const { emailSha256, phoneSha256 } = fullPerson;
    expect(eventOf(platform, { person: { emailSha256, phoneSha256 } }).user_data).not.toHaveProperty("ph");
  });

  test.each(cases)("%s gets no plain contact data, token, null or empty text", (_name, platform) => {
    const contact = {
      email: "jane@example.com",
      phone: "+14155550100",
      firstName: "Jane",
      lastName: "Miller",
    };
    const person = personOf(contact);
    const browser = { page: "", referrer: "", address: "", userAgent: "" };
    for (const changes of [{ orderId: null }, { browser }]) {
      const { url, body } = fixtureOf(platform).request({ person, ...changes });
      expect(url + body).not.toMatch(/jane|miller|4155550100|EXAMPLE-TOKEN|null|""/i);
    }
  });

  test.each(cases)("%s gets no ids of other platforms", (_name, platform) => {
    const { clickIds, browserIds } = sampleConversion();
    const { body } = fixtureOf(platform).request();
    for (const [name, id] of Object.entries({ ...clickIds, ...browserIds }))
      if (!platform.ids?.includes(name)) {
        expect(body).not.toContain(name);
        expect(body).not.toContain(typeof id === "string" ? id : id.value);
      }
  });

  test.each(cases)("%s gets no event of a person who opted out, also with a known browser", (_name, platform) => {
    const { skipReason } = fixtureOf(platform);
    expect(skipReason(withheldConversion())).toBe("opted out");
    expect(skipReason(withheldConversion({ browser: sampleBrowser }))).toBe("opted out");
  });
});
