// Reddit's pickers and sign-in.

import { describe, expect, test } from "vitest";
import {
  authorizationCode,
  basicAuth,
  bearer,
  callback,
  get,
  post,
  postForm,
  runStandin,
  startTime,
  tokenFields,
} from "../shared/testCalls.ts";
import { reddit } from "./index.ts";

const { known } = reddit;
const { handle: platform, advance } = await runStandin("reddit");

const send = (token: string) =>
  post(
    `${platform.origin}/api/v3/pixels/${known.pixelId}/conversion_events`,
    {
      data: {
        events: [{ event_at: startTime, action_source: "OTHER", type: { tracking_type: "LEAD" }, click_id: "abc" }],
      },
    },
    bearer(token),
  );

describe("the pickers", () => {
  const list = (path: string, token: string = known.accessToken) => get(`${platform.origin}/api/v3/${path}`, bearer(token));

  test("the pickers list businesses, their ad accounts and the pixels of an account", async () => {
    expect((await list("me/businesses")).body).toMatchObject({
      data: [{ id: known.businessId }],
      pagination: { next_url: null },
    });
    expect((await list(`businesses/${known.businessId}/ad_accounts`)).body).toMatchObject({
      data: [{ id: known.adAccountId }],
    });
    expect((await list(`ad_accounts/${known.adAccountId}/pixels`)).body).toMatchObject({
      data: [{ id: known.pixelId }],
    });
    expect((await list("me")).status).toBe(200);
  });

  test("a conversion token may not list, and other accounts are not accessible", async () => {
    expect((await list("me/businesses", known.conversionToken)).status).toBe(403);
    expect((await list("businesses/none/ad_accounts")).status).toBe(403);
    expect((await list("ad_accounts/a2_none/pixels")).status).toBe(403);
  });
});

describe("the sign-in", () => {
  const code = (duration = "permanent") =>
    authorizationCode(platform, "/api/v1/authorize", {
      client_id: known.clientId,
      scope: "adsconversions adsread",
      duration,
    });
  const token = (fields: Record<string, string>, secret: string = known.clientSecret, agent = "cleancast/1.0") =>
    postForm(`${platform.origin}/api/v1/access_token`, fields, {
      ...basicAuth(known.clientId, secret),
      "user-agent": agent,
    });
  const exchange = (given: string) => token({ grant_type: "authorization_code", redirect_uri: callback, code: given });

  test("a code is exchanged for a token for an hour, and the refresh token stays", async () => {
    const first = await exchange(await code());
    expect(first.body).toMatchObject({ expires_in: 3600, scope: "adsconversions adsread" });
    advance(3_601_000);
    const old = await send(tokenFields(first).access_token ?? "");
    const refresh = { grant_type: "refresh_token", refresh_token: tokenFields(first).refresh_token ?? "" };
    const [second, third] = [await token(refresh), await token(refresh)];
    const fresh = await send(tokenFields(third).access_token ?? "");
    advance(-3_601_000);
    expect([old.status, second.status, third.status, fresh.status]).toEqual([401, 200, 200, 200]);
  });

  test("a temporary sign-in gets no refresh token", async () => {
    expect(tokenFields(await exchange(await code("temporary"))).refresh_token).toBeUndefined();
  });

  test("the token endpoint requires a custom User-Agent", async () => {
    const answer = await token({ grant_type: "refresh_token" }, known.clientSecret, "node");
    expect([answer.status, answer.text]).toEqual([429, "Too Many Requests"]);
  });

  test("a used code, a wrong secret and a secret in the body are rejected", async () => {
    const used = await code();
    await exchange(used);
    expect(await exchange(used)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    const wrong = await token({ grant_type: "authorization_code" }, "guess");
    expect(wrong).toMatchObject({ status: 401, body: { message: "Unauthorized", error: 401 } });
    const inBody = await postForm(
      `${platform.origin}/api/v1/access_token`,
      { client_id: known.clientId, client_secret: known.clientSecret },
      { "user-agent": "cleancast/1.0" },
    );
    expect(inBody.status).toBe(401);
  });
});
