import { describe, expect, test } from "vitest";
import { pinterest } from "./index.ts";
import {
  authorizationCode,
  basicAuth,
  bearer,
  browser,
  callback,
  type Fields,
  get,
  person,
  post,
  postForm,
  runStandin,
  startTime,
  throttledCall,
  tokenFields,
} from "../shared/testCalls.ts";
import { sha256 } from "../shared/contactChecks.ts";

const { known } = pinterest;
const seconds = startTime / 1000 - 1800;
const { handle: platform, advance } = await runStandin("pinterest");

const userData = (changes: Fields = {}): Fields => ({
  em: [person.email],
  ph: [person.digitsPhone],
  country: [sha256("de")],
  client_ip_address: "203.0.113.9",
  client_user_agent: browser,
  click_id: "dj0yJnU9AbC",
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event_name: "checkout",
  action_source: "web",
  event_time: seconds,
  event_id: "ord-1001",
  event_source_url: "https://shop.example/thanks",
  user_data: userData(),
  custom_data: {
    value: "49.90",
    currency: "EUR",
    order_id: "1001",
    contents: [{ id: "sku-1", item_price: "49.90", quantity: 1 }],
    num_items: 1,
  },
  ...changes,
});
const send = (
  data: unknown,
  {
    token = known.conversionToken,
    account = known.adAccountId,
    query = "",
  }: { token?: string; account?: string; query?: string } = {},
) => post(`${platform.origin}/v5/ad_accounts/${account}/events${query}`, { data }, bearer(token));
type Result = { num_events_processed: number; events: { status: string; error_message: string }[] };
/** The list of a success, or that in the details of a partial failure. */
const resultOf = ({ body }: { body: unknown }) => (body as { details?: Result }).details ?? (body as Result);

