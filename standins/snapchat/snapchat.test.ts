import { describe, expect, test } from "vitest";
import {
  authorizationCode,
  bearer,
  browser,
  callback,
  type Fields,
  get,
  makeChallenge,
  person,
  post,
  postForm,
  runStandin,
  startTime,
  tokenFields,
} from "../shared/testCalls.ts";
import { snapchat } from "./index.ts";
import { sha256 } from "../shared/contactChecks.ts";

const { known } = snapchat;
const seconds = startTime / 1000 - 1800;
const { handle: platform, advance } = await runStandin("snapchat");

const userData = (changes: Fields = {}): Fields => ({
  em: [person.email],
  ph: [sha256("448444124653")],
  fn: [sha256("raphaël")],
  client_ip_address: "203.0.113.9",
  client_user_agent: browser,
  sc_click_id: "AbC-123",
  sc_cookie1: "9d1f4c2e-1111-4222-8333-944455556666",
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event_name: "PURCHASE",
  event_time: seconds,
  action_source: "WEB",
  event_source_url: "https://shop.example/thanks",
  event_id: "ord-1001",
  user_data: userData(),
  custom_data: { value: 49.9, currency: "EUR", order_id: "1001" },
  ...changes,
});
type Sending = { root?: Fields; token?: string; pixel?: string; path?: string };
const send = (data: unknown, { root = {}, token = known.accessToken, pixel = known.pixelId, path = "events" }: Sending = {}) =>
  post(`${platform.origin}/v3/${pixel}/${path}?access_token=${token}`, { data, ...root });

describe("the Conversions API", () => {
  test("the documented event is VALID, and the log hides the token of the URL", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toMatchObject([200, { status: "VALID" }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "PURCHASE", counted: 1 }]);
    expect(platform.received[0]?.path).toBe(`/v3/${known.pixelId}/events?access_token=configured`);
  });

  test.each<[string, Fields, RegExp]>([
    ["a plain email", { user_data: userData({ em: ["john_smith@gmail.com"] }) }, /em\[0\] is not hashed/],
    ["a hash that is not in a list", { user_data: userData({ em: person.email }) }, /em must be a list/],
    ["a phone hashed with its +", { user_data: userData({ ph: [sha256("+448444124653")] }) }, /with \+/],
    ["a name hashed without its accent", { user_data: userData({ fn: [sha256("raphael")] }) }, /accents/],
    ["a field of v2", { user_data: userData({ hashed_email: person.email }) }, /hashed_email is not a known field/],
    ["a hashed click id", { user_data: userData({ sc_click_id: sha256("x") }) }, /must not be hashed/],
    ["a time in milliseconds", { event_time: startTime }, /must be in seconds/],
    ["milliseconds offline", { event_time: startTime, action_source: "OFFLINE" }, /must be in seconds/],
    ["an event of 38 days ago", { event_time: seconds - 38 * 86_400 }, /older/],
    ["an event of tomorrow", { event_time: seconds + 86_400 }, /future/],
    ["a web event without its address", { event_source_url: undefined }, /event_source_url is required/],
    ["LEAD, which no list knows", { event_name: "LEAD" }, /event_name must be one of/],
    ["an unknown source", { action_source: "web" }, /action_source/],
    ["a purchase without a currency", { custom_data: { value: 1 } }, /custom_data.currency is required for PURCHASE/],
    ["a value as text", { custom_data: { value: "1.00", currency: "EUR" } }, /value must be a number/],
    ["limited data use as text", { data_processing_options: "['lmu']" }, /data_processing_options/],
    ["limited data use without a place", { data_processing_options: ["LDU"] }, /country/],
  ])("%s makes the request INVALID", async (_, changes, message) => {
    const answer = await send([event({ event_id: "good" }), event(changes)]);
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { status: "INVALID", errors: { error_msgs: [expect.stringMatching(message)] } },
    ]);
    expect(platform.accepted).toEqual([]);
  });

  test("a click id alone is insufficient", async () => {
    const { status, body } = await send([event({ user_data: { sc_click_id: "AbC" } })]);
    expect([status, body]).toMatchObject([400, { status: "INVALID", reason: "Insufficient PII" }]);
  });

  test("late, offline, custom and limited events are accepted", async () => {
    const late = event({
      event_time: seconds - 36 * 86_400,
      action_source: "OFFLINE",
      event_source_url: undefined,
    });
    const custom = event({ event_name: "CUSTOM_EVENT_1", custom_data: undefined });
    const limited = event({
      data_processing_options: ["LDU"],
      data_processing_options_country: 1,
      data_processing_options_state: 1000,
    });
    expect((await send([late, custom, limited])).status).toBe(200);
  });

  test("an id counts once within 48 hours", async () => {
    await send([event()]);
    await send([event()]);
    advance(49 * 3_600_000);
    await send([event()]);
    advance(-49 * 3_600_000);
    expect(platform.accepted).toMatchObject([{ count: 3, counted: 2 }]);
  });

  test("the validation endpoint records nothing; a test code is marked", async () => {
    expect((await send([event()], { path: "events/validate" })).body).toMatchObject({
      status: "VALID",
      test_event: true,
      event_logs: [{ event: 0, status: "VALID" }],
    });
    expect(platform.accepted).toEqual([]);
    expect((await send([event({ user_data: {} })], { path: "events/validate" })).status).toBe(400);
    await send([event()], { root: { test_event_code: known.testEventCode } });
    expect(platform.received.map(({ verdict }) => verdict)).toEqual(["tested", "rejected", "tested"]);
  });

  test("a pixel of another organisation is rejected", async () => {
    expect((await send([event()], { pixel: known.foreignPixelId })).body).toMatchObject({
      status: "INVALID",
      reason: "Permission denied",
    });
  });
});

