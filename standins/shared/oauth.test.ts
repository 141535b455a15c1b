// Tests of OAuth that apply to every stand-in, run on Google's.

import { describe, expect, test } from "vitest";
import { basicAuth, bearer, callback, makeChallenge, postForm, runStandin, tokenFields } from "./testCalls.ts";
import { googleAds } from "../google_ads/index.ts";
import { startStandins } from "./start.ts";

const { known, oauth: description } = googleAds;
const scope = description.scopes[0];
const { handle: google, advance } = await runStandin("google_ads");

const { verifier, challenge } = makeChallenge();

function authorizeUrl(changes: Record<string, string | null> = {}): string {
  const url = new URL("https://accounts.example/o/oauth2/v2/auth");
  const query: Record<string, string | null> = {
    client_id: known.clientId,
    redirect_uri: callback,
    response_type: "code",
    state: "s-1",
    scope,
    access_type: "offline",
    prompt: "consent",
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...changes,
  };
  for (const [name, value] of Object.entries(query)) if (value !== null) url.searchParams.set(name, value);
  return url.href;
}

const codeOf = (location: string) => new URL(location).searchParams.get("code") ?? "";
const getCode = async (changes?: Record<string, string | null>) => codeOf(await google.decide(authorizeUrl(changes), "allow"));

async function token(fields: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await postForm(`${google.origin}/token`, fields, headers);
  return { status: answer.status, body: tokenFields(answer) };
}

const client = { client_id: known.clientId, client_secret: known.clientSecret };
const exchange = (code: string, changes: Record<string, string> = {}) =>
  token({
    ...client,
    grant_type: "authorization_code",
    code,
    redirect_uri: callback,
    code_verifier: verifier,
    ...changes,
  });

async function hasAccess(accessToken = ""): Promise<boolean> {
  const answer = await fetch(`${google.origin}/v1/requestStatus:retrieve?requestId=none`, {
    headers: bearer(accessToken),
  });
  return answer.status !== 401 && answer.status !== 403;
}

