// OAuth 2 at platforms: the pages where people agree, codes for tokens, and new tokens for old. The protocol is a
// library's; what differs from platform to platform is declared with the platform and translated here, in both directions.

import * as oauth from "oauth4webapi";
import type { OAuth2, Platform, PlatformRequest } from "../../platforms/platform.ts";
import { parseJson, shorten } from "../../platforms/shared/response.ts";
import type { OAuthApp } from "../../store/sites/platformSignIns.ts";
import type { Sender } from "../send.ts";

/** As settings of a connection. */
export type Tokens = { access_token: string; refresh_token?: string; expires_at?: string };

/** `refused`: the platform said no, and would again. `later`: it could not be asked. */
export type TokenFault = { fault: "refused" | "later"; error: string };

export type PlatformWithOAuth = Platform & { oauth: OAuth2 };
type Call = { platform: PlatformWithOAuth; app: OAuthApp; sender: Sender; now: number };

export const hasOAuth = (platform: Platform | undefined): platform is PlatformWithOAuth =>
  Boolean(platform?.oauth);

export const newVerifier = () => oauth.generateRandomCodeVerifier();

/** The page at the platform where people agree. */
export async function agreementUrl(
  { oauth: how }: PlatformWithOAuth,
  app: Pick<OAuthApp, "clientId">,
  { redirectUri, state, verifier }: { redirectUri: string; state: string; verifier: string },
): Promise<string> {
  const url = new URL(how.authorizeUrl);
  const named = renamed(how);
  const challenge = how.pkce
    ? { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }
    : {};
  const params = {
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: redirectUri,
    ...(how.scopes.length ? { scope: how.scopes.join(how.scopeSeparator ?? " ") } : {}),
    state,
    ...challenge,
    ...how.authorizeParams,
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(named(name), value);
  return url.href;
}

/** The code that came back from the platform, for tokens. */
export async function tokensForCode(
  call: Call,
  answer: { parameters: URLSearchParams; state: string; redirectUri: string; verifier: string },
): Promise<Tokens | TokenFault> {
  const { platform, app } = call;
  const how = platform.oauth;
  return guarded(async () => {
    const { server, client, auth, options } = partiesOf(call);
    const code = answer.parameters.get(renamed(how)("code"));
    const standard = new URLSearchParams(answer.parameters);
    if (code !== null) standard.set("code", code);
    // What a platform adds for its own purposes must not look like another flow.
    for (const name of ["id_token", "response", "iss"]) standard.delete(name);
    const callback = oauth.validateAuthResponse(server, client, standard, answer.state);
    const verifier = how.pkce ? answer.verifier : oauth.nopkce;
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      callback,
      answer.redirectUri,
      verifier,
      options,
    );
    const tokens = tokensIn(await oauth.processAuthorizationCodeResponse(server, client, response), call.now);
    return how.exchange ? longLived(call, app, tokens) : tokens;
  });
}

/** A new access token, and a new refresh token where the platform rotates them. */
export async function renewed(call: Call, refreshToken: string): Promise<Tokens | TokenFault> {
  return guarded(async () => {
    const { server, client, auth, options } = partiesOf(call);
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, options);
    return tokensIn(await oauth.processRefreshTokenResponse(server, client, response), call.now);
  });
}

function partiesOf(call: Call) {
  const { oauth: how } = call.platform;
  const { clientId, clientSecret } = call.app;
  const server: oauth.AuthorizationServer = {
    issuer: new URL(how.authorizeUrl).origin,
    authorization_endpoint: how.authorizeUrl,
    token_endpoint: how.tokenUrl,
  };
  const auth =
    how.clientAuth === "basic" ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
  const options = {
    [oauth.customFetch]: (url: string, init: { headers: Record<string, string>; body?: unknown }) =>
      translated(call, url, init),
  };
  return { server, client: { client_id: clientId }, auth, options };
}