describe("the Conversions API", () => {
  test("the documented event is accepted, with a status per event", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toEqual([
      200,
      {
        num_events_received: 1,
        num_events_processed: 1,
        events: [{ status: "processed", error_message: "", warning_message: "" }],
      },
    ]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "checkout", counted: 1 }]);
  });

  test.each<[string, Fields, RegExp]>([
    ["a plain email", { user_data: userData({ em: ["john_smith@gmail.com"] }) }, /em\[0\] is not hashed/],
    ["a hash in upper case", { user_data: userData({ em: [person.email.toUpperCase()] }) }, /lower case/],
    ["a phone hashed with its +", { user_data: userData({ ph: [person.plusPhone] }) }, /with \+/],
    ["a country hashed in capitals", { user_data: userData({ country: [sha256("DE")] }) }, /country/],
    ["a time in milliseconds", { event_time: startTime }, /must be in seconds/],
    ["an event of eight days ago", { event_time: seconds - 8 * 86_400 }, /older/],
    ["an event of tomorrow", { event_time: seconds + 86_400 }, /future/],
    ["a custom name", { event_name: "quote_asked" }, /event_name must be one of/],
    ["an unknown source", { action_source: "website" }, /action_source must be one of/],
    ["a phone alone", { user_data: { ph: [person.digitsPhone] } }, /needs em, hashed_maids/],
    ["a click id alone", { user_data: { click_id: "dj0y" } }, /needs em, hashed_maids/],
    ["an address alone", { user_data: { client_ip_address: "203.0.113.9" } }, /needs em, hashed_maids/],
    ["a hashed click id", { user_data: userData({ click_id: sha256("x") }) }, /must not be hashed/],
    ["another opt-out", { custom_data: { opt_out_type: "LDU" } }, /opt_out_type/],
  ])("%s fails only its event", async (_, changes, message) => {
    const answer = await send([event({ event_id: "good" }), event(changes)]);
    expect([answer.status, resultOf(answer).num_events_processed]).toEqual([422, 1]);
    expect(resultOf(answer).events.map(({ status }) => status)).toEqual(["processed", "failed"]);
    expect(resultOf(answer).events[1]?.error_message).toMatch(message);
    expect(platform.accepted.map(({ id }) => id)).toEqual(["good"]);
    expect(platform.received[0]?.verdict).toBe("partial");
  });

  test.each<[string, Fields]>([
    ["an unknown field of the order", { custom_data: { category_name: "shoes" } }],
    ["an unknown field of the person", { user_data: userData({ email: [person.email] }) }],
    ["a value as a number", { custom_data: { value: 49.9, currency: "EUR" } }],
    ["an item's price as a number", { custom_data: { contents: [{ item_price: 1 }] } }],
    ["a hash that is not in a list", { user_data: userData({ em: person.email }) }],
    ["no id", { event_id: undefined }],
    ["no time", { event_time: undefined }],
    ["a time as text", { event_time: String(seconds) }],
    ["an opt-out as text", { opt_out: "false" }],
    ["no person", { user_data: undefined }],
  ])("%s violates the schema and rejects the request", async (_, changes) => {
    const answer = await send([event({ event_id: "good" }), event(changes)]);
    expect([answer.status, answer.body]).toMatchObject([400, { code: 4196, message: expect.stringMatching(/data\[1\]/) }]);
    expect(platform.accepted).toEqual([]);
  });

  test("IP address with user agent is enough to match, and both forms of an opt-out are accepted", async () => {
    const pair = { client_ip_address: "2001:db8::1", client_user_agent: browser };
    const out = event({ user_data: pair, opt_out: true, custom_data: { opt_out_type: "LDP" } });
    expect((await send([out])).status).toBe(200);
  });

  test("a test event is checked like others and not recorded", async () => {
    const answer = await send([event()], { query: "?test=true" });
    expect([answer.status, resultOf(answer).num_events_processed]).toEqual([200, 1]);
    expect(platform.accepted).toEqual([]);
    expect(platform.received[0]?.verdict).toBe("tested");
    const bad = await send([event({ user_data: {} })], { query: "?test=true" });
    expect(bad.status).toBe(422);
  });

  test("events with the same id and name count once, except offline events", async () => {
    for (let sent = 0; sent < 2; sent++) await send([event(), event({ event_id: "shop", action_source: "offline" })]);
    expect(platform.accepted.map(({ id, count, counted }) => [id, count, counted])).toEqual([
      ["ord-1001", 2, 1],
      ["shop", 2, 2],
    ]);
  });

  test("a tag in place of the ad account is rejected", async () => {
    expect(await send([event()], { account: known.tagId })).toMatchObject({
      status: 403,
      body: { code: 29 },
    });
  });

  test("after 5000 calls in a minute an ad account is throttled", () => {
    const answer = throttledCall(
      pinterest,
      `/v5/ad_accounts/${known.adAccountId}/events`,
      bearer(known.conversionToken),
      { data: [event()] },
      (quota, limit, per) => quota.includes(known.adAccountId) && limit === 5000 && per === 60,
    );
    expect(answer).toMatchObject({ status: 429, body: { code: 8 }, headers: { "x-ratelimit-reset": "7" } });
  });
});

describe("tokens and faults in Pinterest's format", () => {
  test("every invalid token is code 2, a missing permission code 29", async () => {
    for (const token of ["wrong", known.expiredToken, known.revokedToken])
      expect(await send([event()], { token })).toMatchObject({ status: 401, body: { code: 2 } });
    expect(await send([event()], { token: known.readOnlyToken })).toMatchObject({
      status: 403,
      body: { code: 29 },
    });
  });
});

describe("the pickers", () => {
  const list = (path: string, token: string = known.accessToken) => get(`${platform.origin}/v5/${path}`, bearer(token));

  test("the pickers list the ad accounts page by page, and the tags of an account", async () => {
    const first = (await list("ad_accounts?page_size=1")).body as { bookmark: string };
    expect(first).toMatchObject({ items: [{ id: known.adAccountId }] });
    expect((await list(`ad_accounts?page_size=1&bookmark=${first.bookmark}`)).body).toMatchObject({
      items: [{ id: known.otherAdAccountId }],
      bookmark: null,
    });
    expect((await list(`ad_accounts/${known.adAccountId}/conversion_tags`)).body).toMatchObject({
      items: [{ id: known.tagId }],
    });
    expect((await list("ad_accounts", known.conversionToken)).status).toBe(403);
    expect((await list("ad_accounts?page_size=0")).status).toBe(400);
  });
});

