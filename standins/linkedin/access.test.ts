// LinkedIn's pickers and sign-in.

import { describe, expect, test } from "vitest";
import { linkedin } from "./index.ts";
import {
  authorizationCode,
  callback,
  get,
  person,
  post,
  postForm,
  runStandin,
  startTime,
  tokenFields,
} from "../shared/testCalls.ts";

const { known } = linkedin;
const { handle: platform, advance } = await runStandin("linkedin");

const headers = (token: string) => ({
  authorization: `Bearer ${token}`,
  "linkedin-version": known.apiVersion,
  "x-restli-protocol-version": "2.0.0",
});
const send = (token: string) =>
  post(
    `${platform.origin}/rest/conversionEvents`,
    {
      conversion: `urn:lla:llaPartnerConversion:${known.leadRuleId}`,
      conversionHappenedAt: startTime,
      user: { userIds: [{ idType: "SHA256_EMAIL", idValue: person.email }] },
    },
    headers(token),
  );

describe("the pickers", () => {
  const list = (path: string, token: string = known.accessToken) => get(`${platform.origin}/rest/${path}`, headers(token));

  test("the pickers list the ad accounts, and the rules of an account with their method", async () => {
    expect((await list("adAccountUsers?q=authenticatedUser")).body).toMatchObject({
      elements: [{ account: `urn:li:sponsoredAccount:${known.accountId}` }],
    });
    expect((await list("adAccounts?q=search")).body).toMatchObject({ elements: [{ name: "Example Shop" }] });
    expect((await list(`adAccounts/${known.accountId}`)).body).toMatchObject({ name: "Example Shop" });
    const account = encodeURIComponent(`urn:li:sponsoredAccount:${known.accountId}`);
    const { body } = await list(`conversions?q=account&account=${account}&count=2`);
    expect(body).toMatchObject({
      elements: [{ id: 555_001, conversionMethod: "CONVERSIONS_API" }, { id: 555_002 }],
      paging: { start: 0, count: 2, total: 4 },
    });
  });

  test("a foreign account, an unknown finder and a missing permission are rejected", async () => {
    expect((await list("conversions?q=account&account=urn%3Ali%3AsponsoredAccount%3A1")).status).toBe(403);
    expect((await list("conversions")).status).toBe(400);
    expect((await list("conversions?q=account", known.adsOnlyToken)).status).toBe(403);
  });
});

describe("the sign-in", () => {
  const code = () =>
    authorizationCode(platform, "/oauth/v2/authorization", {
      client_id: known.clientId,
      scope: "rw_conversions r_ads",
    });
  const token = (fields: Record<string, string>) =>
    postForm(`${platform.origin}/oauth/v2/accessToken`, {
      client_id: known.clientId,
      client_secret: known.clientSecret,
      ...fields,
    });
  const exchange = (changes: Record<string, string>) =>
    token({ grant_type: "authorization_code", redirect_uri: callback, ...changes });

  test("a code is exchanged for tokens for 60 and 365 days, and the refresh token stays", async () => {
    const first = await exchange({ code: await code() });
    expect(first.body).toMatchObject({
      expires_in: 60 * 86_400,
      refresh_token_expires_in: 365 * 86_400,
      scope: "rw_conversions,r_ads",
    });
    const sendWith = (answer: typeof first) => send(tokenFields(answer).access_token ?? "");
    expect((await sendWith(first)).status).toBe(201);
    const refresh = { grant_type: "refresh_token", refresh_token: tokenFields(first).refresh_token ?? "" };
    advance(61 * 86_400_000);
    const old = await sendWith(first);
    const second = await token(refresh);
    const fresh = await sendWith(second);
    advance(305 * 86_400_000);
    const dead = await token(refresh);
    advance(-366 * 86_400_000);
    expect([old.status, second.status, fresh.status, dead.status]).toEqual([401, 200, 201, 400]);
    expect(tokenFields(second).refresh_token).toBeUndefined();
    expect(dead.body).toMatchObject({ error: "invalid_grant" });
  });

  test("a used code, another redirect URI and a wrong secret are rejected", async () => {
    const used = await code();
    await exchange({ code: used });
    expect((await exchange({ code: used })).body).toMatchObject({ error: "invalid_grant" });
    const elsewhere = await exchange({ code: await code(), redirect_uri: `${callback}/x` });
    expect(elsewhere.body).toMatchObject({ error: "invalid_grant" });
    const secret = await exchange({ code: await code(), client_secret: "guess" });
    expect([secret.status, secret.body]).toMatchObject([401, { error: "invalid_client" }]);
  });
});