describe("the authorization page", () => {
  test("the authorization page has two buttons, no script, and escapes its values", async () => {
    const url = authorizeUrl({ state: '"><script>alert(1)</script>' });
    const answer = await fetch(google.origin + new URL(url).pathname + new URL(url).search);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).toContain('<button name="decision" value="allow">Allow</button>');
    expect(page).toContain('<button name="decision" value="deny">Deny</button>');
    expect(page).not.toContain("<script");
    expect(page).toContain("&quot;&gt;&lt;script&gt;");
    expect(answer.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' http:\/\/127\.0\.0\.1:8787; /,
    );
  });

  test("Allow returns a code and the state, Deny an error and the state", async () => {
    const allowed = new URL(await google.decide(authorizeUrl(), "allow"));
    expect(allowed.origin + allowed.pathname).toBe(callback);
    expect(allowed.searchParams.get("state")).toBe("s-1");
    expect(allowed.searchParams.get("code")).toMatch(/^code_/);
    const denied = new URL(await google.decide(authorizeUrl(), "deny"));
    expect(Object.fromEntries(denied.searchParams)).toMatchObject({ error: "access_denied", state: "s-1" });
    expect(denied.searchParams.get("code")).toBeNull();
  });

  test.each([
    ["an unknown client", { client_id: "unknown" }],
    ["no client", { client_id: null }],
    ["a foreign plain-HTTP address to return to", { redirect_uri: "http://shop.example/back" }],
    ["a script to return to", { redirect_uri: "javascript:alert(1)" }],
    ["an address with a fragment", { redirect_uri: `${callback}#x` }],
  ])("%s is answered with an error page and no redirect", async (_, changes) => {
    const url = new URL(authorizeUrl(changes));
    const answer = await fetch(google.origin + url.pathname + url.search, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  });

  test.each([
    ["no state", { state: null }, "invalid_request"],
    ["another response type", { response_type: "token" }, "unsupported_response_type"],
    ["no scope", { scope: null }, "invalid_scope"],
    ["an unknown scope", { scope: "everything" }, "invalid_scope"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["a challenge that is no SHA-256", { code_challenge: "short" }, "invalid_request"],
  ])("%s is reported to the application", async (_, changes, fault) => {
    const location = await google.decide(authorizeUrl(changes), "allow");
    expect(new URL(location).searchParams.get("error")).toBe(fault);
    expect(codeOf(location)).toBe("");
  });

  test("with registered redirect URIs only those are valid", async () => {
    const strict = await startStandins({
      only: ["google_ads"],
      redirectUris: ["https://relay.example/back"],
    });
    const decide = (redirectUri: string) => strict.of("google_ads").decide(authorizeUrl({ redirect_uri: redirectUri }), "allow");
    await expect(decide(callback)).rejects.toThrow("redirect_uri is not registered");
    expect(await decide("https://relay.example/back")).toMatch(/^https:\/\/relay\.example\/back\?code=/);
    await strict.close();
  });
});

describe("the token endpoint", () => {
  test("a code is exchanged for tokens that give access", async () => {
    const { status, body } = await exchange(await getCode());
    expect(status).toBe(200);
    expect(body).toMatchObject({ expires_in: 3600, scope, token_type: "Bearer" });
    expect(await hasAccess(body.access_token)).toBe(true);
  });

  test("a code works once, and using it twice revokes its tokens", async () => {
    const code = await getCode();
    const { body } = await exchange(code);
    expect(await exchange(code)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await hasAccess(body.access_token)).toBe(false);
  });

  test.each([
    ["a wrong verifier", { code_verifier: makeChallenge().verifier }, "invalid_grant"],
    ["another address to return to", { redirect_uri: `${callback}/` }, "invalid_grant"],
    ["a wrong secret", { client_secret: "guess" }, "invalid_client"],
    ["a wrong client", { client_id: "unknown" }, "invalid_client"],
    ["a made-up code", { code: "code_made-up" }, "invalid_grant"],
    ["another grant type", { grant_type: "password" }, "unsupported_grant_type"],
  ])("%s is rejected", async (_, changes, fault) => {
    const { status, body } = await exchange(await getCode(), changes);
    expect([status, body.error]).toEqual([fault === "invalid_client" ? 401 : 400, fault]);
    expect(body.access_token).toBeUndefined();
  });

  test("a missing verifier is rejected when the sign-in had a challenge", async () => {
    const code = await getCode();
    const answer = await token({ ...client, grant_type: "authorization_code", code, redirect_uri: callback });
    expect(answer.body.error).toBe("invalid_grant");
  });

  test("a code expires after ten minutes", async () => {
    const code = await getCode();
    advance(601_000);
    expect((await exchange(code)).body.error).toBe("invalid_grant");
  });

  test("a JSON body or a repeated field is rejected", async () => {
    const json = await fetch(`${google.origin}/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(await json.json()).toMatchObject({ error: "invalid_request" });
    const twice = await fetch(`${google.origin}/token`, {
      method: "POST",
      body: new URLSearchParams([...Object.entries(client), ["client_id", known.clientId]]),
    });
    expect(await twice.json()).toMatchObject({ error: "invalid_request" });
  });

  test("the client authenticates once: by header or by body", async () => {
    const fields = {
      grant_type: "authorization_code",
      redirect_uri: callback,
      code_verifier: verifier,
    };
    const headers = basicAuth(known.clientId, known.clientSecret);
    expect((await token({ ...fields, ...client, code: await getCode() }, headers)).status).toBe(401);
    expect((await token({ ...fields, code: await getCode() }, headers)).status).toBe(200);
  });

  test("an access token expires and is refreshed; the refresh token stays", async () => {
    const { body } = await exchange(await getCode());
    advance(3_601_000);
    expect(await hasAccess(body.access_token)).toBe(false);
    const refreshed = await token({
      ...client,
      grant_type: "refresh_token",
      refresh_token: body.refresh_token ?? "",
    });
    advance(-3_601_000);
    expect(refreshed.status).toBe(200);
    expect(refreshed.body.refresh_token).toBeUndefined();
    expect(await hasAccess(refreshed.body.access_token)).toBe(true);
  });

  test("without offline access there is no refresh token", async () => {
    const { body } = await exchange(await getCode({ access_type: null }));
    expect(body.refresh_token).toBeUndefined();
  });

  test("after a revocation the refresh is rejected too", async () => {
    const { body } = await exchange(await getCode());
    await fetch(`${google.origin}/revoke`, {
      method: "POST",
      body: new URLSearchParams({ token: body.refresh_token ?? "" }),
    });
    expect(await hasAccess(body.access_token)).toBe(false);
    const refreshed = await token({
      ...client,
      grant_type: "refresh_token",
      refresh_token: body.refresh_token ?? "",
    });
    expect(refreshed.body.error).toBe("invalid_grant");
  });

  test("no code, verifier, secret or token is in the log", async () => {
    const code = await getCode();
    const { body } = await exchange(code);
    const log = JSON.stringify(google.received);
    for (const secret of [code, verifier, known.clientSecret, body.access_token as string]) expect(log).not.toContain(secret);
  });
});
