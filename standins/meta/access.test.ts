// Meta's pickers and sign-in.

import { describe, expect, test } from "vitest";
import { meta } from "./index.ts";
import {
  authorizationCode,
  bearer,
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

const { known } = meta;
const { handle: facebook, advance } = await runStandin("meta");

const send = (token: string) =>
  post(
    `${facebook.origin}/v26.0/${known.pixelId}/events`,
    {
      data: [
        {
          event_name: "Lead",
          event_time: startTime / 1000,
          action_source: "other",
          user_data: { em: person.email },
        },
      ],
    },
    bearer(token),
  );
const errorOf = ({ body }: { body: unknown }) => (body as { error: Fields }).error;

describe("the pickers", () => {
  const list = (path: string, token: string = known.accessToken) => get(`${facebook.origin}/v26.0/${path}`, bearer(token));

  test("the pickers list ad accounts, businesses and datasets with the requested fields", async () => {
    expect((await list("me/adaccounts?fields=name,account_id")).body).toMatchObject({
      data: [{ id: `act_${known.adAccountId}`, account_id: known.adAccountId, name: "Example Shop" }, { name: "Example Outlet" }],
    });
    expect((await list(`act_${known.adAccountId}/adspixels`)).body).toMatchObject({
      data: [{ id: known.pixelId }],
    });
    expect((await list("me/businesses?fields=name")).body).toMatchObject({
      data: [{ id: known.businessId }],
    });
    expect((await list(`${known.pixelId}?fields=name`)).body).toEqual({
      id: known.pixelId,
      name: "Shop dataset",
    });
  });

  test("the quality of a dataset can be read for a known dataset and with known fields", async () => {
    const quality = (dataset: string, fields: string) => list(`dataset_quality?dataset_id=${dataset}&fields=${fields}`);
    const fields = "web%7Bevent_name%7D";
    expect((await quality(known.pixelId, fields)).body).toEqual({ web: [{ event_name: "Purchase" }] });
    expect((await quality("999", fields)).body).toMatchObject({ error: { error_subcode: 2_044_055 } });
    expect((await quality(known.pixelId, "name")).body).toMatchObject({ error: { code: 100 } });
  });

  test("a list is divided into pages", async () => {
    const path = `${known.businessId}/owned_pixels?limit=1`;
    const first = (await list(path)).body as { paging: { cursors: { after: string }; next?: string } };
    expect(first.paging.next).not.toContain("access_token");
    const second = (await list(`${path}&after=${first.paging.cursors.after}`)).body;
    expect(second).toMatchObject({ data: [{ id: known.otherPixelId }] });
    expect(second).not.toHaveProperty("paging.next");
  });

  test("a missing permission and an unknown object are rejected", async () => {
    expect((await list("me/businesses", known.readOnlyToken)).status).toBe(403);
    expect((await list("999/adspixels")).body).toMatchObject({ error: { code: 100, error_subcode: 33 } });
  });
});

describe("the sign-in", () => {
  const { verifier, challenge } = makeChallenge();
  const code = (changes: Record<string, string> = {}) =>
    authorizationCode(facebook, "/v26.0/dialog/oauth", {
      client_id: known.appId,
      scope: "ads_management,business_management",
      code_challenge: challenge,
      code_challenge_method: "S256",
      ...changes,
    });
  const app = { client_id: known.appId, client_secret: known.appSecret };
  const token = (fields: Record<string, string>) =>
    get(`${facebook.origin}/v26.0/oauth/access_token?${new URLSearchParams({ ...app, ...fields }).toString()}`);
  const exchange = async (changes: Record<string, string> = {}) =>
    token({ redirect_uri: callback, code_verifier: verifier, code: await code(), ...changes });

  test("a code is exchanged for a short-lived token, that for a long-lived one, and both give access", async () => {
    const short = await exchange();
    expect(short.body).toMatchObject({ token_type: "bearer", expires_in: 7200 });
    const asked = {
      grant_type: "fb_exchange_token",
      fb_exchange_token: tokenFields(short).access_token ?? "",
    };
    const long = await token(asked);
    expect(long.body).toMatchObject({ expires_in: 60 * 86_400 });
    for (const one of [short, long]) expect((await send(tokenFields(one).access_token ?? "")).status).toBe(200);
    advance(3 * 3_600_000);
    const [old, lasting] = [await send(tokenFields(short).access_token ?? ""), await send(tokenFields(long).access_token ?? "")];
    const late = await token(asked);
    advance(-3 * 3_600_000);
    expect([errorOf(old).error_subcode, lasting.status, errorOf(late).code]).toEqual([463, 200, 190]);
    expect(JSON.stringify(facebook.received)).not.toContain(tokenFields(short).access_token);
  });

  test("a token request may be a form", async () => {
    const answer = await postForm(`${facebook.origin}/v26.0/oauth/access_token`, {
      ...app,
      grant_type: "authorization_code",
      redirect_uri: callback,
      code_verifier: verifier,
      code: await code(),
    });
    expect(answer.body).toMatchObject({ token_type: "bearer" });
  });

  test("a configuration may replace scopes", async () => {
    expect(await code({ scope: "", config_id: known.configId })).toMatch(/^code_/);
    expect(await code({ scope: "" })).toBe("");
  });

  test("a wrong verifier, a wrong secret and a used code are rejected in the Graph API's format", async () => {
    const wrong = await exchange({ code_verifier: makeChallenge().verifier });
    expect(errorOf(wrong)).toMatchObject({ code: 100, error_subcode: 36_007 });
    expect(errorOf(await exchange({ client_secret: "guess" })).code).toBe(1);
    const used = await code();
    const first = await exchange({ code: used });
    expect(errorOf(await exchange({ code: used }))).toMatchObject({ code: 100, error_subcode: 36_009 });
    expect(errorOf(await send(tokenFields(first).access_token ?? "")).code).toBe(190);
  });
});
