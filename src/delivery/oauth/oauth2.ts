// Signs in with OAuth 2: builds the authorization URL, exchanges a code for tokens, and refreshes them. A library
// implements the protocol; each platform declares how it differs, and this file translates requests and answers.

import * as oauth from "oauth4webapi";
import type { OAuth2, Platform, PlatformRequest } from "../../platforms/platform.ts";
import { parseJson } from "../../platforms/shared/json.ts";
import { shorten } from "../../platforms/shared/response.ts";
import type { OAuthApp } from "../../store/sites/platformSignIns.ts";
import type { Sender } from "../send.ts";

/** Named like the settings of a connection, where they are stored. */
export type TokenSet = { access_token: string; refresh_token?: string; expires_at?: string };

/** `refused`: the platform rejected the request and would do so again. `later`: it could not be reached. */
export type TokenFault = { fault: "refused" | "later"; error: string };

export type PlatformWithOAuth = Platform & { oauth: OAuth2 };
type Call = { platform: PlatformWithOAuth; app: OAuthApp; sender: Sender; now: number };

export const hasOAuth = (platform: Platform | undefined): platform is PlatformWithOAuth => Boolean(platform?.oauth);

export const createVerifier = () => oauth.generateRandomCodeVerifier();

/** The URL of the platform's page on which users grant access. */
export async function authorizationUrl(
  { oauth: rules }: PlatformWithOAuth,
  app: Pick<OAuthApp, "clientId">,
  { redirectUri, state, verifier }: { redirectUri: string; state: string; verifier: string },
): Promise<string> {
  const url = new URL(rules.authorizeUrl);
  const nameOf = platformNames(rules);
  const challenge = rules.pkce
    ? { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }
    : {};
  const params = {
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: redirectUri,
    ...(rules.scopes.length ? { scope: rules.scopes.join(rules.scopeSeparator ?? " ") } : {}),
    state,
    ...challenge,
    ...rules.authorizeParams,
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(nameOf(name), value);
  return url.href;
}

/** Exchanges the code that the platform returned for tokens. */
export async function exchangeCode(
  call: Call,
  answer: { parameters: URLSearchParams; state: string; redirectUri: string; verifier: string },
): Promise<TokenSet | TokenFault> {
  const { platform, app } = call;
  const rules = platform.oauth;
  return catchFault(async () => {
    const { server, client, auth, options } = protocolOf(call);
    const code = answer.parameters.get(platformNames(rules)("code"));
    const standard = new URLSearchParams(answer.parameters);
    if (code !== null) standard.set("code", code);
    // The library would take these additions of some platforms for another flow.
    for (const name of ["id_token", "response", "iss"]) standard.delete(name);
    const callback = oauth.validateAuthResponse(server, client, standard, answer.state);
    const verifier = rules.pkce ? answer.verifier : oauth.nopkce;
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
    return rules.exchange ? exchangeForLongLived(call, app, tokens) : tokens;
  });
}

/** Returns a new access token, and a new refresh token where the platform rotates them. */
export async function refreshTokens(call: Call, refreshToken: string): Promise<TokenSet | TokenFault> {
  return catchFault(async () => {
    const { server, client, auth, options } = protocolOf(call);
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, options);
    return tokensIn(await oauth.processRefreshTokenResponse(server, client, response), call.now);
  });
}

function protocolOf(call: Call) {
  const { oauth: rules } = call.platform;
  const { clientId, clientSecret } = call.app;
  const server: oauth.AuthorizationServer = {
    issuer: new URL(rules.authorizeUrl).origin,
    authorization_endpoint: rules.authorizeUrl,
    token_endpoint: rules.tokenUrl,
  };
  const auth = rules.clientAuth === "basic" ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
  const options = {
    [oauth.customFetch]: (url: string, init: { headers: Record<string, string>; body?: unknown }) => fetchToken(call, url, init),
  };
  return { server, client: { client_id: clientId }, auth, options };
}