describe("the sign-in", () => {
  const code = () => authorizationCode(platform, "/oauth/", { client_id: known.clientId, scope: "ads:read,ads:write" });
  const token = (fields: Record<string, string>, secret: string = known.clientSecret) =>
    postForm(`${platform.origin}/v5/oauth/token`, fields, basicAuth(known.clientId, secret));
  const codeGrant = { grant_type: "authorization_code", continuous_refresh: "true" };
  const exchange = (given: string) => token({ ...codeGrant, redirect_uri: callback, code: given });

  test("an application of before September 2025 has to ask for refresh tokens that are replaced", async () => {
    const fields = { grant_type: "authorization_code", redirect_uri: callback, code: await code() };
    const refused = await token(fields);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("continuous_refresh")]);
    expect((await token({ ...fields, continuous_refresh: "true" })).status).toBe(200);
  });

  test("a code is exchanged for tokens, the refresh token is replaced at each use", async () => {
    const first = await exchange(await code());
    expect(first.body).toMatchObject({
      response_type: "authorization_code",
      token_type: "bearer",
      expires_in: 2_592_000,
      scope: "ads:read,ads:write",
    });
    expect((await send([event()], { token: tokenFields(first).access_token ?? "" })).status).toBe(200);
    const refresh = (one: typeof first) =>
      token({ grant_type: "refresh_token", refresh_token: tokenFields(one).refresh_token ?? "" });
    const second = await refresh(first);
    expect((await refresh(first)).body).toMatchObject({
      code: 1,
      message: expect.stringMatching(/^invalid_grant/),
    });
    advance(59 * 86_400_000);
    const third = await refresh(second);
    advance(61 * 86_400_000);
    const late = await refresh(third);
    advance(-120 * 86_400_000);
    expect([second.status, third.status, late.status]).toEqual([200, 200, 400]);
  });

  test("the token of a sign-in is exchanged for a conversion token that can only send", async () => {
    const url = `${platform.origin}/v5/oauth/conversion_token`;
    const issued = await post(url, {}, bearer(known.accessToken));
    expect(issued.body).toMatchObject({ token_type: "conversion" });
    const conversionToken = tokenFields(issued).access_token ?? "";
    expect((await send([event()], { token: conversionToken })).status).toBe(200);
    const listed = await get(`${platform.origin}/v5/ad_accounts`, bearer(conversionToken));
    expect(listed.status).toBe(403);
    expect((await post(url, {}, bearer(known.readOnlyToken))).status).toBe(403);
  });

  test("a used code, a wrong secret and a secret in the body are rejected", async () => {
    const used = await code();
    await exchange(used);
    expect(await exchange(used)).toMatchObject({ status: 400, body: { code: 1 } });
    expect(await token(codeGrant, "guess")).toMatchObject({
      status: 401,
      body: { code: 2 },
    });
    const inBody = await postForm(`${platform.origin}/v5/oauth/token`, {
      client_id: known.clientId,
      client_secret: known.clientSecret,
    });
    expect(inBody.status).toBe(401);
  });
});

test("the event quality score needs a sign-in and a period", async () => {
  const read = (query: string, token: string) =>
    get(`${platform.origin}/v5/ad_accounts/${known.adAccountId}/conversion_eqs${query}`, bearer(token));
  expect((await read("?lookback_period=14d", known.accessToken)).body).toMatchObject([{ overall_status: "FAIR" }]);
  expect((await read("", known.accessToken)).status).toBe(400);
  expect((await read("?lookback_period=14d", known.conversionToken)).status).toBe(403);
});
