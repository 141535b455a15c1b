// Talks to the OpenID provider: reads its metadata, builds the address of its sign-in page, and exchanges the code for the
// identity of a person. A library implements the protocol. All requests go through a sender that refuses private addresses.

import * as oauth from "oauth4webapi";
import { english } from "../../kernel/messages/message.ts";
import { hourMs, secondMs } from "../../kernel/time.ts";
import type { PlatformRequest } from "../../platforms/platform.ts";
import type { GuardedSend, SingleSignOnSettings } from "./settings.ts";

export type Identity = {
  /** Identifies the person at the provider for ever; an email address may be given to another person. */
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
};

/** The values that tie an answer of the provider to the browser that asked. */
export type Challenge = { state: string; nonce: string; verifier: string };

/** `unavailable`: the provider could not be reached, or answered with an error of its own. `refused`: it did not sign the person
 * in, or its answer is not one to this sign-in. */
export class ProviderFault extends Error {
  readonly kind: "unavailable" | "refused";
  constructor(kind: "unavailable" | "refused", message: string) {
    super(message);
    this.kind = kind;
  }
}

export const newChallenge = (): Challenge => ({
  state: oauth.generateRandomState(),
  nonce: oauth.generateRandomNonce(),
  verifier: oauth.generateRandomCodeVerifier(),
});

const metadataMs = hourMs;
const failureMs = 5 * secondMs;
const clockToleranceSeconds = 30;

export function createProvider(settings: SingleSignOnSettings, send: GuardedSend, elapsed: () => number) {
  const issuer = new URL(settings.issuer);
  const client: oauth.Client = {
    client_id: settings.clientId,
    [oauth.clockTolerance]: clockToleranceSeconds,
  };
  const options = {
    [oauth.customFetch]: (url: string, init: FetchInit) => fetchBy(send, url, init),
    // The sender decides: plain HTTP is refused, except to addresses of CLEANCAST_ALLOW_PRIVATE.
    [oauth.allowInsecureRequests]: issuer.protocol === "http:",
  };
  let cached: { server: Promise<oauth.AuthorizationServer>; at: number; hasFailed: boolean } | null = null;

  /**
   * The library keeps the provider's keys with this object. A failure is kept for a moment, so that repeated sign-ins do not
   * call a provider that is down each time.
   */
  async function discover(): Promise<oauth.AuthorizationServer> {
    const maxAgeMs = cached?.hasFailed ? failureMs : metadataMs;
    if (!cached || elapsed() - cached.at >= maxAgeMs) cached = { server: readMetadata(), at: elapsed(), hasFailed: false };
    const read = cached;
    try {
      return await read.server;
    } catch (error) {
      read.hasFailed = true;
      throw toFault(error);
    }
  }

  async function readMetadata(): Promise<oauth.AuthorizationServer> {
    const response = await oauth.discoveryRequest(issuer, { algorithm: "oidc", ...options });
    return oauth.processDiscoveryResponse(issuer, response);
  }

  function clientAuth(server: oauth.AuthorizationServer): oauth.ClientAuth {
    const { clientSecret } = settings;
    if (clientSecret === null) return oauth.None();
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return methods.includes("client_secret_basic") ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
  }

  return {
    async authorizationUrl({ state, nonce, verifier }: Challenge, redirectUri: string): Promise<string> {
      const server = await discover();
      const page = server.authorization_endpoint;
      if (page === undefined || !/^https?:\/\//.test(page))
        throw new ProviderFault("unavailable", "the provider names no sign-in page");
      const url = new URL(page);
      const parameters = {
        response_type: "code",
        client_id: settings.clientId,
        redirect_uri: redirectUri,
        scope: "openid email profile",
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },

    /** Checks the state, the issuer, the audience, the nonce, the times and the signature. Throws a `ProviderFault`. */
    async readIdentity(
      parameters: URLSearchParams,
      { state, nonce, verifier }: Challenge,
      redirectUri: string,
    ): Promise<Identity> {
      const server = await discover();
      try {
        const callback = oauth.validateAuthResponse(server, client, parameters, state);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          clientAuth(server),
          callback,
          redirectUri,
          verifier,
          options,
        );
        const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        });
        await oauth.validateApplicationLevelSignature(server, response, options);
        const claims = oauth.getValidatedIdTokenClaims(tokens);
        if (!claims) throw new ProviderFault("refused", "the answer has no ID token");
        return toIdentity(claims.sub, await withEmail(server, claims, tokens.access_token));
      } catch (error) {
        throw toFault(error);
      }
    },
  };

  /** Many providers put the email only into the answer of their userinfo endpoint. */
  async function withEmail(server: oauth.AuthorizationServer, claims: oauth.IDToken, accessToken: string): Promise<Claims> {
    if (claims.email !== undefined || server.userinfo_endpoint === undefined) return claims;
    const response = await oauth.userInfoRequest(server, client, accessToken, options);
    return oauth.processUserInfoResponse(server, client, claims.sub, response);
  }
}

/** Says why nobody could sign in at the provider now, as far as that is seen without a person; null if nothing speaks against it. */
export async function findProviderFault(settings: SingleSignOnSettings, send: GuardedSend): Promise<string | null> {
  try {
    await createProvider(settings, send, () => performance.now()).authorizationUrl(newChallenge(), settings.issuer);
    return null;
  } catch (error) {
    return toFault(error).message;
  }
}

type Claims = Readonly<Record<string, unknown>>;

function toIdentity(subject: string, { email, email_verified, name }: Claims): Identity {
  return {
    subject,
    email: typeof email === "string" ? email : null,
    isEmailVerified: email_verified === true,
    name: typeof name === "string" && name.trim() !== "" ? name.trim().slice(0, 100) : null,
  };
}

type FetchInit = { method?: string; headers: Record<string, string>; body?: unknown };

async function fetchBy(send: GuardedSend, url: string, init: FetchInit): Promise<Response> {
  const request: PlatformRequest = {
    method: init.method === "POST" ? "POST" : "GET",
    url,
    headers: init.headers,
    body: init.body instanceof URLSearchParams ? init.body.toString() : "",
  };
  const sent = await send(request);
  if (!sent.ok) throw new ProviderFault("unavailable", english(sent.error));
  const { status, headers, body } = sent.response;
  return new Response(status === 204 ? null : body, { status, headers });
}

/** The library's messages name the failed check, and never contain a token. */
function toFault(error: unknown): ProviderFault {
  if (error instanceof ProviderFault) return error;
  if (error instanceof oauth.AuthorizationResponseError)
    return new ProviderFault("refused", `the provider answered ${error.error}`);
  if (error instanceof oauth.ResponseBodyError) return new ProviderFault("refused", `the provider answered ${error.error}`);
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new ProviderFault("refused", error.message);
  return new ProviderFault("unavailable", error instanceof Error ? error.message : String(error));
}