/** Sends a token request in the platform's form and returns its answer in OAuth's standard form. */
async function fetchToken(
  { platform, sender }: Call,
  url: string,
  init: { headers: Record<string, string>; body?: unknown },
): Promise<Response> {
  const rules = platform.oauth;
  const nameOf = platformNames(rules);
  const fields = init.body instanceof URLSearchParams ? init.body : new URLSearchParams();
  const params = Object.fromEntries([...fields].map(([name, value]) => [nameOf(name), value]));
  Object.assign(params, rules.tokenParams);
  const isJson = rules.tokenBody === "json";
  const request: PlatformRequest = {
    method: "POST",
    url,
    headers: {
      ...Object.fromEntries(new Headers(init.headers)),
      "content-type": isJson ? "application/json" : "application/x-www-form-urlencoded",
    },
    body: isJson ? JSON.stringify(params) : new URLSearchParams(params).toString(),
  };
  const sent = await sender.send(request, { platform: platform.id, customerAddress: false });
  if (!sent.ok) throw new Unreachable(sent.error);
  const { status, body } = sent.response;
  if (status === 429 || status >= 500) throw new Unreachable(`HTTP ${status}`);
  return new Response(JSON.stringify(standardAnswer(rules, parseJson(body))), {
    status,
    headers: { "content-type": "application/json" },
  });
}

/** Some platforms wrap their answer, omit the token's type, name errors differently, or answer them with status 200. */
function standardAnswer(rules: OAuth2, parsed: unknown): Record<string, unknown> {
  const whole = objectIn(parsed);
  const inner = rules.tokenIn ? objectIn(whole[rules.tokenIn]) : whole;
  const original = Object.fromEntries(Object.entries(rules.names ?? {}).map(([ours, theirs]) => [theirs, ours]));
  const answer = Object.fromEntries(
    Object.entries(inner).map(([name, value]) => [Object.hasOwn(original, name) ? (original[name] as string) : name, value]),
  );
  if (typeof answer.access_token === "string") {
    // Other fields differ by platform and do not always have the form that OAuth prescribes.
    const { access_token, refresh_token, expires_in } = answer;
    const more = {
      ...(refresh_token ? { refresh_token } : {}),
      ...(expires_in ? { expires_in: Number(expires_in) } : {}),
    };
    return { token_type: "bearer", access_token, ...more };
  }
  if (typeof whole.error === "string") return whole;
  return { error: "invalid_grant", error_description: shorten(messageIn(whole)) };
}

/** Exchanges a short-lived token for a long-lived one, where the platform requires that step. */
async function exchangeForLongLived(
  { platform, sender, now }: Call,
  app: OAuthApp,
  tokens: TokenSet,
): Promise<TokenSet | TokenFault> {
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
      error: shorten(messageIn({ message: answer.error_description ?? answer.error })),
    };
  return { ...tokens, ...tokensIn(answer as oauth.TokenEndpointResponse, now) };
}

function tokensIn(answer: oauth.TokenEndpointResponse, now: number): TokenSet {
  const seconds = Number(answer.expires_in);
  return {
    access_token: answer.access_token,
    ...(answer.refresh_token ? { refresh_token: answer.refresh_token } : {}),
    ...(seconds > 0 ? { expires_at: String(now + Math.floor(seconds * 1000)) } : {}),
  };
}

/** Returns a function that gives a standard OAuth parameter the platform's own name. */
const platformNames =
  ({ names = {} }: OAuth2) =>
  (name: string) =>
    Object.hasOwn(names, name) ? (names[name] as string) : name;

const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** The error message of an answer, wherever the platform puts it. */
function messageIn({ message, error }: Record<string, unknown>): string {
  const text = typeof message === "string" ? message : objectIn(error).message;
  return typeof text === "string" ? text : "no token in the answer";
}

class Unreachable extends Error {}

async function catchFault(work: () => Promise<TokenSet | TokenFault>): Promise<TokenSet | TokenFault> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unreachable) return { fault: "later", error: error.message };
    if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error;
      return { fault: "refused", error: shorten(description ? `${code}: ${description}` : code) };
    }
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.WWWAuthenticateChallengeError)
      return { fault: "refused", error: shorten(error.message) };
    throw error;
  }
}
