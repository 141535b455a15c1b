import { describe, expect, test } from "vitest";
import { sha256 } from "../shared/contactChecks.ts";
import {
  authorizationCode,
  bearer,
  callback,
  get,
  person,
  post,
  postForm,
  runStandin,
  startTime,
  tokenFields,
  type Fields,
} from "../shared/testCalls.ts";
import { amazonAds } from "./index.ts";

const { known } = amazonAds;
const { handle: platform, advance } = await runStandin("amazon_ads");

const description = (changes: Fields = {}): Fields => ({
  name: "purchase",
  conversionType: "OFF_AMAZON_PURCHASES",
  eventSource: "WEBSITE",
  eventIngestionMethod: "SERVER_TO_SERVER",
  ...changes,
});
const key = (type: string, ...values: string[]) => ({ type, values });
const event = (changes: Fields = {}): Fields => ({
  eventDescription: description(),
  eventTime: new Date(startTime - 1_800_000).toISOString(),
  countryCode: "US",
  matchKeys: [key("EMAIL", person.email), key("PHONE", person.digitsPhone), key("MATCH_ID", "c-4711")],
  value: 49.9,
  currencyCode: "USD",
  unitsSold: 1,
  eventId: "ord-1001",
  consent: { amazonConsent: { amznAdStorage: "GRANTED", amznUserData: "GRANTED" } },
  ...changes,
});
type Sending = { token?: string; account?: string; client?: string };
const send = (
  events: unknown,
  { token = known.accessToken, account = known.advertiserId, client = known.clientId }: Sending = {},
) =>
  post(
    `${platform.origin}/adsApi/v1/create/events`,
    { events },
    { ...bearer(token), "Amazon-Ads-AccountId": account, "Amazon-Ads-ClientId": client },
  );

describe("the Events API", () => {
  test("the documented event is accepted", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toMatchObject([207, { success: [{ index: 0 }], error: [] }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "purchase", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["an unknown type", { eventDescription: description({ conversionType: "PURCHASE" }) }, "conversionType"],
    ["no name", { eventDescription: description({ name: undefined }) }, "name"],
    ["a short data set", { eventDescription: description({ dataSetName: "abc" }) }, "dataSetName"],
    ["a time in seconds", { eventTime: startTime / 1000 }, "eventTime"],
    ["a time in the future", { eventTime: new Date(startTime + 120_000).toISOString() }, "eventTime"],
    ["no country", { countryCode: undefined }, "countryCode"],
    ["a country in lower case", { countryCode: "us" }, "countryCode"],
    ["no match key", { matchKeys: [] }, "matchKeys"],
    ["two values of a match key", { matchKeys: [key("EMAIL", person.email, sha256("x"))] }, "matchKeys"],
    ["a plain email", { matchKeys: [key("EMAIL", "jane@example.com")] }, "matchKeys[0].values[0]"],
    ["a phone hashed with its +", { matchKeys: [key("PHONE", person.plusPhone)] }, "matchKeys[0].values[0]"],
    ["an unknown key", { matchKeys: [key("EXTERNAL_ID", "x")] }, "matchKeys[0].type"],
    ["three decimals", { value: 1.234 }, "value"],
    ["a currency that is not supported", { currencyCode: "CHF" }, "currencyCode"],
    ["a currency of a lead", { eventDescription: description({ conversionType: "LEAD" }), unitsSold: undefined }, "currencyCode"],
    ["an unknown decision", { consent: { amazonConsent: { amznUserData: "granted" } } }, "amznUserData"],
  ])("%s is rejected alone", async (_, changes, field) => {
    const answer = await send([event({ eventId: "good" }), event(changes)]);
    expect([answer.status, answer.body]).toMatchObject([
      207,
      { success: [{ index: 0 }], error: [{ index: 1, errors: [{ code: "INVALID_ARGUMENT" }] }] },
    ]);
    expect(answer.text).toContain(field);
    expect(platform.accepted.map(({ id }) => id)).toEqual(["good"]);
  });

  test("in Europe one form of consent is required", async () => {
    const account = known.europeanId;
    await send([event({ consent: undefined })], { account });
    expect(platform.accepted).toEqual([]);
    await send([event(), event({ eventId: "geo", consent: { geo: { ipAddress: "203.0.113.9" } } })], {
      account,
    });
    expect(platform.accepted).toHaveLength(2);
  });
});

describe("access", () => {
  test("a wrong token or client is 401, an advertiser of another account 403", async () => {
    for (const token of ["wrong", known.expiredToken, known.revokedToken])
      expect((await send([event()], { token })).status).toBe(401);
    expect((await send([event()], { client: "wrong" })).status).toBe(401);
    expect((await send([event()], { account: known.foreignId })).status).toBe(403);
  });

  test("profiles are listed for the client", async () => {
    const url = `${platform.origin}/v2/profiles`;
    const client = { "Amazon-Advertising-API-ClientId": known.clientId };
    expect((await get(url, { ...bearer(known.accessToken), ...client })).status).toBe(200);
    expect((await get(url, bearer(known.accessToken))).status).toBe(401);
  });

  test("Login with Amazon gives a token for an hour, and the refresh token stays", async () => {
    const client = { client_id: known.clientId, client_secret: known.clientSecret };
    const code = await authorizationCode(platform, "/ap/oa", {
      client_id: known.clientId,
      scope: "advertising::campaign_management",
    });
    const token = (fields: Record<string, string>) => postForm(`${platform.origin}/auth/o2/token`, { ...client, ...fields });
    const first = await token({ grant_type: "authorization_code", redirect_uri: callback, code });
    expect(first.body).toMatchObject({ expires_in: 3600 });
    advance(3_601_000);
    expect((await send([event()], { token: tokenFields(first).access_token ?? "" })).status).toBe(401);
    const refresh = { grant_type: "refresh_token", refresh_token: tokenFields(first).refresh_token ?? "" };
    const second = await token(refresh);
    expect((await send([event()], { token: tokenFields(second).access_token ?? "" })).status).toBe(207);
    expect((await token(refresh)).status).toBe(200);
  });
});
