// X's signatures, and the calls that require one: the pickers and the three-legged sign-in.

import { createHmac, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { callback, get, person, post, queryOf, runStandin, startTime } from "../shared/testCalls.ts";
import { x } from "./index.ts";

const { known } = x;
const { handle: platform } = await runStandin("x");

const conversion = {
  conversion_time: "2026-11-14T09:30:00.000Z",
  event_id: known.purchaseEventId,
  identifiers: [{ hashed_email: person.email }],
};
const path = `/12/measurement/conversions/${known.pixelId}`;
const byToken = { "x-pixel-token": known.pixelToken };
const send = (headers: Record<string, string>, at = path) => post(platform.origin + at, { conversions: [conversion] }, headers);
const errorsOf = ({ body }: { body: unknown }) => (body as { errors: { code: string }[] }).errors;

/** Signs as a sender does, by the letter of RFC 5849 and without the stand-in's own code. */
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
type Signing = {
  url?: string;
  method?: string;
  query?: Record<string, string>;
  oauth?: Record<string, string>;
  consumerSecret?: string;
  tokenSecret?: string;
};
function sign({
  url = `https://ads-api.x.com${path}`,
  method = "POST",
  query = {},
  oauth = {},
  consumerSecret = known.consumerSecret,
  tokenSecret = known.accessTokenSecret,
}: Signing = {}): Record<string, string> {
  const given: Record<string, string> = {
    oauth_consumer_key: known.consumerKey,
    oauth_token: known.accessToken,
    oauth_nonce: randomBytes(12).toString("hex"),
    oauth_timestamp: String(startTime / 1000),
    oauth_signature_method: "HMAC-SHA1",
    oauth_version: "1.0",
    ...oauth,
  };
  if (given.oauth_token === "") delete given.oauth_token;
  const pairs = Object.entries({ ...given, ...query })
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted();
  const base = `${method}&${encode(url)}&${encode(pairs.join("&"))}`;
  const key = `${encode(consumerSecret)}&${encode(tokenSecret)}`;
  given.oauth_signature = createHmac("sha1", key).update(base).digest("base64");
  const shown = Object.entries(given).map(([name, value]) => `${name}="${encode(value)}"`);
  return { authorization: `OAuth ${shown.join(", ")}` };
}

describe("OAuth 1.0a", () => {
  test("a valid signature gives access, for X's URL or the stand-in's", async () => {
    expect((await send(sign())).status).toBe(200);
    expect((await send(sign({ url: platform.origin + path }))).status).toBe(200);
    expect(JSON.stringify(platform.received)).not.toContain("oauth_signature");
  });

  test("query parameters are signed, with the characters that only RFC 3986 escapes", async () => {
    const query = { note: "it's (50*2)!" };
    const at = `${path}?${new URLSearchParams(query).toString()}`;
    expect((await send(sign({ query }), at)).status).toBe(200);
    expect((await send(sign(), at)).status).toBe(401);
  });

  test.each<[string, Signing]>([
    ["a wrong consumer secret", { consumerSecret: "guess" }],
    ["a wrong token secret", { tokenSecret: "guess" }],
    ["another method", { method: "GET" }],
    ["another address", { url: "https://ads-api.x.com/12/measurement/conversions/other" }],
    ["an old timestamp", { oauth: { oauth_timestamp: String(startTime / 1000 - 301) } }],
    ["milliseconds", { oauth: { oauth_timestamp: String(startTime) } }],
    ["another method of signing", { oauth: { oauth_signature_method: "PLAINTEXT" } }],
    ["an unknown consumer", { oauth: { oauth_consumer_key: "unknown" } }],
    ["an unknown token", { oauth: { oauth_token: "unknown" } }],
    ["a revoked token", { oauth: { oauth_token: known.revokedAccessToken } }],
    ["the pixel's token", { oauth: { oauth_token: known.pixelToken } }],
  ])("%s is rejected", async (_, signing) => {
    const answer = await send(sign(signing));
    expect([answer.status, errorsOf(answer)]).toEqual([
      401,
      [{ code: "UNAUTHORIZED_ACCESS", message: "This request is not properly authenticated" }],
    ]);
  });

  test("a nonce works once", async () => {
    const headers = sign();
    expect((await send(headers)).status).toBe(200);
    expect((await send(headers)).status).toBe(401);
    expect(platform.received[1]?.reasons).toEqual(["the nonce was used before"]);
  });

  test("an application that X has not approved is rejected with a reason", async () => {
    const answer = await send(
      sign({
        oauth: { oauth_consumer_key: known.unapprovedConsumerKey },
        consumerSecret: known.unapprovedConsumerSecret,
      }),
    );
    expect([answer.status, errorsOf(answer)[0]?.code]).toEqual([403, "UNAUTHORIZED_CLIENT_APPLICATION"]);
  });

  test("nothing, a Bearer token and half a header are rejected", async () => {
    for (const headers of [{}, { authorization: `Bearer ${known.accessToken}` }, { authorization: "OAuth x" }])
      expect((await send(headers as Record<string, string>)).status).toBe(401);
  });
});

describe("the pickers", () => {
  const list = (at: string) => get(platform.origin + at, sign({ url: `https://ads-api.x.com${at}`, method: "GET" }));

  test("the pickers list the accounts, and the event tags of one", async () => {
    expect((await list("/12/accounts")).body).toMatchObject({
      data: [{ id: known.accountId }],
      next_cursor: null,
    });
    expect((await list(`/12/accounts/${known.accountId}/web_event_tags`)).body).toMatchObject({
      data: [{ id: "o87ne", website_tag_id: known.pixelId }, { id: "o87nf" }, { id: "o87ng" }],
    });
    expect((await list("/12/accounts/none/web_event_tags")).status).toBe(404);
  });

  test("the pixel's token gives access to no list", async () => {
    expect((await get(`${platform.origin}/12/accounts`, byToken)).status).toBe(401);
  });
});

describe("the three-legged sign-in", () => {
  const requestToken = async (back = callback) => {
    const headers = sign({
      url: "https://api.x.com/oauth/request_token",
      oauth: { oauth_token: "", oauth_callback: back },
      tokenSecret: "",
    });
    const answer = await fetch(`${platform.origin}/oauth/request_token`, { method: "POST", headers });
    return { status: answer.status, fields: Object.fromEntries(new URLSearchParams(await answer.text())) };
  };
  const accessToken = async (request: Record<string, string>, verifier: string) => {
    const headers = sign({
      url: "https://api.x.com/oauth/access_token",
      oauth: { oauth_token: request.oauth_token ?? "", oauth_verifier: verifier },
      tokenSecret: request.oauth_token_secret ?? "",
    });
    const answer = await fetch(`${platform.origin}/oauth/access_token`, { method: "POST", headers });
    return { status: answer.status, fields: Object.fromEntries(new URLSearchParams(await answer.text())) };
  };
  const page = (request: Record<string, string>) => `https://api.x.com/oauth/authorize?oauth_token=${request.oauth_token}`;

  test("the three-legged sign-in issues an access token that signs conversions", async () => {
    const { fields: request } = await requestToken();
    expect(request).toMatchObject({ oauth_callback_confirmed: "true" });
    const shown = await get(`${platform.origin}/oauth/authorize?oauth_token=${request.oauth_token}`);
    expect(shown.text).toContain("Allow");
    const back = queryOf(await platform.decide(page(request), "allow"));
    const { fields: access } = await accessToken(request, back.oauth_verifier ?? "");
    expect(access).toMatchObject({ screen_name: "exampleshop" });
    const headers = sign({
      oauth: { oauth_token: access.oauth_token ?? "" },
      tokenSecret: access.oauth_token_secret ?? "",
    });
    expect((await send(headers)).status).toBe(200);
    platform.revokeTokens();
    expect((await send(byToken)).status).toBe(401);
  });

  test("a wrong verifier, a used request token, a denial and an unknown callback are rejected", async () => {
    const { fields: request } = await requestToken();
    const back = queryOf(await platform.decide(page(request), "allow"));
    expect((await accessToken(request, "guess")).status).toBe(401);
    expect((await accessToken(request, back.oauth_verifier ?? "")).status).toBe(200);
    expect((await accessToken(request, back.oauth_verifier ?? "")).status).toBe(401);
    const { fields: other } = await requestToken();
    expect(queryOf(await platform.decide(page(other), "deny"))).toEqual({ denied: other.oauth_token });
    expect((await requestToken("http://shop.example/back")).status).toBe(403);
    await expect(platform.decide(page({ oauth_token: "none" }), "allow")).rejects.toThrow("oauth_token is not valid");
  });
});
