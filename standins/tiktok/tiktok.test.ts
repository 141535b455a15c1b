import { describe, expect, test } from "vitest";
import {
  authorizeUrl,
  bearer,
  browser,
  callback,
  type Fields,
  get,
  person,
  post,
  queryOf,
  runStandin,
  startTime,
  throttledCall,
} from "../shared/testCalls.ts";
import { sha256 } from "../shared/contactChecks.ts";
import { tiktok } from "./index.ts";

const { known } = tiktok;
const seconds = startTime / 1000 - 1800;
const { handle: platform } = await runStandin("tiktok");

const user = (changes: Fields = {}): Fields => ({
  email: person.email,
  phone: [person.plusPhone],
  first_name: sha256("john"),
  city: "berlin",
  country: "de",
  ttclid: "E.C.P.AbC_123",
  ttp: "2NqMTTH0Xr3zEc9",
  ip: "203.0.113.9",
  user_agent: browser,
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event: "Purchase",
  event_time: seconds,
  event_id: "ord-1001",
  user: user(),
  properties: {
    value: 49.9,
    currency: "EUR",
    order_id: "1001",
    contents: [{ content_id: "sku-1", price: 49.9, quantity: 1 }],
    content_type: "product",
  },
  page: { url: "https://shop.example/thanks" },
  ...changes,
});
const send = (data: unknown, root: Fields = {}, token: string | null = known.accessToken) =>
  post(
    `${platform.origin}/open_api/v1.3/event/track/`,
    { event_source: "web", event_source_id: known.pixelCode, data, ...root },
    token === null ? {} : { "access-token": token },
  );
const codeOf = ({ body }: { body: unknown }) => (body as { code: number }).code;
const messageOf = ({ body }: { body: unknown }) => (body as { message: string }).message;

describe("the Events API", () => {
  test("the documented event is accepted", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toEqual([200, { code: 0, message: "OK", request_id: expect.any(String), data: {} }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "Purchase", counted: 1 }]);
  });

  test.each<[string, Fields, RegExp]>([
    ["an id that is a number", { event_id: 1001 }, /^data\.1\.event_id: Not a valid string\.$/],
    ["a plain email", { user: user({ email: "john_smith@gmail.com" }) }, /^data\.1\.user\.email: is not hashed/],
    ["a phone hashed without its +", { user: user({ phone: person.digitsPhone }) }, /user\.phone.*without \+/],
    ["a hash in upper case", { user: user({ email: [person.email.toUpperCase()] }) }, /lower case/],
    ["a name hashed with a capital", { user: user({ first_name: sha256("John") }) }, /not in lower case/],
    ["a city in capitals", { user: user({ city: "Berlin" }) }, /user\.city/],
    ["a hashed country", { user: user({ country: sha256("de") }) }, /user\.country/],
    ["a hashed click id", { user: user({ ttclid: sha256("E.C.P.") }) }, /must not be hashed/],
    ["an unknown field of the person", { user: user({ em: person.email }) }, /Unknown field/],
    ["no match key", { user: {} }, /has no match key/],
    ["no user", { user: undefined }, /^data\.1\.user: Missing data for required field\.$/],
    ["a time in milliseconds", { event_time: startTime }, /must be in seconds/],
    ["a time as text", { event_time: String(seconds) }, /Not a valid number/],
    ["an event of eight days ago", { event_time: seconds - 8 * 86_400 }, /older/],
    ["an event of tomorrow", { event_time: seconds + 86_400 }, /future/],
    ["a value as text", { properties: { value: "49.90", currency: "EUR" } }, /Not a valid number/],
    ["a value without a currency", { properties: { value: 49.9 } }, /properties\.currency: is required with value/],
    ["a currency in lower case", { properties: { value: 1, currency: "eur" } }, /ISO 4217/],
    ["an item id that is a number", { properties: { contents: [{ content_id: 7 }] } }, /content_id: Not a valid string/],
    ["no event", { event: undefined }, /^data\.1\.event: Missing/],
    ["a reserved word", { event: "StartCheckout" }, /reserved word/],
    ["a name of 51 characters", { event: "x".repeat(51) }, /50 characters/],
    ["a page that is no URL", { page: { url: "/thanks" } }, /page\.url/],
    ["a flag that is text", { limited_data_use: "true" }, /limited_data_use/],
  ])("%s is rejected with HTTP 200, and the valid event with it", async (_, changes, message) => {
    const answer = await send([event({ event_id: "good" }), event(changes)]);
    expect([answer.status, codeOf(answer)]).toEqual([200, 40_002]);
    expect(messageOf(answer)).toMatch(message);
    expect(platform.accepted).toEqual([]);
    expect(platform.received[0]?.verdict).toBe("rejected");
  });

  test("offline events may be older, without a page", async () => {
    const late = event({ event_time: seconds - 27 * 86_400, page: undefined });
    expect(codeOf(await send([late], { event_source: "offline" }))).toBe(0);
    const lead = { lead_id: "1", lead_event_source: "CRM" };
    expect(codeOf(await send([{ ...late, lead }], { event_source: "crm" }))).toBe(0);
    expect(codeOf(await send([late], { event_source: "shop" }))).toBe(40_002);
  });

  test("limited data use and a custom name are accepted", async () => {
    expect(codeOf(await send([event({ limited_data_use: true, event: "quote_asked" })]))).toBe(0);
  });

  test("the same event and id count once within 48 hours", async () => {
    await send([event()]);
    await send([event(), event({ event: "Lead" })]);
    expect(platform.accepted.map(({ name, counted }) => [name, counted])).toEqual([
      ["Purchase", 1],
      ["Lead", 1],
    ]);
  });

  test("test events are marked and not counted", async () => {
    expect(codeOf(await send([event()], { test_event_code: known.testEventCode }))).toBe(0);
    expect(platform.accepted).toEqual([]);
    expect(platform.received[0]?.verdict).toBe("tested");
  });

  test("another pixel and a token without permission are rejected", async () => {
    expect(codeOf(await send([event()], { event_source_id: "C0OTHER" }))).toBe(40_001);
    expect(codeOf(await send([event()], {}, known.readOnlyToken))).toBe(40_001);
  });

  test("the URL needs its closing slash", async () => {
    expect((await post(`${platform.origin}/open_api/v1.3/event/track`, {})).status).toBe(404);
  });

  test.each([
    [1000, 1],
    [600_000, 60],
    [86_400_000, 86_400],
  ])("after %i calls in %i seconds calls are throttled", (max, within) => {
    const answer = throttledCall(
      tiktok,
      "/open_api/v1.3/event/track/",
      { "access-token": known.accessToken },
      {},
      (_, limit, per) => limit === max && per === within,
    );
    expect(answer).toMatchObject({ status: 200, body: { code: 40_100 } });
  });
});