describe("tokens and faults in Snapchat's format", () => {
  test("an unknown token is a bad request, an expired or revoked one a 401; a header is not enough", async () => {
    const answers = [];
    for (const token of ["wrong", known.expiredToken, known.revokedToken]) answers.push(await send([event()], { token }));
    expect(answers.map(({ status, body }) => [status, (body as Fields).reason])).toEqual([
      [400, "Invalid access token"],
      [401, "Unauthorized"],
      [401, "Unauthorized"],
    ]);
    const url = `${platform.origin}/v3/${known.pixelId}/events`;
    expect((await post(url, { data: [event()] }, bearer(known.accessToken))).status).toBe(400);
  });
});

describe("the pickers", () => {
  const list = (path: string, token: string = known.accessToken) => get(`${platform.origin}/v1/${path}`, bearer(token));

  test("the pickers list organisations with their ad accounts, and the pixel of one", async () => {
    expect((await list("me/organizations?with_ad_accounts=true")).body).toMatchObject({
      request_status: "SUCCESS",
      organizations: [{ sub_request_status: "SUCCESS", organization: { ad_accounts: [{ id: known.adAccountId }] } }],
    });
    expect((await list(`organizations/${known.organizationId}/adaccounts`)).body).toMatchObject({
      adaccounts: [{ adaccount: { name: "Example Shop" } }],
    });
    expect((await list(`adaccounts/${known.adAccountId}/pixels`)).body).toMatchObject({
      pixels: [{ pixel: { id: known.pixelId } }],
    });
  });

  test("unknown objects and missing permissions are rejected", async () => {
    expect((await list("adaccounts/none/pixels")).body).toMatchObject({
      request_status: "ERROR",
      error_code: "E3003",
    });
    expect((await list("organizations/none/adaccounts")).status).toBe(403);
    expect(await list("me/organizations", known.expiredToken)).toMatchObject({
      status: 401,
      body: { request_status: "ERROR" },
    });
  });
});

describe("the sign-in", () => {
  const { verifier, challenge } = makeChallenge();
  const code = () =>
    authorizationCode(platform, "/login/oauth2/authorize", {
      client_id: known.clientId,
      scope: "snapchat-marketing-api",
      code_challenge: challenge,
      code_challenge_method: "S256",
    });
  const token = (fields: Record<string, string>) =>
    postForm(`${platform.origin}/login/oauth2/access_token`, {
      client_id: known.clientId,
      client_secret: known.clientSecret,
      ...fields,
    });
  const exchange = async (changes: Record<string, string> = {}) =>
    token({
      grant_type: "authorization_code",
      redirect_uri: callback,
      code_verifier: verifier,
      code: await code(),
      ...changes,
    });

  test("a code is exchanged for a token for an hour, and a refresh token that changes", async () => {
    const first = await exchange();
    expect(first.body).toMatchObject({ expires_in: 3600, scope: "snapchat-marketing-api" });
    expect((await send([event()], { token: tokenFields(first).access_token ?? "" })).status).toBe(200);
    advance(3_601_000);
    const old = await send([event()], { token: tokenFields(first).access_token ?? "" });
    const refresh = { grant_type: "refresh_token", refresh_token: tokenFields(first).refresh_token ?? "" };
    const second = await token(refresh);
    const fresh = await send([event()], { token: tokenFields(second).access_token ?? "" });
    advance(-3_601_000);
    expect([old.status, second.status, fresh.status]).toEqual([401, 200, 200]);
    expect((await token(refresh)).body).toMatchObject({ error: "invalid_grant" });
  });

  test("a wrong verifier, a used code and a wrong secret are rejected", async () => {
    expect((await exchange({ code_verifier: makeChallenge().verifier })).body).toMatchObject({
      error: "invalid_grant",
    });
    const used = await code();
    await exchange({ code: used });
    expect((await exchange({ code: used })).body).toMatchObject({ error: "invalid_grant" });
    expect((await exchange({ client_secret: "guess" })).status).toBe(401);
  });
});

test("the event quality scores are those of the token's pixel", async () => {
  const read = (pixel: string, token: string) => get(`${platform.origin}/v1/pixels/${pixel}/event_quality_scores`, bearer(token));
  const { body } = await read(known.pixelId, known.accessToken);
  expect(body).toMatchObject({ event_quality_scores: [{ event_quality_score: { score: 7.2 } }] });
  expect((await read(known.foreignPixelId, known.accessToken)).status).toBe(404);
  expect((await read(known.pixelId, known.expiredToken)).status).toBe(401);
});
