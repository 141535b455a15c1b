import { describe, expect, test } from "vitest";
import type { Conversion } from "../../kernel/event.ts";
import { firstEvent, platformFixture } from "../../../test/platforms/fixture.ts";
import { personOf } from "../../../test/support/person.ts";
import type { Picker } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { clickedAt, sampleBrowser } from "../example.ts";
import { fullPerson, sampleItems } from "../shared/sample.ts";
import { meta } from "./index.ts";

const settings = { pixel_id: "1234567890123456", access_token: "EXAMPLE-TOKEN" };
const { request, read, skipReason, settingFault } = platformFixture(meta, settings);

type UserData = Record<string, string | string[]>;
const eventOf = (changes: Partial<Conversion> = {}, more: Record<string, string> = {}) => firstEvent(request(changes, more));
const userOf = (changes: Partial<Conversion> = {}) => eventOf(changes).user_data as UserData;
const fault = (error: Record<string, unknown>, status = 400) => ({
  status,
  body: JSON.stringify({ error }),
});

describe("the request", () => {
  test.each([
    [49.9, "EUR", 49.9],
    [0.1 + 0.2, "EUR", 0.3],
    [1.005, "USD", 1.01],
    [1999.6, "JPY", 2000],
    [1.23456, "KWD", 1.235],
    [0, "EUR", 0],
    [1e-7, "EUR", 0],
  ])("%d %s is the number %d", (value, currency, sent) => {
    expect(eventOf({ value, currency }).custom_data).toMatchObject({ value: sent, currency });
  });

  test("without a value no currency is sent either", () => {
    expect(eventOf({ name: "lead", value: null }).custom_data).toEqual({ order_id: "A-1001" });
  });

  test("a website event has page and user agent; without either its source is system_generated", () => {
    expect(eventOf().action_source).toBe("website");
    for (const missing of [{ page: "" }, { userAgent: "" }]) {
      const event = eventOf({ browser: { ...sampleBrowser, ...missing } });
      expect(event.action_source).toBe("system_generated");
      expect(JSON.stringify(event)).not.toContain('""');
    }
    expect(eventOf({ browser: null }).action_source).toBe("system_generated");
    expect(eventOf({}, { action_source: "phone_call" }).action_source).toBe("phone_call");
  });

  test("event names match in any case, a chosen name wins, others keep their own", () => {
    expect(eventOf({ name: "PURCHASE" }).event_name).toBe("Purchase");
    expect(eventOf({ name: "Sign_Up" }).event_name).toBe("CompleteRegistration");
    expect(eventOf({ name: "purchase" }, { "event.purchase": "BigSale" }).event_name).toBe("BigSale");
    expect(eventOf({ name: " Quiz Done " }).event_name).toBe("Quiz Done");
  });

  test("names of custom events are cut to the 50 characters that Meta takes, and a longer choice is refused", () => {
    expect(eventOf({ name: "x".repeat(51) }).event_name).toBe("x".repeat(50));
    expect(nameFault("x".repeat(51), meta.events)).toBe("must have at most 50 characters");
  });

  test("all names of a qualified lead are one custom event", () => {
    for (const name of ["MQL", "SQL", "Qualified Lead"]) expect(eventOf({ name }).event_name, name).toBe("qualified_lead");
  });
});

describe("the click", () => {
  const click = { value: "IwAR2F4-dbP0l7Mn1IawQQGCINEz7PYXQvwjNwB_qa2ofrHyiLjcbCRxTDMgk", seenAt: clickedAt };
  const fbcOfClick = `fb.1.${clickedAt}.${click.value}`;
  const fbc = (cookie?: string, clickIds: Conversion["clickIds"] = { fbclid: click }) =>
    userOf({ clickIds, browserIds: cookie === undefined ? {} : { _fbc: cookie } }).fbc;

  test("fbc has the time at which the click was first seen, not the conversion's", () => {
    expect(fbc()).toBe(fbcOfClick);
  });

  test("the pixel's cookie wins when it is the same click, also with Meta's suffix", () => {
    expect(fbc(`fb.2.1794297600123.${click.value}`)).toBe(`fb.2.1794297600123.${click.value}`);
    expect(fbc(`fb.1.1794297600123.${click.value}.AQYB`)).toBe(`fb.1.1794297600123.${click.value}.AQYB`);
  });

  test("the newer of two clicks is sent", () => {
    expect(fbc(`fb.1.${clickedAt - 1}.Older`)).toBe(fbcOfClick);
    expect(fbc(`fb.1.${clickedAt + 1}.Newer`)).toBe(`fb.1.${clickedAt + 1}.Newer`);
  });

  test("without a click id the cookie is sent, and a broken cookie is not", () => {
    expect(fbc("fb.1.1794297600123.Only", {})).toBe("fb.1.1794297600123.Only");
    expect(fbc("garbage", {})).toBeUndefined();
    expect(fbc("garbage")).toBe(fbcOfClick);
  });

  test("no byte of a click id is changed", () => {
    const odd = "AbC-_.~.x";
    expect(fbc(undefined, { fbclid: { value: odd, seenAt: 1 } })).toBe(`fb.1.1.${odd}`);
  });

  test("click ids and cookies that are not in Meta's format are left out", () => {
    for (const value of ["two words", "é", "a+b", "line\nbreak"])
      expect(fbc(undefined, { fbclid: { value, seenAt: clickedAt } })).toBeUndefined();
    const future = clickedAt + 365 * 86_400_000;
    for (const cookie of ["fb.1.179429760.Only", "fb.12.1794297600123.Only", "fb.1.1794297600123.", `fb.1.${future}.x`])
      expect(fbc(cookie, {})).toBeUndefined();
  });

  test.each([
    ["fb.1.1794297600000.1098115397", true],
    ["fb.1.1794297600000.1098115397.AQYB", true],
    ["fb.1.1794297600000.abc", false],
    ["1098115397", false],
    ["fb.1.1794297600000.1098115397 ", false],
  ])("_fbp %j is sent: %s", (_fbp, isSent) => {
    const browserIds = { _fbp };
    expect(userOf({ browserIds }).fbp).toBe(isSent ? _fbp : undefined);
    const alone = { person: null, browser: null, clickIds: {}, browserIds };
    expect(skipReason(alone)).toBe(isSent ? null : "no email, phone, fbclid, _fbc or _fbp");
  });
});