describe("tokens and faults in TikTok's format", () => {
  test("every invalid token is 40105 with HTTP 200; a Bearer token does not count", async () => {
    for (const token of ["wrong", known.expiredToken, known.revokedToken, null]) {
      const answer = await send([event()], {}, token);
      expect([answer.status, codeOf(answer)]).toEqual([200, 40_105]);
    }
    const answer = await post(`${platform.origin}/open_api/v1.3/event/track/`, { data: [event()] }, bearer(known.accessToken));
    expect(codeOf(answer)).toBe(40_105);
  });
});

describe("the pickers", () => {
  const list = (path: string) => get(`${platform.origin}/open_api/v1.3/${path}`, { "access-token": known.accessToken });

  test("the pickers list the advertisers, and the pixels of one", async () => {
    const query = new URLSearchParams({ app_id: known.appId, secret: known.appSecret }).toString();
    expect((await list(`oauth2/advertiser/get/?${query}`)).body).toMatchObject({
      code: 0,
      data: { list: [{ advertiser_id: known.advertiserId }] },
    });
    expect(JSON.stringify(platform.received)).not.toContain(known.appSecret);
    expect((await list(`pixel/list/?advertiser_id=${known.advertiserId}&page_size=1&page=2`)).body).toMatchObject({
      data: { pixels: [{ pixel_code: known.otherPixelCode }], page_info: { total_page: 2 } },
    });
    expect(codeOf(await list("oauth2/advertiser/get/?app_id=1"))).toBe(40_002);
    expect(codeOf(await list("pixel/list/?advertiser_id=1"))).toBe(40_001);
    expect(codeOf(await list("pixel/list/"))).toBe(40_002);
  });
});

describe("the sign-in", () => {
  const query = { app_id: known.appId, redirect_uri: callback, state: "s-1" };
  const authCode = async () => queryOf(await platform.decide(authorizeUrl("/portal/auth", query), "allow")).auth_code ?? "";
  const exchange = (auth_code: string, changes: Fields = {}) =>
    post(`${platform.origin}/open_api/v1.3/oauth2/access_token/`, {
      app_id: known.appId,
      secret: known.appSecret,
      auth_code,
      ...changes,
    });

  test("a code is exchanged for a token that gives access", async () => {
    const answer = await exchange(await authCode());
    expect(answer.body).toMatchObject({ code: 0, data: { advertiser_ids: [known.advertiserId] } });
    const { access_token } = (answer.body as { data: { access_token: string } }).data;
    expect(codeOf(await send([event()], {}, access_token))).toBe(0);
    expect(JSON.stringify(platform.received)).not.toContain(known.appSecret);
  });

  test("the state comes back, also after a denial", async () => {
    const denied = queryOf(await platform.decide(authorizeUrl("/portal/auth", query), "deny"));
    expect(denied).toMatchObject({ state: "s-1", error: "access_denied" });
  });

  test("a used code, a made-up one and a wrong secret are rejected on HTTP 200", async () => {
    const code = await authCode();
    await exchange(code);
    expect([await exchange(code), await exchange("code_none")].map((one) => [one.status, codeOf(one)])).toEqual([
      [200, 40_110],
      [200, 40_110],
    ]);
    expect(codeOf(await exchange(await authCode(), { secret: "guess" }))).toBe(40_002);
  });
});
