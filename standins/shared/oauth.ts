// OAuth 2 of the platforms: an authorization page with Allow and Deny, and a token endpoint that checks the client, the
// code, the redirect URI and the PKCE verifier. Each platform declares its differences.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { consentPage, faultPage } from "./pages.ts";
import {
  basicCredentials,
  type Answer,
  type Call,
  type Context,
  type Issued,
  type OAuth,
  type OAuthFault,
  type Route,
} from "./standin.ts";

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

export const usedCodeMessage = "the code was already used";

/** `redirectUris` are those registered for the client; without any, every HTTPS or loopback URI is valid. */
export function oauthRoutes(oauth: OAuth, redirectUris: readonly string[] = []): Route[] {
  const name = (usual: keyof NonNullable<OAuth["names"]>) => oauth.names?.[usual] ?? usual;
  const omits = (part: NonNullable<OAuth["omits"]>[number]) => oauth.omits?.includes(part) ?? false;
  const separator = oauth.scopeSeparator ?? " ";

  const fail = (fault: OAuthFault, description: string, context: Context): Answer => {
    const status = fault === "invalid_client" ? 401 : 400;
    const answer = oauth.tokenError?.(fault, description, context) ?? {
      status,
      body: { error: fault, error_description: description },
    };
    return { ...answer, rejected: [`${fault}: ${description}`] };
  };

  /** Returns the requested grant, or an error as a page or a redirect. */
  const readAuthorization = (query: URLSearchParams, context: Context): { grant: Grant } | { answer: Answer } => {
    const page = (why: string) => ({ answer: { ...faultPage(why), rejected: [why] } });
    const redirectUri = query.get(name("redirect_uri")) ?? "";
    if (query.get(name("client_id")) !== oauth.client.id) return page(`${name("client_id")} is not known`);
    if (!isRedirectUri(redirectUri, redirectUris)) return page("redirect_uri is not registered for the client");
    const back = (fault: string, why: string) => ({
      answer: { ...redirect(redirectUri, { error: fault, error_description: why }, query), rejected: [why] },
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
      if (query.get("code_challenge_method") !== "S256") return back("invalid_request", "code_challenge_method must be S256");
      if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) return back("invalid_request", "code_challenge is not a SHA-256 in base64url");
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
        expiresAt: context.now() + codeSeconds * 1000,
        used: false,
      },
    };
  };

  const showPage = (call: Call, context: Context): Answer => {
    const read = readAuthorization(call.query, context);
    return "answer" in read ? read.answer : consentPage(call, read.grant.redirectUri, read.grant.scopes);
  };

  const decide = (call: Call, context: Context): Answer => {
    const form = new URLSearchParams(call.text);
    const decision = form.get("decision");
    form.delete("decision");
    const read = readAuthorization(form, context);
    if ("answer" in read) return read.answer;
    const { grant } = read;
    if (decision !== "allow") return redirect(grant.redirectUri, { error: "access_denied", error_description: "Denied" }, form);
    const code = `code_${randomBytes(24).toString("base64url")}`;
    grants(context).set(code, grant);
    return redirect(grant.redirectUri, { [name("code")]: code }, form);
  };

  const issue = (grant: Pick<Grant, "id" | "scopes" | "offline">, keep: string | null, context: Context): Answer => {
    const refreshSeconds = oauth.refreshSeconds ?? 365 * 86_400;
    const withRefresh = oauth.refresh !== "none" && grant.offline && keep === null;
    const issued: Issued = {
      accessToken: context.tokens.issueAccess(grant.scopes, oauth.accessSeconds, grant.id),
      expiresInSeconds: oauth.accessSeconds,
      scopes: grant.scopes,
      ...(withRefresh
        ? {
            refreshToken: context.tokens.issueRefresh(grant.scopes, refreshSeconds, grant.id),
            refreshExpiresInSeconds: refreshSeconds,
          }
        : {}),
    };
    return (
      oauth.tokenAnswer?.(issued, context) ?? {
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

  const token = (call: Call, context: Context): Answer => {
    const fault = oauth.tokenCallError?.(call) ?? null;
    if (fault) return fault;
    const fields = readFields(call, oauth.tokenBody);
    if (typeof fields === "string") return fail("invalid_request", fields, context);
    const client = readClient(call, fields, oauth, name);
    if (client !== null) return fail("invalid_client", client, context);
    const grantType = omits("grant_type") ? "authorization_code" : fields.get("grant_type");

    const other = oauth.otherGrants?.[grantType ?? ""];
    if (other) return other(fields, context);
    if (grantType === "refresh_token" && oauth.refresh !== "none") {
      const given = fields.get(name("refresh_token")) ?? "";
      const found = context.tokens.useRefresh(given);
      if (!found) return fail("invalid_grant", "the refresh token has expired or was revoked", context);
      const rotating = oauth.refresh === "rotating";
      // Stricter than some platforms: a replaced refresh token is rejected.
      if (rotating) context.tokens.dropRefresh(given);
      return issue({ id: found.grant, scopes: [...found.scopes], offline: true }, rotating ? null : given, context);
    }
    if (grantType !== "authorization_code")
      return fail("unsupported_grant_type", "grant_type must be authorization_code or refresh_token", context);

    const grant = grants(context).get(fields.get(name("code")) ?? "");
    if (!grant || grant.expiresAt <= context.now()) return fail("invalid_grant", "the code is not valid", context);
    if (grant.used) {
      // RFC 6749, 4.1.2: a code that is used twice may be stolen, so its tokens are revoked too.
      context.tokens.revokeGrant(grant.id);
      return fail("invalid_grant", usedCodeMessage, context);
    }
    if (!omits("redirect_uri") && fields.get(name("redirect_uri")) !== grant.redirectUri)
      return fail("invalid_grant", "redirect_uri is not the one of the authorization", context);
    const verifier = fields.get("code_verifier");
    if (grant.challenge !== null && !isVerifier(verifier, grant.challenge))
      return fail("invalid_grant", "code_verifier does not match the challenge", context);
    grant.used = true;
    return issue(grant, null, context);
  };

  const revoke = (call: Call, context: Context): Answer => {
    const given = new URLSearchParams(call.text).get("token") ?? call.query.get("token") ?? "";
    return context.tokens.revoke(given) ? { status: 200, body: {} } : fail("invalid_request", "the token is not known", context);
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

const grants = (context: Context) => context.remember("grants", () => new Map<string, Grant>());

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

function readFields(call: Call, form: OAuth["tokenBody"]): Map<string, string> | string {
  if (form === "query") return new Map(call.query);
  const type = call.headers["content-type"] ?? "";
  if (form === "form") {
    if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return "the body must be a form";
    // RFC 6749, 3.2: no parameter may be given twice.
    const pairs = [...new URLSearchParams(call.text)];
    const fields = new Map(pairs);
    return fields.size === pairs.length ? fields : "a parameter was given twice";
  }
  if (!/^application\/json\b/i.test(type)) return "the body must be JSON";
  try {
    const parsed: unknown = JSON.parse(call.text);
    return new Map(Object.entries(parsed as Record<string, unknown>).map(([key, value]) => [key, String(value)]));
  } catch {
    return "the body is not JSON";
  }
}

/** Null when id and secret are right and where the platform expects them. */
function readClient(
  call: Call,
  fields: Map<string, string>,
  oauth: OAuth,
  name: (usual: "client_id" | "client_secret") => string,
): string | null {
  const basic = basicCredentials(call);
  const inBody = fields.get(name("client_secret"));
  if (basic && inBody !== undefined) return "the client authenticated twice, in the header and in the body";
  if (basic && !oauth.clientAuth.includes("basic")) return "the client must authenticate in the body";
  if (!basic && !oauth.clientAuth.includes("body")) return "the client must authenticate with HTTP Basic";
  const id = basic ? decode(basic.user) : fields.get(name("client_id"));
  const secret = basic ? decode(basic.password) : inBody;
  return id === oauth.client.id && secret === oauth.client.secret ? null : "the client's id or secret is wrong";
}

/** RFC 6749, 2.3.1: both are form-encoded before they are joined. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function isVerifier(verifier: string | undefined, challenge: string): boolean {
  if (verifier === undefined || !/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const hashed = createHash("sha256").update(verifier).digest();
  const expected = Buffer.from(challenge, "base64url");
  return hashed.length === expected.length && timingSafeEqual(hashed, expected);
}
