// OAuth 2 as the platforms do it: an authorisation page with Allow and Deny, and a token endpoint that checks the
// client, the code, the redirect address and the PKCE verifier. What differs between platforms is declared.

import { randomBytes } from "node:crypto";
import { consentPage, faultPage } from "./pages.ts";
import type { Answer, Call, Desk, Route } from "./standin.ts";
import { isVerifier, readClient, readFields } from "./tokenCall.ts";

export type OAuthFault =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "unauthorized_client"
  | "unsupported_grant_type";

export type Issued = {
  accessToken: string;
  expiresInSeconds: number;
  refreshToken?: string;
  refreshExpiresInSeconds?: number;
  scopes: readonly string[];
};

export type OAuth = {
  client: { id: string; secret: string };
  authorizePath: string | RegExp;
  tokenPath: string | RegExp;
  tokenMethods?: readonly ("GET" | "POST")[];
  revokePath?: string;
  /** Every scope that the platform knows; asking for another is refused. */
  scopes: readonly string[];
  scopeSeparator?: string;
  /** `required` refuses a sign-in without a challenge; `supported` checks one that is given. */
  pkce: "required" | "supported" | "none";
  /** Where the client's id and secret may stand. */
  clientAuth: readonly ("body" | "basic")[];
  tokenBody: "form" | "json" | "query";
  /** The platform's names for OAuth's own, at both endpoints: `{ client_id: "app_id" }`. */
  names?: Partial<
    Record<"client_id" | "client_secret" | "code" | "redirect_uri" | "scope" | "refresh_token", string>
  >;
  /** Says that the sign-in has no `response_type`, or the token call no `grant_type` or `redirect_uri`. */
  omits?: readonly ("response_type" | "grant_type" | "redirect_uri" | "scope")[];
  accessSeconds: number;
  refresh: "none" | "fixed" | "rotating";
  refreshSeconds?: number;
  /** Whether this sign-in asks for a refresh token; always unless given. */
  offline?(query: URLSearchParams): boolean;
  /** Grant types of the platform's own, by name: Meta's fb_exchange_token. The client has been checked. */
  otherGrants?: Readonly<Record<string, (fields: ReadonlyMap<string, string>, desk: Desk) => Answer>>;
  /** What else the sign-in must have; a sentence when it lacks it. */
  authorizeFault?(query: URLSearchParams): string | null;
  /** What else the token call must have: Reddit wants an own User-Agent. */
  tokenRefusal?(call: Call): Answer | null;
  tokenAnswer?(issued: Issued, desk: Desk): Answer;
  tokenError?(fault: OAuthFault, description: string, desk: Desk): Answer;
};

type Grant = {
  id: string;
  redirectUri: string;
  scopes: string[];
  challenge: string | null;
  offline: boolean;
  expiresAt: number;
  used: boolean;
};

const codeSeconds = 600;