describe("the person", () => {
  test.each([
    [{ email: " John_Smith@Gmail.com " }, "em", "62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f"],
    [{ phone: "+1 (650) 555-1212" }, "ph", "e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176"],
    [{ firstName: "Mary" }, "fn", "6915771be1c5aa0c886870b6951b03d7eafc121fea0e80a5ea83beb7c449f4ec"],
    [{ firstName: "Valéry" }, "fn", "08e1996b5dd49e62a4b4c010d44e4345592a863bb9f8e3976219bac29417149c"],
    [{ lastName: "정" }, "ln", "8fa8cd9c440be61d0151429310034083132b35975c4bea67fdd74158eb51db14"],
  ])("%j has the hash that Meta publishes", (fields, key, hash) => {
    const person = personOf({ email: "jane@example.com", ...fields });
    expect(userOf({ person })[key]).toEqual([hash]);
  });

  test("mapped ids and locations are normalised and hashed, hashes stay as they are, invalid values are left out", () => {
    const mapped = (extra: Record<string, unknown>) =>
      eventOf(
        { extra },
        Object.fromEntries(["external_id", "ct", "st", "zp", "country"].map((key) => [`map.user_data.${key}`, `extra.${key}`])),
      ).user_data as UserData;
    expect(mapped({ external_id: " C-47 11 ", ct: "Ber-lin 1", st: "CA", zp: "94035-1234", country: "DE" })).toMatchObject({
      external_id: ["df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58"],
      ct: ["fb38a93fd89e1a5fc7852a5d7109e321d23a721a1899292273ac5a21dc4db378"],
      st: ["6959097001d10501ac7d54c0bdb8db61420f658f2922cc26e46d536119a31126"],
      zp: ["1794327a4d443904421f5ca1f3d72d0a62ba2f0770d80755ec2220fc0efb052e"],
      country: ["959a45d44e6fcf58361ed004681556fe50129f2109e817dec098c00c9e5d2578"],
    });
    expect(mapped({ external_id: fullPerson.emailSha256 }).external_id).toEqual([fullPerson.emailSha256]);
    expect(mapped({ st: "California", country: "Germany" })).toEqual(mapped({ st: "CA", country: "DE" }));
    const misfit = mapped({ external_id: "  ", ct: "12", country: "Atlantis" });
    for (const key of ["external_id", "ct", "country"]) expect(misfit).not.toHaveProperty(key);
  });
});

describe("consent", () => {
  test("the IP address of a person who opted out is not sent", () => {
    expect(eventOf({ person: null, browserIds: {}, clickIds: {}, consent: "denied" })).not.toHaveProperty("user_data");
  });

  test("only denied consent sets opt_out and limited data use", () => {
    expect(eventOf({ consent: "denied" })).toMatchObject({
      opt_out: true,
      data_processing_options: ["LDU"],
      data_processing_options_country: 1,
      data_processing_options_state: 1000,
    });
    for (const consent of ["granted", "unknown"] as const) {
      expect(eventOf({ consent })).not.toHaveProperty("opt_out");
      expect(eventOf({ consent })).not.toHaveProperty("data_processing_options");
    }
  });

  test("with limited data for everyone, Meta locates the person by IP address if there is one", () => {
    expect(eventOf({}, { limited_data: "always" })).toMatchObject({
      data_processing_options: ["LDU"],
      data_processing_options_country: 0,
      data_processing_options_state: 0,
    });
  });

  test("a mapped constant about the person is left out when the person is withheld", () => {
    const event = eventOf({ person: null, consent: "denied" }, { "map.user_data.country": "const:DE" });
    expect(JSON.stringify(event)).not.toMatch(/[0-9a-f]{64}/);
  });
});