/** One token request in the platform's own words, and its answer in those of OAuth. */
async function translated(
  { platform, sender }: Call,
  url: string,
  init: { headers: Record<string, string>; body?: unknown },
): Promise<Response> {
  const how = platform.oauth;
  const named = renamed(how);
  const fields = init.body instanceof URLSearchParams ? init.body : new URLSearchParams();
  const own = Object.fromEntries([...fields].map(([name, value]) => [named(name), value]));
  Object.assign(own, how.tokenParams);
  const isJson = how.tokenBody === "json";
  const request: PlatformRequest = {
    method: "POST",
    url,
    headers: {
      ...Object.fromEntries(new Headers(init.headers)),
      "content-type": isJson ? "application/json" : "application/x-www-form-urlencoded",
    },
    body: isJson ? JSON.stringify(own) : new URLSearchParams(own).toString(),
  };
  const sent = await sender.send(request, { platform: platform.id, customerAddress: false });
  if (!sent.ok) throw new Unreachable(sent.error);
  const { status, body } = sent.response;
  if (status === 429 || status >= 500) throw new Unreachable(`HTTP ${status}`);
  return new Response(JSON.stringify(standardAnswer(how, parseJson(body))), {
    status,
    headers: { "content-type": "application/json" },
  });
}

/** Some wrap their answer, some leave the token's type out, some name their error otherwise or answer it with 200. */
function standardAnswer(how: OAuth2, parsed: unknown): Record<string, unknown> {
  const whole = objectIn(parsed);
  const inner = how.tokenIn ? objectIn(whole[how.tokenIn]) : whole;
  const original = Object.fromEntries(
    Object.entries(how.names ?? {}).map(([ours, theirs]) => [theirs, ours]),
  );
  const answer = Object.fromEntries(
    Object.entries(inner).map(([name, value]) => [
      Object.hasOwn(original, name) ? (original[name] as string) : name,
      value,
    ]),
  );
  if (typeof answer.access_token === "string") {
    // The rest is each platform's own, and not always in the form that OAuth prescribes.
    const { access_token, refresh_token, expires_in } = answer;
    const more = {
      ...(refresh_token ? { refresh_token } : {}),
      ...(expires_in ? { expires_in: Number(expires_in) } : {}),
    };
    return { token_type: "bearer", access_token, ...more };
  }
  if (typeof whole.error === "string") return whole;
  return { error: "invalid_grant", error_description: shorten(wordsIn(whole)) };
}

/** A token of an hour for one of months, where the platform wants that asked for. */
async function longLived(
  { platform, sender, now }: Call,
  app: OAuthApp,
  tokens: Tokens,
): Promise<Tokens | TokenFault> {
  const exchange = platform.oauth.exchange;
  if (!exchange) return tokens;
  const secretQuery = Object.fromEntries(
    Object.entries(exchange.params).map(([name, value]) => [
      name,
      value
        .replace("{client_id}", app.clientId)
        .replace("{client_secret}", app.clientSecret)
        .replace("{access_token}", tokens.access_token),
    ]),
  );
  const request: PlatformRequest = { method: "GET", url: exchange.url, headers: {}, body: "", secretQuery };
  const sent = await sender.send(request, { platform: platform.id, customerAddress: false });
  if (!sent.ok) return { fault: "later", error: sent.error };
  const answer = standardAnswer(platform.oauth, parseJson(sent.response.body));
  if (typeof answer.access_token !== "string")
    return {
      fault: "refused",
      error: shorten(wordsIn({ message: answer.error_description ?? answer.error })),
    };
  return { ...tokens, ...tokensIn(answer as oauth.TokenEndpointResponse, now) };
}

function tokensIn(answer: oauth.TokenEndpointResponse, now: number): Tokens {
  const seconds = Number(answer.expires_in);
  return {
    access_token: answer.access_token,
    ...(answer.refresh_token ? { refresh_token: answer.refresh_token } : {}),
    ...(seconds > 0 ? { expires_at: String(now + Math.floor(seconds * 1000)) } : {}),
  };
}

const renamed =
  ({ names = {} }: OAuth2) =>
  (name: string) =>
    Object.hasOwn(names, name) ? (names[name] as string) : name;

const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** What a refusal says for people, wherever it says it. */
function wordsIn({ message, error }: Record<string, unknown>): string {
  const words = typeof message === "string" ? message : objectIn(error).message;
  return typeof words === "string" ? words : "no token in the answer";
}

class Unreachable extends Error {}

async function guarded(work: () => Promise<Tokens | TokenFault>): Promise<Tokens | TokenFault> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unreachable) return { fault: "later", error: error.message };
    if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error;
      return { fault: "refused", error: shorten(description ? `${code}: ${description}` : code) };
    }
    if (
      error instanceof oauth.OperationProcessingError ||
      error instanceof oauth.WWWAuthenticateChallengeError
    )
      return { fault: "refused", error: shorten(error.message) };
    throw error;
  }
}