/** `redirectUris` are those registered for the client; without any, HTTPS and plain HTTP on this machine will do. */
export function oauthRoutes(oauth: OAuth, redirectUris: readonly string[] = []): Route[] {
  const name = (usual: keyof NonNullable<OAuth["names"]>) => oauth.names?.[usual] ?? usual;
  const omits = (part: NonNullable<OAuth["omits"]>[number]) => oauth.omits?.includes(part) ?? false;
  const separator = oauth.scopeSeparator ?? " ";

  const fail = (fault: OAuthFault, description: string, desk: Desk): Answer => {
    const status = fault === "invalid_client" ? 401 : 400;
    const answer = oauth.tokenError?.(fault, description, desk) ?? {
      status,
      body: { error: fault, error_description: description },
    };
    return { ...answer, refused: [`${fault}: ${description}`] };
  };

  /** The grant that the query asks for, a page that explains why there can be none, or a redirect that says so. */
  const readAuthorization = (query: URLSearchParams, desk: Desk): { grant: Grant } | { answer: Answer } => {
    const page = (why: string) => ({ answer: { ...faultPage(why), refused: [why] } });
    const redirectUri = query.get(name("redirect_uri")) ?? "";
    if (query.get(name("client_id")) !== oauth.client.id) return page(`${name("client_id")} is not known`);
    if (!isRedirectUri(redirectUri, redirectUris))
      return page("redirect_uri is not registered for the client");
    const back = (fault: string, why: string) => ({
      answer: { ...redirect(redirectUri, { error: fault, error_description: why }, query), refused: [why] },
    });
    if (!query.get("state")) return back("invalid_request", "state is missing");
    if (!omits("response_type") && query.get("response_type") !== "code")
      return back("unsupported_response_type", "response_type must be code");
    const scopes = (query.get(name("scope")) ?? "").split(separator).filter(Boolean);
    if (!omits("scope") && scopes.length === 0) return back("invalid_scope", "scope is missing");
    const foreign = scopes.find((scope) => !oauth.scopes.includes(scope));
    if (foreign !== undefined) return back("invalid_scope", `scope ${foreign} is not known`);
    const challenge = query.get("code_challenge");
    if (oauth.pkce === "required" && !challenge) return back("invalid_request", "code_challenge is missing");
    if (challenge && oauth.pkce !== "none") {
      if (query.get("code_challenge_method") !== "S256")
        return back("invalid_request", "code_challenge_method must be S256");
      if (!/^[A-Za-z0-9_-]{43}$/.test(challenge))
        return back("invalid_request", "code_challenge is not a SHA-256 in base64url");
    }
    const further = oauth.authorizeFault?.(query) ?? null;
    if (further) return back("invalid_request", further);
    return {
      grant: {
        id: randomBytes(12).toString("base64url"),
        redirectUri,
        scopes: omits("scope") && scopes.length === 0 ? [...oauth.scopes] : scopes,
        challenge: oauth.pkce === "none" ? null : challenge,
        offline: oauth.offline?.(query) ?? true,
        expiresAt: desk.now() + codeSeconds * 1000,
        used: false,
      },
    };
  };

  const showPage = (call: Call, desk: Desk): Answer => {
    const read = readAuthorization(call.query, desk);
    return "answer" in read ? read.answer : consentPage(call, read.grant.redirectUri, read.grant.scopes);
  };

  const decide = (call: Call, desk: Desk): Answer => {
    const form = new URLSearchParams(call.text);
    const decision = form.get("decision");
    form.delete("decision");
    const read = readAuthorization(form, desk);
    if ("answer" in read) return read.answer;
    const { grant } = read;
    if (decision !== "allow")
      return redirect(grant.redirectUri, { error: "access_denied", error_description: "Denied" }, form);
    const code = `code_${randomBytes(24).toString("base64url")}`;
    grants(desk).set(code, grant);
    return redirect(grant.redirectUri, { [name("code")]: code }, form);
  };

  const issue = (
    grant: Pick<Grant, "id" | "scopes" | "offline">,
    keep: string | null,
    desk: Desk,
  ): Answer => {
    const refreshSeconds = oauth.refreshSeconds ?? 365 * 86_400;
    const withRefresh = oauth.refresh !== "none" && grant.offline && keep === null;
    const issued: Issued = {
      accessToken: desk.tokens.issueAccess(grant.scopes, oauth.accessSeconds, grant.id),
      expiresInSeconds: oauth.accessSeconds,
      scopes: grant.scopes,
      ...(withRefresh
        ? {
            refreshToken: desk.tokens.issueRefresh(grant.scopes, refreshSeconds, grant.id),
            refreshExpiresInSeconds: refreshSeconds,
          }
        : {}),
    };
    return (
      oauth.tokenAnswer?.(issued, desk) ?? {
        status: 200,
        headers: { "cache-control": "no-store" },
        body: {
          access_token: issued.accessToken,
          expires_in: issued.expiresInSeconds,
          ...(issued.refreshToken ? { refresh_token: issued.refreshToken } : {}),
          scope: issued.scopes.join(separator),
          token_type: "Bearer",
        },
      }
    );
  };

  const token = (call: Call, desk: Desk): Answer => {
    const refusal = oauth.tokenRefusal?.(call) ?? null;
    if (refusal) return refusal;
    const fields = readFields(call, oauth.tokenBody);
    if (typeof fields === "string") return fail("invalid_request", fields, desk);
    const client = readClient(call, fields, oauth, name);
    if (client !== null) return fail("invalid_client", client, desk);
    const grantType = omits("grant_type") ? "authorization_code" : fields.get("grant_type");

    const other = oauth.otherGrants?.[grantType ?? ""];
    if (other) return other(fields, desk);
    if (grantType === "refresh_token" && oauth.refresh !== "none") {
      const given = fields.get(name("refresh_token")) ?? "";
      const found = desk.tokens.useRefresh(given);
      if (!found) return fail("invalid_grant", "the refresh token has run out or was taken back", desk);
      const rotating = oauth.refresh === "rotating";
      // Stricter than some: a refresh token that was replaced is refused from then on.
      if (rotating) desk.tokens.dropRefresh(given);
      return issue(
        { id: found.grant, scopes: [...found.scopes], offline: true },
        rotating ? null : given,
        desk,
      );
    }
    if (grantType !== "authorization_code")
      return fail("unsupported_grant_type", "grant_type must be authorization_code or refresh_token", desk);

    const grant = grants(desk).get(fields.get(name("code")) ?? "");
    if (!grant || grant.expiresAt <= desk.now()) return fail("invalid_grant", "the code is not good", desk);
    if (grant.used) {
      // RFC 6749, 4.1.2: whoever shows a code twice may have stolen it, so its tokens end too.
      desk.tokens.revokeGrant(grant.id);
      return fail("invalid_grant", "the code was already used", desk);
    }
    if (!omits("redirect_uri") && fields.get(name("redirect_uri")) !== grant.redirectUri)
      return fail("invalid_grant", "redirect_uri is not the one of the authorisation", desk);
    const verifier = fields.get("code_verifier");
    if (grant.challenge !== null && !isVerifier(verifier, grant.challenge))
      return fail("invalid_grant", "code_verifier does not fit the challenge", desk);
    grant.used = true;
    return issue(grant, null, desk);
  };

  const revoke = (call: Call, desk: Desk): Answer => {
    const given = new URLSearchParams(call.text).get("token") ?? call.query.get("token") ?? "";
    return desk.tokens.revoke(given)
      ? { status: 200, body: {} }
      : fail("invalid_request", "the token is not known", desk);
  };

  return [
    { kind: "authorize", method: "GET", path: oauth.authorizePath, handle: showPage },
    { kind: "authorize", method: "POST", path: oauth.authorizePath, handle: decide },
    ...(oauth.tokenMethods ?? ["POST" as const]).map((method): Route => ({
      kind: "token",
      method,
      path: oauth.tokenPath,
      handle: token,
    })),
    ...(oauth.revokePath === undefined
      ? []
      : [{ kind: "token", method: "POST", path: oauth.revokePath, handle: revoke } satisfies Route]),
  ];
}

const grants = (desk: Desk) => desk.recall("grants", () => new Map<string, Grant>());

function redirect(uri: string, added: Record<string, string>, asked: URLSearchParams): Answer {
  const target = new URL(uri);
  for (const [key, value] of Object.entries(added)) target.searchParams.set(key, value);
  const state = asked.get("state");
  if (state) target.searchParams.set("state", state);
  return { status: 302, headers: { location: target.href, "cache-control": "no-store" } };
}

function isRedirectUri(uri: string, registered: readonly string[]): boolean {
  if (registered.length > 0) return registered.includes(uri);
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname, hash } = new URL(uri);
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostname) || hostname.endsWith(".localhost");
  return hash === "" && (protocol === "https:" || (protocol === "http:" && local));
}