describe("skipped events", () => {
  test("a purchase without a value is skipped, also under a chosen name", () => {
    const reason = "Meta requires a value with Purchase";
    expect(skipReason({ value: null })).toBe(reason);
    const order = { name: "order", value: null };
    expect(skipReason(order, { "event.order": "Purchase" })).toBe(reason);
    expect(skipReason(order)).toBeNull();
    expect(skipReason({ value: 0 })).toBeNull();
  });
});

describe("the response", () => {
  test("a missing permission needs reconnection, also where Meta calls it transient", () => {
    for (const code of [190, 10, 104, 294, 803])
      expect(read(fault({ code, is_transient: true }))[0]?.kind, String(code)).toBe("unauthorized");
  });

  test("an error that Meta marks as transient is retried, whatever its code", () => {
    expect(read(fault({ code: 100, is_transient: true, message: "busy" }))[0]?.kind).toBe("retry");
  });

  test("an error with HTTP 200 is no success, and neither is a count below the number of events sent", () => {
    expect(read(fault({ code: 999, message: "odd" }, 200))[0]?.kind).toBe("rejected");
    expect(read({ body: '{"events_received":1}' }, 2)).toEqual([
      { kind: "retry", error: "Meta received 1 of 2 events" },
      { kind: "retry", error: "Meta received 1 of 2 events" },
    ]);
  });

  test("one invalid event rejects the whole batch, so that delivery halves it", () => {
    expect(read(fault({ code: 100, message: "bad" }), 3).map(({ kind }) => kind)).toEqual(Array(3).fill("rejected"));
  });
});

describe("the lists of ad accounts and pixels", () => {
  const [accounts, pixels]: readonly Picker[] = meta.pickers;

  test("lists are requested with the token in a header", () => {
    for (const picker of [accounts, pixels]) {
      const made = picker?.toRequest({ ...settings, ad_account_id: "3000000000000001" });
      expect(made?.headers).toEqual({ authorization: "Bearer EXAMPLE-TOKEN" });
    }
    expect(pixels?.toRequest({ ad_account_id: "77777" }).url).toMatch(/\/act_77777\/adspixels\?fields=id,name/);
  });

  test("ad accounts and pixels are offered with their ids", () => {
    const body = JSON.stringify({
      data: [{ id: "act_7", account_id: "7", name: "Shop" }, { account_id: "8" }, {}],
    });
    expect(accounts?.read(body)).toEqual([
      { value: "7", label: "Shop" },
      { value: "8", label: "8" },
    ]);
    expect(pixels?.read('{"data":[{"id":"77","name":"Shop"}]}')).toEqual([{ value: "77", label: "Shop" }]);
  });
});

describe("the settings", () => {
  test.each([
    ["pixel_id", "12345", "12a45", "must be a number of 5 to 20 digits"],
    ["access_token", "EAAB-x", "two words", "must be ASCII letters, digits and punctuation, without spaces"],
    ["access_token", "EAAB", "EAAB\n", "must be ASCII letters, digits and punctuation, without spaces"],
    ["test_event_code", "TEST1", "TEST 1", "must be a code of letters, digits, hyphens and underscores"],
    ["action_source", "chat", "physical_store", "must be one of website, system_generated, email, phone_call, chat, other"],
    ["limited_data", "always", "yes", "must be denied or always"],
  ])("the setting %s accepts %j and rejects %j", (name, good, bad, reason) => {
    expect(settingFault(name, good)).toBeNull();
    expect(settingFault(name, bad)).toBe(reason);
  });
});

describe("items", () => {
  const dataOf = (changes: Partial<Conversion>, more: Record<string, string> = {}) =>
    eventOf({ items: sampleItems, ...changes }, more).custom_data as Record<string, unknown>;

  test.each([
    ["purchase", 3],
    ["begin_checkout", 3],
    ["add_to_cart", undefined],
    ["Quiz Done", undefined],
  ])("%s has its contents, and a number of pieces only where Meta lists one: %j", (name, pieces) => {
    const data = dataOf({ name });
    expect(data).toMatchObject({ content_ids: ["SKU-1", "SKU-2"], content_type: "product" });
    expect(data.contents).toHaveLength(2);
    expect(data.num_items).toBe(pieces);
  });

  test("an item without a price has none, and an event may have nothing but items", () => {
    const items = [{ id: "a", quantity: 1 }];
    expect(dataOf({ name: "view_item", value: null, orderId: null, items })).toEqual({
      contents: [{ id: "a", quantity: 1 }],
      content_ids: ["a"],
      content_type: "product",
    });
  });

  test("mappings win, and may name what Meta has one of for the whole event", () => {
    const mapped = {
      "map.custom_data.content_type": "const:product_group",
      "map.custom_data.content_name": "items.name",
      "map.custom_data.content_category": "items.category",
    };
    expect(dataOf({}, mapped)).toMatchObject({
      content_type: "product_group",
      content_name: "Mug",
      content_category: "Kitchen",
    });
  });
});
